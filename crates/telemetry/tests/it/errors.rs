//! Errors in queries, as users see them. `errors.txt` has each query after `$ `, and the diagnostics. `ONPATH_BLESS=1`
//! rewrites it.

use crate::toy::Toy;
use diag::{Diagnostics, SourceMap, render_plain};
use std::path::Path;
use telemetry::{Catalogue, MAX_QUERY, compile};

/// Returns the diagnostics of a query; empty if it is correct.
fn reported(query: &str) -> String {
    let mut map = SourceMap::new();
    match compile(query, &Catalogue::new(&Toy), &mut map) {
        Ok(_) => String::new(),
        Err(diagnostics) => render_plain(&diagnostics, &map),
    }
}

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_error_reads_as_written() {
    let file = folder().join("tests/it/errors.txt");
    let text = std::fs::read_to_string(&file).expect("the golden file");
    let queries = text.lines().filter_map(|line| line.strip_prefix("$ "));
    let now: String = queries
        .map(|query| {
            let reported = reported(query.trim_end());
            assert!(!reported.is_empty(), "nothing is wrong with {query}");
            format!("$ {query}\n{reported}\n")
        })
        .collect();
    if std::env::var_os("ONPATH_BLESS").is_some() {
        std::fs::write(&file, now).expect("written");
    } else {
        assert!(now == text, "the errors read differently now:\n{now}");
    }
}

#[test]
fn every_error_is_among_them() {
    let golden = std::fs::read_to_string(folder().join("tests/it/errors.txt")).expect("read");
    for file in ["syntax.rs", "meaning.rs"] {
        let source = std::fs::read_to_string(folder().join("src/errors").join(file)).expect("read");
        for code in source.split('"').filter(|piece| piece.starts_with("E11")) {
            // The text of this one is too long for the file.
            let shown = code == "E1101" || code == "E1112";
            assert!(shown || golden.contains(&format!("[{code}]")), "{code}");
        }
    }
}

fn codes(diagnostics: &Diagnostics) -> Vec<&str> {
    diagnostics.iter().map(|d| d.code.0).collect()
}

#[test]
fn sizes_are_limited() {
    let errors = |query: &str| {
        let mut map = SourceMap::new();
        compile(query, &Catalogue::new(&Toy), &mut map).unwrap_err()
    };
    let long = errors(&" ".repeat(MAX_QUERY + 1));
    assert_eq!(codes(&long), ["E1101"]);
    for nested in ["(", "not ", "not (", "(not "] {
        let deep = errors(&format!(
            "count where {} ip.ttl == 1",
            nested.repeat(10_000)
        ));
        assert_eq!(codes(&deep), ["E1112"]);
    }
    assert!(reported(&format!("count where {}ip.ttl == 1", "not ".repeat(64))).is_empty());
    let many = vec!["ip.ttl == 1"; 4000].join(" or ");
    assert!(reported(&format!("count where {many}")).is_empty());
}

#[test]
fn no_text_ends_otherwise_than_with_a_query_or_an_error() {
    use proptest::prelude::*;
    const PIECES: [&str; 29] = [
        "count",
        "top",
        "(",
        ")",
        "10",
        ",",
        "by",
        "where",
        "ip.src",
        "kv.host",
        "==",
        "in",
        "[",
        "]",
        "~",
        "\"a\\x4",
        "\"",
        "\\",
        "not",
        "and",
        "or",
        "starts",
        "with",
        "10.0.0.0/8",
        "::1",
        "ü",
        "\n",
        "0x",
        "/",
    ];
    let text = proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..20);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(3000));
    let joined = text.prop_map(|pieces| pieces.join(" "));
    let done = runner.run(&joined, |text| {
        let _ = reported(&text);
        let _ = reported(&text.replace(' ', ""));
        Ok(())
    });
    done.expect("no panic");
}
