//! Tables: keys of all match kinds, alone and mixed, const entries, and the statements that apply them.

use super::{Generator, Stmt};
use rand::seq::IndexedRandom;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Table of a generated program.
#[derive(Clone, Debug)]
pub struct Table {
    /// Expression, match kind and width of each key.
    pub keys: Vec<(String, &'static str, u32)>,
    /// Indices of its actions.
    pub actions: Vec<usize>,
    /// Arguments of its default action.
    pub default: String,
    /// Its `const entries`, in P4. If there are none, the control plane fills the table.
    pub entries: Vec<String>,
}

/// Match kinds that the keys of one table are drawn from. `lpm` occurs at most once.
const KINDS: [&[&str]; 8] = [
    &["lpm"],
    &["exact", "ternary", "exact"],
    &["ternary"],
    &["exact"],
    &["lpm", "ternary"],
    &["lpm", "optional"],
    &["lpm", "exact", "optional", "ternary"],
    &["range", "lpm", "optional"],
];

impl Generator<'_> {
    /// Returns a statement that applies a table. Tables may be applied several times.
    pub(super) fn apply(&mut self, table: usize, depth: usize) -> Stmt {
        match self.below(3) {
            0 if depth > 0 => {
                let then = self.nested(depth - 1, None);
                let otherwise = self.nested(depth - 1, None);
                Stmt::If(format!("t{table}.apply().hit"), then, otherwise)
            }
            1 if depth > 0 => {
                let actions = self.program.tables[table].actions.clone();
                let mut cases = Vec::new();
                for action in actions.into_iter().take(2) {
                    cases.push((format!("a{action}"), self.nested(depth - 1, None)));
                }
                cases.push(("default".into(), self.nested(depth - 1, None)));
                Stmt::Switch(format!("t{table}.apply().action_run"), cases)
            }
            _ => Stmt::Plain(format!("t{table}.apply();")),
        }
    }

    pub(super) fn table(&mut self) -> Table {
        let mut keys = Vec::new();
        let kinds = *KINDS.choose(self.random).expect("kinds");
        let mut lpm = false;
        for _ in 0..1 + self.below(3) {
            let mut kind = *kinds.choose(self.random).expect("kinds");
            if kind == "lpm" && lpm {
                kind = kinds
                    .last()
                    .filter(|&&last| last != kind)
                    .unwrap_or(&"exact");
            }
            lpm |= kind == "lpm";
            let earlier = self.program.tables.len();
            if self.program.language.is_some() && earlier > 0 && self.chance(6) {
                let applied = self.below(earlier);
                keys.push((format!("((bit<1>)t{applied}.apply().hit)"), kind, 1));
                continue;
            }
            let width = self.width();
            keys.push((self.expr(width, 1), kind, width));
        }
        let mut actions: Vec<usize> = (0..self.program.actions.len()).collect();
        actions.truncate(1 + self.below(3));
        let default = self.arguments(actions[0]);
        let entries = match self.chance(3) {
            true => self.entries(&keys, &actions),
            false => Vec::new(),
        };
        Table {
            keys,
            actions,
            default,
            entries,
        }
    }

    fn arguments(&mut self, action: usize) -> String {
        let widths = self.program.actions[action].0.clone();
        let args: Vec<String> = widths.into_iter().map(|w| self.constant(w)).collect();
        args.join(", ")
    }

    /// Returns const entries; no two have the same keys.
    fn entries(&mut self, keys: &[(String, &'static str, u32)], actions: &[usize]) -> Vec<String> {
        let mut entries = Vec::new();
        let mut seen = BTreeSet::new();
        for _ in 0..1 + self.below(8) {
            let parts = keys
                .iter()
                .map(|&(_, kind, width)| self.key_set(kind, width));
            let parts: Vec<String> = parts.collect();
            let action = *actions.choose(self.random).expect("an action at least");
            let args = self.arguments(action);
            let set = match &parts[..] {
                [one] => one.clone(),
                several => format!("({})", several.join(", ")),
            };
            if seen.insert(set.clone()) {
                entries.push(format!("{set} : a{action}({args});"));
            }
        }
        entries
    }

    /// Returns the keyset of one key of a const entry. Equal sets have equal text.
    fn key_set(&mut self, kind: &str, width: u32) -> String {
        let value = self.number(width);
        let ones = u128::MAX >> (128 - width);
        let under = |mask: u128| match mask {
            0 => "_".to_owned(),
            _ => format!("{width}w{:#x} &&& {width}w{mask:#x}", value & mask),
        };
        match kind {
            "lpm" => {
                let length = self.below(width as usize + 1) as u32;
                under(ones & ones.checked_shl(width - length).unwrap_or(0))
            }
            "ternary" => under(self.number(width)),
            "optional" if self.chance(3) => "_".to_owned(),
            "range" => {
                let other = self.number(width);
                let (low, high) = (value.min(other), value.max(other));
                format!("{width}w{low:#x} .. {width}w{high:#x}")
            }
            _ => format!("{width}w{value:#x}"),
        }
    }
}

impl Table {
    /// Writes the declaration of table `t{number}`.
    pub(super) fn print(&self, number: usize, out: &mut String) {
        let _ = writeln!(out, "    table t{number} {{\n        key = {{");
        for (k, (key, kind, _)) in self.keys.iter().enumerate() {
            // Some computed keys have no name: the compiler names them.
            let name = match key.starts_with('(') && k % 2 == 1 {
                true => String::new(),
                false => format!(" @name(\"k{k}\")"),
            };
            let _ = writeln!(out, "            {key} : {kind}{name};");
        }
        let actions: Vec<String> = self.actions.iter().map(|a| format!("a{a};")).collect();
        let _ = writeln!(
            out,
            "        }}\n        actions = {{ {} }}\n        default_action = a{}({});",
            actions.join(" "),
            self.actions[0],
            self.default
        );
        if self.entries.is_empty() {
            *out += "        size = 64;\n";
        } else {
            *out += "        const entries = {\n";
            for entry in &self.entries {
                let _ = writeln!(out, "            {entry}");
            }
            *out += "        }\n";
        }
        *out += "    }\n";
    }
}
