//! Parser states that form an automaton: each reads a byte, and leads to another one. A counter may end them. The
//! automaton's state is the parser state, or a variable that one parser state selects by.

use super::Generator;
use std::fmt::Write;

/// Variants of reading a byte: the read, the advance if it happens in the next parser state, and the select's keys.
const READS: [(&str, &str, &str); 3] = [
    (
        "packet.extract(hdr.next);",
        "",
        "hdr.next.high, hdr.next.low",
    ),
    (
        "byte = packet.lookahead<bit<8>>();\n        packet.advance(8);",
        "",
        "byte[7:4], byte[3:0]",
    ),
    (
        "byte = packet.lookahead<bit<8>>();",
        "packet.advance(8);",
        "byte[7:4], byte[3:0]",
    ),
];

const COUNTS: [&str; 4] = [
    "",
    "count = count - 1;",
    "count = count + 1;",
    "count = count + 3;",
];

impl Generator<'_> {
    /// Returns the states; `q_first` is the first one. They may lead to `found`, which the caller defines.
    pub(super) fn automaton(&mut self) -> String {
        let states = 1 + self.below(5);
        let (read, take, keys) = READS[self.below(READS.len())];
        let count = COUNTS[self.below(COUNTS.len())];
        let remembers = self.chance(3);
        // A byte that is taken after the select is counted there, too late for a select by the counter.
        let counter = count.ends_with("1;") && take.is_empty() && self.chance(2);
        let last = [0, 1, 7, 300][self.below(4)];
        let [before, behind] = match take.is_empty() {
            true => [count, ""],
            false => ["", count],
        };
        let mode = ["0", "0", "1", "(bit<8>)count"][self.below(4)];
        let mut out = format!(
            "    state q_first {{\n        mode = {mode};\n        transition q0;\n    }}\n"
        );
        let mut all = Vec::new();
        for state in 0..states {
            let mut cases = Vec::new();
            if counter && !self.chance(8) {
                cases.push(format!("_, _, {last}): {}", self.leaves()));
            }
            for number in 0..self.below(4).max(usize::from(state == 0)) {
                let keyset = format!("{}, {}", self.nibble(), self.nibble());
                // Some path must leave the automaton.
                let to = match (state, number) {
                    (0, 0) => self.leaves().into(),
                    _ => self.leads_to(states),
                };
                cases.push(format!(
                    "{keyset}{}): {to}",
                    if counter { ", _" } else { "" }
                ));
            }
            // Otherwise few packets would stay in the automaton.
            let rest = match self.below(4) {
                0 => self.leads_to(states),
                _ => format!("t{}", self.below(states)),
            };
            cases.push(format!("_, _{}): {rest}", if counter { ", _" } else { "" }));
            let keys = format!("{keys}{}", if counter { ", count" } else { "" });
            match remembers {
                true => all.extend(cases.iter().map(|case| format!("({state}, {case};"))),
                false => {
                    let cases = cases.iter().map(|case| format!("({case};"));
                    select(&mut out, &format!("q{state}"), [read, before], &keys, cases);
                }
            }
            let (set, next) = match remembers {
                true => (format!("mode = {state};"), "q0".into()),
                false => (String::new(), format!("q{state}")),
            };
            let _ = writeln!(
                out,
                "    state t{state} {{\n        {take}\n        {behind}\n        {set}\n        transition {next};\n    }}"
            );
        }
        if remembers {
            // The first value of `mode` need not be a state.
            all.push(format!(
                "(_, _, _{}): accept;",
                if counter { ", _" } else { "" }
            ));
            let keys = format!("mode, {keys}{}", if counter { ", count" } else { "" });
            select(&mut out, "q0", [read, before], &keys, all.into_iter());
        }
        out
    }

    fn leads_to(&mut self, states: usize) -> String {
        match self.below(2) {
            0 => self.leaves().into(),
            _ => format!("t{}", self.below(states)),
        }
    }

    fn leaves(&mut self) -> &'static str {
        ["accept", "reject", "found"][self.below(3)]
    }

    /// Returns a random set of 4-bit numbers.
    fn nibble(&mut self) -> String {
        let some = [0, 1, 6, 0xf][self.below(4)];
        match self.below(4) {
            0 => "_".into(),
            1 => format!("{some} &&& {}", self.below(16)),
            2 => format!("{} .. {}", self.below(8), 8 + self.below(8)),
            _ => some.to_string(),
        }
    }
}

/// Writes a state that reads, counts and selects.
fn select(
    out: &mut String,
    name: &str,
    [read, count]: [&str; 2],
    keys: &str,
    cases: impl Iterator<Item = String>,
) {
    let _ = writeln!(
        out,
        "    state {name} {{\n        {read}\n        {count}\n        transition select({keys}) {{"
    );
    for case in cases {
        let _ = writeln!(out, "            {case}");
    }
    out.push_str("        }\n    }\n");
}
