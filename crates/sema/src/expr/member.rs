//! Members and elements: `a.b` and `a[i]`.

use crate::checker::{Checker, constant, poison_expr};
use crate::errors::{calls, constants, names, types};
use crate::remedy::listed;
use crate::scope::Entity;
use diag::nearest;
use diag::{Diagnostic, Span};
use hir::*;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use smol_str::SmolStr;
use syntax::ast;

/// Methods of values of built-in types.
pub(crate) const BUILTIN_METHODS: [&str; 9] = [
    "isValid",
    "setValid",
    "setInvalid",
    "push_front",
    "pop_front",
    "minSizeInBits",
    "minSizeInBytes",
    "maxSizeInBits",
    "maxSizeInBytes",
];

impl Checker<'_> {
    /// Checks `base.name` that is not called.
    pub(super) fn member(&mut self, base: &ast::Expr, name: &ast::Ident, span: Span) -> Expr {
        if let Some(ty) = self.type_operand(base) {
            return match ty {
                Some(ty) => self.type_member(&ty, name, span),
                None => poison_expr(span),
            };
        }
        match self.named_entity(base) {
            Some(Entity::Table(id)) => {
                let table = self.module.tables[*id].name.clone();
                return self.poison(not_of_a_table(&table, name));
            }
            Some(Entity::InProgress(_)) => {
                if let ast::ExprKind::Name { global, name } = &base.kind {
                    self.resolve(*global, name, "name", |_| true);
                }
                return poison_expr(span);
            }
            _ => {}
        }
        let value = self.expr(base, None);
        self.value_member(value, name, span)
    }

    /// Returns the type that `expr` names; `None` if it does not name a type, `Some(None)` after an error.
    pub(crate) fn type_operand(&mut self, expr: &ast::Expr) -> Option<Option<Ty>> {
        match &expr.kind {
            ast::ExprKind::Type(ty) => Some(Some(self.ty(ty)).filter(|t| *t != Ty::Poison)),
            ast::ExprKind::Name { global, name } => {
                let binding = self.scopes.lookup(&name.name, *global)?;
                if !binding.entity.is_type() {
                    return None;
                }
                let entity = self.resolve(*global, name, "type", Entity::is_type)?;
                let ty = self.entity_type(&entity, name, &[], expr.span);
                Some(Some(ty).filter(|t| *t != Ty::Poison))
            }
            _ => None,
        }
    }

    /// Checks `error.X`, `E.A`.
    fn type_member(&mut self, ty: &Ty, name: &ast::Ident, span: Span) -> Expr {
        match ty {
            Ty::Error => match self.module.errors.iter().position(|e| *e == name.name) {
                Some(i) => constant(ConstValue::Error(i as u32), Ty::Error, span),
                None => {
                    let near = nearest(&name.name, self.module.errors.iter().map(SmolStr::as_str))
                        .map(str::to_owned);
                    self.poison(names::no_member(name, "`error`", "member", near.as_deref()))
                }
            },
            Ty::MatchKind => match self.module.match_kinds.iter().position(|e| *e == name.name) {
                Some(i) => constant(ConstValue::MatchKind(i as u32), Ty::MatchKind, span),
                None => self.poison(names::no_member(name, "`match_kind`", "member", None)),
            },
            Ty::Enum(id) => {
                let decl = &self.module.enums[*id];
                match decl.members.iter().position(|(n, _)| *n == name.name) {
                    Some(i) => {
                        let value = decl.members[i]
                            .1
                            .clone()
                            .unwrap_or(ConstValue::Enum(i as u32));
                        constant(value, ty.clone(), span)
                    }
                    None => {
                        let near =
                            nearest(&name.name, decl.members.iter().map(|(n, _)| n.as_str()))
                                .map(str::to_owned);
                        let of = format!("the enum `{}`", decl.name);
                        let all: Vec<SmolStr> =
                            decl.members.iter().map(|(n, _)| n.clone()).collect();
                        let found = names::no_member(name, &of, "member", near.as_deref());
                        self.poison(match listed(&all).filter(|_| near.is_none()) {
                            Some(help) => found.help(help),
                            None => found,
                        })
                    }
                }
            }
            _ if BUILTIN_METHODS[5..].contains(&name.name.as_str()) => {
                self.poison(calls::not_called(name))
            }
            _ => {
                let of = format!("the type `{}`", self.show(ty));
                self.poison(names::no_member(name, &of, "member", None))
            }
        }
    }

    /// Checks a member of a value.
    fn value_member(&mut self, base: Expr, name: &ast::Ident, span: Span) -> Expr {
        match base.ty.clone() {
            Ty::Poison => poison_expr(span),
            Ty::Composite(id, args) => {
                if let Some((i, ty)) = self.field_type(id, &args, &name.name) {
                    return self.field(base, i, ty, span);
                }
                if self.has_builtin(&base.ty, &name.name) {
                    return self.poison(calls::not_called(name));
                }
                let fields = self.module.composites[id].fields.iter();
                let near = nearest(&name.name, fields.map(|f| f.name.as_str())).map(str::to_owned);
                let of = format!("`{}`", self.show(&base.ty));
                let found = names::no_member(name, &of, "field", near.as_deref());
                let instead = self
                    .member_instead(&base, &name.name)
                    .or_else(|| listed(&self.few_fields(&base.ty)).filter(|_| near.is_none()));
                self.poison(match instead {
                    Some(help) => found.help(help),
                    None => found,
                })
            }
            Ty::Stack(elem, n) => self.stack_member(base, &elem, n, name, span),
            Ty::ApplyResult(table) => match name.name.as_str() {
                "hit" | "miss" => Expr {
                    kind: ExprKind::TableHit(table, name.name == "hit"),
                    ty: Ty::Bool,
                    span,
                },
                "action_run" => Expr {
                    kind: ExprKind::Default,
                    ty: Ty::ActionRun(table),
                    span,
                },
                _ => {
                    let near = nearest(&name.name, ["hit", "miss", "action_run"].into_iter());
                    self.poison(names::no_member(
                        name,
                        "the result of `apply()`",
                        "member",
                        near,
                    ))
                }
            },
            Ty::Extern(id, _) => {
                if self.module.externs[id]
                    .methods
                    .iter()
                    .any(|m| m.proto.name == name.name)
                {
                    return self.poison(calls::not_called(name));
                }
                let of = format!("`{}`", self.show(&base.ty));
                self.poison(names::no_member(name, &of, "method", None))
            }
            ty => {
                if self.has_builtin(&ty, &name.name) {
                    return self.poison(calls::not_called(name));
                }
                let of = format!("a value of type `{}`", self.show(&ty));
                let found = names::no_member(name, &of, "member", None);
                let help = self.member_instead(&base, &name.name);
                self.poison(found.help(help.unwrap_or("such values have no members".to_owned())))
            }
        }
    }

    /// Makes field `index` of a composite value, folded.
    pub(crate) fn field(&mut self, base: Expr, index: usize, ty: Ty, span: Span) -> Expr {
        if let ExprKind::Const(ConstValue::List(values)) = &base.kind
            && let Some(value) = values.get(index)
        {
            return constant(value.clone(), ty, span);
        }
        Expr {
            kind: ExprKind::Field(Box::new(base), index as u32),
            ty,
            span,
        }
    }

    fn stack_member(
        &mut self,
        base: Expr,
        elem: &Ty,
        n: u32,
        name: &ast::Ident,
        span: Span,
    ) -> Expr {
        let (property, ty) = match name.name.as_str() {
            "size" => return constant(ConstValue::Int(BigInt::from(n)), Ty::bit(32), span),
            _ if !self.is_stacked(elem) => {
                if self.has_builtin(&base.ty, &name.name) {
                    return self.poison(calls::not_called(name));
                }
                let of = format!("the array `{}`", self.show(&base.ty));
                return self.poison(self.no_property(&base, name, &of, &["size"]));
            }
            "next" => (StackProperty::Next, elem.clone()),
            "last" => (StackProperty::Last, elem.clone()),
            "lastIndex" => (StackProperty::LastIndex, Ty::bit(32)),
            _ if self.has_builtin(&base.ty, &name.name) => {
                return self.poison(calls::not_called(name));
            }
            _ => {
                let of = format!("the header stack `{}`", self.show(&base.ty));
                let known = ["size", "next", "last", "lastIndex"];
                return self.poison(self.no_property(&base, name, &of, &known));
            }
        };
        if !self.context.in_parser() {
            return self.poison(types::stack_property_elsewhere(
                name,
                self.context.describe(),
            ));
        }
        Expr {
            kind: ExprKind::StackProperty(Box::new(base), property),
            ty,
            span,
        }
    }

    /// A property that a stack or an array does not have.
    fn no_property(&self, base: &Expr, name: &ast::Ident, of: &str, known: &[&str]) -> Diagnostic {
        let near = nearest(&name.name, known.iter().copied());
        let found = names::no_member(name, of, "property", near);
        match self.member_instead(base, &name.name) {
            Some(help) if near.is_none() => found.help(help),
            _ => found,
        }
    }

    /// Checks `base[index]` of a stack or tuple.
    pub(super) fn index(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> Expr {
        let base = self.expr(base, None);
        match base.ty.clone() {
            Ty::Poison => {
                self.expr(index, None);
                poison_expr(span)
            }
            Ty::Stack(elem, n) => self.stack_index(base, &elem, n, index, span),
            Ty::Tuple(elems) => {
                let Some((value, at)) = self.const_int(index) else {
                    return poison_expr(span);
                };
                match value.to_usize().filter(|&i| i < elems.len()) {
                    Some(i) => self.tuple_field(base, i, elems[i].clone(), span),
                    None => self.poison(types::index_out_of_range(at, &value, elems.len())),
                }
            }
            ty => {
                let shown = self.show(&ty);
                let fields = self.few_fields(&ty);
                self.poison(types::not_indexable(base.span, &shown, &fields))
            }
        }
    }

    /// Makes element `index` of a tuple value, folded.
    pub(crate) fn tuple_field(&mut self, base: Expr, index: usize, ty: Ty, span: Span) -> Expr {
        match &base.kind {
            ExprKind::Const(ConstValue::List(values)) if index < values.len() => {
                constant(values[index].clone(), ty, span)
            }
            ExprKind::List(elems) if index < elems.len() && self.is_compile_time(&base) => {
                elems[index].clone()
            }
            _ => Expr {
                kind: ExprKind::TupleField(Box::new(base), index as u32),
                ty,
                span,
            },
        }
    }

    fn stack_index(
        &mut self,
        base: Expr,
        elem: &Ty,
        n: u32,
        index: &ast::Expr,
        span: Span,
    ) -> Expr {
        let mut index = self.expr(index, None);
        if let Some(underlying) = self.underlying(&index.ty) {
            index = self.coerce(index, &underlying);
        }
        match (&index.ty, &index.kind) {
            (Ty::Poison, _) => return poison_expr(span),
            (Ty::Int | Ty::Bits { .. }, ExprKind::Const(ConstValue::Int(i))) => {
                if i.to_u32().is_none_or(|i| i >= n) {
                    return self.poison(types::index_out_of_range(index.span, i, n as usize));
                }
            }
            (Ty::Int | Ty::Bits { .. }, _) => {}
            _ => {
                let shown = self.show(&index.ty);
                return self.poison(types::mismatch(index.span, "an index", &shown));
            }
        }
        if let (ExprKind::Const(ConstValue::List(values)), ExprKind::Const(ConstValue::Int(i))) =
            (&base.kind, &index.kind)
            && let Some(value) = i.to_usize().and_then(|i| values.get(i))
        {
            return constant(value.clone(), elem.clone(), span);
        }
        if crate::infer::has_int(elem) {
            let what = "an index of an array of `int`";
            return self.poison(constants::not_constant(index.span, what));
        }
        // A stack's index is an ordinary value; without a width it gets the width of `lastIndex`.
        let index = if index.ty == Ty::Int {
            self.coerce(index, &Ty::bit(32))
        } else {
            index
        };
        Expr {
            kind: ExprKind::StackIndex(Box::new(base), Box::new(index)),
            ty: elem.clone(),
            span,
        }
    }
}

/// `t.hit` and the like, where `t` is a table.
fn not_of_a_table(table: &str, name: &ast::Ident) -> Diagnostic {
    let found = names::no_member(name, &format!("the table `{table}`"), "member", None);
    match &*name.name {
        "apply" => calls::not_called(name),
        "hit" | "miss" | "action_run" => found.help(format!(
            "the result of applying it has this: `{table}.apply().{}`",
            name.name
        )),
        _ => found.help(format!(
            "apply it: `{table}.apply()`, which has `hit`, `miss` and `action_run`"
        )),
    }
}
