//! Tests of the preprocessor's output. The texts of its errors are in `tests/diagnostics/`.

use diag::{Diagnostics, SourceMap};

use super::preprocess;
use crate::loader::MemoryLoader;
use crate::token::{Token, TokenKind};

fn run(
    loader: &MemoryLoader,
    defines: &[(&str, Option<&str>)],
) -> (Vec<Token>, SourceMap, Vec<&'static str>) {
    let defines: Vec<_> = defines
        .iter()
        .map(|(n, v)| (n.to_string(), v.map(String::from)))
        .collect();
    let mut map = SourceMap::new();
    let mut diagnostics = Diagnostics::new();
    let mut tokens = preprocess(&mut map, loader, "main.p4", &defines, &mut diagnostics);
    assert_eq!(tokens.pop().map(|t| t.kind), Some(TokenKind::Eof));
    (tokens, map, diagnostics.iter().map(|d| d.code.0).collect())
}

/// Returns the tokens of a text, joined by spaces.
#[track_caller]
fn text(main: &str) -> String {
    let (tokens, _, codes) = run(&MemoryLoader::new().with("main.p4", main), &[]);
    assert!(codes.is_empty(), "{codes:?}");
    tokens
        .iter()
        .map(|t| t.text.as_str())
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn object_macros_are_replaced_again_but_not_by_themselves() {
    assert_eq!(text("#define A B + A\n#define B 2\nA"), "2 + A");
    assert_eq!(text("#define A B\n#define B A\nA B"), "A B");
    assert_eq!(text("#define A\nx A y"), "x y");
    // An empty macro at the end of a line must not affect a directive on the next line.
    assert_eq!(text("#define A\nx A\n#define B 2\nA\nB"), "x 2");
    assert_eq!(
        text("#define A\n#define B A A\nB\n#ifdef A\nA\n#endif\ny"),
        "y"
    );
    assert_eq!(text("#define A 1\n#undef A\nA"), "A");
    assert_eq!(text("#define header struct\nheader h"), "struct h");
}

#[test]
fn function_macros_take_arguments() {
    assert_eq!(
        text("#define ADD(a, b) ((a) + (b))\nADD(1, f(2, 3))"),
        "( ( 1 ) + ( f ( 2 , 3 ) ) )"
    );
    assert_eq!(text("#define F(x) x\nF F(F)(1)"), "F F ( 1 )");
    assert_eq!(text("#define F() 1\nF() F( )"), "1 1");
    assert_eq!(text("#define F(x) [x]\nF()"), "[ ]");
    assert_eq!(
        text("#define F(x) x + 1\n#define G(x) F(F(x))\nG(2)"),
        "2 + 1 + 1"
    );
    assert_eq!(text("#define F(a,\\\n b) a b\nF(1,\n 2)"), "1 2");
    assert_eq!(text("#define F (x)\nF"), "( x )");
    assert_eq!(
        text("#define g f\n#define f(x) x * g\nf(2)(9)"),
        "2 * f ( 9 )"
    );
}

#[test]
fn stringify_paste_and_variadic() {
    assert_eq!(
        text("#define S(x) #x\nS(a  + \"b\\n\")"),
        r#""a + \"b\\n\"""#
    );
    assert_eq!(
        text("#define CAT(a, b) a ## b\nCAT(x, 1) CAT(, y) CAT(z, ) CAT(8w, 5)"),
        "x1 y z 8w5"
    );
    assert_eq!(
        text("#define A 1\n#define CAT(a, b) a ## b\n#define A1 9\nCAT(A, 1)"),
        "9"
    );
    assert_eq!(
        text("#define F(x, ...) f(x, __VA_ARGS__)\nF(1, 2, (3, 4))"),
        "f ( 1 , 2 , ( 3 , 4 ) )"
    );
    assert_eq!(
        text("#define F(x, ...) f(x, ## __VA_ARGS__)\nF(1) F(1, 2)"),
        "f ( 1 ) f ( 1 , 2 )"
    );
    assert_eq!(
        text("#define F(...) g(__VA_ARGS__)\nF() F(1, 2)"),
        "g ( ) g ( 1 , 2 )"
    );
}

#[test]
fn further_arguments_may_have_a_name() {
    assert_eq!(
        text("#define F(x, more...) f(x, more)\nF(1, 2, (3, 4))"),
        "f ( 1 , 2 , ( 3 , 4 ) )"
    );
    assert_eq!(
        text("#define F(x, more ...) f(x, ## more)\nF(1) F(1, 2)"),
        "f ( 1 ) f ( 1 , 2 )"
    );
    assert_eq!(
        text("#define F(all...) g(all) #all\nF() F(1, 2)"),
        "g ( ) \"\" g ( 1 , 2 ) \"1, 2\""
    );
}

#[test]
fn what_pasting_cannot_join_stays_apart() {
    assert_eq!(
        text("#define F(h, n) h ## . ## n\nF(hdr, ttl)"),
        "hdr . ttl"
    );
    assert_eq!(
        text("#define CALL(n) set_ ## n ## (1)\nCALL(port) CALL(2)"),
        "set_port ( 1 ) set_2 ( 1 )"
    );
    assert_eq!(
        text("#define CAT(a, b) a ## b\nCAT(1, +) CAT(\"a\", \"b\") CAT(/, /) CAT(., x)"),
        "1 + \"a\" \"b\" / / . x"
    );
    // Tokens that cannot be joined are expanded as they are.
    assert_eq!(
        text("#define n 7\n#define AT(x) x ## . ## n\nAT(a)"),
        "a . 7"
    );
}

#[test]
fn each_counter_is_one_more() {
    assert_eq!(
        text(
            "#define CAT2(a, b) a ## b\n#define CAT(a, b) CAT2(a, b)\n\
             #define NEW CAT(v, __COUNTER__)\nNEW NEW __COUNTER__"
        ),
        "v0 v1 2"
    );
    assert_eq!(text("#ifdef __COUNTER__\n__COUNTER__\n#endif"), "0");
}

#[test]
fn a_backslash_with_blanks_behind_it_joins_lines_too() {
    assert_eq!(text("#define A 1 \\ \t\n + 2\nA"), "1 + 2");
    assert_eq!(text("#define A 1 \\  \r\n + 2\nA"), "1 + 2");
    assert_eq!(text("x // y \\ \n z\nw"), "x w");
    assert_eq!(text("#if 1 \\ \n && 0\nx\n#endif\ny"), "y");
}

#[test]
fn conditionals_choose_among_arguments() {
    let f = "#define F(x, y) [x y]\n";
    assert_eq!(
        text(&format!("{f}F(1,\n#if 0\n2\n#else\n3\n#endif\n)")),
        "[ 1 3 ]"
    );
    assert_eq!(
        text(&format!("{f}#if 1\nF(1,\n#endif\n 2)\nx")),
        "[ 1 2 ] x"
    );
    assert_eq!(
        text(&format!(
            "{f}F(\n#ifdef NO\n#include \"no\"\n a\n#elif F\n#endif\n#ifndef NO\nb, (\n#define C 4\n#endif\nC))"
        )),
        "[ b ( 4 ) ]"
    );
    assert_eq!(
        text(&format!("{f}F(F(1,\n#ifndef NO\n2\n#endif\n), 3)")),
        "[ [ 1 2 ] 3 ]"
    );
}

#[test]
fn next_files_are_those_of_later_folders() {
    // The main file is in no folder: `#include_next` then searches as `#include` does.
    let loader = MemoryLoader::new()
        .with("main.p4", "#include_next <x.p4>\nz")
        .with("x.p4", "x");
    let (tokens, _, codes) = run(&loader, &[]);
    assert!(codes.is_empty(), "{codes:?}");
    assert_eq!(tokens.len(), 2);
    let loader = loader.with("x.p4", "#include_next <x.p4>");
    assert_eq!(run(&loader, &[]).2, ["E0001"]);
}

#[test]
fn conditions_choose_one_branch() {
    let chain = "#if A == 1\none\n#elif A == 2\ntwo\n#else\nmany\n#endif";
    assert_eq!(text(&format!("#define A 1\n{chain}")), "one");
    assert_eq!(text(&format!("#define A 2\n{chain}")), "two");
    assert_eq!(text(chain), "many");
    assert_eq!(
        text("#ifdef A\nx\n#else\ny\n#endif\n#ifndef A\nz\n#endif"),
        "y z"
    );
    assert_eq!(
        text("#define B\n#ifdef A\nx\n#elifdef B\ny\n#endif\n#ifdef A\n#elifndef C\nz\n#endif"),
        "y z"
    );
    assert_eq!(
        text("#if 0\n#if 1\nx\n#else\ny\n#endif\n#elif 1\nz\n#else\nw\n#endif"),
        "z"
    );
    assert_eq!(
        text("#if 0\nit's \"not read /* at all */\n#frob\n#include \"x\"\n#endif\nx"),
        "x"
    );
}

#[test]
fn conditions_are_expressions() {
    for condition in [
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "-1 < 0 && !0",
        "~0 == -1",
        "1 << 4 == 0x10",
        "-8 >> 1 == -4",
        "7 / 2 == 3 && 7 % 2 == 1",
        "0 ? 0 : 1",
        "1 ? 1 : 1 / 0",
        "0 && 1 / 0 || 1",
        "1 || 1 / 0",
        "defined(A) && defined B && !defined(C)",
        "A == 5 && UNKNOWN == 0",
        "F(2) == 3",
        "0b101 == 5 && 0x1F == 31 && 10L == 10u",
        "(5 & 3) == 1 && (5 | 3) == 7 && (5 ^ 3) == 6",
        "1 != 2 && 1 <= 1 && 2 >= 1 && 2 > 1",
        "true && !false",
        "9223372036854775807 + 1 < 0",
        "0xffffffffffffffff == -1",
        "'a' == 97 && ' ' == 32 && '(' == 40",
        "'\\n' == 10 && '\\'' == 39 && '\\0' == 0 && '\\x41' == 65 && '\\101' == 'A'",
    ] {
        let main =
            format!("#define A 5\n#define B\n#define F(x) (x + 1)\n#if {condition}\nyes\n#endif");
        assert_eq!(text(&main), "yes", "{condition}");
    }
}

#[test]
fn includes_are_read_where_they_are() {
    let loader = MemoryLoader::new()
        .with(
            "main.p4",
            "a\n#include \"d/x.p4\"\n#define P <sys.p4>\n#include P\nz",
        )
        .with("d/x.p4", "#include \"y.p4\" // beside\nx")
        .with(
            "d/y.p4",
            "#ifndef Y\n#define Y\ny\n#include \"y.p4\"\n#endif",
        )
        .with("sys.p4", "#pragma once\n#include <sys.p4>\ns");
    let (tokens, map, codes) = run(&loader, &[]);
    assert!(codes.is_empty(), "{codes:?}");
    assert_eq!(
        tokens.iter().map(|t| t.text.as_str()).collect::<Vec<_>>(),
        ["a", "y", "x", "s", "z"]
    );
    let (file, _) = map.locate(tokens[1].span).unwrap();
    assert_eq!(map.file(file).name, "d/y.p4");
    assert_eq!(map.files().count(), 4);
}

#[test]
fn the_command_line_defines() {
    let loader = MemoryLoader::new().with("main.p4", "A B C(2)");
    let (tokens, _, codes) = run(
        &loader,
        &[("A", None), ("B", Some("x + y")), ("C(n)", Some("[n]"))],
    );
    assert!(codes.is_empty(), "{codes:?}");
    assert_eq!(
        tokens
            .iter()
            .map(|t| t.text.as_str())
            .collect::<Vec<_>>()
            .join(" "),
        "1 x + y [ 2 ]"
    );
    let (_, map, codes) = run(&loader, &[("1x", None)]);
    assert_eq!(codes, ["E0006"]);
    assert_eq!(map.files().next().unwrap().1.name, "<command line>");
}

#[test]
fn tokens_of_a_macro_have_the_location_of_its_use() {
    let loader = MemoryLoader::new().with(
        "main.p4",
        "#define TWO 1 + y\n#define ID(x) x z\nTWO\nID(here)",
    );
    let (tokens, map, _) = run(&loader, &[]);
    let shown: Vec<_> = tokens
        .iter()
        .map(|t| (t.text.as_str(), map.text(t.span)))
        .collect();
    assert_eq!(
        shown,
        [
            ("1", "TWO"),
            ("+", "TWO"),
            ("y", "TWO"),
            ("here", "here"),
            ("z", "ID")
        ]
    );
}

#[test]
fn file_and_line_are_those_of_the_use() {
    assert_eq!(
        text("#define L __LINE__\n__FILE__\nL\n\nL"),
        "\"main.p4\" 3 5"
    );
}

#[test]
fn line_says_how_the_next_line_is_called() {
    assert_eq!(
        text(
            "#define L __LINE__\n#line 50\nL\n\nL __FILE__\n#line 7 \"a\\\"b.p4\"\nL __FILE__\n#line L\nL __FILE__\n# 90 \"c.p4\" 2\nL __FILE__"
        ),
        "50 52 \"main.p4\" 7 \"a\\\"b.p4\" 8 \"a\\\"b.p4\" 90 \"c.p4\""
    );
    let loader = MemoryLoader::new()
        .with(
            "main.p4",
            "#line 50 \"x\"\n#include \"b\"\n__LINE__ __FILE__\n#include \"b\"",
        )
        .with("b", "__LINE__ __FILE__\n#line 9\n__LINE__");
    let (tokens, ..) = run(&loader, &[]);
    let texts: Vec<_> = tokens.iter().map(|t| t.text.as_str()).collect();
    assert_eq!(texts, ["1", "\"b\"", "9", "51", "\"x\"", "1", "\"b\"", "9"]);
}

#[test]
fn line_markers_and_pragmas_are_passed_over() {
    assert_eq!(
        text("# 12 \"x.p4\" 1 2\n#line 3 \"y.p4\"\n#pragma whatever 'x\n#\n#ident \"1.2\"\nz"),
        "z"
    );
}

#[test]
fn an_annotation_pragma_ends_with_its_line() {
    let (tokens, ..) = run(
        &MemoryLoader::new().with("main.p4", "@pragma a b\nc @pragma d"),
        &[],
    );
    let kinds: Vec<_> = tokens
        .iter()
        .map(|t| t.kind == TokenKind::PragmaEnd)
        .collect();
    assert_eq!(
        kinds,
        [
            false, false, false, false, true, false, false, false, false, true
        ]
    );
}

#[test]
fn macros_that_grow_without_bound_are_stopped() {
    let doubling: String = (0..40)
        .map(|i| format!("#define M{} M{i} M{i}\n", i + 1))
        .collect();
    let (_, _, codes) = run(
        &MemoryLoader::new().with("main.p4", format!("{doubling}M40")),
        &[],
    );
    assert_eq!(codes, ["E0015"]);
    let doubling: String = (0..40)
        .map(|i| format!("#define M{}(x) M{i}(x) M{i}(x)\n", i + 1))
        .collect();
    let (_, _, codes) = run(
        &MemoryLoader::new().with("main.p4", format!("#define M0(x) x\n{doubling}M40(1)")),
        &[],
    );
    assert_eq!(codes, ["E0015"]);
    // The output is empty, but the work is bounded too.
    let doubling: String = (0..40)
        .map(|i| format!("#define M{} M{i} M{i}\n", i + 1))
        .collect();
    let (_, _, codes) = run(
        &MemoryLoader::new().with("main.p4", format!("#define M0\n{doubling}M40")),
        &[],
    );
    assert_eq!(codes, ["E0015"]);
    let (_, _, codes) = run(
        &MemoryLoader::new().with(
            "main.p4",
            "#define F(x) x x x x x x x x\n".to_string() + &"F(".repeat(20) + "1" + &")".repeat(20),
        ),
        &[],
    );
    assert_eq!(codes, ["E0015"]);
    // Each level of quoting doubles the backslashes.
    let quoting = "#define Q(x) R(x)\n#define R(x) #x\n".to_string()
        + &"Q(".repeat(60)
        + "\"\\\\\""
        + &")".repeat(60);
    let (_, _, codes) = run(&MemoryLoader::new().with("main.p4", quoting), &[]);
    assert_eq!(codes, ["E0015"]);
}

#[test]
fn errors_are_reported_up_to_a_limit() {
    let (_, _, codes) = run(
        &MemoryLoader::new().with("main.p4", "$ ".repeat(100_000)),
        &[],
    );
    assert_eq!((codes.len(), codes.last()), (201, Some(&"E0124")));
}
