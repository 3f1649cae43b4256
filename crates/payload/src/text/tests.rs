use super::load;
use crate::Schema;
use diag::{Diagnostics, SourceMap};

const GOOD: &str = r#"
name = "sample"
title = "A sample"
reference = "none"
transport = "udp"
ports = [7]
root = "message"

[[layout]]
name = "message"
field = [
  { name = "version", bits = 4 },
  { name = "flags", bits = 4 },
  { name = "words", size = 1 },
  { name = "options", length = "4 * words - 2", when = "flags != 0" },
  { name = "next", size = 1 },
  { name = "part", layout = "part", chain = "next" },
  { name = "item", layout = "item", repeat = true },
]

[[layout]]
name = "part"
field = [{ name = "data", size = 3, type = "bytes", chars = "a-z" }, { name = "next", size = 1 }]

[[layout]]
name = "item"
key = "type"
field = [
  { name = "type", size = 2 },
  { name = "length", size = 2, endian = "little" },
  { name = "value", length = "length", select = "type", case = { 0x10 = "text" } },
]

[[layout]]
name = "text"
order = "any"
field = [{ name = "a", tag = "A", size = 2 }, { name = "b", tag = [0x42], until = ";", or_end = true }]

[[attribute]]
name = "first"
field = "item.value"
key = 0x20

[[attribute]]
name = "item.*"
field = "item.value"
key = "*"
"#;

fn load_text(text: &str) -> (SourceMap, Result<Schema, Diagnostics>) {
    let mut map = SourceMap::new();
    let file = map.add("sample.toml", text).unwrap();
    let schema = load(&map, file);
    (map, schema)
}

/// Replaces a piece of the text. Returns the errors: code and marked text.
fn refused(from: &str, to: &str) -> Vec<(String, String)> {
    assert_eq!(GOOD.matches(from).count(), 1, "`{from}`");
    let (map, schema) = load_text(&GOOD.replace(from, to));
    let errors = schema.expect_err("an error");
    let one = |d: &diag::Diagnostic| {
        assert!(d.help.is_some(), "{}", d.message);
        (d.code.0.to_string(), map.text(d.primary.span).to_string())
    };
    errors.iter().map(one).collect()
}

#[test]
fn a_schema_without_errors_is_read() {
    let schema = load_text(GOOD).1.expect("no error");
    assert_eq!(schema.layouts.len(), 4);
    assert_eq!(schema.attributes.len(), 2);
    assert_eq!((schema.limits.depth, schema.limits.bytes), (16, 1_400));
}

