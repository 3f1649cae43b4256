//! A form as a JSON Schema, for editors that complete and check such files.

use crate::{FileFormat, Key, Keys, ValueKind};
use serde_json::{Map, Value, json};

/// Returns the JSON Schema of a form (draft-07, which editors of TOML know).
pub fn json_schema(form: &FileFormat, title: &str) -> Value {
    let mut schema = table(form.keys);
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!(title);
    schema
}

fn table(keys: &Keys) -> Value {
    let properties = keys
        .all
        .iter()
        .map(|key| (key.name.to_string(), property(key)));
    let required = keys.all.iter().filter(|key| key.is_required);
    let required: Vec<&str> = required.map(|key| key.name).collect();
    json!({
        "type": "object",
        "properties": properties.collect::<Map<String, Value>>(),
        "required": required,
        "additionalProperties": false,
    })
}

fn property(key: &Key) -> Value {
    let mut value = kind(key.kind);
    let (first, rest) = key.meaning.split_at(1);
    let meaning = first.to_uppercase() + rest;
    value["description"] = json!(format!("{meaning}. Example: {}", key.example));
    value
}

fn list(of: Value) -> Value {
    json!({ "type": "array", "items": of })
}

fn kind(kind_: ValueKind) -> Value {
    let text = || json!({ "type": "string" });
    let byte_list = || list(kind(ValueKind::Number(0, 255)));
    match kind_ {
        ValueKind::Text => text(),
        ValueKind::Name => json!({ "type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_-]*$" }),
        ValueKind::Word(words) => json!({ "enum": words }),
        ValueKind::Texts => json!({ "anyOf": [text(), list(text())] }),
        ValueKind::Bytes => json!({ "anyOf": [text(), byte_list()] }),
        ValueKind::ByteStrings => {
            let mut several = list(kind(ValueKind::Bytes));
            several["minItems"] = json!(1);
            json!({ "anyOf": [text(), byte_list(), several] })
        }
        ValueKind::Number(low, high) => {
            json!({ "type": "integer", "minimum": low, "maximum": high })
        }
        ValueKind::TextOrNumber => json!({ "type": ["string", "integer"] }),
        ValueKind::Flag => json!({ "type": "boolean" }),
        ValueKind::List(of) => list(kind(*of)),
        ValueKind::Map(least, of) => {
            json!({ "type": "object", "additionalProperties": kind(*of), "minProperties": least })
        }
        ValueKind::Table(keys) => table(keys),
        ValueKind::Tables(keys) => json!({ "type": "array", "items": table(keys), "minItems": 1 }),
    }
}
