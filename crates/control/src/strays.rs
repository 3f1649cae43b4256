//! Warnings about ports that entries send packets to, and that the program does not have.

use crate::Change;
use diag::{Diagnostic, Span};
use schema::{ActionCall, Bits, Schema};
use std::collections::BTreeSet;

/// Returns the ports that the arguments of a change's action name.
pub fn ports_named(schema: &Schema, change: &Change) -> Vec<u32> {
    let (table, call): (_, &ActionCall) = match change {
        Change::Insert(table, entry) | Change::Modify(table, entry) => (*table, &entry.action),
        Change::SetDefault(table, action) => (*table, action),
        _ => return Vec::new(),
    };
    let params = schema.called(table, call).params.iter().zip(&call.args);
    let ports = params.filter(|(param, _)| param.port);
    ports
        .filter_map(|(_, value)| Bits::to_u64(value).and_then(|port| u32::try_from(port).ok()))
        .collect()
}

/// Warnings about ports that a program does not have, one for each port.
#[derive(Debug)]
pub struct Strays {
    known: BTreeSet<u32>,
    /// Ports that are not reported (again), among them the one that drops packets on purpose.
    passed: BTreeSet<u32>,
}

impl Strays {
    /// Watches for ports other than `known`, and other than `drop_port`, by which the program's architecture drops
    /// packets. If `known` is empty, the program's ports are unknown and nothing is reported.
    pub fn new(known: impl IntoIterator<Item = u32>, drop_port: Option<u32>) -> Strays {
        Strays {
            known: known.into_iter().collect(),
            passed: drop_port.into_iter().collect(),
        }
    }

    /// Returns the warnings about a change: one for each unknown port that no change named before.
    pub fn of(&mut self, schema: &Schema, change: &Change, span: Span) -> Vec<Diagnostic> {
        if self.known.is_empty() {
            return Vec::new();
        }
        let mut warnings = Vec::new();
        for port in ports_named(schema, change) {
            if !self.known.contains(&port) && self.passed.insert(port) {
                warnings.push(self.warning(port, span));
            }
        }
        warnings
    }

    fn warning(&self, stray: u32, span: Span) -> Diagnostic {
        let known: Vec<String> = self.known.iter().map(u32::to_string).collect();
        let warning = Diagnostic::warning(
            "W0985",
            span,
            format!(
                "port {stray} is none of the program's, which has {}",
                known.join(", ")
            ),
        );
        warning.help(format!(
            "packets that are sent there are lost: `onpath port add {stray} IF` gives the port an interface (`--reach` if the program only \
             sends there), and so do `--port {stray}=IF` and `--reach {stray}=IF` of `onpath run`"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::{Entry, Field, Type};

    #[test]
    fn each_port_that_there_is_not_is_warned_of_once() {
        let mut schema = (**crate::sample::schema()).clone();
        let (table, data) = schema.tables.iter().next().expect("one");
        let action = data.actions[0].action;
        let ports = ["to", "or"].map(|name| {
            let mut port = Field::new(name, Type::bit(9));
            port.port = true;
            port
        });
        let [to, or] = ports;
        schema.actions[action].params = vec![Field::new("from", Type::bit(9)), to, or];
        let change = |to: u32, or: u32| {
            let args = [8, to, or].map(|port| Bits::new(9, port)).to_vec();
            let action = ActionCall { action: 0, args };
            Change::Insert(
                table,
                Entry {
                    keys: Vec::new(),
                    priority: 0,
                    action,
                    is_const: false,
                },
            )
        };
        assert_eq!(ports_named(&schema, &change(7, 1)), [7, 1]);
        let mut strays = Strays::new([0, 1], Some(511));
        let mut warned = |to, or| -> Vec<String> {
            let warnings = strays.of(&schema, &change(to, or), Span::NONE);
            warnings.into_iter().map(|w| w.message).collect()
        };
        let expected =
            [7, 6, 5].map(|port| format!("port {port} is none of the program's, which has 0, 1"));
        assert_eq!(warned(1, 1).len(), 0);
        assert_eq!(warned(7, 6), expected[..2]);
        assert_eq!(warned(7, 5), expected[2..]);
        assert_eq!(warned(511, 0).len(), 0, "it drops packets on purpose");
        let without = Strays::new([0, 1], None).of(&schema, &change(511, 0), Span::NONE);
        assert_eq!(without.len(), 1);
        assert_eq!(
            Strays::new([], None).of(&schema, &change(7, 6), Span::NONE),
            []
        );
    }
}
