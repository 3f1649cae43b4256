//! The machine that Onpath itself runs on, whatever runs in its kernel. [`child`] runs other programs within limits,
//! and [`graphviz`] uses it. [`safe_dir`] has folders that are safe to write to, and [`scratch`] one for temporary
//! files. [`files`] reads files that others name. [`interrupt`] delays interrupts until everything that was set up is
//! taken down. [`caps`] reports the capabilities of this process, [`linux`] the running kernel. [`words`] is memory
//! that several processes share.
//!
//! Unsafe code is in [`words`], and the single system calls of [`child`], [`interrupt`] and [`linux`].

pub mod caps;
pub mod child;
pub mod errors;
pub mod files;
pub mod graphviz;
pub mod interrupt;
pub mod linux;
pub mod safe_dir;
pub mod scratch;
pub mod words;