#[test]
fn each_error_is_reported_where_it_is() {
    let cases = [
        ("ports = [7]", "ports = [7", "E1001", ""),
        ("ports = [7]", "ports = [7]\nport = 7", "E1002", "port"),
        ("ports = [7]", "ports = [70000]", "E1003", "70000"),
        (
            "transport = \"udp\"",
            "transport = \"sctp\"",
            "E1003",
            "\"sctp\"",
        ),
        ("title = \"A sample\"\n", "", "E1004", ""),
        (
            "root = \"message\"",
            "root = \"mesage\"",
            "E1005",
            "\"mesage\"",
        ),
        (
            "when = \"flags != 0\"",
            "when = \"flgs != 0\"",
            "E1005",
            "flgs",
        ),
        (
            "when = \"flags != 0\"",
            "when = \"next != 0\"",
            "E1005",
            "next",
        ),
        (
            "field = \"item.value\"\nkey = 0x20",
            "field = \"item.valu\"\nkey = 0x20",
            "E1005",
            "valu",
        ),
        (
            "name = \"words\", size = 1",
            "name = \"flags\", size = 1",
            "E1006",
            "\"flags\"",
        ),
        (
            "name = \"words\", size = 1",
            "name = \"words\", size = 1, rest = true",
            "E1007",
            "true",
        ),
        (
            "layout = \"item\", repeat = true",
            "layout = \"item\", repeat = true, stop = \";\"",
            "E1007",
            "\";\"",
        ),
        (
            "name = \"type\", size = 2 }",
            "name = \"type\", size = 2, or_end = true }",
            "E1008",
            "true",
        ),
        (
            "name = \"words\", size = 1",
            "name = \"words\", size = 1, default = \"text\"",
            "E1008",
            "\"text\"",
        ),
        (
            "name = \"next\", size = 1 },\n",
            "name = \"next\" },\n",
            "E1009",
            "\"next\"",
        ),
        ("4 * words - 2", "4 * words ? 2", "E1010", "? 2"),
        (
            "when = \"flags != 0\"",
            "when = \"flags\"",
            "E1010",
            "flags",
        ),
        (
            "when = \"flags != 0\" },",
            "when = \"flags != 0\" }, { name = \"x\", length = \"options\" },",
            "E1011",
            "options",
        ),
        (
            "name = \"flags\", bits = 4",
            "name = \"flags\", bits = 5",
            "E1012",
            "\"flags\"",
        ),
        (
            "size = 3, type = \"bytes\"",
            "size = 9, type = \"number\"",
            "E1013",
            "\"number\"",
        ),
        ("tag = \"A\", size = 2", "size = 2", "E1014", "\"a\""),
        ("key = \"type\"\n", "", "E1015", "0x20"),
        (
            "field = \"item.value\"\nkey = 0x20",
            "field = \"item.type\"\nkey = 0x20",
            "E1016",
            "0x20",
        ),
        ("key = 0x20", "member = \"a\"", "E1017", "\"a\""),
        (
            "name = \"item.*\"",
            "name = \"items\"",
            "E1018",
            "\"items\"",
        ),
        (
            "field = \"item.value\"\nkey = 0x20",
            "field = \"value\"\nkey = 0x20",
            "E1019",
            "\"value\"",
        ),
        (
            "name = \"next\", size = 1 }]",
            "name = \"nxt\", size = 1 }]",
            "E1020",
            "\"next\"",
        ),
        ("chars = \"a-z\"", "chars = \"z-a\"", "E1021", "\"z-a\""),
        ("0x10 = \"text\"", "ten = \"text\"", "E1022", "ten"),
        ("0x10 = \"text\"", "0x10000 = \"text\"", "E1029", "0x10000"),
        ("0x10 = \"text\"", "-1 = \"text\"", "E1029", "-1"),
        ("name = \"sample\"", "name = \"\"", "E1003", "\"\""),
        (
            "name = \"words\", size = 1",
            "name = \"w.s\", size = 1",
            "E1003",
            "\"w.s\"",
        ),
    ];
    for (from, to, code, marked) in cases {
        let found = refused(from, to);
        assert!(
            found
                .iter()
                .any(|(c, text)| c == code && (text == marked || marked.is_empty())),
            "{to}: {found:?}"
        );
    }
}

/// An error neither hides others nor causes further ones.
#[test]
fn an_error_is_reported_once() {
    let one = |code: &str, at: &str| vec![(code.to_string(), at.to_string())];
    let words = "name = \"words\", size = 1";
    for (from, to, code, at) in [
        // Not E1009, for the end is given, nor E1011, for it is meant to be a number.
        (
            words,
            "name = \"words\", size = \"one\"",
            "E1003",
            "\"one\"",
        ),
        (
            "size = 3, type = \"bytes\"",
            "size = \"x\", type = \"number\"",
            "E1003",
            "\"x\"",
        ),
        (
            "layout = \"part\", chain",
            "layout = 1, chain",
            "E1003",
            "1",
        ),
        ("tag = \"A\", size = 2", "tag = 1", "E1003", "1"),
        // Nor E1015: the layout has a key.
        ("key = \"type\"\n", "key = \"tpe\"\n", "E1005", "\"tpe\""),
        // Nor E1018: which values these are is wrong already.
        ("key = \"*\"", "key = true", "E1003", "true"),
        // The parser of TOML finds a dozen.
        ("ports = [7]", "ports = [7", "E1001", ""),
        ("ports = [7]", "ports = [7]\nports = [8]", "E1001", "ports"),
    ] {
        assert_eq!(refused(from, to), one(code, at), "{to}");
    }
}

