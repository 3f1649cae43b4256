//! Cases of look-ups: programs that derive a key from a number, and entries that such keys match.

use layout::Structure;
use serde::Serialize;
use std::collections::HashSet;

/// Key of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeyKind {
    /// One key of 32 bits.
    Exact,
    /// Two keys of 32 bits.
    ExactPair,
    /// One key of 128 bits.
    LongExact,
    /// IPv4 address.
    Lpm,
    /// IPv6 address.
    LongLpm,
    /// Two addresses, two ports and a protocol: 13 bytes.
    Ternary,
    /// The same, with ranges for both ports.
    Range,
    /// Two addresses.
    Optional,
}

/// Tables that have the same entries and differ in their layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub kind: KeyKind,
    pub entries: u32,
    /// Number of distinct masks of ternary entries.
    pub masks: u32,
    /// Layouts that are compared.
    pub layouts: &'static [Structure],
}

/// Factors that spread numbers over 32 bits.
const A: u32 = 0x9e37_79b1;
const B: u32 = 0x85eb_ca77;
const C: u32 = 0x27d4_eb2f;
const D: u32 = 0x1656_67b1;

const HASHES: &[Structure] = &[Structure::HashMap, Structure::Buckets];
const BITS: &[Structure] = &[Structure::BitVectors];
const TUPLES: &[Structure] = &[Structure::TupleSpace];
const TRIES: &[Structure] = &[Structure::Trie, Structure::MultibitTrie];
const BOTH: &[Structure] = &[Structure::BitVectors, Structure::TupleSpace];

/// Returns every case.
pub(super) fn cases() -> Vec<Case> {
    let case = |kind, entries, masks, layouts| Case {
        kind,
        entries,
        masks,
        layouts,
    };
    let mut all = Vec::new();
    all.push(case(KeyKind::Exact, 256, 0, HASHES));
    for (kind, layouts) in [
        (KeyKind::Exact, HASHES),
        (KeyKind::ExactPair, HASHES),
        (KeyKind::LongExact, HASHES),
        (KeyKind::Lpm, TRIES),
        (KeyKind::LongLpm, TRIES),
    ] {
        for entries in [16, 1_000, 10_000, 100_000, 1_000_000] {
            all.push(case(kind, entries, 0, layouts));
        }
    }
    all.push(case(KeyKind::Ternary, 16, 4, BOTH));
    for masks in [1, 10, 100, 1_000] {
        all.push(case(KeyKind::Ternary, 1_000, masks, BOTH));
    }
    all.push(case(KeyKind::Ternary, 9_900, 100, BITS));
    for (entries, masks) in [(100_000, 10), (1_000_000, 10)] {
        all.push(case(KeyKind::Ternary, entries, masks, TUPLES));
    }
    all.push(case(KeyKind::Range, 16, 0, BOTH));
    for entries in [256, 1_000] {
        all.push(case(KeyKind::Range, entries, 0, BITS));
    }
    for entries in [16, 1_000] {
        all.push(case(KeyKind::Optional, entries, 0, BOTH));
    }
    for entries in [100_000, 1_000_000] {
        all.push(case(KeyKind::Optional, entries, 0, TUPLES));
    }
    // Without optimisation a million entries take minutes.
    all.retain(|case| !cfg!(debug_assertions) || case.entries <= 100_000);
    all
}

impl KeyKind {
    /// Returns the name in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            KeyKind::Exact => "exact, 32 bits",
            KeyKind::ExactPair => "exact, 64 bits",
            KeyKind::LongExact => "exact, 128 bits",
            KeyKind::Lpm => "lpm, 32 bits",
            KeyKind::LongLpm => "lpm, 128 bits",
            KeyKind::Ternary => "ternary",
            KeyKind::Range => "range",
            KeyKind::Optional => "optional",
        }
    }

    /// Returns the keys of the table, in P4.
    fn keys(self) -> &'static str {
        match self {
            KeyKind::Exact => "a : exact @name(\"a\");",
            KeyKind::ExactPair => "a : exact @name(\"a\"); b : exact @name(\"b\");",
            KeyKind::LongExact => "wide : exact @name(\"a\");",
            KeyKind::Lpm => "a : lpm @name(\"a\");",
            KeyKind::LongLpm => "wide : lpm @name(\"a\");",
            KeyKind::Ternary => {
                "a : ternary @name(\"a\"); b : ternary @name(\"b\"); c[31:16] : ternary @name(\"c\");
                 d[31:16] : ternary @name(\"d\"); n[7:0] : ternary @name(\"e\");"
            }
            KeyKind::Range => {
                "a : ternary @name(\"a\"); b : ternary @name(\"b\"); c[31:16] : range @name(\"c\");
                 d[31:16] : range @name(\"d\"); n[7:0] : ternary @name(\"e\");"
            }
            KeyKind::Optional => "a : optional @name(\"a\"); b : optional @name(\"b\");",
        }
    }
}

