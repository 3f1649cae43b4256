//! Regular expressions as tables, compared with the automata and the NFA simulation of `regex-automata`.

use crate::common::random;
use payload::Pattern;
use proptest::prelude::*;
use regex_automata::nfa::thompson::{self, pikevm::PikeVM};
use regex_automata::util::syntax;

/// Expressions with all constructs.
fn expressions() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "a",
            "b",
            "ab",
            ".",
            "[ab]",
            "[^a]",
            r"\w",
            r"\d+",
            r"\.",
            "^",
            "$",
            "(?i)b",
            r"\x00",
            r"[\x80-\xff]",
            r"\b",
            "(?s).",
            "(?m)^",
            "(?m)$",
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 2..4)
                .prop_map(|parts| format!("(?:{})", parts.join("|"))),
            (
                inner,
                prop::sample::select(vec!["*", "+", "?", "{2}", "{1,3}", "*?"])
            )
                .prop_map(|(part, times)| format!("(?:{part}){times}")),
        ]
    })
}

fn texts() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![4 => prop::sample::select(b"aAbB.0\n\0 ".to_vec()), 1 => any::<u8>()];
    prop::collection::vec(byte, 0..24)
}

/// Builds the library's NFA simulation of an expression.
fn simulation(expression: &str) -> PikeVM {
    let bytes = syntax::Config::new().unicode(false).utf8(false);
    let any_bytes = thompson::Config::new().utf8(false);
    let mut builder = PikeVM::builder();
    let built = builder.syntax(bytes).thompson(any_bytes).build(expression);
    built.expect("an expression")
}

random! {
    400 fn the_table_finds_what_the_library_finds(
        expression in expressions(),
        texts in prop::collection::vec(texts(), 20),
    ) {
        if let Ok(pattern) = Pattern::new(&expression) {
            let table = pattern.table().expect("a small automaton");
            let simulation = simulation(&expression);
            let mut cache = simulation.create_cache();
            for text in texts {
                let expected = simulation.is_match(&mut cache, text.as_slice());
                prop_assert_eq!(table.is_in(&text), expected, "{} in {:?}", expression, text);
                prop_assert_eq!(pattern.is_in(&text), expected, "{} in {:?}", expression, text);
            }
        }
    }
}
