//! Registers by name, and their elements as text: `NAME[INDEX]`.

use crate::entry::find;
use crate::errors::{self, Refusal};
use crate::json::json_value;
use crate::numbers::{bracketed, number};
use crate::piece::Piece;
use crate::values::{parse_value, show_value};
use schema::{Bits, Field, Object, ObjectKind, Schema};
use serde_json::{Map, Value, json};

/// Syntax of setting an element.
const SET: &str = "NAME[INDEX] VALUE, with as many values as the register's type has fields";
/// Syntax of naming a register, or an element of one.
const NAME: &str = "NAME or NAME[INDEX]";

/// Returns all registers, with their names.
pub fn registers(schema: &Schema) -> impl Iterator<Item = (Object, &str)> {
    let all = schema.objects.iter();
    all.filter(|(_, object)| matches!(object.kind, ObjectKind::Register { .. }))
        .map(|(id, object)| (id, object.name.as_str()))
}

/// Returns the scalars that a register's element consists of.
pub fn element(schema: &Schema, register: Object) -> &[Field] {
    match &schema.objects[register].kind {
        ObjectKind::Register { element, .. } => element,
        _ => &[],
    }
}

/// Returns an element with all scalars zero.
pub fn zero(schema: &Schema, register: Object) -> Vec<Bits> {
    let fields = element(schema, register).iter();
    fields.map(|field| Bits::zero(field.ty.width())).collect()
}

/// Parses `NAME` or `NAME[INDEX]`.
pub fn parse_name(schema: &Schema, text: Piece) -> Result<(Object, Option<u64>), Refusal> {
    let text = text.trim();
    let (name, index) = match bracketed(text) {
        Some((name, index)) => match number(index.text) {
            Some(number) => (name, Some(number)),
            None => {
                return Err(errors::malformed(
                    index.span(),
                    "this is not an index",
                    NAME,
                ));
            }
        },
        None => (text, None),
    };
    Ok((find(registers(schema), name, "register")?, index))
}

/// Parses `NAME[INDEX] VALUE ...`, a value for each scalar of the element.
pub fn parse_set(schema: &Schema, text: Piece) -> Result<(Object, u64, Vec<Bits>), Refusal> {
    let (name, rest) = text.first_word();
    let (register, index) = parse_name(schema, name)?;
    let Some(index) = index else {
        return Err(errors::malformed(name.span(), "the index is missing", SET));
    };
    if rest.text.is_empty() {
        return Err(errors::malformed(text.span(), "the value is missing", SET));
    }
    Ok((register, index, parse_values(schema, register, rest)?))
}

/// Parses the values of an element's scalars, separated by blanks.
pub(crate) fn parse_values(
    schema: &Schema,
    register: Object,
    text: Piece,
) -> Result<Vec<Bits>, Refusal> {
    let (fields, words) = (element(schema, register), text.words());
    if words.len() != fields.len() {
        let (wanted, given) = (fields.len(), words.len());
        return Err(errors::register_width(text.span(), wanted, given));
    }
    let values = words.into_iter().zip(fields);
    values
        .map(|(word, field)| {
            parse_value(schema, field.ty, word.text)
                .map_err(|e| errors::bad_value(word.span(), "register", e))
        })
        .collect()
}

/// Returns the only field of an element that is not a struct.
fn alone(fields: &[Field]) -> Option<&Field> {
    match fields {
        [only] if only.name == "value" => Some(only),
        _ => None,
    }
}

/// Formats an element for people: its value, or `FIELD:VALUE ...` for a struct.
pub fn show_element(schema: &Schema, register: Object, values: &[Bits]) -> String {
    let fields = element(schema, register);
    let shown = fields.iter().zip(values).map(|(field, value)| {
        let text = show_value(schema, field, value);
        match alone(fields) {
            Some(_) => text,
            None => format!("{}:{text}", field.name),
        }
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Returns an element as JSON: `register`, `index`, and `value`, which for a struct is an object by the names of
/// fields.
pub fn element_json(schema: &Schema, register: Object, index: u64, values: &[Bits]) -> Value {
    let fields = element(schema, register);
    let value = match (alone(fields), values) {
        (Some(only), [value]) => json_value(schema, only, value),
        _ => {
            let all = fields.iter().zip(values);
            let all = all.map(|(f, v)| (f.name.to_string(), json_value(schema, f, v)));
            Value::Object(all.collect::<Map<_, _>>())
        }
    };
    json!({ "register": schema.objects[register].name.as_str(), "index": index, "value": value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::schema;

    fn set(text: &str) -> Result<(&'static str, u64, Vec<u64>), String> {
        let parsed = parse_set(schema(), Piece::new(text, 0));
        let number = |b: &Bits| b.to_u64().unwrap_or(u64::MAX);
        parsed
            .map(|(register, index, values)| {
                let name = schema().objects[register].name.as_str();
                (name, index, values.iter().map(number).collect())
            })
            .map_err(|refused| refused.message.clone())
    }

    #[test]
    fn an_element_is_set_by_name_index_and_values() {
        assert_eq!(set("last[3] 0x11"), Ok(("C.last", 3, vec![17])));
        assert_eq!(set("pair[0] 5 true"), Ok(("C.pair", 0, vec![5, 1])));
        for (wrong, why) in [
            ("last[x] 1", "this is not an index"),
            ("last 1", "the index is missing"),
            ("last[3]", "the value is missing"),
            (
                "pair[0] 5",
                "an element of this register is 2 values, but 1 is given",
            ),
        ] {
            assert_eq!(set(wrong), Err(why.to_string()), "{wrong}");
        }
        assert!(set("lost[3] 1").unwrap_err().contains("lost"));
        assert!(set("pair[0] 256 true").is_err(), "8 bits");
    }

    #[test]
    fn an_element_is_a_value_or_its_fields() {
        let (last, pair) = ("last[3] 17", "pair[0] 5 true");
        let read = |text| parse_set(schema(), Piece::new(text, 0)).unwrap();
        let (register, index, value) = read(last);
        assert_eq!(show_element(schema(), register, &value), "17");
        assert_eq!(
            element_json(schema(), register, index, &value),
            json!({ "register": "C.last", "index": 3, "value": 17 })
        );
        let (register, index, value) = read(pair);
        let names: Vec<&str> = element(schema(), register)
            .iter()
            .map(|field| field.name.as_str())
            .collect();
        let shown = format!("{}:5 {}:true", names[0], names[1]);
        assert_eq!(show_element(schema(), register, &value), shown);
        let shown = element_json(schema(), register, index, &value);
        assert_eq!(shown["value"], json!({ names[0]: 5, names[1]: true }));
        let zero = zero(schema(), register);
        assert!(zero.len() == 2 && zero.iter().all(Bits::is_zero));
    }
}
