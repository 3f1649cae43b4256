//! Explanations of diagnostics as pages, and documentation of the interface headers. A page has an example that gives
//! the diagnostic, a remedy, and a reference to the specification.
//!
//! Also explained: words that users meet ([`words`]), and the attributes of queries ([`kinds`]).
//!
//! The pages are Markdown, a file for each hundred codes (`pages/`), so they can be read as they are. [`groups`]
//! returns them as data. A page that lacks a required part fails this crate's tests. [`Header::read`] makes
//! documentation from the comments of a header, and [`render`] shows Markdown on a terminal. This crate knows
//! diagnostics only by their pages, and knows no header. The tests of `onpath` check that each diagnostic has a page,
//! and run the examples.

mod attributes;
mod blocks;
mod documents;
mod header;
mod markdown;
mod page;
mod pages;
mod scan;
mod words;

pub use attributes::{About, HEADERS, MessageKind, about, kinds};
pub use blocks::{Block, blocks};
pub use documents::{about_item, index, reference};
pub use header::{DeclarationKind, Doc, ExecutionTarget, ExternMember, Header, Item};
pub use markdown::{Style, render};
pub use page::{File, Group, Page};
pub use pages::{Unknown, group, groups, page};
pub use words::{Word, word, words};
