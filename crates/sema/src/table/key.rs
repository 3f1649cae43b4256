//! Keys of tables.

use crate::checker::{Checker, Context};
use crate::errors::{names, statements, tables, types, warnings};
use diag::nearest;
use hir::*;
use smol_str::{SmolStr, format_smolstr};
use syntax::ast;

impl Checker<'_> {
    /// Checks a table's key. Elements without names get unique ones.
    pub(super) fn key(&mut self, elements: &[ast::KeyElement]) -> Vec<KeyElement> {
        let mut keys: Vec<KeyElement> = elements.iter().map(|e| self.key_element(e)).collect();
        for i in 0..keys.len() {
            if !keys[i].name.is_empty() {
                continue;
            }
            let mut numbers = i..;
            let is_free = |made: &SmolStr| keys.iter().all(|key| key.name != *made);
            let made = numbers.find_map(|n| Some(format_smolstr!("key{n}")).filter(is_free));
            keys[i].name = made.unwrap_or_default();
            let hidden = keys[i].annotations.iter().any(|a| a.name == "hidden");
            if !hidden && keys[i].expr.ty != Ty::Poison {
                let at = elements[i].expr.span;
                self.report(warnings::key_without_name(at, &keys[i].name));
            }
        }
        keys
    }

    /// Checks an element of a key; its name is empty if it has none.
    fn key_element(&mut self, element: &ast::KeyElement) -> KeyElement {
        let annotations = self.annotations(&element.annotations);
        let mut expr = self.in_context(Context::Key, |c| c.expr(&element.expr, None));
        if expr.ty == Ty::Int {
            expr = self.poison(statements::key_without_width(expr.span));
        } else if !self.is_matchable(&expr.ty) {
            let shown = self.show(&expr.ty);
            let help = "match on its fields one by one";
            expr = self.poison(types::key_type(expr.span, &shown, "a table's key", help));
        }
        let kind = &element.match_kind;
        let match_kind = match self.module.match_kinds.iter().position(|k| *k == kind.name) {
            Some(i) => i as u32,
            None => {
                let near = nearest(
                    &kind.name,
                    self.module.match_kinds.iter().map(SmolStr::as_str),
                )
                .map(str::to_owned);
                self.report(names::unknown_match_kind(kind, near.as_deref()));
                // Not the index of a match kind: entries are then not checked against it.
                u32::MAX
            }
        };
        let numeric = matches!(self.representation(&expr.ty), Ty::Bits { .. } | Ty::Poison);
        if matches!(kind.name.as_str(), "lpm" | "range") && !numeric {
            let shown = self.show(&expr.ty);
            self.report(tables::match_kind_type(kind, &shown));
        }
        let named = annotations
            .iter()
            .find(|a| a.name == "name")
            .and_then(|a| match &a.body {
                AnnotationBody::Values(values) => match &values[..] {
                    [ConstValue::String(text)] => Some(SmolStr::new(text)),
                    _ => None,
                },
                _ => None,
            });
        let name = named.or_else(|| written(&element.expr)).unwrap_or_default();
        KeyElement {
            expr,
            match_kind,
            name,
            annotations,
            span: element.span,
        }
    }
}

/// Returns a simple key's text, which is its name in the control plane (specification section "Computing control
/// names"). `None` for anything more complicated.
fn written(expr: &ast::Expr) -> Option<SmolStr> {
    let mut parts: Vec<String> = Vec::new();
    let mut at = expr;
    loop {
        match &at.kind {
            ast::ExprKind::Name { name, .. } => {
                parts.push(name.name.to_string());
                break;
            }
            ast::ExprKind::Member(base, name) => {
                parts.push(format!(".{}", name.name));
                at = base;
            }
            ast::ExprKind::Index(base, index) => {
                parts.push(format!("[{}]", number(index)?));
                at = base;
            }
            ast::ExprKind::Slice { base, hi, lo } => {
                parts.push(format!("[{}:{}]", number(hi)?, number(lo)?));
                at = base;
            }
            ast::ExprKind::Call {
                callee,
                args,
                type_args,
            } if args.is_empty() && type_args.is_empty() => match &callee.kind {
                ast::ExprKind::Member(base, name) if name.name == "isValid" => {
                    parts.push(".isValid()".to_owned());
                    at = base;
                }
                _ => return None,
            },
            _ => return None,
        }
    }
    Some(parts.into_iter().rev().collect::<String>().into())
}

fn number(expr: &ast::Expr) -> Option<String> {
    match &expr.kind {
        ast::ExprKind::Int { value, .. } => Some(value.to_string()),
        ast::ExprKind::Name { name, .. } => Some(name.name.to_string()),
        _ => None,
    }
}
