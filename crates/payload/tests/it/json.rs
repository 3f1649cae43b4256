//! JSON, against `serde_json`.

use crate::common::{changed, random, reading, schema, texts};
use payload::{Reason, Status, read_up_to};
use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Value;

#[test]
fn members_have_paths_and_offsets() {
    let text = br#"{"user": {"id": 42, "tags": ["a", "b\n"]}, "ok": true, "none": []}"#;
    let found = reading("json", text).unwrap();
    let names: Vec<(&str, usize)> = found.iter().map(|f| (f.name.as_str(), f.offset)).collect();
    let expected = [
        ("user.id", 16),
        ("user.tags[0]", 30),
        ("user.tags[1]", 35),
        ("ok", 49),
    ];
    assert_eq!(names, expected);
    assert_eq!(texts(&found, "user.tags[1]"), ["b\\n"]);
}

/// RFC 8259, section 2: white space may stand in front of a text.
#[test]
fn a_text_is_recognised_behind_white_space() {
    let schema = schema("json");
    for front in ["", " ", "\t", "\r\n", "\n\n   \t\r", &" ".repeat(900)] {
        for text in ["{\"a\": 1}", "[{\"a\": 1}]"] {
            let text = format!("{front}{text}\n");
            let found = read_up_to(schema, text.as_bytes(), 1400);
            assert_eq!(found.0, Status::Read, "{text:?}");
            assert_eq!(found.1.len(), 1, "{text:?}");
        }
    }
    for other in [" ", " x{", "\u{b}{}", " \"a\"", "\u{feff}{}", " 1"] {
        let (status, _) = read_up_to(schema, other.as_bytes(), 1400);
        assert_eq!(status, Status::Other, "{other:?}");
    }
}

#[test]
fn what_is_no_json_has_a_reason() {
    let reason = |text: &[u8]| reading("json", text).unwrap_err().reason;
    assert_eq!(reason(b"{\"a\": 1"), Reason::Truncated);
    assert_eq!(reason(b"{\"a\": 01}"), Reason::Unexpected);
    assert_eq!(reason(b"{} x"), Reason::Unexpected);
    assert_eq!(reason(&[b'['; 65]), Reason::TooDeep);
    assert_eq!(reason(b"[\"\xff\"]"), Reason::Unexpected);
}

/// Returns the scalars of a value by path, with strings in their shortest escaped form.
fn scalars(value: &Value, path: &str, out: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let dot = if path.is_empty() { "" } else { "." };
                scalars(member, &format!("{path}{dot}{name}"), out);
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                scalars(element, &format!("{path}[{index}]"), out);
            }
        }
        scalar => out.push((path.to_string(), scalar.clone())),
    }
}

fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        "[ -~\u{e4}\n\"\\\\]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z]{1,4}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

random! {
    400 fn the_same_scalars(document in documents(), pretty in any::<bool>()) {
        let text = match pretty {
            true => format!("{document:#}"),
            false => document.to_string(),
        };
        let found = reading("json", text.as_bytes()).map_err(|m| TestCaseError::fail(m.to_string()))?;
        let mut expected = Vec::new();
        scalars(&document, "", &mut expected);
        let mut read: Vec<(String, Value)> = Vec::new();
        for one in &found {
            let bytes = &text.as_bytes()[one.offset..one.offset + one.length];
            let quoted = one.offset > 0 && text.as_bytes()[one.offset - 1] == b'"';
            let written = String::from_utf8(bytes.to_vec()).unwrap();
            let written = if quoted { format!("\"{written}\"") } else { written };
            read.push((one.name.clone(), serde_json::from_str(&written).unwrap()));
        }
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        read.sort_by(|a, b| a.0.cmp(&b.0));
        prop_assert_eq!(read, expected);
    }

    400 fn the_same_texts_are_refused(
        document in documents(),
        changes in prop::collection::vec((any::<usize>(), prop::option::of(prop::sample::select(&b" {}[]\",:\\-0e.tx\x01\xc3"[..]))), 1..3),
    ) {
        let text = changed(document.to_string().into_bytes(), &changes);
        // The reader skips strings without checking their encoding.
        let expected = serde_json::from_slice::<IgnoredAny>(&text).is_ok() && std::str::from_utf8(&text).is_ok();
        prop_assert_eq!(reading("json", &text).is_ok(), expected, "{}", String::from_utf8_lossy(&text));
    }
}
