//! What each diagnostic means, as pages: an example that gives it, a remedy, and where it is specified; and what the interface headers
//! declare.
//!
//! Besides: words that users meet ([`words`]), and the attributes that queries ask about ([`kinds`]).
//!
//! The pages are Markdown, a file for each hundred of codes (`pages/`), so that they are documentation by themselves.
//! [`groups`] has them as data; a page without a part that it must have is an error of this crate's tests. [`Header::read`] makes documentation
//! of a header's text, by the comments in it. [`render`] shows Markdown on a terminal. This crate knows no diagnostic but by its page, and no
//! header: whether each diagnostic has a page, and what the examples print, the tests of `onpath` find out.

mod attributes;
mod blocks;
mod documents;
mod header;
mod markdown;
mod page;
mod pages;
mod scan;
mod words;

pub use attributes::{About, HEADERS, Kind as KindOfMessage, about, kinds};
pub use blocks::{Block, blocks};
pub use documents::{about_item, index, reference};
pub use header::{Doc, Header, Item, Kind, Member, Target};
pub use markdown::{Style, render};
pub use page::{File, Group, Page};
pub use pages::{Unknown, group, groups, page};
pub use words::{Word, word, words};