impl Case {
    /// Returns the program with a table of this layout. Each run derives a new key from the last one, which is in the
    /// packet, so keys are random. They are those of the first `numbers` numbers, shifted by an offset in the packet.
    pub(super) fn program(self, layout: Structure, numbers: u32) -> String {
        self.text(Some(layout), numbers, "", "all.apply();")
    }

    /// Returns true if the same entries are also measured as const entries.
    pub(super) fn is_const_too(self) -> bool {
        self.kind == KeyKind::Exact && self.entries <= 256
    }

    /// Returns the same program with these entries as const entries.
    pub(super) fn with_const_entries(self, numbers: u32) -> String {
        let all = (0..numbers).map(|n| format!("{} : give({n});", n.wrapping_mul(A)));
        let all: Vec<String> = all.collect();
        let entries = format!("const entries = {{ {} }}", all.join(" "));
        self.text(None, numbers, &entries, "all.apply();")
    }

    /// Returns the same program without the look-up: it only makes the key.
    pub(super) fn without_table(self, numbers: u32) -> String {
        let uses = match self.kind {
            KeyKind::LongLpm | KeyKind::LongExact => {
                "hdr.call.found = wide[127:96] + wide[95:64] + wide[63:32] + wide[31:0];"
            }
            KeyKind::Exact | KeyKind::Lpm => "hdr.call.found = a;",
            KeyKind::Optional | KeyKind::ExactPair => "hdr.call.found = a + b;",
            KeyKind::Ternary | KeyKind::Range => {
                "hdr.call.found = a + b + (bit<32>)c[31:16] + (bit<32>)d[31:16] + (bit<32>)n[7:0];"
            }
        };
        self.text(None, numbers, "", uses)
    }

    fn text(self, layout: Option<Structure>, numbers: u32, constant: &str, then: &str) -> String {
        let (entries, keys) = (self.entries, self.kind.keys());
        let layout = layout.map_or(String::new(), |layout| {
            format!("@layout(\"{}\")", layout.name())
        });
        format!(
            "#include <core.p4>
#include <xdp_model.p4>
header call_t {{ bit<112> before; bit<32> state; bit<32> add; bit<32> found; }}
struct headers_t {{ call_t call; }}
parser prs(packet_in packet, out headers_t hdr) {{
    state start {{ packet.extract(hdr.call); transition accept; }}
}}
control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {{
    bit<32> n;
    bit<32> a;
    bit<32> b;
    bit<32> c;
    bit<32> d;
    bit<128> wide;
    action give(bit<32> found) {{ hdr.call.found = found; }}
    action none() {{ }}
    {layout}
    table all {{
        key = {{ {keys} }}
        actions = {{ give; none; }}
        default_action = none();
        size = {entries};
        {constant}
    }}
    apply {{
        xout.output_action = xdp_action.XDP_PASS;
        xout.output_port = 0;
        hdr.call.state = hdr.call.state * 1664525 + 1013904223;
        n = (bit<32>)(((bit<64>)hdr.call.state * {numbers}) >> 32) + hdr.call.add;
        a = n * {A};
        b = n * {B};
        c = n * {C};
        d = n * {D};
        wide = 3w1 ++ a[28:0] ++ b ++ c ++ d;
        {then}
    }}
}}
control dep(in headers_t hdr, packet_out packet) {{ apply {{ packet.emit(hdr.call); }} }}
xdp(prs(), sw(), dep()) main;
"
        )
    }

    /// Returns the lines of its entries, all different, and how many numbers they cover: a key of each such number has
    /// an entry.
    pub(super) fn lines(self) -> (String, u32) {
        let (mut text, mut known) = (String::new(), HashSet::new());
        let mut numbers = 0;
        while known.len() < self.entries as usize {
            let found = self.matches(numbers);
            if !known.contains(&found) {
                text += &format!("add all {found} give(found: {numbers})\n");
                known.insert(found);
            }
            numbers += 1;
        }
        (text, numbers)
    }

