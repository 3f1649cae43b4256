//! Description of keys and values for the control plane.

use emit::table::key::{KeyLayout, KeyPart};
use emit::table::value::{ActionLayout, REFERENCE_ID, ValueLayout};
use ir::{Program, TableData};
use layout::{ActionAbi, DefaultAbi, KeyAbi, LookupAbi, TableAbi, ValueAbi};

/// Adds the tables that the program never applies, which have no memory, and sorts all tables by index.
pub fn complete(applied: &mut Vec<TableAbi>, program: &Program) {
    for (table, data) in program.tables.iter() {
        let index = table.as_u32();
        if applied.iter().all(|known| known.index != index) {
            applied.push(TableAbi {
                index,
                name: data.name.to_string(),
                capacity: 0,
                lookup: LookupAbi::Compiled,
                default: DefaultAbi::Const,
                preload: false,
                direct: None,
                members: None,
            });
        }
    }
    applied.sort_by_key(|table| table.index);
}

/// Describes a key.
pub(crate) fn key(layout: &KeyLayout, parts: &[KeyPart]) -> KeyAbi {
    let forms = layout.fields.iter().map(|(_, form)| *form);
    let fields = parts.iter().zip(forms).zip(&layout.offsets);
    KeyAbi {
        size: layout.record.size,
        fields: fields
            .map(|((part, form), &at)| form.field(&part.name, at))
            .collect(),
    }
}

/// Describes a table's value.
pub(crate) fn value(p: &Program, data: &TableData, layout: &ValueLayout) -> ValueAbi {
    let params = |index: usize, laid_out: &ActionLayout| {
        let params = laid_out.params.iter().enumerate();
        // A reference to a member or group has an id as its only parameter.
        let named = data.actions.get(index);
        let vars = named.map(|listed| &p.actions[listed.action].params);
        let name = |i: usize| vars.map_or(REFERENCE_ID, |vars| p.vars[vars[i]].name.as_str());
        params
            .map(|(i, param)| param.form.field(name(i), param.offset))
            .collect()
    };
    ValueAbi {
        size: layout.size,
        priority_offset: layout.priority_offset,
        action_offset: layout.action_offset,
        number_offset: layout.number_offset,
        actions: layout
            .actions
            .iter()
            .enumerate()
            .map(|(i, action)| ActionAbi {
                name: action.name.to_string(),
                params: params(i, action),
            })
            .collect(),
    }
}
