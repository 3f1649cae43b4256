//! Attributes of which a tag tells the size, so that a parser can skip those that it does not look for.

use crate::Bits;

/// The sizes of attributes by tag, and where in an attribute the tag is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkipTable {
    /// How many bits behind the attribute's start its tag begins.
    pub skip: u32,
    /// Bits of the tag.
    pub width: u32,
    /// Tags in ascending order, each with the bytes of its attributes, tag included. A tag that is not there ends the search.
    pub sizes: Vec<(Bits, u32)>,
}

impl SkipTable {
    /// Bits from an attribute's start to its tag's end.
    pub fn tag_end(&self) -> u32 {
        self.skip.saturating_add(self.width)
    }

    /// The bytes of attributes with this tag.
    pub fn size(&self, tag: &Bits) -> Option<u32> {
        let at = self
            .sizes
            .binary_search_by(|(own, _)| own.value().cmp(tag.value()))
            .ok()?;
        Some(self.sizes[at].1)
    }

    /// Skips attributes that begin at a bit of a packet of so many: as long as the tag is there and in the table and the
    /// attribute is there as a whole. `tag` reads the bits of one, which begin at a bit. Calls `each` for every attribute
    /// skipped, with its size in bytes. Gives where it stopped, in bits, and whether that is at an attribute of the table that
    /// is cut short.
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

    /// Where skipping stops in a packet of nibbles, each of which is a tag: 1 is as long as one byte, 2 as two.
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
