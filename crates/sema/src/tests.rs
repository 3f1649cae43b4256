//! Trees that no text gives.

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