/// The fields after one with an error keep their indices.
#[test]
fn errors_behind_a_wrong_field_are_about_their_own_field() {
    let has = |changes: &[(&str, &str)], wanted: &[(&str, &str)]| {
        let text = changes.iter().fold(GOOD.to_string(), |text, (from, to)| {
            assert_eq!(text.matches(from).count(), 1, "`{from}`");
            text.replace(from, to)
        });
        let (map, schema) = load_text(&text);
        let errors = schema.expect_err("errors");
        let one = |d: &diag::Diagnostic| (d.code.0, map.text(d.primary.span).to_string());
        let found: Vec<_> = errors.iter().map(one).collect();
        let wanted: Vec<_> = wanted.iter().map(|(c, at)| (*c, at.to_string())).collect();
        assert_eq!(found, wanted);
    };
    let length = "length = \"4 * words - 2\", when = \"flags != 0\" },\n";
    let wrong = "length = \"4 * wrds\" },\n";
    // Bits that do not end with a byte: those before a field with an error may continue in it.
    let bits = "  { name = \"odd\", bits = 3 },\n  { name = \"even\", size = 1 },\n";
    has(&[(length, &format!("{wrong}{bits}"))], &[("E1005", "wrds")]);
    let bits = "  { name = \"even\", size = 1 },\n  { name = \"odd\", bits = 3 },\n";
    has(
        &[(length, &format!("{wrong}{bits}"))],
        &[("E1005", "wrds"), ("E1012", "\"odd\"")],
    );
    // A field without a tag.
    has(
        &[
            ("tag = [0x42], ", ""),
            ("tag = \"A\", size = 2", "tag = \"A\", size = -2"),
        ],
        &[("E1003", "-2"), ("E1014", "\"b\"")],
    );
    // A member of JSON.
    let case = "case = { 0x10 = \"text\" } },\n";
    let json = "  { name = \"x\", size = -2 },\n  { name = \"y\", form = \"json\" },\n";
    let member = "field = \"item.y\"\nmember = \"user\"";
    has(
        &[
            (case, &format!("{case}{json}")),
            ("field = \"item.value\"\nkey = 0x20", member),
        ],
        &[("E1003", "-2")],
    );
}

#[test]
fn a_flag_that_is_false_is_as_one_that_is_not_there() {
    let plain = load_text(GOOD).1.expect("no error");
    let words = "name = \"words\", size = 1";
    for flag in ["rest", "optional", "repeat"] {
        let text = GOOD.replace(words, &format!("{words}, {flag} = false"));
        assert_eq!(load_text(&text).1.expect("no error"), plain, "{flag}");
    }
    let found = refused(words, "name = \"words\", rest = false");
    assert!(
        found.contains(&("E1009".to_string(), "\"words\"".to_string())),
        "{found:?}"
    );
}

#[test]
fn a_field_further_on_exists() {
    let shown = |from: &str, to: &str| {
        assert_eq!(GOOD.matches(from).count(), 1, "`{from}`");
        let (map, schema) = load_text(&GOOD.replace(from, to));
        diag::render_plain(&schema.expect_err("an error"), &map)
    };
    let later = shown("when = \"flags != 0\"", "when = \"next != 0\"");
    assert!(
        later.contains("the field `next` does not stand in front of this one")
            && later.contains("`version`, `flags`, `words`"),
        "{later}"
    );
    let of_attribute = shown(
        "field = \"item.value\"\nkey = 0x20",
        "field = \"item.vlue\"\nkey = 0x20",
    );
    assert!(
        of_attribute.contains("no field of `item` is named `vlue`")
            && of_attribute.contains("did you mean `value`?"),
        "{of_attribute}"
    );
    let condition = shown("when = \"flags != 0\"", "when = \"flags = 0\"");
    assert!(condition.contains("such as `type == 7`"), "{condition}");
    for (chars, wanted) in [
        ("0-9z-a", "the range `z-a` of `chars` runs backwards"),
        ("a\u{100}", "`chars` has `\u{100}`, which is no byte"),
    ] {
        let found = shown("chars = \"a-z\"", &format!("chars = \"{chars}\""));
        assert!(found.contains(wanted), "{found}");
    }
}

#[test]
fn all_errors_are_reported_at_once_and_a_slip_has_advice() {
    let text = GOOD
        .replace("size = 1 },\n", "sise = 1 },\n")
        .replace("\"udp\"", "1");
    let (map, schema) = load_text(&text);
    let errors = schema.expect_err("errors");
    let shown = diag::render_plain(&errors, &map);
    assert!(shown.contains("did you mean `size`?"), "{shown}");
    assert!(errors.len() >= 3, "{shown}");
}

