//! The JSON Schema of a message schema's TOML form, for editors that complete and check such files.

use crate::keys::{KeySpec, Kind, MESSAGE, Spec};
use serde_json::{Map, Value, json};

/// The JSON Schema (draft-07, which editors of TOML know).
pub fn json_schema() -> Value {
    let mut schema = table(&MESSAGE);
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("Onpath message schema");
    schema
}

fn table(spec: &Spec) -> Value {
    let properties: Map<String, Value> = spec
        .keys
        .iter()
        .map(|key| (key.name.to_string(), property(key)))
        .collect();
    let required = spec.keys.iter().filter(|key| key.required);
    let required: Vec<&str> = required.map(|key| key.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn property(key: &KeySpec) -> Value {
    let mut value = kind(key.kind);
    value["description"] = json!(format!("{} Example: {}", key.text, key.example));
    value
}

fn kind(kind_: Kind) -> Value {
    let bytes = || json!({ "anyOf": [{ "type": "string" }, kind(Kind::Numbers(0, 255))] });
    match kind_ {
        Kind::Text => json!({ "type": "string" }),
        Kind::Name => json!({ "type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_-]*$" }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Bytes => bytes(),
        Kind::ByteStrings => json!({
            "anyOf": [
                { "type": "string" },
                kind(Kind::Numbers(0, 255)),
                { "type": "array", "items": bytes(), "minItems": 1 },
            ],
        }),
        Kind::Number(low, high) => json!({ "type": "integer", "minimum": low, "maximum": high }),
        Kind::Numbers(low, high) => {
            json!({ "type": "array", "items": kind(Kind::Number(low, high)) })
        }
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Table(spec) => table(spec),
        Kind::Tables(spec) => json!({ "type": "array", "items": table(spec), "minItems": 1 }),
        Kind::Cases => {
            json!({ "type": "object", "additionalProperties": { "type": "string" }, "minProperties": 1 })
        }
        Kind::Sum | Kind::TextOrNumber => json!({ "type": ["string", "integer"] }),
    }
}
