//! Comparison of `onpath query --explain` with the generated programs, for every built-in message and attribute.

use bpf::abi::Hook;
use diag::{SourceMap, render_plain};
use driver::Input;
use driver::bpf_target::{Request, generate};
use payload::builtin::ALL;
use payload::{AttributeKind, Schema};
use std::collections::BTreeSet;
use telemetry::{Catalogue, Schemas};

/// Returns the names of a message's attributes, with a key in place of `*`.
fn names(schema: &Schema) -> impl Iterator<Item = String> {
    schema.names().into_iter().map(|attribute| {
        let named = ["a", "1", "a/@b"].map(|key| attribute.replace('*', key));
        let mut known = named.into_iter().filter(|name| schema.asked(name).is_ok());
        known.next().expect("a name")
    })
}

fn explanation(schemas: &Schemas, text: &str) -> String {
    let query = telemetry::compile(text, &Catalogue::new(schemas), &mut SourceMap::new());
    telemetry::explain(&query.expect("a query"), schemas, None)
}

/// Returns the explanation's passage on the technique of a program, and the program's C.
fn explained(schemas: &Schemas, text: &str) -> (String, String) {
    let mut map = SourceMap::new();
    let query = telemetry::compile(text, &Catalogue::new(schemas), &mut map)
        .unwrap_or_else(|wrong| panic!("{text}: {}", render_plain(&wrong, &map)));
    let explanation = explanation(schemas, text);
    let mut lines = explanation.lines();
    let begin = "on the path: a program reads each message once, ";
    let passage = lines.find_map(|line| line.strip_prefix(begin));
    let program = telemetry::program(&query, text, schemas, 16);
    let input = Input {
        text: Some(program.expect("a program").into()),
        ..Input::file("query")
    };
    let elaborated = driver::elaborate(&input).ok().expect("P4");
    let request = Request::hook(Hook::TcIngress);
    let output = generate(&elaborated.program, &elaborated.map, request)
        .unwrap_or_else(|wrong| panic!("{text}: {}", render_plain(&wrong, &elaborated.map)));
    (passage.expect("a passage").to_owned(), output.c_source)
}

/// Returns the technique by which a program's C reads each message, in the explanation's words.
fn done(source: &str) -> String {
    let parse = source.split("_message_parse(").nth(1).expect("a function");
    let parse = parse.split("\n}\n").next().unwrap_or_default();
    // The rest is reached only for messages that lack an attribute.
    let (read, is_whole) = match parse.split_once("// what follows does not matter") {
        Some((read, _)) => (read, false),
        None => (parse, true),
    };
    let has = |any: &[&str]| any.iter().any(|text| read.contains(text));
    let is_document = source.contains("message_json(") || source.contains("message_xml(");
    let technique = match () {
        // The end of a field is looked for, or an automaton follows the language of a document.
        () if has(&["_end_of_"]) || is_document => "byte by byte",
        () if has(&["at += (u32)", "for (;;)", "_skip_name(", "_varint("]) => {
            "skip ahead and check"
        }
        () => "direct jump",
    };
    let how_far = match is_whole {
        true => "to its end",
        false => "no further than it has these",
    };
    format!("{how_far}: {technique}")
}

#[test]
fn programs_read_messages_as_explained() {
    let schemas = Schemas::builtin();
    let mut seen = BTreeSet::new();
    for builtin in ALL {
        let schema = builtin.schema().expect("a built-in message");
        for name in names(&schema) {
            let asked = schema.asked(&name).expect("an attribute");
            let name_of = match asked.traits.several {
                true => format!("first({}.{name})", builtin.name),
                false => format!("{}.{name}", builtin.name),
            };
            let value = match asked.kind {
                AttributeKind::Number { .. } => "1",
                _ if asked.traits.is_address && name.ends_with('6') => "::1",
                _ if asked.traits.is_address => "10.0.0.1",
                _ => "\"1\"",
            };
            let text = format!("count where {name_of} != {value}");
            if !asked.traits.noise.is_empty() {
                assert!(explanation(&schemas, &text).contains("on the path: not answered, since "));
                continue;
            }
            let (passage, source) = explained(&schemas, &text);
            assert_eq!(passage, done(&source), "{text}");
            seen.insert(passage);
        }
    }
    assert!(seen.len() >= 4, "{seen:?}");
}
