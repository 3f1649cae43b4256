//! The machine that Onpath itself runs on, whatever runs in its kernel: other programs, which [`child`] runs within limits and
//! [`graphviz`] uses; [folders that are safe to write to](safe_dir), and [one](scratch) for temporary files; the reader
//! of [files that others name](files); interrupts that wait until what was set up is taken down ([`interrupt`]); the rights
//! of this process ([`caps`]) and the running kernel ([`linux`]); memory that processes have in common ([`words`]).
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
