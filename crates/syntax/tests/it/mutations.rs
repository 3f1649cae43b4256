//! Programs with random changes: the parser neither panics nor hangs, and every span in its result lies in the text.
//!
//! `PROPTEST_CASES=100000 cargo test --release -p syntax --test it mutations` runs more cases.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use syntax::MemoryLoader;

/// Pieces of text that mutations insert, significant for the grammar and the preprocessor.
const PIECES: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ">>",
    ">>=",
    "<<",
    "<<=",
    ";",
    ":",
    ",",
    ".",
    "..",
    "...",
    "=",
    "==",
    "&&&",
    "|+|",
    "|-|=",
    "++",
    "--",
    "->",
    "{#}",
    "#",
    "##",
    "@",
    "@pragma",
    "?",
    "!",
    "~",
    "_",
    "$",
    "'",
    "\"",
    "\\",
    "\\\n",
    "/*",
    "*/",
    "//",
    "\n",
    "\r\n",
    "\t",
    "\u{e9}",
    "\u{1f600}",
    "\u{0}",
    "\u{feff}",
    "8w",
    "8w0xff",
    "0b2",
    "99999999999w1",
    "1",
    "x",
    "T",
    "T<",
    "(T)",
    "bit<",
    "bit<8>",
    "int",
    "varbit<",
    "tuple<",
    "list<",
    "error",
    "error.",
    "this",
    "true",
    "const ",
    "action ",
    "table ",
    "key",
    "actions",
    "entries",
    "default",
    "default_action",
    "priority=",
    "size",
    "apply",
    "state ",
    "transition ",
    "select(",
    "switch (",
    "if (",
    "else ",
    "for (",
    " in ",
    "return ",
    "exit;",
    "break;",
    "header ",
    "struct ",
    "header_union ",
    "enum ",
    "extern ",
    "parser ",
    "control ",
    "package ",
    "typedef ",
    "type ",
    "value_set<",
    "abstract ",
    "match_kind ",
    "header_type ",
    "reads {",
    "case ",
    "while (",
    "uint8_t ",
    "\n#define A(x, ...) x #x __VA_ARGS__ A\n",
    "\n#define x A(x)\n",
    "A(",
    "x",
    "__LINE__",
    "\n#undef x\n",
    "\n#if 1\n",
    "\n#if (A(1) / 0\n",
    "\n#ifdef x\n",
    "\n#elif defined(x)\n",
    "\n#else\n",
    "\n#endif\n",
    "\n#error e\n",
    "\n#include \"main.p4\"\n",
    "\n#include \"other.p4\"\n",
    "\n#include <\n",
    "\n# 3 \"x\"\n",
    "\n#line\n",
    "\n#pragma once\n",
];

fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|e| e == "p4" || e == "txt") {
            found.push(path);
        }
    }
}

/// Texts that are mutated: the repository's programs, its headers and the sources of the error cases.
static SEEDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for dir in [
        "tests/diagnostics",
        "../../programs",
        "../../p4include",
        "../../tests/stf",
    ] {
        collect(&here.join(dir), &mut found);
    }
    found.sort();
    let texts = found
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap());
    texts
        .map(|t| {
            t.split("=== output")
                .next()
                .unwrap_or_default()
                .chars()
                .take(20_000)
                .collect()
        })
        .collect()
});

#[derive(Clone, Debug)]
enum Mutation {
    Insert(usize, usize),
    Delete(usize, usize),
    Copy(usize, usize, usize),
    Replace(usize, usize),
    Cut(usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = || 0..usize::MAX / 2;
    prop_oneof![
        4 => (at(), 0..PIECES.len()).prop_map(|(at, piece)| Mutation::Insert(at, piece)),
        3 => (at(), 1..40_usize).prop_map(|(at, length)| Mutation::Delete(at, length)),
        1 => (at(), 1..200_usize, at()).prop_map(|(at, length, to)| Mutation::Copy(at, length, to)),
        2 => (at(), any::<usize>()).prop_map(|(at, with)| Mutation::Replace(at, with % 0x250)),
        1 => at().prop_map(Mutation::Cut),
    ]
}

fn mutate(text: &str, mutations: &[Mutation]) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for mutation in mutations {
        let length = text.len() + 1;
        match *mutation {
            Mutation::Insert(at, piece) => {
                let at = at % length;
                text.splice(at..at, PIECES[piece].chars());
            }
            Mutation::Delete(at, count) => {
                let at = at % length;
                text.drain(at..(at + count).min(length - 1));
            }
            Mutation::Copy(at, count, to) => {
                let (at, to) = (at % length, to % length);
                let piece = text[at..(at + count).min(length - 1)].to_vec();
                text.splice(to..to, piece);
            }
            Mutation::Replace(at, with) => {
                let at = at % length;
                if let (Some(place), Some(with)) = (text.get_mut(at), char::from_u32(with as u32)) {
                    *place = with;
                }
            }
            Mutation::Cut(at) => text.truncate((at % length).max(length / 2)),
        }
    }
    text.into_iter().collect()
}

/// Returns every span in the tree, parsed from its debug output.
fn spans(printed: &str) -> impl Iterator<Item = diag::Span> {
    printed.split("Span { lo: ").skip(1).map(|rest| {
        let (lo, rest) = rest.split_once(", hi: ").unwrap();
        let (hi, _) = rest.split_once(' ').unwrap();
        diag::Span {
            lo: lo.parse().unwrap(),
            hi: hi.parse().unwrap(),
        }
    })
}

fn check(text: String) {
    let loader = MemoryLoader::new()
        .with("main.p4", text)
        .with("other.p4", "struct other { bit<8> x; }\n#define x y\n");
    let mut map = diag::SourceMap::new();
    let parsed = syntax::parse(&mut map, &loader, "main.p4", &[]);
    let printed = format!("{:?} {:?}", parsed.program, parsed.diagnostics);
    for span in spans(&printed) {
        if span.is_none() {
            continue;
        }
        let (file, range) = map.locate(span).expect("a place in a file");
        assert!(span.lo <= span.hi, "{span:?}");
        assert_eq!(
            range.len(),
            (span.hi - span.lo) as usize,
            "{span:?} goes over the end of {}",
            map.file(file).name
        );
        assert!(
            map.file(file).text.is_char_boundary(range.start)
                && map.file(file).text.is_char_boundary(range.end)
        );
    }
    assert!(parsed.diagnostics.iter().all(|d| d.help.is_some()));
    diag::render_text(&parsed.diagnostics, &map, true);
    diag::to_json(&parsed.diagnostics, &map);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_programs_are_survived(
        seed in 0..usize::MAX / 2,
        mutations in prop::collection::vec(mutation(), 1..12),
    ) {
        check(mutate(&SEEDS[seed % SEEDS.len()], &mutations));
    }

    #[test]
    fn soups_of_pieces_are_survived(pieces in prop::collection::vec(0..PIECES.len(), 0..200)) {
        check(pieces.into_iter().map(|i| PIECES[i]).collect());
    }

    #[test]
    fn any_text_is_survived(text in "\\PC{0,200}") {
        check(text);
    }
}
