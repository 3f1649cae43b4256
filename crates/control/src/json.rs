//! Values, matches and entries as JSON for other programs.
//!
//! Numbers are JSON numbers, except those that do not fit 64 bits, which are text in hexadecimal. Addresses, members of
//! enums and errors are text, in the form that commands accept. An exact match is its value, and a match of anything is
//! `null`. Any other match is an object: `value` and `prefix`, `value` and `mask`, or `low` and `high`.

use crate::values::show_value;
use schema::{
    ActionCall, ActionSchema, Bits, Entry, Field, KeyMatch, KeySchema, Schema, Table, Type,
};
use serde_json::{Map, Value, json};

/// Returns a value as JSON.
pub fn json_value(schema: &Schema, field: &Field, value: &Bits) -> Value {
    let text = || show_value(schema, field, value);
    match field.ty {
        Type::Bool => json!(!value.is_zero()),
        Type::Error | Type::Enum(_) => json!(text()),
        Type::Bits { signed: true, .. } => {
            i64::try_from(value.to_signed()).map_or_else(|_| json!(text()), |n| json!(n))
        }
        Type::Bits { .. } | Type::Varbit(_) => {
            let text = text();
            // Anything but an address is a number; most are shown in decimal, large ones in hexadecimal.
            match value.to_u64() {
                Some(number) if !text.contains(['.', ':']) => json!(number),
                _ => json!(text),
            }
        }
    }
}

/// Returns an entry's match for a key as JSON.
pub fn json_match(schema: &Schema, key: &KeySchema, found: &KeyMatch) -> Value {
    let value = |v: &Bits| json_value(schema, &key.field, v);
    match found {
        KeyMatch::Exact(v) => value(v),
        KeyMatch::Lpm(v, length) => json!({ "value": value(v), "prefix": length }),
        KeyMatch::Ternary(v, mask) => json!({ "value": value(v), "mask": value(mask) }),
        KeyMatch::Range(low, high) => json!({ "low": value(low), "high": value(high) }),
        KeyMatch::Any => Value::Null,
    }
}

/// Returns an action with its arguments: `name`, and `args` by name.
pub fn json_action(schema: &Schema, table: Table, call: &ActionCall) -> Value {
    json_call(schema, schema.called(table, call), call)
}

/// Returns a call of this action as [`json_action`] does.
pub(crate) fn json_call(schema: &Schema, action: &ActionSchema, call: &ActionCall) -> Value {
    let args = action.params.iter().zip(&call.args);
    let args: Map<String, Value> = args
        .map(|(param, value)| (param.name.to_string(), json_value(schema, param, value)))
        .collect();
    json!({ "name": action.name.as_str(), "args": args })
}

/// Returns an entry: `key` by name, `priority` or `null`, `action`, and whether it is `const`.
pub fn json_entry(schema: &Schema, table: Table, entry: &Entry) -> Value {
    let data = &schema.tables[table];
    let keys = data.match_keys().zip(&entry.keys);
    let keys: Map<String, Value> = keys
        .map(|(key, m)| (key.field.name.to_string(), json_match(schema, key, m)))
        .collect();
    json!({
        "key": keys,
        "priority": data.has_priorities().then_some(entry.priority),
        "action": json_action(schema, table, &entry.action),
        "const": entry.is_const,
    })
}

/// Returns a scalar: `id`, `name`, `type` as P4 writes it, `width` in bits, and `type_name`, `format` and `translation`
/// if the declaration gives them.
pub(crate) fn json_field(schema: &Schema, field: &Field) -> Value {
    let mut shown = json!({
        "id": field.id,
        "name": field.name.as_str(),
        "type": schema.type_name(field.ty),
        "width": field.ty.width(),
    });
    if let Some(name) = &field.type_name {
        shown["type_name"] = json!(name.as_str());
    }
    if let Some(format) = field.format {
        shown["format"] = json!(format);
    }
    if let Some(translation) = &field.translation {
        shown["translation"] = json!(translation);
    }
    shown
}

/// Returns a key: a scalar, and its match kind.
pub(crate) fn json_key(schema: &Schema, key: &KeySchema) -> Value {
    let mut shown = json_field(schema, &key.field);
    shown["match"] = json!(key.kind.name());
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Piece;
    use crate::entry::parse_entry;
    use crate::sample;

    fn shown(text: &str) -> Value {
        let schema = sample::schema();
        let (table, entry) = parse_entry(schema, Piece::new(text, 0)).expect(text);
        json_entry(schema, table, &entry)
    }

    #[test]
    fn entries_have_names_and_numbers() {
        let forward = "forward(1, 02:00:00:00:00:01, true, -2, green, NoError)";
        assert_eq!(
            shown(&format!("routes 10.0.0.0/8 {forward}")),
            json!({
                "key": { "hdr.ipv4.dst": { "value": "10.0.0.0", "prefix": 8 } },
                "priority": null,
                "action": {
                    "name": "C.forward",
                    "args": {
                        "port": 1,
                        "mac": "02:00:00:00:00:01",
                        "loud": true,
                        "offset": -2,
                        "color": "green",
                        "why": "error.NoError",
                    },
                },
                "const": false,
            })
        );
        assert_eq!(
            shown("rules 7 src:10.0.0.0/8 ttl:1..9 drop()")["key"],
            json!({
                "src": { "value": "10.0.0.0", "mask": "255.0.0.0" },
                "ttl": { "low": 1, "high": 9 },
                "dst": null,
            })
        );
    }

    #[test]
    fn large_numbers_are_numbers_as_long_as_they_fit() {
        let schema = Schema::default();
        let shown =
            |width, value: Bits| json_value(&schema, &Field::new("n", Type::bit(width)), &value);
        assert_eq!(shown(64, Bits::ones(64)), json!(u64::MAX));
        assert_eq!(shown(65, Bits::ones(65)), json!("0x1ffffffffffffffff"));
    }
}
