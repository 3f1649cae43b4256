//! Agreement of the fields that give the length of a message's body.

use super::notes::Read;
use crate::{Only, Site};

/// Length fields of a message that have been read so far.
#[derive(Default)]
pub(super) struct Seen {
    length: Option<Vec<u8>>,
    is_chunked: bool,
}

impl Seen {
    /// Records a field. Returns false if it contradicts an earlier one.
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
            // Several fields form one list. A reader that takes one of them would see another end of the body.
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