#[test]
fn what_stands_besides_matters_as_far_as_the_message_goes() {
    let text = GOOD.replace(
        "ports = [7]",
        "ports = [7]\nrecognise = [{ at = 1, bytes = \"b\", and = { at = 3, bytes = \"de\" } }]",
    );
    let schema = load_text(&text).1.expect("no error");
    let recognises = |bytes: &str| schema.recognises(bytes.as_bytes());
    for is_one in ["ab", "abc", "abcd", "abcde", "xbxdef"] {
        assert!(recognises(is_one), "{is_one}");
    }
    for is_none in ["", "a", "axc", "abcx", "abcdx"] {
        assert!(!recognises(is_none), "{is_none}");
    }
}

#[test]
fn what_another_message_follows_is_the_rest_of_the_root() {
    let with = |next: &str| format!("root = \"message\"\nnext = {next}");
    let refused = |next: &str| refused("root = \"message\"", &with(next));
    let one = |code: &str, at: &str| vec![(code.to_string(), at.to_string())];
    let body = "{ body = \"item.3\", length = \"item.1\" }";
    assert_eq!(refused(body), one("E1024", "\"item.3\""));
    let none = "{ body = \"nothing\", length = \"item.1\" }";
    assert_eq!(refused(none), one("E1023", "\"nothing\""));
    let decimal = "{ name = \"words\", size = 1, type = \"decimal\", chars = \"0-9\" }";
    let text = GOOD
        .replace("{ name = \"words\", size = 1 }", decimal)
        .replace(
            "root = \"message\"",
            &with("{ body = \"first\", length = \"words\" }"),
        )
        + "\n[[attribute]]\nname = \"words\"\nfield = \"message.words\"\n";
    let (map, schema) = load_text(&text);
    let shown = diag::render_plain(&schema.expect_err("a number"), &map);
    assert!(
        shown.contains("error[E1023]: `words` is a number")
            && shown.contains("remove `type = \"decimal\"`"),
        "{shown}"
    );
    let http = crate::builtin::Builtin::named("http").and_then(|b| b.schema().ok());
    let next = http
        .expect("a built-in message")
        .next
        .expect("others follow");
    assert_eq!(
        (next.body.as_str(), next.length.as_str()),
        ("body", "content_length")
    );
    let none = next.none.expect("some have no body");
    assert!(none.is(Some(304)) && !none.is(Some(200)));
    // An attribute of text cannot identify messages by numbers.
    let text =
        "{ body = \"first\", length = \"first\", none = { attribute = \"first\", values = [1] } }";
    assert!(
        refused(text).contains(&one("E1026", "\"first\"")[0]),
        "{:?}",
        refused(text)
    );
}

#[test]
fn a_message_may_begin_with_the_first_bytes_of_a_signature() {
    let http = crate::builtin::Builtin::named("http").and_then(|b| b.schema().ok());
    let http = http.expect("a built-in message");
    for begins in [
        &b"G"[..],
        b"GET",
        b"HTTP/1",
        b"\r\n",
        b"x",
        b"M-SEARCH * HTTP/1.1\r",
    ] {
        assert!(http.may_begin(begins) && !http.recognises(begins));
    }
    for is_one in [
        &b"GET "[..],
        b"M-SEARCH * HTTP/1.1\r\n",
        b"\r\n\nget /x HTTP/1.0\n",
    ] {
        assert!(http.recognises(is_one), "{is_one:?}");
    }
    let long = format!("{} / HTTP/1.1\r\n", "A".repeat(33));
    for none in [
        &b" "[..],
        b"HTTP/2",
        b"G@T / HTTP/1.1\r\n",
        b"the quick brown fox",
        b"PRI * HTTP/2.0\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        long.as_bytes(),
    ] {
        assert!(!http.recognises(none) && !http.may_begin(none), "{none:?}");
    }
}

