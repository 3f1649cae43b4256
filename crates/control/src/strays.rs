//! Ports that entries send packets to, and that a program does not have.

use crate::Change;
use diag::{Diagnostic, Span};
use schema::{ActionCall, Bits, Schema};
use std::collections::BTreeSet;

/// The ports that the arguments of a change's action name.
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

/// Warnings of ports that a program does not have, one each.
#[derive(Debug)]
pub struct Strays {
    known: BTreeSet<u32>,
    warned: BTreeSet<u32>,
}

impl Strays {
    /// Watches for ports other than these. Without any, nothing is known of them.
    pub fn new(known: impl IntoIterator<Item = u32>) -> Strays {
        Strays {
            known: known.into_iter().collect(),
            warned: BTreeSet::new(),
        }
    }

    /// A warning of a change at a location that names a port for the first time which is none.
    pub fn of(&mut self, schema: &Schema, change: &Change, span: Span) -> Option<Diagnostic> {
        if self.known.is_empty() {
            return None;
        }
        let mut named = ports_named(schema, change).into_iter();
        let stray = named.find(|port| !self.known.contains(port) && !self.warned.contains(port))?;
        let known: Vec<String> = self.known.iter().map(u32::to_string).collect();
        let warning = Diagnostic::warning(
            "W0985",
            span,
            format!(
                "port {stray} is none of the program's, which has {}",
                known.join(", ")
            ),
        );
        self.warned.insert(stray);
        Some(warning.help(format!(
            "packets that are sent there are lost: `onpath port add {stray} IF` gives the port an interface (`--reach` if the program only \
             sends there), and so do `--port {stray}=IF` and `--reach {stray}=IF` of `onpath run`"
        )))
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
        let mut port = Field::new("to", Type::bit(9));
        port.port = true;
        schema.actions[action].params = vec![Field::new("from", Type::bit(9)), port];
        let change = |to: u32| {
            let args = vec![Bits::new(9, 8u32), Bits::new(9, to)];
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
        assert_eq!(ports_named(&schema, &change(7)), [7]);
        let mut strays = Strays::new([0, 1]);
        let mut warned = |to| {
            strays
                .of(&schema, &change(to), Span::NONE)
                .map(|w| w.message)
        };
        assert_eq!(warned(1), None);
        let expected = "port 7 is none of the program's, which has 0, 1";
        assert_eq!(warned(7).as_deref(), Some(expected));
        assert_eq!(warned(7), None);
        assert_eq!(Strays::new([]).of(&schema, &change(7), Span::NONE), None);
    }
}
