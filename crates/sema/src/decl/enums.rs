//! Enums, `error` and `match_kind`.

use crate::checker::Checker;
use crate::constant;
use crate::errors::{names, types};
use crate::scope::Entity;
use hir::*;
use std::rc::Rc;
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
        let id = self.module.enums.push(Enum {
            name: name.name.clone(),
            underlying: underlying.clone(),
            members: Vec::with_capacity(members.len()),
        });
        self.scoped(|c| {
            c.declare(name, Entity::Type(Ty::Enum(id)));
            // A member may have the enum's own name.
            c.scoped(|c| {
                for member in members {
                    c.enum_member(id, member, underlying.as_ref());
                }
            });
        });
        if underlying == Some(Ty::Poison) {
            self.declare(name, Entity::Poison);
            return;
        }
        self.declare(name, Entity::Type(Ty::Enum(id)));
    }

    /// Checks a member. The values of later members may refer to it by its name alone.
    fn enum_member(&mut self, id: EnumId, member: &ast::EnumMember, underlying: Option<&Ty>) {
        let value = self.member_value(member, underlying);
        if let (Some(value), Some(ty)) = (&value, underlying) {
            let entity = Entity::Const(Rc::new(value.clone()), ty.clone());
            self.declare(&member.name, entity);
        } else {
            self.declare(&member.name, Entity::Poison);
        }
        let members = &mut self.module.enums[id].members;
        if members.iter().all(|(known, _)| *known != member.name.name) {
            members.push((member.name.name.clone(), value));
        }
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

    pub(crate) fn error_decl(&mut self, members: &[ast::Ident]) {
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
