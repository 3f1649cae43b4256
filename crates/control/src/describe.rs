//! What a program offers the control plane, as JSON for other programs.

use crate::entry::{has_priorities, key_type, match_keys};
use crate::values::name as match_kind;
use ir::{CtorValue, Program, Table, Type};
use serde_json::{Value, json};

/// Tables, actions, extern objects (counters, registers, meters) and value sets by name.
///
/// `architecture` is the package's name. `tables` have `name`, `key` (each with `name`, `type`, `width` in bits and
/// `match`), `actions` (each with `name`, and whether it may stand `in_entries` and `as_default`), `needs_priority`,
/// `default_action` and `entries` as `onpath table` shows them, `const_default_action`, `const_entries`, and `size`
/// or null. `actions` have `name` and `params` (`name`, `type`), `externs` have `name`, `type` and the constructor's
/// `args` by name, `value_sets` have `name`, `fields` (`name`, `type`, `match`) and `size`.
pub fn describe(program: &Program) -> Value {
    let tables: Vec<Value> = program.tables.keys().map(|id| table(program, id)).collect();
    let actions: Vec<Value> = program
        .actions
        .values()
        .map(|action| {
            let params: Vec<Value> = action
                .params
                .iter()
                .map(|&param| {
                    let var = &program.vars[param];
                    json!({ "name": var.name.as_str(), "type": type_name(program, var.ty) })
                })
                .collect();
            json!({ "name": action.name.as_str(), "params": params })
        })
        .collect();
    let externs: Vec<Value> = program
        .externs
        .values()
        .map(|object| {
            let args: serde_json::Map<String, Value> = object
                .args
                .iter()
                .map(|(name, value)| (name.to_string(), ctor_value(program, value)))
                .collect();
            json!({ "name": object.name.as_str(), "type": object.ty.as_str(), "args": args })
        })
        .collect();
    let sets: Vec<Value> = program
        .value_sets
        .values()
        .map(|set| {
            let fields: Vec<Value> = set
                .fields
                .iter()
                .map(|(name, ty, kind)| {
                    json!({
                        "name": name.as_str(),
                        "type": type_name(program, *ty),
                        "match": match_kind(*kind),
                    })
                })
                .collect();
            json!({ "name": set.name.as_str(), "fields": fields, "size": set.size })
        })
        .collect();
    json!({
        "architecture": program.arch.as_str(),
        "tables": tables,
        "actions": actions,
        "externs": externs,
        "value_sets": sets,
    })
}

fn table(program: &Program, id: Table) -> Value {
    let data = &program.tables[id];
    let keys: Vec<Value> = match_keys(data)
        .map(|key| {
            json!({
                "name": key.name.as_str(),
                "type": type_name(program, key_type(program, key)),
                "width": key_type(program, key).width(),
                "match": match_kind(key.kind),
            })
        })
        .collect();
    let actions: Vec<Value> = data
        .actions
        .iter()
        .map(|a| {
            json!({
                "name": program.actions[a.action].name.as_str(),
                "in_entries": !a.default_only,
                "as_default": !a.table_only,
            })
        })
        .collect();
    json!({
        "name": data.name.as_str(),
        "key": keys,
        "actions": actions,
        "needs_priority": has_priorities(data),
        "default_action": crate::entry::show_action(program, id, &data.default_action),
        "const_default_action": data.const_default,
        "const_entries": data.const_entries,
        "entries": data.entries.iter().map(|e| crate::entry::show_entry(program, id, e)).collect::<Vec<_>>(),
        "size": data.size,
    })
}

fn ctor_value(program: &Program, value: &CtorValue) -> Value {
    match value {
        CtorValue::Int(int) => {
            u64::try_from(int).map_or_else(|_| json!(int.to_string()), |n| json!(n))
        }
        CtorValue::Bool(value) => json!(value),
        CtorValue::String(text) => json!(text),
        CtorValue::Member(id, index) => {
            json!(
                program.enums[*id]
                    .members
                    .get(*index as usize)
                    .map(|m| m.as_str())
            )
        }
        CtorValue::Extern(id) => json!(program.externs[*id].name.as_str()),
        CtorValue::Absent => Value::Null,
    }
}

/// A type as P4 writes it.
pub fn type_name(program: &Program, ty: Type) -> String {
    match ty {
        Type::Bool => "bool".to_string(),
        Type::Bits {
            width,
            signed: false,
        } => format!("bit<{width}>"),
        Type::Bits {
            width,
            signed: true,
        } => format!("int<{width}>"),
        Type::Varbit(width) => format!("varbit<{width}>"),
        Type::Error => "error".to_string(),
        Type::Enum(id) => program.enums[id].name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn everything_that_the_control_plane_can_name() {
        let shown = format!("{:#}\n", describe(&sample::program()));
        let expected = include_str!("describe_sample.json");
        if std::env::var_os("ONPATH_BLESS").is_some() {
            let here = concat!(env!("CARGO_MANIFEST_DIR"), "/src/describe_sample.json");
            std::fs::write(here, shown).unwrap();
        } else {
            assert_eq!(shown, expected);
        }
    }
}