    /// Returns the matches of an entry that the key of number `n` hits. A priority comes first, for the kinds that need
    /// one.
    fn matches(self, n: u32) -> String {
        let (a, b) = (n.wrapping_mul(A), n.wrapping_mul(B));
        let priority = 1 + n.wrapping_mul(D) % 1_000;
        match self.kind {
            KeyKind::Exact => format!("a:{a}"),
            KeyKind::ExactPair => format!("a:{a} b:{b}"),
            KeyKind::LongExact => format!("a:{:#x}", wide(n)),
            KeyKind::Lpm => {
                let length = length(n);
                format!("a:{:#x}/{length}", a & u32::MAX << (32 - length))
            }
            KeyKind::LongLpm => {
                let length = long_length(n);
                format!("a:{:#x}/{length}", wide(n) & u128::MAX << (128 - length))
            }
            KeyKind::Optional => match n % 4 {
                0 => format!("{priority} b:{b}"),
                1 => format!("{priority} a:{a}"),
                _ => format!("{priority} a:{a} b:{b}"),
            },
            KeyKind::Ternary | KeyKind::Range => {
                let mask = n % self.masks.max(1);
                let prefix = |less: u32| u32::MAX << less;
                let (of_a, of_b) = (prefix(mask % 16), prefix(mask / 16 % 16));
                let of_e = 0xff << (mask / 256 % 4) & 0xff;
                let (c, d) = (n.wrapping_mul(C) >> 16, n.wrapping_mul(D) >> 16);
                let port = |port: u32| match self.kind {
                    KeyKind::Range => {
                        format!("{}..{}", port.saturating_sub(700), (port + 900).min(0xffff))
                    }
                    _ => port.to_string(),
                };
                format!(
                    "{priority} a:{:#x}&&&{of_a:#x} b:{:#x}&&&{of_b:#x} c:{} d:{} e:{:#x}&&&{of_e:#x}",
                    a & of_a,
                    b & of_b,
                    port(c),
                    port(d),
                    n & 0xff & of_e
                )
            }
        }
    }
}

/// Computes the variable `wide` of the program.
fn wide(n: u32) -> u128 {
    let words = [
        1 << 29 | n.wrapping_mul(A) & u32::MAX >> 3,
        n.wrapping_mul(B),
        n.wrapping_mul(C),
        n.wrapping_mul(D),
    ];
    let words = words.into_iter();
    words.fold(0, |all, word| all << 32 | u128::from(word))
}

/// Returns the prefix length of an IPv4 route, distributed about as in tables of the Internet's routers.
fn length(n: u32) -> u32 {
    match n.wrapping_mul(C) >> 16 & 127 {
        0..70 => 24,
        70..84 => 23,
        84..100 => 22,
        100..108 => 21,
        108..114 => 20,
        114..119 => 19,
        few @ 119..124 => few - 119 + 14,
        more => more - 124 + 27,
    }
}

/// Returns the prefix length of an IPv6 route, likewise.
fn long_length(n: u32) -> u32 {
    match n.wrapping_mul(C) >> 16 & 127 {
        0..60 => 48,
        60..76 => 32,
        76..88 => 44,
        88..102 => 40,
        102..112 => 36,
        112..118 => 29,
        118..126 => 64,
        _ => 128,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn entries_have_as_many_masks_as_they_say() {
        let ternary = |case: &Case| case.kind == KeyKind::Ternary && case.entries <= 1_000;
        for case in cases().into_iter().filter(ternary) {
            let (text, numbers) = case.lines();
            assert_eq!(
                (text.lines().count() as u32, numbers),
                (case.entries, case.entries)
            );
            let masks = text.lines().map(|line| {
                let parts = line.split("&&&").skip(1);
                parts.map(|part| part.split(' ').next()).collect::<Vec<_>>()
            });
            let masks: BTreeSet<_> = masks.collect();
            assert_eq!(masks.len() as u32, case.masks, "{case:?}");
        }
    }

    #[test]
    fn prefixes_are_as_long_as_they_may_be() {
        for n in 0..10_000 {
            assert!((14..32).contains(&length(n)) && (29..=128).contains(&long_length(n)));
        }
    }
}
