use crate::{Reason, Schema, Value, Wanted, load, read};
use diag::{SourceMap, render_plain};

/// An attribute's name, offset and value.
type Read = (String, usize, Value);

/// A schema of these layouts and attributes.
fn schema(rest: &str) -> Schema {
    let text = format!(
        "name = \"t\"\ntitle = \"t\"\nreference = \"t\"\ntransport = \"udp\"\nports = []\nroot = \"m\"\nlimits = {{ depth = 3 }}\n{rest}"
    );
    let mut map = SourceMap::new();
    let file = map.add("t.toml", text).unwrap();
    load(&map, file).unwrap_or_else(|e| panic!("{}", render_plain(&e, &map)))
}

/// Reads bytes by a schema of these layouts and attributes.
fn reading(rest: &str, bytes: &[u8]) -> Result<Vec<Read>, (Reason, usize)> {
    match read(&schema(rest), bytes) {
        Ok(found) => Ok(found
            .into_iter()
            .map(|found| (found.name, found.offset, found.value))
            .collect()),
        Err(malformed) => Err((malformed.reason, malformed.at)),
    }
}

const TAGGED: &str = "
[[layout]]
name = \"m\"
order = \"any\"
field = [{ name = \"a\", tag = \"A=\", size = 2, type = \"bytes\" }, { name = \"b\", tag = \"B=\", size = 1 }]
[[attribute]]
name = \"a\"
field = \"m.a\"
[[attribute]]
name = \"b\"
field = \"m.b\"
";

#[test]
fn fields_of_any_order_are_found_by_their_tags() {
    let found = reading(TAGGED, b"B=\x07A=xyB=\x08").unwrap();
    let expected = [
        ("b".to_string(), 2, Value::Number(7)),
        ("a".to_string(), 5, Value::Bytes(b"xy".to_vec())),
        ("b".to_string(), 9, Value::Number(8)),
    ];
    assert_eq!(found, expected);
    assert_eq!(reading(TAGGED, b"B=\x07C"), Err((Reason::Unexpected, 3)));
    assert_eq!(reading(TAGGED, b"A=x"), Err((Reason::Truncated, 3)));
}

#[test]
fn bits_are_counted_from_the_highest() {
    let text = "
[[layout]]
name = \"m\"
field = [{ name = \"a\", bits = 3 }, { name = \"b\", bits = 10 }, { name = \"c\", bits = 3 }, { name = \"d\", size = 2, endian = \"little\" }]
[[attribute]]
name = \"b\"
field = \"m.b\"
[[attribute]]
name = \"d\"
field = \"m.d\"
";
    let found = reading(text, &[0b1010_1100, 0b1100_0111, 0x34, 0x12]).unwrap();
    let expected = [
        ("b".to_string(), 0, Value::Number(0b01_1001_1000)),
        ("d".to_string(), 2, Value::Number(0x1234)),
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_optional_field_is_there_if_bytes_are_left() {
    let text = "
[[layout]]
name = \"m\"
field = [{ name = \"a\", size = 1 }, { name = \"b\", size = 1, optional = true }]
[[attribute]]
name = \"b\"
field = \"m.b\"
";
    assert_eq!(reading(text, b"x"), Ok(vec![]));
    let one = ("b".to_string(), 1, Value::Number(2));
    assert_eq!(reading(text, &[1, 2]), Ok(vec![one.clone()]));
    // Further bytes are not another instance of it.
    assert_eq!(reading(text, &[1, 2, 3]), Ok(vec![one]));
}

#[test]
fn what_takes_no_byte_ends_a_repetition() {
    let text = "
[[layout]]
name = \"m\"
field = [{ name = \"a\", size = 0, repeat = true }]
[[attribute]]
name = \"a\"
field = \"m.a\"
";
    assert_eq!(reading(text, b"x"), Err((Reason::Unexpected, 0)));
}

#[test]
fn nesting_has_an_end() {
    let text = "
[[layout]]
name = \"m\"
field = [{ name = \"a\", layout = \"m\" }]
[[attribute]]
name = \"a\"
field = \"m.a\"
";
    assert_eq!(reading(text, b"x"), Err((Reason::TooDeep, 0)));
}

/// Returns the offsets of the wanted values, and the fault of the message.
fn wanted(rest: &str, names: &[&str], bytes: &[u8]) -> (Vec<Option<usize>>, Option<Reason>) {
    let schema = schema(rest);
    let mut wanted = Wanted::new(&schema, names);
    let answer = wanted.read(bytes);
    let offsets = answer.values.iter();
    let offsets = offsets.map(|taken| taken.as_ref().map(|taken| taken.offset));
    (offsets.collect(), answer.malformed)
}

#[test]
fn what_is_wrong_behind_all_that_is_wanted_is_not_read() {
    let bytes = b"B=\x07C";
    assert_eq!(wanted(TAGGED, &["b"], bytes), (vec![Some(2)], None));
    let wrong = Some(Reason::Unexpected);
    let both = (vec![Some(2), None], wrong);
    assert_eq!(wanted(TAGGED, &["b", "a"], bytes), both);
    assert_eq!(wanted(TAGGED, &["c"], bytes), (vec![None], wrong));
}

/// A field with a layout is visited after its contents, which may hold the same field again.
#[test]
fn of_several_values_the_first_in_the_message_is_taken() {
    let nested = "
[[layout]]
name = \"m\"
field = [{ name = \"size\", size = 1 }, { name = \"inside\", length = \"size\", layout = \"list\" }]
[[layout]]
name = \"list\"
field = [{ name = \"item\", layout = \"m\", repeat = true }]
[[attribute]]
name = \"size\"
field = \"m.size\"
[[attribute]]
name = \"inside\"
field = \"m.inside\"
";
    assert_eq!(wanted(nested, &["inside"], &[1, 0]), (vec![Some(1)], None));
    let long = Some(Reason::LengthPastEnd);
    assert_eq!(wanted(nested, &["inside"], &[1, 9]), (vec![None], long));
    assert_eq!(wanted(nested, &["size"], &[1, 9]), (vec![Some(0)], None));
}

const LINES: &str = "
[[layout]]
name = \"m\"
field = [{ name = \"line\", layout = \"line\", repeat = true }]
[[layout]]
name = \"line\"
whole = true
field = [{ name = \"a\", until = \" \" }, { name = \"b\", until = \";\", chars = \"0-9\", followed_by = \"^ \" }]
[[attribute]]
name = \"a\"
field = \"line.a\"
[[attribute]]
name = \"b\"
field = \"line.b\"
";

/// A value counts only with its line, even if no other value is wanted.
#[test]
fn what_counts_only_as_a_whole_is_read_to_its_end() {
    assert_eq!(wanted(LINES, &["a"], b"x 1;."), (vec![Some(0)], None));
    for (bytes, reason) in [
        (&b"x 1; 2;."[..], Reason::Unexpected),
        (b"x y;.", Reason::Unexpected),
        (b"x 1;", Reason::Truncated),
        (b"x 1", Reason::Truncated),
    ] {
        assert_eq!(wanted(LINES, &["a"], bytes), (vec![None], Some(reason)));
    }
    // Values before it count.
    let (found, reason) = wanted(LINES, &["a", "b"], b"x 1;y ;z");
    assert_eq!((found, reason), (vec![Some(0), Some(2)], None));
    let whole = crate::read(&schema(LINES), b"x 1;y 2").unwrap_err();
    assert_eq!((whole.reason, whole.before.len()), (Reason::Truncated, 2));
}
