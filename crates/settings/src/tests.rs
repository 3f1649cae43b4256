use crate::ValueKind::*;
use crate::{Codes, Document, FileFormat};
use diag::SourceMap;

static FORM: FileFormat = FileFormat {
    codes: Codes {
        syntax: "S",
        unknown: "U",
        kind: "K",
        missing: "M",
    },
    lines: "such a file has lines",
    keys: &FILE,
};

crate::keys! {
    /// The file.
    FILE: "a file" {
        required "name": Name, r#"name = "a""#, "its name";
        optional "size": Number(0, 9), "size = 1", "its size";
        optional "sum": TextOrNumber, "sum = 1", "a sum";
        optional "mode": Word(&["r", "w"]), r#"mode = "r""#, "its mode";
        optional "flag": Flag, "flag = true", "set or not";
        optional "data": Bytes, r#"data = "a""#, "its data";
        optional "ends": ByteStrings, r#"ends = "a""#, "its ends";
        optional "files": Texts, r#"files = "a""#, "its files";
        optional "ports": List(&Number(0, 9)), "ports = [1]", "its ports";
        optional "cases": Map(1, &List(&Text)), r#"cases = { a = ["b"] }"#, "its cases";
        optional "part": Tables(&PART), "[[part]]", "its parts";
        optional "limits": Table(&PART), "limits = { at = 1 }", "its limits";
    }

    /// A part.
    PART: "a part" {
        required "at": Number(0, 9), "at = 1", "its place";
    }
}

/// The errors of a text: code, the text that is marked, message and help of each.
fn wrong(text: &str) -> Vec<String> {
    let mut map = SourceMap::new();
    let file = map.add("a.toml", text).unwrap();
    let read = Document::parse(&map, file).read(&FORM, |_, _| Some(()));
    let shown = |d: &diag::Diagnostic| {
        let help = d.help.as_deref().unwrap();
        format!(
            "{} {}: {}; {help}",
            d.code.0,
            map.text(d.primary.span),
            d.message
        )
    };
    read.err()
        .map_or_else(Vec::new, |list| list.iter().map(shown).collect())
}

#[test]
fn every_kind_has_its_values_and_its_words() {
    for fits in [
        "size = 0x9\nsum = 1_000\nmode = \"w\"\nflag = false\ndata = [0, 255]\nends = [1, 2]",
        "sum = \"a + 1\"\nflag = true\ndata = \"a\"\nends = [\"a\", [1]]\nfiles = []\nports = []",
        "files = \"a\"\nends = \"a\"\ncases = { a = [] }\nlimits = { at = 1 }\n[[part]]\nat = 9",
    ] {
        assert_eq!(wrong(&format!("name = \"a-b_1\"\n{fits}\n")), [""; 0]);
    }
    for (line, wanted) in [
        ("size = 10", "10: `size` is a whole number from 0 to 9;"),
        (
            "size = 'a'",
            "'a': `size` is a whole number from 0 to 9, not a string;",
        ),
        (
            "sum = 1.5",
            "1.5: `sum` is a string or a whole number, not a float;",
        ),
        ("mode = 'x'", "'x': `mode` is one of `r`, `w`;"),
        (
            "flag = 1",
            "1: `flag` is true or false, not an integer; write it like `flag = true`: set or not",
        ),
        (
            "data = 1",
            "1: `data` is a string, or a list of numbers from 0 to 255, not an integer;",
        ),
        (
            "data = [256]",
            "256: `data` holds whole numbers from 0 to 255;",
        ),
        ("ends = []", "[]: `ends` is a string, a list of numbers"),
        (
            "ends = ['a', 1]",
            "1: `ends` holds strings, or lists of numbers from 0 to 255, not an integer;",
        ),
        (
            "files = [true]",
            "true: `files` holds strings, not a boolean;",
        ),
        (
            "ports = 1",
            "1: `ports` is a list of whole numbers from 0 to 9, not an integer;",
        ),
        (
            "cases = {}",
            "{}: `cases` is a table of lists of strings, one at least;",
        ),
        (
            "cases = { a = 'b' }",
            "'b': `cases` holds lists of strings, not a string;",
        ),
        ("part = []", "[]: `part` is a list of at least one table;"),
        ("part = [1]", "1: `part` holds tables, not an integer;"),
        ("limits = 1", "1: `limits` is a table, not an integer;"),
    ] {
        let found = wrong(&format!("name = \"a\"\n{line}\n"));
        assert_eq!(found.len(), 1, "{found:#?}");
        let start = format!("K {wanted}");
        assert!(found[0].starts_with(&start), "{found:#?}");
    }
    let found = wrong("name = \"1\"\n");
    assert!(
        found[0].starts_with("K \"1\": `name` is a name of ASCII letters"),
        "{found:#?}"
    );
}

#[test]
fn all_errors_are_reported_in_the_order_of_the_file() {
    assert_eq!(
        wrong("ports = [10, 1, 11]\n[[part]]\nat = 1\nto = 2\n[limits]\n[extra]\n"),
        [
            "M : a file has no `name`; add `name = \"a\"`: its name",
            "K 10: `ports` holds whole numbers from 0 to 9; write it like `ports = [1]`: its ports",
            "K 11: `ports` holds whole numbers from 0 to 9; write it like `ports = [1]`: its ports",
            "U to: unknown key `to` in a part; it may have `at`",
            "M [limits]: a part has no `at`; add `at = 1`: its place",
            "U extra: unknown key `extra` in a file; it may have `name`, `size`, `sum`, `mode`, `flag`, `data`, `ends`, \
             `files`, `ports`, `cases`, `part`, `limits`",
        ]
    );
}

#[test]
fn a_misspelt_key_is_not_missing_too() {
    assert_eq!(
        wrong("nmae = \"a\"\n"),
        ["U nmae: unknown key `nmae` in a file; did you mean `name`?"]
    );
}

#[test]
fn of_text_that_is_no_toml_the_first_error_is_reported() {
    assert_eq!(
        wrong("name = 'a'\nname = 'b'\nsize = [\n"),
        ["S name: `name` is given twice; remove one of them"]
    );
    let found = wrong("name = [1\nsize = 1\n");
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(
        found[0].contains("this is not TOML: ")
            && found[0].ends_with("; such a file has lines; see https://toml.io"),
        "{found:#?}"
    );
}
