//! Built-in schemas, and the JSON Schema beside them.

use crate::common::{random, schema};
use diag::{SourceMap, render_plain};
use payload::builtin::ALL;
use payload::{load, read};
use proptest::prelude::*;
use std::path::Path;

fn messages() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../messages")
}

#[test]
fn each_is_without_errors_and_has_its_name() {
    for builtin in ALL {
        let mut map = SourceMap::new();
        let file = map.add(builtin.name, builtin.text).unwrap();
        let schema = load(&map, file).unwrap_or_else(|e| panic!("{}", render_plain(&e, &map)));
        assert_eq!(schema.name, builtin.name);
    }
}

#[test]
fn each_file_is_built_in_and_documented_with_its_attributes() {
    let readme = std::fs::read_to_string(messages().join("README.md")).unwrap();
    for entry in std::fs::read_dir(messages()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(name) = name.strip_suffix(".toml") {
            assert!(ALL.iter().any(|builtin| builtin.name == name), "{name}");
            let title = format!("\n## {name}\n");
            let (_, section) = readme
                .split_once(&title)
                .unwrap_or_else(|| panic!("{name}"));
            let section = section.split("\n## ").next().unwrap_or(section);
            for attribute in &schema(name).attributes {
                let code = format!("`{}`", attribute.name);
                assert!(section.contains(&code), "{name}: {code}");
            }
        }
    }
}

#[test]
fn a_message_is_recognised_by_its_first_bytes_or_by_its_port_alone() {
    assert!(schema("http").recognises(b"GET / HTTP/1.1"));
    assert!(!schema("http").recognises(b"\x16\x03\x01"));
    assert!(schema("tls").recognises(b"\x16\x03\x01"));
    assert!(schema("dns").recognises(b""));
}

#[test]
fn the_example_of_the_documentation_is_a_schema() {
    let readme = std::fs::read_to_string(messages().join("README.md")).unwrap();
    let (_, example) = readme.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let mut map = SourceMap::new();
    let file = map.add("README.md", example).unwrap();
    let schema = load(&map, file).unwrap_or_else(|e| panic!("{}", render_plain(&e, &map)));
    let found = read(&schema, &[1, 2, 0, 0, 7, 1, 21]).unwrap();
    assert_eq!(
        (found[0].name.as_str(), found[0].offset),
        ("temperature", 6)
    );
}

#[test]
fn the_json_schema_is_the_one_of_the_keys() {
    let path = messages().join("schema.json");
    let expected = format!("{:#}\n", payload::json_schema());
    if std::env::var_os("ONPATH_BLESS").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
}

random! {
    300 fn any_bytes_are_read_to_an_end(which in 0..ALL.len(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let schema = schema(ALL[which].name);
        if let Err(malformed) = read(schema, &bytes) {
            prop_assert!(malformed.at <= bytes.len());
        }
    }
}
