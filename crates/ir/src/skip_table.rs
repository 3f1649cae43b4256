//! Tables of attribute sizes: the tag gives an attribute's size, so that a parser can skip attributes that it does not
//! select.

use crate::Bits;

/// Sizes of attributes by tag, and the position of the tag.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkipTable {
    /// Offset of the tag from the attribute's start, in bits.
    pub skip: u32,
    /// Width of the tag in bits.
    pub width: u32,
    /// Tags in ascending order, each with the size of its attributes in bytes, tag included. A tag that is not in the
    /// table ends the skipping.
    pub sizes: Vec<(Bits, u32)>,
}

impl SkipTable {
    /// Returns the offset of the tag's end from the attribute's start, in bits.
    pub fn tag_end(&self) -> u32 {
        self.skip.saturating_add(self.width)
    }

    /// Returns the size in bytes of attributes with this tag.
    pub fn size(&self, tag: &Bits) -> Option<u32> {
        let at = self
            .sizes
            .binary_search_by(|(own, _)| own.value().cmp(tag.value()))
            .ok()?;
        Some(self.sizes[at].1)
    }

    /// Skips attributes from bit `at` on, in a packet of `packet` bits. It continues while the tag is complete and in
    /// the table, and the attribute is complete. `tag` reads the tag at a bit offset; `each` is called with the size in
    /// bytes of every skipped attribute. Returns the offset where it stops, in bits, and true if an attribute of the
    /// table is truncated there.
    pub fn skip(
        &self,
        mut at: u64,
        packet: u64,
        mut tag: impl FnMut(u64) -> Bits,
        mut each: impl FnMut(u32),
    ) -> (u64, bool) {
        while at + u64::from(self.tag_end()) <= packet {
            let Some(bytes) = self.size(&tag(at + u64::from(self.skip))) else {
                break;
            };
            let next = at + 8 * u64::from(bytes);
            if next > packet {
                return (at, true);
            }
            each(bytes);
            at = next;
        }
        (at, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Skips in a packet of nibbles, each of which is a tag: attributes with tag 1 have one byte, those with tag 2 two.
    fn stops(packet: &[u8]) -> (u64, bool) {
        let tag = |value: u32| Bits::new(4, value);
        let table = SkipTable {
            skip: 4,
            width: 4,
            sizes: vec![(tag(1), 1), (tag(2), 2)],
        };
        let read = |at: u64| Bits::new(4, u32::from(packet[at as usize / 8]));
        table.skip(0, packet.len() as u64 * 8, read, |_| {})
    }

    #[test]
    fn it_stops_at_a_tag_that_is_not_in_the_table() {
        assert_eq!(stops(&[1, 2, 0, 1, 3, 1]), (32, false));
        assert_eq!(stops(&[0]), (0, false));
    }

    #[test]
    fn it_stops_in_front_of_what_the_packet_does_not_have() {
        assert_eq!(stops(&[1, 1]), (16, false));
        assert_eq!(stops(&[1, 2]), (8, true));
        assert_eq!(stops(&[]), (0, false));
    }
}
