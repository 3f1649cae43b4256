//! Agreement of what a message says about the length of its body.

use super::notes::Read;
use crate::{Only, Site};

/// The fields that a message has so far that say how long its body is.
#[derive(Default)]
pub(super) struct Seen {
    length: Option<Vec<u8>>,
    is_chunked: bool,
}

impl Seen {
    /// Takes note of a field; false if what it says does not agree with one in front of it.
    pub(super) fn agree(&mut self, read: &Read) -> bool {
        let Some(next) = &read.schema.next else {
            return true;
        };
        let is_one_of = |sites: &[Site]| sites.iter().any(|site| is_at(site, read));
        if is_one_of(&next.lengths.length) {
            let bytes = &read.window.bytes[read.slot.start..read.slot.end];
            let known = self.length.get_or_insert_with(|| bytes.to_vec());
            return !self.is_chunked && known == bytes;
        }
        if is_one_of(&next.lengths.chunked) {
            // Several are one list, of which a reader that takes one of them sees another end of the body.
            return !std::mem::replace(&mut self.is_chunked, true) && self.length.is_none();
        }
        true
    }
}

fn is_at(site: &Site, read: &Read) -> bool {
    (site.layout, site.field) == read.place()
        && match &site.only {
            Only::All => true,
            Only::Key(key) => read.has_key(key),
            Only::Index(index) => *index == read.frame.index,
            Only::Member(_) => false,
        }
}
