//! State by flow: single calls and calls in atomic blocks. Keys have few values, so that flows recur.

use super::{Generator, Stmt};
use std::fmt::Write;

/// Flow state of a program.
#[derive(Clone, Debug)]
pub struct Flows {
    /// Widths of the key's fields.
    pub key: Vec<u32>,
    /// Widths of the value's fields.
    pub value: Vec<u32>,
    /// Constructor arguments.
    pub args: &'static str,
}

impl Flows {
    /// Writes the structs of key and value, which stand before the control.
    pub(super) fn types(&self, out: &mut String) {
        for (name, widths) in [("key", &self.key), ("value", &self.value)] {
            let _ = writeln!(out, "struct {name}_t {{");
            for (i, width) in widths.iter().enumerate() {
                let _ = writeln!(out, "    bit<{width}> f{i};");
            }
            *out += "}\n";
        }
    }

    /// Writes the instance and its variables, which stand in the control.
    pub(super) fn locals(&self, out: &mut String) {
        let zeros = |widths: &[u32]| {
            let each = widths.iter().map(|w| format!("{w}w0"));
            each.collect::<Vec<_>>().join(", ")
        };
        let _ = writeln!(
            out,
            "    flow_state<key_t, value_t>({}) flows;\n    key_t key = {{ {} }};\n    value_t value = {{ {} }};",
            self.args,
            zeros(&self.key),
            zeros(&self.value)
        );
    }
}

impl Generator<'_> {
    /// Returns a random flow state. The timeouts fit the packets of a run, which are 1 µs apart.
    pub(super) fn flow_state(&mut self) -> Flows {
        let widths = |g: &mut Self| (0..1 + g.below(3)).map(|_| g.width()).collect();
        Flows {
            key: widths(self),
            value: widths(self),
            args: ["8", "16", "16, 40000", "64, 5000"][self.below(4)],
        }
    }

    /// Returns a statement about flows, if the program keeps any.
    pub(super) fn about_flows(&mut self, depth: usize) -> Option<Stmt> {
        let flows = self.program.flows.clone()?;
        Some(match self.below(6) {
            0 | 1 => {
                let each: Vec<String> = flows.key.iter().map(|&w| self.key_field(w)).collect();
                Stmt::Plain(format!("key = {{ {} }};", each.join(", ")))
            }
            2 | 3 if depth > 0 => {
                let count = 1 + self.below(4);
                Stmt::Atomic(self.locked(count, 2))
            }
            _ => self.flow_call(),
        })
    }

    /// Returns an expression for a field of the key. It has few values, so that keys recur.
    fn key_field(&mut self, width: u32) -> String {
        let few = ["0", "1", "3"][self.below(3)];
        let mask = if width == 1 { "1" } else { few };
        format!("({}) & {width}w{mask}", self.expr(width, 1))
    }

    fn flow_call(&mut self) -> Stmt {
        let (target, width) = self.target();
        Stmt::Plain(match self.below(5) {
            0 => format!("{target} = (bit<{width}>)(flows.lookup(key, value) ? 1w1 : 0);"),
            1 => format!("{target} = (bit<{width}>)(flows.remove(key) ? 1w1 : 0);"),
            2 => "flows.lookup(key, value);".into(),
            _ => "flows.update(key, value);".into(),
        })
    }

    /// Returns statements for an atomic block.
    fn locked(&mut self, count: usize, depth: usize) -> Vec<Stmt> {
        let mut block = Vec::new();
        for _ in 0..count {
            block.push(match self.below(8) {
                0 | 1 if depth > 0 => {
                    let cond = match self.below(3) {
                        0 => "flows.lookup(key, value)".into(),
                        1 => "!flows.lookup(key, value)".into(),
                        _ => self.condition(1),
                    };
                    let then = self.locked(2, depth - 1);
                    let otherwise = self.locked(1, depth - 1);
                    Stmt::If(cond, then, otherwise)
                }
                2 | 3 => self.flow_call(),
                4 | 5 => self.value_field(),
                _ => self.assignment(),
            });
        }
        block
    }

    fn value_field(&mut self) -> Stmt {
        let widths = self.program.flows.as_ref().map(|f| f.value.clone());
        let widths = widths.unwrap_or_default();
        let field = self.below(widths.len());
        let width = widths[field];
        Stmt::Plain(if self.chance(3) {
            let (target, to) = self.target();
            format!("{target} = (bit<{to}>)value.f{field};")
        } else {
            let by = self.expr(width, 1);
            format!("value.f{field} = value.f{field} + {by};")
        })
    }
}
