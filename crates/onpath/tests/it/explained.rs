//! What `onpath query --explain` says of the programs of queries, and what they do: for every message and attribute that is built in.

use bpf::abi::Hook;
use diag::{SourceMap, render_plain};
use driver::Input;
use driver::bpf_target::{Request, generate};
use payload::builtin::ALL;
use payload::{Kind, Schema};
use telemetry::{Catalogue, Schemas};

/// The names of a message's attributes, with a key in the place of `*`.
fn names(schema: &Schema) -> impl Iterator<Item = String> {
    schema.attributes.iter().map(|attribute| {
        let named = ["a", "1", "a/@b"].map(|key| attribute.name.replace('*', key));
        let mut known = named.into_iter().filter(|name| schema.asked(name).is_ok());
        known.next().expect("a name")
    })
}

/// What the explanation says of how a program goes through messages, and the C of that program.
fn explained(schemas: &Schemas, text: &str) -> (String, String) {
    let mut map = SourceMap::new();
    let query = telemetry::compile(text, &Catalogue::new(schemas), &mut map)
        .unwrap_or_else(|wrong| panic!("{text}: {}", render_plain(&wrong, &map)));
    let explanation = telemetry::explain(&query, schemas, None);
    let begin = "on the path: a program reads each message to its end, once for all attributes: ";
    let mut lines = explanation.lines();
    let technique = lines.find_map(|line| line.strip_prefix(begin));
    let program = telemetry::program(&query, text, schemas, 16);
    let input = Input {
        text: Some(program.expect("a program").into()),
        ..Input::file("query")
    };
    let elaborated = driver::elaborate(&input).ok().expect("P4");
    let request = Request::hook(Hook::TcIngress);
    let output = generate(&elaborated.program, &elaborated.map, request)
        .unwrap_or_else(|wrong| panic!("{text}: {}", render_plain(&wrong, &elaborated.map)));
    (technique.expect("a technique").to_owned(), output.c_source)
}

/// A function of the program that looks at byte after byte: for the end of a field, or by the automaton of a document's language.
const SCANS: [&str; 3] = ["_end_of_", "message_json(", "message_xml("];

#[test]
fn the_explained_technique_is_that_of_the_program() {
    let schemas = Schemas::builtin();
    for builtin in ALL {
        let schema = builtin.schema().expect("a built-in message");
        for name in names(&schema) {
            let text = format!("count where {}.{name} != 1", builtin.name);
            let text = match schema.asked(&name).map(|asked| asked.kind) {
                Ok(Kind::Number { .. }) => text,
                _ => text.replace("!= 1", "!= \"1\""),
            };
            let (technique, source) = explained(&schemas, &text);
            let scans = SCANS.iter().any(|scan| source.contains(scan));
            let expected = match scans {
                true => "byte by byte",
                false => "skip ahead and check",
            };
            assert_eq!(technique, expected, "{text}");
            if !scans {
                let parse = source.split("_message_parse(").nth(1).unwrap_or_default();
                let skips = parse.contains("at += (u32)") || parse.contains("for (;;)");
                assert!(skips, "{text}");
            }
        }
    }
}
