//! Formatting of values and matches.

use schema::{Bits, Field, Format, KeyMatch, KeySchema, Schema, Type};

/// Formats a value for people: as `@format(...)` in its declaration says, otherwise as [`show_scalar`] does by the name
/// of the field or its type.
pub fn show_value(schema: &Schema, field: &Field, value: &Bits) -> String {
    let by_format = field.format.and_then(|format| format.show(value));
    by_format.unwrap_or_else(|| {
        let type_name = field.type_name.as_deref().unwrap_or_default();
        match looks_like_address(&field.name) {
            true => show_scalar(schema, field.ty, &field.name, value),
            false => show_scalar(schema, field.ty, type_name, value),
        }
    })
}

/// Formats a value of which only a name and the type are known. 48 bits are shown as a MAC address; 32 and 128 bits as
/// an IP address if the name is that of an address.
pub fn show_scalar(schema: &Schema, ty: Type, name: &str, value: &Bits) -> String {
    match ty {
        Type::Bool => return (if value.is_zero() { "false" } else { "true" }).to_string(),
        Type::Error => {
            let index = value.to_u64().unwrap_or(u64::MAX) as usize;
            let name = schema.errors.get(index);
            return name.map_or_else(|| decimal(value), |e| format!("error.{e}"));
        }
        Type::Enum(id) => {
            let index = value.to_u64().unwrap_or(u64::MAX) as usize;
            let member = schema.enums[id].members.get(index);
            return member.map_or_else(|| decimal(value), ToString::to_string);
        }
        Type::Bits { signed: true, .. } => return value.to_signed().to_string(),
        Type::Bits { .. } | Type::Varbit(_) => {}
    }
    let address = match value.width() {
        48 => Some(Format::MacAddress),
        32 if looks_like_address(name) => Some(Format::Ipv4Address),
        128 if looks_like_address(name) => Some(Format::Ipv6Address),
        _ => None,
    };
    let address = address.and_then(|format| format.show(value));
    address.unwrap_or_else(|| match value.value().bits() {
        0..=16 => decimal(value),
        _ => format!("{:#x}", value.value()),
    })
}

/// Returns true if a field's declaration determines how its values are shown: by a format, or by the name of an address
/// type.
pub fn has_form(field: &Field) -> bool {
    field.format.is_some() || field.type_name.as_deref().is_some_and(looks_like_address)
}

/// Returns true if the last part of a field's name, or a type's name, is that of an address.
fn looks_like_address(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    let last = last.to_ascii_lowercase();
    let parts = [
        "addr", "ip", "src", "dst", "mac", "prefix", "hop", "gateway", "network",
    ];
    parts.iter().any(|part| last.contains(part))
}

fn decimal(value: &Bits) -> String {
    value.value().to_string()
}

/// Formats a match so that [`super::parse_match`] reads it back.
pub fn show_match(schema: &Schema, key: &KeySchema, found: &KeyMatch) -> String {
    let value = |v: &Bits| show_value(schema, &key.field, v);
    match found {
        KeyMatch::Exact(v) => value(v),
        KeyMatch::Lpm(v, length) => format!("{}/{length}", value(v)),
        KeyMatch::Ternary(v, mask) if *mask == Bits::ones(key.field.ty.width()) => value(v),
        KeyMatch::Ternary(v, mask) => match (mask.prefix_length(), value(v)) {
            (Some(length), shown) if shown.contains(['.', ':']) => format!("{shown}/{length}"),
            (_, shown) => format!("{shown} &&& {:#x}", mask.value()),
        },
        KeyMatch::Range(low, high) if low == high => value(low),
        KeyMatch::Range(low, high) => format!("{}..{}", value(low), value(high)),
        KeyMatch::Any => "*".to_string(),
    }
}