#[test]
fn a_regular_expression_by_which_messages_are_recognised_is_bound_to_the_start() {
    let with = |signature: &str| {
        let with = format!("ports = [7]\nrecognise = [{{ {signature} }}]");
        let (map, schema) = load_text(&GOOD.replace("ports = [7]", &with));
        let errors = schema.expect_err(signature);
        diag::render_plain(&errors, &map)
    };
    for (signature, code) in [
        ("at = 1", "E0990"),
        ("pattern = \"^a(b\"", "E0991"),
        ("pattern = \"^\\\\p{L}\"", "E0991"),
        ("pattern = \"a\"", "E0992"),
        ("pattern = \"\"", "E0992"),
        ("pattern = \"^a\", bytes = \"a\"", "E1007"),
        ("pattern = \"^a\", at = 3", "E1008"),
    ] {
        assert!(with(signature).contains(code), "{}", with(signature));
    }
}

#[test]
fn what_follows_a_field_follows_its_end() {
    let found = refused(
        "name = \"flags\", bits = 4",
        "name = \"flags\", bits = 4, followed_by = \"a\"",
    );
    assert_eq!(found[0].0, "E1008");
}

#[test]
fn only_messages_over_tcp_go_on_in_the_next_segment() {
    let with = "root = \"message\"\nfollow = true";
    let over_udp = GOOD.replace("root = \"message\"", with);
    let (map, refused) = load_text(&over_udp.replace("\"tcp\"", "\"udp\""));
    let refused = diag::render_plain(&refused.expect_err("datagrams"), &map);
    assert!(refused.starts_with("error[E1030]"), "{refused}");
    let (_, over_tcp) = load_text(&over_udp.replace("\"udp\"", "\"tcp\""));
    assert!(over_tcp.expect("a schema").follow);
    let (_, plain) = load_text(GOOD);
    assert!(!plain.expect("a schema").follow);
}

/// Even if the rule for the next message names an attribute whose field has an error.
#[test]
fn a_schema_without_one_of_its_lines_is_read_or_refused() {
    for builtin in crate::builtin::ALL {
        let lines: Vec<&str> = builtin.text.lines().collect();
        for left_out in 0..lines.len() {
            let rest = [&lines[..left_out], &lines[left_out + 1..]].concat();
            let mut map = SourceMap::new();
            let file = map.add("m.toml", rest.join("\n")).unwrap();
            if let Err(wrong) = load(&map, file) {
                assert!(wrong.has_errors(), "{}: {left_out}", builtin.name);
            }
        }
    }
}

#[test]
fn attributes_or_ports_show_what_answers_what() {
    let with = |exchange: &str| format!("root = \"message\"\nexchange = {exchange}");
    let refused = |exchange: &str| refused("root = \"message\"", &with(exchange));
    let one = |code: &str, at: &str| vec![(code.to_string(), at.to_string())];
    let request = "request = { attribute = \"first\" }";
    let half = format!("{{ {request} }}");
    assert_eq!(refused(&half), one("E1027", &half));
    let no_attribute = format!("{{ {request}, response = {{ attribute = \"second\" }} }}");
    assert_eq!(refused(&no_attribute), one("E1025", "\"second\""));
    let no_number =
        format!("{{ {request}, response = {{ attribute = \"first\", values = [1] }} }}");
    assert_eq!(refused(&no_number), one("E1026", "\"first\""));
    assert_eq!(refused("{ id = \"item.1\" }"), one("E1026", "\"item.1\""));
    let (map, no_ports) = load_text(
        &GOOD
            .replace("[7]", "[]")
            .replace("root = \"message\"", &with("{}")),
    );
    let no_ports = no_ports.expect_err("nothing shows the sides");
    let no_ports = diag::render_plain(&no_ports, &map);
    assert!(no_ports.starts_with("error[E1028]"), "{no_ports}");
    let wrong = GOOD
        .replace("length = \"length\", select", "length = \"lenght\", select")
        .replace("root = \"message\"", &with("{ id = \"item.1\" }"));
    let (_, wrong) = load_text(&wrong);
    assert!(wrong.is_err());
    let large = GOOD.replace("key = 0x20\n", "key = 0x10000\n");
    let (map, large) = load_text(&large);
    let large = diag::render_plain(&large.expect_err("a key of 17 bits"), &map);
    assert!(
        large.starts_with("error[E1029]") && large.contains("its numbers are 0 to 65535"),
        "{large}"
    );

    let of = |name| {
        let schema = crate::builtin::Builtin::named(name).and_then(|b| b.schema().ok());
        schema.expect("a built-in message").exchange
    };
    assert!(of("tls").is_none());
    let redis = of("redis").expect("an exchange");
    assert_eq!((redis.sides, redis.id), (crate::Sides::Ports, None));
    let http = of("http").expect("an exchange");
    let names: Vec<&str> = http.attributes().collect();
    assert_eq!(names, ["method", "status"]);
    let crate::Sides::Attributes { request, response } = &http.sides else {
        panic!("{:?}", http.sides);
    };
    assert!(request.is(None) && response.is(Some(200)) && !response.is(Some(100)));
    let dns = of("dns").expect("an exchange");
    assert_eq!(dns.id.as_deref(), Some("id"));
    let crate::Sides::Attributes { request, .. } = &dns.sides else {
        panic!("{:?}", dns.sides);
    };
    assert!(request.is(Some(0)) && !request.is(Some(1)) && !request.is(None));
}

