//! Sets of byte values.

/// A set of byte values, written as `a-z` ranges and single characters; `^` in front of them stands for all others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CharSet {
    bits: [u64; 4],
}

/// Reason why a text is not a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoSet {
    /// A character above U+00FF, which no byte stands for.
    Beyond(char),
    /// A range whose first character is after its last.
    Backwards(char, char),
}

impl CharSet {
    /// Parses a set: single characters, and ranges of two with `-` between. `-` at the start or end stands for itself.
    /// Characters up to U+00FF stand for the byte of that number. A `^` before other characters complements the set.
    pub fn parse(text: &str) -> Result<CharSet, NoSet> {
        match text.strip_prefix('^') {
            Some(others) if !others.is_empty() => Ok(CharSet::listed(others)?.complement()),
            _ => CharSet::listed(text),
        }
    }

    /// Returns the complement: all bytes that are not in the set.
    pub fn complement(&self) -> CharSet {
        CharSet {
            bits: self.bits.map(|bits| !bits),
        }
    }

    /// Returns the set's ranges of adjacent bytes, in ascending order, first and last byte included.
    pub fn ranges(&self) -> Vec<(u8, u8)> {
        let mut ranges: Vec<(u8, u8)> = Vec::new();
        for byte in (0..=255u8).filter(|&byte| self.contains(byte)) {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == byte => *last = byte,
                _ => ranges.push((byte, byte)),
            }
        }
        ranges
    }

    fn listed(text: &str) -> Result<CharSet, NoSet> {
        let byte = |c: char| u8::try_from(c).map_err(|_| NoSet::Beyond(c));
        let characters: Vec<u8> = text.chars().map(byte).collect::<Result<_, NoSet>>()?;
        let mut set = CharSet { bits: [0; 4] };
        let mut rest = &characters[..];
        while let [first, tail @ ..] = rest {
            let last = match tail {
                [b'-', last, ..] => *last,
                _ => *first,
            };
            if last < *first {
                return Err(NoSet::Backwards(char::from(*first), char::from(last)));
            }
            for byte in *first..=last {
                set.bits[usize::from(byte / 64)] |= 1 << (byte % 64);
            }
            rest = match tail {
                [b'-', _, after @ ..] => after,
                _ => tail,
            };
        }
        Ok(set)
    }

    /// Returns the empty set.
    pub fn empty() -> CharSet {
        CharSet { bits: [0; 4] }
    }

    /// Returns true if a byte is in the set.
    pub fn contains(&self, byte: u8) -> bool {
        self.bits[usize::from(byte / 64)] & (1 << (byte % 64)) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_single_characters() {
        let set = CharSet::parse("a-c_-").unwrap();
        let members: Vec<u8> = (0..=255).filter(|&b| set.contains(b)).collect();
        assert_eq!(members, b"-_abc");
        let high = CharSet::parse("\u{80}-\u{ff}").unwrap();
        assert!(high.contains(0xff) && high.contains(0x80) && !high.contains(0x7f));
    }

    #[test]
    fn all_others_are_a_set_too() {
        let set = CharSet::parse("^ \t").unwrap();
        assert_eq!(set.ranges(), [(0, 8), (10, 31), (33, 255)]);
        assert_eq!(CharSet::parse("^").unwrap().ranges(), [(b'^', b'^')]);
        assert_eq!(
            CharSet::parse("a^").unwrap().ranges(),
            [(b'^', b'^'), (b'a', b'a')]
        );
    }

    #[test]
    fn what_is_no_set_is_reported() {
        assert_eq!(CharSet::parse("0-9z-a"), Err(NoSet::Backwards('z', 'a')));
        assert_eq!(CharSet::parse("\u{100}"), Err(NoSet::Beyond('\u{100}')));
    }
}
