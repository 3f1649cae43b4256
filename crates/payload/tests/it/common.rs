//! Shared helpers of the tests.

use payload::builtin::ALL;
use payload::{Found, Malformed, Schema, Value, Wanted, read};
use proptest::prelude::{ProptestConfig, Strategy};
use proptest::test_runner::{TestCaseResult, TestRunner};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Tests this number of random values, and repeats until `ONPATH_FUZZ_SECONDS` have passed if that is set.
pub(crate) fn tried<S: Strategy>(
    cases: u32,
    strategy: &S,
    test: impl Fn(S::Value) -> TestCaseResult,
) {
    let seconds = std::env::var("ONPATH_FUZZ_SECONDS").ok();
    let seconds = seconds.and_then(|seconds| seconds.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(0));
    let begun = Instant::now();
    loop {
        let mut runner = TestRunner::new(ProptestConfig {
            max_global_rejects: cases.saturating_mul(8),
            failure_persistence: None,
            ..ProptestConfig::with_cases(cases)
        });
        if let Err(error) = runner.run(strategy, &test) {
            panic!("{error}\n{runner}");
        }
        if begun.elapsed() >= time {
            return;
        }
    }
}

/// Tests of random values, as in `proptest!`, each with its number of [`tried`] cases.
macro_rules! random {
    ($($(#[doc = $doc:literal])* $cases:literal fn $name:ident($($value:ident in $strategy:expr),+ $(,)?) $body:block)*) => {
        $($(#[doc = $doc])*
        #[test]
        fn $name() {
            $crate::common::tried($cases, &($($strategy,)+), |($($value,)+)| {
                $body
                Ok(())
            });
        })*
    };
}
pub(crate) use random;

/// Returns a built-in schema.
pub(crate) fn schema(name: &str) -> &'static Schema {
    static SCHEMAS: LazyLock<Vec<Schema>> = LazyLock::new(|| {
        let all = ALL
            .iter()
            .map(|builtin| builtin.schema().expect("its schema"));
        all.collect()
    });
    let known = SCHEMAS.iter().find(|schema| schema.name == name);
    known.expect("a built-in message")
}

/// Reads a message by a built-in schema. Checks that reading single attributes agrees.
pub(crate) fn reading(name: &str, bytes: &[u8]) -> Result<Vec<Found>, Box<Malformed>> {
    let schema = schema(name);
    let whole = read(schema, bytes);
    agrees(schema, bytes, &whole);
    whole
}

/// Checks that one attribute, two, and all attributes are read alone as they are in the whole message.
fn agrees(schema: &Schema, bytes: &[u8], whole: &Result<Vec<Found>, Box<Malformed>>) {
    let (found, reason) = match whole {
        Ok(found) => (found, None),
        Err(malformed) => (&malformed.before, Some(malformed.reason)),
    };
    let fixed = schema.attributes.iter().map(|a| a.name.as_str());
    let fixed = fixed.filter(|name| !name.ends_with('*'));
    let mut names: Vec<&str> = fixed.chain(found.iter().map(|f| f.name.as_str())).collect();
    names.retain(|name| schema.asked(name).is_ok());
    names.sort_unstable();
    names.dedup();
    let all = std::iter::once(names.as_slice());
    for some in names.chunks(1).chain(names.windows(2)).chain(all) {
        let expected: Vec<Option<&Found>> = some
            .iter()
            .map(|name| found.iter().find(|found| found.name == **name))
            .collect();
        let mut wanted = Wanted::new(schema, some);
        // Results of an earlier message must not matter.
        for _ in 0..2 {
            let answer = wanted.read(bytes);
            for (taken, expected) in answer.values.iter().zip(&expected) {
                let place = taken.as_ref().map(|taken| (taken.offset, taken.length));
                let value = taken.as_ref().map(|taken| match &taken.value {
                    Some(value) => value.clone(),
                    None => Value::Bytes(bytes[taken.offset..][..taken.length].to_vec()),
                });
                let there = expected.map(|found| (found.offset, found.length));
                assert_eq!(place, there, "{some:?} of {bytes:?}");
                assert_eq!(value.as_ref(), expected.map(|f| &f.value), "{some:?}");
            }
            // Only a fault after all wanted values may remain unseen.
            match answer.malformed {
                None if expected.contains(&None) => assert_eq!(None, reason, "{some:?}"),
                None => {}
                seen => assert_eq!(seen, reason, "{some:?}"),
            }
        }
    }
}

/// Returns the values of an attribute.
pub(crate) fn values<'f>(found: &'f [Found], name: &str) -> Vec<&'f Value> {
    let those = found.iter().filter(|found| found.name == name);
    those.map(|found| &found.value).collect()
}

/// Returns the values of an attribute as text.
pub(crate) fn texts(found: &[Found], name: &str) -> Vec<String> {
    let text = |value: &&Value| match value {
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Number(number) => number.to_string(),
    };
    values(found, name).iter().map(text).collect()
}

/// Parses bytes from hexadecimal digits, ignoring blanks.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let pair = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16);
    digits
        .chunks(2)
        .map(|two| pair(two).expect("hexadecimal digits"))
        .collect()
}

/// Changes some bytes of a message. A change is an offset and the new byte there, or `None` to truncate the message.
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
