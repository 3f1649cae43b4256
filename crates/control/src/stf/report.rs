//! Side-by-side report of expected and received packets.

use super::Pattern;
use diag::counted;
use std::fmt::Write;

/// A field of a packet, as the program's own parser extracts it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecodedField {
    /// Name of the field, such as `hdr.ipv4.ttl`.
    pub name: String,
    /// Range of bits in the packet, from the first of the first byte.
    pub bits: std::ops::Range<usize>,
    /// Formatted value.
    pub value: String,
}

/// Decoder of a packet by the program's headers. Bytes that no header covers are left out.
pub type Decoder<'a> = dyn Fn(&[u8]) -> Vec<DecodedField> + 'a;

const ROW: usize = 8;

/// Formats rows of bytes expected and received, with differing bytes marked, then the differing fields.
pub fn mismatch(pattern: &Pattern, received: &[u8], decoder: &Decoder) -> String {
    let expected_len = pattern.nibbles.len() / 2;
    let differs = |i: usize| match (i < expected_len, received.get(i)) {
        (true, Some(&byte)) => !pattern.byte_matches(i, byte),
        (true, None) => true,
        (false, Some(_)) => pattern.strict,
        (false, None) => false,
    };
    let mut out = String::new();
    let end = if pattern.strict {
        " (ends here)"
    } else {
        " or more"
    };
    let _ = writeln!(
        out,
        "        expected {:<17} received {}",
        format!("{}{end}", counted(expected_len, "byte")),
        counted(received.len(), "byte")
    );
    for start in (0..expected_len.max(received.len())).step_by(ROW) {
        let mut left = String::new();
        let mut right = String::new();
        let mut any = false;
        for i in start..start + ROW {
            let bad = differs(i);
            any |= bad;
            let mark = |shown: Option<String>| match (shown, bad) {
                (Some(text), true) => format!("[{text}]"),
                (Some(text), false) => format!(" {text} "),
                (None, true) => "[  ]".to_string(),
                (None, false) => "    ".to_string(),
            };
            left += &mark((i < expected_len).then(|| pattern.show_byte(i)));
            right += &mark(received.get(i).map(|b| format!("{b:02x}")));
        }
        let sign = if any { '!' } else { ' ' };
        let line = format!("{sign} {start:04x}  {left} | {right}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    fields(&mut out, pattern, received, decoder);
    out
}

/// Appends the fields in which a differing byte lies, with both values.
fn fields(out: &mut String, pattern: &Pattern, received: &[u8], decoder: &Decoder) {
    let known = |i: usize| i < pattern.nibbles.len() / 2;
    // Where the pattern allows anything, take the received byte, so that the packet can be decoded.
    let likely: Vec<u8> = (0..pattern.nibbles.len() / 2)
        .map(|i| {
            let other = received.get(i).copied().unwrap_or(0);
            let high = pattern.nibbles[2 * i].unwrap_or(other >> 4);
            let low = pattern.nibbles[2 * i + 1].unwrap_or(other & 15);
            high << 4 | low
        })
        .collect();
    let (wanted, got) = (decoder(&likely), decoder(received));
    for field in &got {
        let bytes = field.bits.start / 8..field.bits.end.div_ceil(8);
        let touched = bytes.clone().any(|i| {
            known(i)
                && received
                    .get(i)
                    .is_some_and(|&b| !pattern.byte_matches(i, b))
        });
        let other = wanted.iter().find(|w| w.name == field.name);
        match other {
            Some(other) if other.value != field.value && touched => {
                let _ = writeln!(
                    out,
                    "  {}: expected {}, received {}",
                    field.name, other.value, field.value
                );
            }
            None if touched => {
                let _ = writeln!(
                    out,
                    "  {}: not expected, received {}",
                    field.name, field.value
                );
            }
            _ => {}
        }
    }
    for field in wanted
        .iter()
        .filter(|w| !got.iter().any(|g| g.name == w.name))
    {
        let _ = writeln!(
            out,
            "  {}: expected {}, not received",
            field.name, field.value
        );
    }
}

/// Formats a packet alone: its bytes in rows, then its fields.
pub fn undecoded(bytes: &[u8], decoder: &Decoder) -> String {
    let mut out = String::new();
    for (row, chunk) in bytes.chunks(16).enumerate() {
        let hex: Vec<String> = chunk.iter().map(|b| format!("{b:02x}")).collect();
        let _ = writeln!(out, "  {:04x}  {}", row * 16, hex.join(" "));
    }
    for field in decoder(bytes) {
        let _ = writeln!(out, "  {}: {}", field.name, field.value);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_bytes(bytes: &[u8]) -> Vec<DecodedField> {
        bytes
            .iter()
            .take(2)
            .enumerate()
            .map(|(i, b)| DecodedField {
                name: format!("hdr.h.f{i}"),
                bits: i * 8..i * 8 + 8,
                value: b.to_string(),
            })
            .collect()
    }

    #[test]
    fn differing_bytes_are_marked_and_their_fields_named() {
        let nibbles = [1, 2, 3, 4].map(Some).to_vec();
        let pattern = Pattern {
            nibbles,
            strict: true,
        };
        let shown = mismatch(&pattern, &[0x12, 0x35, 0xff], &two_bytes);
        assert_eq!(
            shown,
            "        expected 2 bytes (ends here) received 3 bytes\n\
             ! 0000   12 [34][  ]                     |  12 [35][ff]\n  \
             hdr.h.f1: expected 52, received 53\n"
        );
    }

    #[test]
    fn a_packet_alone_is_shown_whole() {
        assert_eq!(
            undecoded(&[0xab, 1], &two_bytes),
            "  0000  ab 01\n  hdr.h.f0: 171\n  hdr.h.f1: 1\n"
        );
    }
}
