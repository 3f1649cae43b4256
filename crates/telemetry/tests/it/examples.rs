//! Documentation: every example runs, and the tables of attributes are up to date.

use crate::evaluation::run_on;
use crate::frames;
use crate::schemas::{SCHEMAS, asked};
use std::path::PathBuf;
use telemetry::{Catalogue, Messages, NoMessages, Type, describe_fields};

fn readme() -> (PathBuf, String) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/queries.md");
    let text = std::fs::read_to_string(&path).expect("the documentation");
    (path, text)
}

#[test]
fn every_example_runs() {
    let (_, text) = readme();
    let blocks = text.split("```query\n").skip(1);
    let queries: Vec<&str> = blocks.filter_map(|b| b.split("```").next()).collect();
    assert!(queries.len() >= 20, "{}", queries.len());
    let mut packets = frames::mix();
    packets.push(asked(80, b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"));
    for query in queries {
        let report = run_on(&*SCHEMAS, query, &packets, None);
        assert_eq!(report.counts.packets as usize, packets.len(), "{query}");
    }
}

/// Replaces a generated section of the documentation, which is between two marks.
fn with_section(text: &str, mark: &str, made: &str) -> String {
    let (begin, end) = (
        format!("<!-- {mark}: begin -->\n"),
        format!("<!-- {mark}: end -->"),
    );
    let (before, rest) = text.split_once(&begin).expect("the begin");
    let (_, after) = rest.split_once(&end).expect("the end");
    format!("{before}{begin}{made}{end}{after}")
}

fn type_name(ty: Type) -> String {
    match ty {
        Type::Number(bits) => format!("number, {}", diag::counted(u64::from(bits), "bit")),
        ty => {
            let (_, name) = ty.name().split_once(' ').expect("an article");
            name.to_string()
        }
    }
}

/// The rows of a message. A cell has as many attributes as a reader takes in at once, and the next row those that follow.
fn rows(name: &str, title: &str, attributes: &[String]) -> String {
    const LONGEST: usize = 200;
    let mut cells: Vec<String> = Vec::new();
    for attribute in attributes {
        match cells.last_mut() {
            Some(cell) if cell.len() + ", ".len() + attribute.len() <= LONGEST => {
                *cell += ", ";
                *cell += attribute;
            }
            _ => cells.push(attribute.clone()),
        }
    }
    let mut rows = String::new();
    let mut head = (name, title);
    for cell in cells {
        rows += &format!("| {} | {} | {cell} |\n", head.0, head.1);
        head = ("", "");
    }
    rows
}

#[test]
fn the_tables_of_attributes_are_true() {
    let mut fields = "| attribute | type | what it is |\n|---|---|---|\n".to_string();
    for (name, ty, what) in describe_fields() {
        fields += &format!("| `{name}` | {} | {what} |\n", type_name(ty));
    }
    assert_eq!(
        Catalogue::new(&NoMessages).names().len(),
        describe_fields().count()
    );

    let mut messages = "| message | what it is | attributes |\n|---|---|---|\n".to_string();
    for builtin in payload::builtin::ALL {
        let schema = builtin.schema().expect("it is right");
        let kind = SCHEMAS.kinds().iter().position(|kind| *kind == schema.name);
        let kind = kind.expect("it is a kind");
        let names = schema.names().into_iter().map(|attribute| {
            let any = attribute.replace('*', "NAME");
            // Every key may be the first; every path of a document is one of these.
            let mut ones = ["1", "1/@1"]
                .map(|one| attribute.replace('*', one))
                .into_iter();
            let ty = ones.find_map(|one| SCHEMAS.attribute(kind, &one));
            let ty = ty.expect("it is there");
            let is_several = SCHEMAS.several(kind, attribute);
            let about = match (ty, is_several) {
                (Type::Text, false) => String::new(),
                (Type::Text, true) => " (several)".to_owned(),
                (ty, false) => format!(" ({})", type_name(ty)),
                (ty, true) => format!(" ({}; several)", type_name(ty)),
            };
            format!("`{}.{any}`{about}", schema.name)
        });
        let name = |_| format!("`{}.response_time` (time)", schema.name);
        let names = names.chain(schema.exchange.as_ref().map(name));
        let names: Vec<String> = names.collect();
        messages += &rows(&schema.name, &schema.title, &names);
    }

    let (path, text) = readme();
    let now = with_section(&text, "attributes", &fields);
    let now = with_section(&now, "messages", &messages);
    if std::env::var_os("ONPATH_BLESS").is_some() {
        std::fs::write(path, now).expect("written");
    } else {
        assert!(
            now == text,
            "the tables are others now:\n{fields}\n{messages}"
        );
    }
}
