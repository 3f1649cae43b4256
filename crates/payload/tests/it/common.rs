//! What the tests of several messages need.

use payload::builtin::Builtin;
use payload::{Found, Malformed, Schema, Value, read};
use proptest::prelude::ProptestConfig;

/// So many random messages, times `ONPATH_FUZZ` if that is set.
pub(crate) fn cases(number: u32) -> ProptestConfig {
    let times = std::env::var("ONPATH_FUZZ")
        .ok()
        .and_then(|times| times.parse().ok());
    let config = ProptestConfig::with_cases(number.saturating_mul(times.unwrap_or(1)));
    ProptestConfig {
        max_global_rejects: config.cases.saturating_mul(8),
        failure_persistence: None,
        ..config
    }
}

/// A built-in schema.
pub(crate) fn schema(name: &str) -> Schema {
    let builtin = Builtin::named(name).expect("a built-in message");
    builtin.schema().expect("its schema")
}

/// Reads a message by a built-in schema.
pub(crate) fn reading(name: &str, bytes: &[u8]) -> Result<Vec<Found>, Box<Malformed>> {
    read(&schema(name), bytes)
}

/// The values of an attribute.
pub(crate) fn values<'f>(found: &'f [Found], name: &str) -> Vec<&'f Value> {
    let those = found.iter().filter(|found| found.name == name);
    those.map(|found| &found.value).collect()
}

/// The bytes of an attribute, as text.
pub(crate) fn texts(found: &[Found], name: &str) -> Vec<String> {
    let text = |value: &&Value| match value {
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Number(number) => number.to_string(),
    };
    values(found, name).iter().map(text).collect()
}

/// Bytes from hexadecimal digits, blanks aside.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let pair = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16);
    digits
        .chunks(2)
        .map(|two| pair(two).expect("hexadecimal digits"))
        .collect()
}

/// Changes some bytes of a message: each change is an offset and what stands there then, `None` to cut it off there.
pub(crate) fn changed(mut bytes: Vec<u8>, changes: &[(usize, Option<u8>)]) -> Vec<u8> {
    for &(at, change) in changes {
        if bytes.is_empty() {
            break;
        }
        let at = at % bytes.len();
        match change {
            Some(byte) => bytes[at] = byte,
            None => bytes.truncate(at),
        }
    }
    bytes
}
