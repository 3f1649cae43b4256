//! States that take a byte each and lead to one another, maybe with a counter that ends them: one for each thing that they remember, or
//! one with a variable that does.

use super::Generator;
use std::fmt::Write;

/// How states read their byte, what takes it there or in the state behind, and the select's keys for it.
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
    /// The states, of which `q_first` is the first one. `found` is one of those that they lead to.
    pub(super) fn automaton(&mut self) -> String {
        let states = 1 + self.below(5);
        let (read, take, keys) = READS[self.below(READS.len())];
        let count = COUNTS[self.below(COUNTS.len())];
        let remembers = self.chance(3);
        // What is taken behind the select is counted there.
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
                // A parser must end somewhere.
                let to = match (state, number) {
                    (0, 0) => self.leaves().into(),
                    _ => self.leads_to(states),
                };
                cases.push(format!(
                    "{keyset}{}): {to}",
                    if counter { ", _" } else { "" }
                ));
            }
            // A few packets must be left to go on.
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
            // What it was set to at first need not be a state.
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

    /// A set of numbers of four bits.
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

/// A state that does something and selects.
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
