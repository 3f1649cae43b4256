//! Tests with trees that no program text produces.

use crate::check;
use diag::{SourceMap, Span};
use syntax::ast::*;

fn number() -> Expr {
    Expr {
        kind: ExprKind::Int {
            value: 1.into(),
            width: None,
        },
        span: Span { lo: 1, hi: 2 },
    }
}

fn program(value: Expr) -> Program {
    let span = Span { lo: 1, hi: 2 };
    let ty = Type {
        kind: TypeKind::Int,
        span,
    };
    let kind = DeclKind::Const {
        ty,
        name: Ident {
            name: "X".into(),
            span,
        },
        value,
    };
    Program {
        decls: vec![Decl {
            annotations: Vec::new(),
            kind,
            span,
        }],
    }
}

#[test]
fn nesting_without_end_is_refused_and_does_not_overflow_the_stack() {
    let mut value = number();
    for _ in 0..1000 {
        value = Expr {
            span: value.span,
            kind: ExprKind::Unary(UnaryOp::Neg, Box::new(value)),
        };
    }
    let checked = check(&program(value), &SourceMap::new());
    assert!(checked.module.is_none());
    let codes: Vec<&str> = checked.diagnostics.iter().map(|d| d.code.0).collect();
    assert!(codes.contains(&"E0507"), "{codes:?}");
}

#[test]
fn spans_outside_every_file_do_no_harm() {
    let checked = check(&program(number()), &SourceMap::new());
    assert!(checked.module.is_some());
}

/// Returns true if a text is accepted on a stack as small as that of a test's thread.
fn accepts_on_a_small_stack(text: String) -> bool {
    let work = move || {
        let mut map = SourceMap::new();
        let loader = syntax::MemoryLoader::new().with("deep.p4", text.as_str());
        let parsed = syntax::parse(&mut map, &loader, "deep.p4", &[]);
        !parsed.diagnostics.has_errors() && check(&parsed.program, &map).module.is_some()
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work);
    thread.is_ok_and(|t| t.join().unwrap_or(false))
}

#[test]
fn what_the_parser_lets_through_fits_on_the_stack() {
    let control = |body: String| format!("control c(inout bit<8> x) {{ apply {{ {body} }} }}");
    let chain: String = (1..10_000)
        .map(|i| format!("else if (x == {i}) {{ x = 1; }} "))
        .collect();
    assert!(accepts_on_a_small_stack(control(format!(
        "if (x == 0) {{}} {chain}"
    ))));
    let sum = vec!["x"; 10_000].join("+");
    assert!(accepts_on_a_small_stack(control(format!("x = {sum};"))));
    let all = vec!["x == 1"; 10_000].join(" && ");
    assert!(accepts_on_a_small_stack(control(format!(
        "bool b = {all} || {all}; if (b) {{ x = 2; }}"
    ))));
    let calls = format!(
        "bit<8> f(in bit<8> x) {{ return x; }} {}",
        control(format!("x = {}x{};", "f(".repeat(180), ")".repeat(180)))
    );
    assert!(accepts_on_a_small_stack(calls));
}
