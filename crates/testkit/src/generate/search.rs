//! Parser loop that searches byte by byte for a value, or runs an automaton. A counter may end it.

use super::{Generator, Model};
use std::fmt::Write;

/// Loop after all headers. It makes a header valid if it finds the value.
#[derive(Clone, Debug)]
pub struct Search {
    /// Initial value of the counter.
    first: String,
    body: LoopBody,
}

/// Body of the loop.
#[derive(Clone, Debug)]
enum LoopBody {
    /// States of an automaton.
    Automaton(String),
    Value {
        /// Select that continues with `look_at`, or ends the search. `None` if the counter does not end it.
        ends: Option<String>,
        /// Key of the select, and the value that is searched for.
        compared: [String; 2],
        /// Statement that changes the counter in each iteration.
        count: String,
    },
}

impl Search {
    /// Header types: one that is made where the value is found, and one for a byte.
    pub(super) const TYPE: &str = "header found_t {\n    bit<16> count;\n}\nheader byte_t {\n    bit<4> high;\n    bit<4> low;\n}\n";

    /// Fields of these types in the struct of headers.
    pub(super) const FIELD: &str = "    found_t found;\n    byte_t next;\n";

    /// Local variables: the counter, a byte, and the automaton's state.
    pub(super) const LOCAL: &str = "    bit<16> count;\n    bit<8> byte;\n    bit<8> mode;\n";

    /// Writes the states.
    pub(super) fn states(&self, out: &mut String) {
        let head = match &self.body {
            LoopBody::Automaton(states) => {
                out.push_str(states);
                "q_first"
            }
            LoopBody::Value {
                ends,
                compared: [key, value],
                count,
            } => {
                let head = if ends.is_some() { "look" } else { "look_at" };
                if let Some(select) = ends {
                    let _ = writeln!(
                        out,
                        "    state look {{\n        transition {select}\n    }}"
                    );
                }
                let _ = writeln!(
                    out,
                    "    state look_at {{\n        transition select({key}) {{\n            {value}: found;\n            \
                     default: next;\n        }}\n    }}\n    \
                     state next {{\n        packet.advance(8);\n        {count}\n        transition {head};\n    }}"
                );
                head
            }
        };
        let _ = writeln!(
            out,
            "    state search {{\n        count = {};\n        mode = 0;\n        transition {head};\n    }}\n    \
             state found {{\n        hdr.found.setValid();\n        hdr.found.count = count + (bit<16>)mode;\n        \
             transition accept;\n    }}",
            self.first
        );
    }
}

impl Generator<'_> {
    /// Adds a search wherever the parser would accept.
    pub(super) fn search(&mut self) {
        if matches!(self.program.model, Model::Copies) {
            return;
        }
        // Widths below and above those that are searched in groups, and longer than the steps of such a search.
        let widths = [
            8, 8, 16, 24, 64, 72, 80, 88, 96, 200, 5, 13, 31, 85, 264, 2040, 2048,
        ];
        let width = widths[self.below(widths.len())];
        let value = self.few_values(width);
        let mut key = format!("packet.lookahead<bit<{width}>>()");
        let compared = match self.below(7) {
            0 => format!("{value} &&& {}", self.few_values(width)),
            1 => format!("{value} &&& {}", self.few_holes(width)),
            2 => "0".into(),
            3 if width >= 16 => {
                key += "[12:3]";
                self.few_values(10)
            }
            _ => value,
        };
        let end = [0, 1, 9, 40, 300][self.below(5)];
        let counters = [
            (None, ""),
            (None, "count = count + 3;"),
            (Some(format!("count >= {end}")), "count = count - 1;"),
            (Some(format!("count != {end}")), "count = count - 1;"),
            (Some(format!("count + 3 <= {end}")), "count = count + 1;"),
            (Some(format!("count < {end}")), "count = count + 1;"),
        ];
        let (cond, count) = counters[self.below(counters.len())].clone();
        let ends = cond.map(|cond| {
            format!(
                "select({cond}) {{\n            true: look_at;\n            default: accept;\n        }}"
            )
        });
        let first = match self.below(3) {
            0 => self.any_leaf_of_first(),
            1 => "60".into(),
            _ => self.below(400).to_string(),
        };
        for transition in &mut self.program.transitions {
            if transition == "accept" {
                *transition = "search".into();
            }
        }
        let body = match self.chance(3) {
            true => LoopBody::Automaton(self.automaton()),
            false => LoopBody::Value {
                ends,
                compared: [key, compared],
                count: count.into(),
            },
        };
        self.program.search = Some(Search { first, body });
    }

    /// Returns a value whose parts are likely to occur in a packet that repeats a few bytes.
    fn few_values(&mut self, width: u32) -> String {
        let mut text = String::from("0b");
        let byte = format!("{:08b}", [0x61, 0x00, 0xff, 0x10][self.below(4)]);
        let other = format!("{:08b}", self.below(256));
        while text.len() < width as usize + 2 {
            text += if self.chance(3) { &other } else { &byte };
        }
        text.truncate(width as usize + 2);
        text
    }

    /// Returns a mask with few zeros.
    fn few_holes(&mut self, width: u32) -> String {
        let mut text = vec![b'1'; width as usize];
        for _ in 0..=self.below(3) {
            let at = self.below(text.len());
            let end = (at + 1 + self.below(12)).min(text.len());
            text[at..end].fill(b'0');
        }
        format!("0b{}", String::from_utf8_lossy(&text))
    }

    /// Returns a number from the packet's first header.
    fn any_leaf_of_first(&mut self) -> String {
        let field = self.below(self.fields_of(0).len());
        let (name, _) = self.fields_of(0)[field].clone();
        format!("(bit<16>)hdr.h0.{name}")
    }
}
