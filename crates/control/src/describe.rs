//! Description of a program's control-plane interface, as JSON for other programs.

use crate::entry::{show_action, show_entry};
use crate::json::{json_field, json_key};
use schema::{Argument, Field, ObjectKind, ObjectSchema, Schema, Table};
use serde_json::{Map, Value, json};

/// Returns tables, actions, extern objects (counters, registers, meters), value sets and digests by name, each with the
/// `id` that P4Runtime gives it (0 if it gives none).
///
/// `architecture` is the package's name. `tables` have `id`, `name`, `key` (scalars with `match`), `actions` (each with
/// `name`, and whether it is allowed `in_entries` and `as_default`), `needs_priority`, `default_action` and `entries`
/// as `onpath table` shows them, `const_default_action`, `const_entries`, `size` or null, and `profile`, the action
/// profile or selector, or null. `actions` have `id`, `name` and `params` (scalars). `externs` have `id`, `name`,
/// `type`, the constructor's `args` by name, and their contents: `size`, `unit`, `element`, `key` and `value`
/// (scalars), or the `actions` that members may run. `value_sets` have `id`, `name`, `fields` (scalars with `match`)
/// and `size`. `digests` have `id`, `name` and `fields` (scalars). `clones` is true if clone sessions have an effect. A
/// scalar has `id`, `name`, `type`, `width` in bits, and `type_name`, `format` and `translation` if its declaration
/// gives them.
pub fn describe(schema: &Schema) -> Value {
    let actions = schema.actions.values().map(|action| {
        json!({
            "id": action.id,
            "name": action.name.as_str(),
            "params": scalars(schema, &action.params),
        })
    });
    let sets = schema.value_sets.values().map(|set| {
        let fields = set.fields.iter().map(|field| json_key(schema, field));
        json!({
            "id": set.id,
            "name": set.name.as_str(),
            "fields": fields.collect::<Vec<_>>(),
            "size": set.size,
        })
    });
    let digests = schema.digests.iter().map(|digest| {
        json!({
            "id": digest.id,
            "name": digest.name.as_str(),
            "fields": scalars(schema, &digest.fields),
        })
    });
    let tables = schema.tables.keys().map(|id| table(schema, id));
    let externs = schema.objects.values().map(|data| object(schema, data));
    json!({
        "architecture": schema.arch.as_str(),
        "tables": tables.collect::<Vec<_>>(),
        "actions": actions.collect::<Vec<_>>(),
        "externs": externs.collect::<Vec<_>>(),
        "value_sets": sets.collect::<Vec<_>>(),
        "digests": digests.collect::<Vec<_>>(),
        "clones": schema.clones,
    })
}

fn scalars(schema: &Schema, fields: &[Field]) -> Vec<Value> {
    fields.iter().map(|f| json_field(schema, f)).collect()
}

fn table(schema: &Schema, id: Table) -> Value {
    let data = &schema.tables[id];
    let keys = data.match_keys().map(|key| json_key(schema, key));
    let actions = data.actions.iter().map(|a| {
        json!({
            "name": schema.actions[a.action].name.as_str(),
            "in_entries": !a.default_only,
            "as_default": !a.table_only,
        })
    });
    let entries = data.entries.iter().map(|e| show_entry(schema, id, e));
    json!({
        "id": data.id,
        "name": data.name.as_str(),
        "key": keys.collect::<Vec<_>>(),
        "actions": actions.collect::<Vec<_>>(),
        "needs_priority": data.has_priorities(),
        "default_action": show_action(schema, id, &data.default_action),
        "const_default_action": data.const_default,
        "const_entries": data.const_entries,
        "entries": entries.collect::<Vec<_>>(),
        "size": data.size,
        "profile": schema.profile_of(id).map(|profile| schema.objects[profile].name.as_str()),
    })
}

fn object(schema: &Schema, data: &ObjectSchema) -> Value {
    let args = data.args.iter();
    let args: Map<String, Value> = args
        .map(|(name, value)| (name.to_string(), argument(schema, value)))
        .collect();
    let mut shown = json!({
        "id": data.id,
        "name": data.name.as_str(),
        "type": data.extern_name.as_str(),
        "args": args,
    });
    match &data.kind {
        ObjectKind::Counter { size, unit } | ObjectKind::Meter { size, unit } => {
            shown["size"] = json!(size);
            shown["unit"] = json!(unit);
        }
        ObjectKind::DirectCounter { unit } | ObjectKind::DirectMeter { unit } => {
            shown["unit"] = json!(unit);
        }
        ObjectKind::Register { size, element } => {
            shown["size"] = json!(size);
            shown["element"] = json!(scalars(schema, element));
        }
        ObjectKind::FlowState { key, value } => {
            shown["key"] = json!(scalars(schema, key));
            shown["value"] = json!(scalars(schema, value));
        }
        ObjectKind::Metrics { kind, key } => {
            shown["metric"] = json!(kind);
            shown["key"] = json!(scalars(schema, key));
        }
        ObjectKind::ActionProfile(profile) | ObjectKind::ActionSelector(profile) => {
            let actions = profile.actions.iter();
            let actions = actions.map(|action| schema.actions[*action].name.as_str());
            shown["size"] = json!(profile.size);
            shown["actions"] = json!(actions.collect::<Vec<_>>());
        }
        ObjectKind::NameSet { size } | ObjectKind::PatternSet { size } => {
            shown["size"] = json!(size)
        }
        ObjectKind::Other => {}
    }
    shown
}

fn argument(schema: &Schema, value: &Argument) -> Value {
    match value {
        Argument::Int(int) => {
            u64::try_from(int).map_or_else(|_| json!(int.to_string()), |n| json!(n))
        }
        Argument::Bool(value) => json!(value),
        Argument::String(text) => json!(text),
        Argument::Member(id, index) => {
            let members = &schema.enums[*id].members;
            json!(members.get(*index as usize).map(|m| m.as_str()))
        }
        Argument::Object(id) => json!(schema.objects[*id].name.as_str()),
        Argument::Absent => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn everything_that_the_control_plane_can_name() {
        let shown = format!("{:#}\n", describe(sample::schema()));
        let expected = include_str!("describe_sample.json");
        if std::env::var_os("ONPATH_BLESS").is_some() {
            let here = concat!(env!("CARGO_MANIFEST_DIR"), "/src/describe_sample.json");
            std::fs::write(here, shown).unwrap();
        } else {
            assert_eq!(shown, expected);
        }
    }
}
