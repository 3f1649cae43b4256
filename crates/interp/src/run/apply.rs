//! Application of tables.

use super::{ControlFlow, Run};
use crate::table::Chosen;
use crate::trace::{Named, TraceKind};
use control::values::{show_match, show_value};
use cranelift_entity::EntityRef;
use diag::Span;
use ir::{Bits, Table, Value, Var};

impl Run<'_> {
    pub(super) fn apply(
        &mut self,
        table: Table,
        hit: Option<Var>,
        action: Option<Var>,
        span: Span,
    ) -> ControlFlow {
        let p = self.p;
        let data = &p.tables[table];
        let key: Vec<Bits> = data
            .keys
            .iter()
            .map(|key| self.eval(key.expr).to_bits())
            .collect();
        let state = &self.it.tables[table.index()];
        let found = state.lookup(&key);
        let chosen = state.chosen(found, &key, &self.it.externs);
        let index = chosen.action;
        let Some(run) = data
            .actions
            .get(index as usize)
            .map(|a| &p.actions[a.action])
        else {
            return ControlFlow::Next;
        };
        for (&param, bits) in run.params.iter().zip(chosen.args) {
            let value = Value::from_bits(bits, p.vars[param].ty);
            self.it.storage.set_var(param, value);
        }
        if self.it.sink.is_some() {
            let event = self.table_event(table, &key, found, &chosen);
            self.trace(span, |_| event);
        }
        let color = found.and_then(|id| {
            self.it.tables[table.index()].hit(id, self.now, self.packet.len() as u64)
        });
        let outer = std::mem::replace(&mut self.color, color);
        let flow = match self.block(&run.body) {
            ControlFlow::Return => ControlFlow::Next,
            flow => flow,
        };
        self.color = outer;
        if let Some(var) = hit {
            let value = Value::Bool(found.is_some());
            self.it.storage.set_var(var, value);
        }
        self.set_number(action, index.into());
        flow
    }

    fn table_event(
        &self,
        table: Table,
        key: &[Bits],
        found: Option<u64>,
        chosen: &Chosen<'_>,
    ) -> TraceKind {
        let schema = &*self.it.schema;
        let data = &schema.tables[table];
        let keys = data.keys.iter().zip(key).map(|(key, bits)| Named {
            name: key.field.name.to_string(),
            value: show_value(schema, &key.field, bits),
        });
        let entry = found.map(|id| {
            let entry = &self.it.tables[table.index()].entry(id).entry;
            data.match_keys()
                .zip(&entry.keys)
                .map(|(key, found)| Named {
                    name: key.field.name.to_string(),
                    value: show_match(schema, key, found),
                })
                .collect()
        });
        let action = &schema.actions[data.actions[chosen.action as usize].action];
        let args = action.params.iter().zip(chosen.args);
        let args = args.map(|(param, bits)| Named {
            name: param.name.to_string(),
            value: show_value(schema, param, bits),
        });
        TraceKind::Table {
            table: data.name.to_string(),
            keys: keys.collect(),
            hit: found.is_some(),
            entry,
            group: chosen.group,
            member: chosen.member,
            action: action.name.to_string(),
            args: args.collect(),
        }
    }
}
