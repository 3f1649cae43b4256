//! Reading and writing of bits in bytes, in network order.

use ir::Bits;
use num_bigint::BigUint;

/// Reads bits `from..from + width` of `bytes`, counted from the first byte's highest bit. All of them must exist.
pub(crate) fn read_bits(bytes: &[u8], from: usize, width: u32) -> Bits {
    let end = from + width as usize;
    let touched = &bytes[from / 8..end.div_ceil(8)];
    let behind = end.next_multiple_of(8) - end;
    if behind == 0 {
        return Bits::from_bytes(width, touched);
    }
    Bits::new(width, BigUint::from_bytes_be(touched) >> behind)
}

/// Writer of a packet, which grows by bits.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
    /// Bits of the unfinished byte, right-aligned, and their number.
    rest: u32,
    rest_width: u32,
}

impl Writer {
    /// Appends all bits of a value.
    pub(crate) fn push(&mut self, value: &Bits) {
        let bytes = value.to_bytes();
        if self.rest_width == 0 && value.width().is_multiple_of(8) {
            self.bytes.extend_from_slice(&bytes);
            return;
        }
        // The first byte of a right-aligned value may be partial.
        let mut width = match value.width() % 8 {
            0 => 8,
            part => part,
        };
        for byte in bytes {
            self.rest = self.rest << width | u32::from(byte);
            self.rest_width += width;
            if self.rest_width >= 8 {
                self.rest_width -= 8;
                self.bytes.push((self.rest >> self.rest_width) as u8);
                self.rest &= (1 << self.rest_width) - 1;
            }
            width = 8;
        }
    }

    /// Returns the number of complete bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the bytes. An unfinished byte is padded with zeros.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        if self.rest_width > 0 {
            self.bytes.push((self.rest << (8 - self.rest_width)) as u8);
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(fields in proptest::collection::vec((0u32..70, any::<u128>()), 0..12)) {
            let fields: Vec<Bits> = fields.into_iter().map(|(w, v)| Bits::new(w, v)).collect();
            let mut writer = Writer::default();
            for field in &fields {
                writer.push(field);
            }
            let bytes = writer.finish();
            let mut at = 0;
            for field in &fields {
                prop_assert_eq!(&read_bits(&bytes, at, field.width()), field);
                at += field.width() as usize;
            }
            prop_assert_eq!(bytes.len(), at.div_ceil(8));
        }
    }
}