#[test]
fn an_attribute_may_be_one_of_several_fields() {
    let one = |code: &str, at: &str| vec![(code.to_string(), at.to_string())];
    let (_, schema) = load_text(&GOOD.replace(
        "field = \"item.value\"\nkey = 0x20",
        "field = [\"text.a\", \"part.data\"]\nseveral = true",
    ));
    assert_eq!(
        schema
            .expect_err("two kinds")
            .iter()
            .map(|d| d.code.0)
            .collect::<Vec<_>>(),
        ["E0969"]
    );
    let fields = "field = [\"part.data\", \"text.b\"]\nseveral = true\nnoise = [5]";
    let (_, schema) = load_text(&GOOD.replace("field = \"item.value\"\nkey = 0x20", fields));
    let schema = schema.expect("a schema");
    let asked = schema.asked("first").expect("an attribute");
    assert_eq!(asked.sites.len(), 2);
    assert_eq!((asked.traits.several, asked.traits.noise), (true, vec![5]));
    assert_eq!(schema.names(), ["first", "item.*"]);
    for (from, to, code, at) in [
        (
            "field = \"item.value\"\nkey = 0x20",
            "field = \"part.data\"\naddress = true",
            "E0970",
            "\"part.data\"",
        ),
        (
            "field = \"item.value\"\nkey = 0x20",
            "field = [\"part.data\", \"part.dta\"]",
            "E1005",
            "dta",
        ),
    ] {
        assert_eq!(refused(from, to), one(code, at), "{to}");
    }
}

#[test]
fn an_attribute_that_a_sibling_layout_has_too_is_warned_of() {
    let lint = |case: &str, field: &str| {
        let text = GOOD.replace("case = { 0x10 = \"text\" }", case).replace(
            "name = \"first\"\nfield = \"item.value\"\nkey = 0x20",
            field,
        );
        let mut map = SourceMap::new();
        let file = map.add("sample.toml", text.as_str()).expect("room");
        let warnings = super::lint(&map, file);
        warnings
            .iter()
            .map(|d| d.message.clone())
            .collect::<Vec<_>>()
    };
    let both = "case = { 0x10 = \"text\", 0x11 = \"other\" }";
    let other = "\n\n[[layout]]\nname = \"other\"\nfield = [{ name = \"a\", size = 2 }]";
    let only = format!("name = \"a\"\nfield = \"text.a\"{other}");
    let warned = lint(both, &only);
    assert_eq!(
        warned,
        ["`a` is not found in `other.a`, which may stand in the place of its field"]
    );
    assert!(
        lint(
            both,
            &format!("name = \"a\"\nfield = [\"text.a\", \"other.a\"]{other}")
        )
        .is_empty()
    );
    // Another attribute has it.
    let named = format!(
        "name = \"a\"\nfield = \"text.a\"\n\n[[attribute]]\nname = \"second\"\nfield = \"other.a\"{other}"
    );
    assert!(lint(both, &named).is_empty());
    assert!(
        lint(
            "case = { 0x10 = \"text\" }",
            "name = \"a\"\nfield = \"text.a\""
        )
        .is_empty()
    );
}
