//! Enums, `error` and `match_kind`.

use crate::checker::Checker;
use crate::constant;
use crate::errors::{names, types};
use crate::scope::Entity;
use hir::*;
use smol_str::SmolStr;
use syntax::ast;

impl Checker<'_> {
    pub(super) fn enum_decl(
        &mut self,
        decl: &ast::Decl,
        underlying: Option<&ast::Type>,
        name: &ast::Ident,
        members: &[ast::EnumMember],
    ) {
        self.annotations_of(&decl.annotations, decl.span, name.span);
        let underlying = underlying.map(|ty| {
            let resolved = self.full_ty(ty);
            if !matches!(resolved, Ty::Bits { .. } | Ty::Poison) {
                let shown = self.show(&resolved);
                self.report(types::enum_underlying(ty.span, &shown));
                return Ty::Poison;
            }
            resolved
        });
        let mut done: Vec<(SmolStr, Option<ConstValue>)> = Vec::with_capacity(members.len());
        for member in members {
            let value = self.member_value(member, underlying.as_ref());
            if done.iter().any(|(n, _)| *n == member.name.name) {
                let first = members
                    .iter()
                    .find(|m| m.name.name == member.name.name)
                    .map_or(member.name.span, |m| m.name.span);
                self.report(names::duplicate(&member.name, first));
                continue;
            }
            done.push((member.name.name.clone(), value));
        }
        if underlying == Some(Ty::Poison) {
            self.declare(name, Entity::Poison);
            return;
        }
        let id = self.module.enums.push(Enum {
            name: name.name.clone(),
            underlying,
            members: done,
        });
        self.declare(name, Entity::Type(Ty::Enum(id)));
    }

    fn member_value(
        &mut self,
        member: &ast::EnumMember,
        underlying: Option<&Ty>,
    ) -> Option<ConstValue> {
        match (&member.value, underlying) {
            (None, None) => None,
            (None, Some(_)) => {
                self.report(types::enum_value_missing(&member.name));
                Some(ConstValue::Int(Default::default()))
            }
            (Some(value), None) => {
                self.report(types::enum_value_without_type(value.span));
                None
            }
            (Some(value), Some(ty)) => {
                let value = self.expr(value, Some(ty));
                if let (ExprKind::Const(ConstValue::Int(n)), Ty::Bits { width, signed }) =
                    (&value.kind, ty)
                    && value.ty == Ty::Int
                    && constant::wrap(n, *width, *signed) != *n
                {
                    let shown = self.show(ty);
                    self.report(types::enum_value_range(value.span, n, &shown));
                    return Some(ConstValue::Int(Default::default()));
                }
                let value = self.coerce(value, ty);
                match value.kind {
                    ExprKind::Const(known) => Some(known),
                    _ if value.ty == Ty::Poison => Some(ConstValue::Int(Default::default())),
                    _ => {
                        self.report(crate::errors::constants::not_constant(
                            value.span,
                            "the value of an enum's member",
                        ));
                        Some(ConstValue::Int(Default::default()))
                    }
                }
            }
        }
    }

    pub(super) fn error_decl(&mut self, members: &[ast::Ident]) {
        for member in members {
            if self.module.errors.contains(&member.name) {
                self.report(names::member_twice(member, "error"));
            } else {
                self.module.errors.push(member.name.clone());
            }
        }
    }

    pub(super) fn match_kind_decl(&mut self, members: &[ast::Ident]) {
        for member in members {
            if self.module.match_kinds.contains(&member.name) {
                self.report(names::member_twice(member, "match_kind"));
            } else {
                self.module.match_kinds.push(member.name.clone());
            }
        }
    }
}
