//! Declarations.

mod action;
mod composite;
mod control;
mod enums;
mod externs;
mod function;
mod instance;
mod params;
mod parser;
mod select;
mod variable;

pub(crate) use params::ParamOwner;

use crate::annotation;
use crate::checker::Checker;
use crate::errors::{declarations, types};
use crate::scope::Entity;
use hir::*;
use syntax::ast;

/// The name that a declaration declares.
pub(crate) fn declared_name(decl: &ast::Decl) -> Option<&ast::Ident> {
    use ast::DeclKind::*;
    match &decl.kind {
        Const { name, .. }
        | Var { name, .. }
        | Instance { name, .. }
        | Extern { name, .. }
        | Action { name, .. } => Some(name),
        Package { name, .. }
        | Composite { name, .. }
        | Enum { name, .. }
        | Typedef { name, .. } => Some(name),
        NewType { name, .. } | Table { name, .. } | ValueSet { name, .. } => Some(name),
        ExternFunction(proto) | Function { proto, .. } => Some(&proto.name),
        Parser { head, .. } | Control { head, .. } => Some(&head.name),
        Error { .. } | MatchKind { .. } => None,
    }
}

/// The name of a kind of declaration in messages, with its article.
pub(crate) fn kind_name(kind: &ast::DeclKind) -> &'static str {
    use ast::DeclKind::*;
    match kind {
        Const { .. } => "a constant",
        Var { .. } => "a variable",
        Instance { .. } => "an instance",
        ExternFunction(_) => "an extern function",
        Extern { .. } => "an extern",
        Function { .. } => "a function",
        Action { .. } => "an action",
        Parser { .. } => "a parser",
        Control { .. } => "a control",
        Package { .. } => "a package",
        Composite { .. } | Enum { .. } | Typedef { .. } | NewType { .. } => "a type",
        Error { .. } => "an `error` declaration",
        MatchKind { .. } => "a `match_kind` declaration",
        Table { .. } => "a table",
        ValueSet { .. } => "a value set",
    }
}

impl Checker<'_> {
    /// A declaration outside everything.
    pub(crate) fn top_level(&mut self, decl: &ast::Decl) {
        use ast::DeclKind::*;
        match &decl.kind {
            Const { ty, name, value } => {
                self.const_decl(decl, ty, name, value);
            }
            Instance { name, .. } => {
                let Some(id) = self.instance_decl(decl) else {
                    return;
                };
                self.module.top_level.push(id);
                if name.name == "main" {
                    self.used.insert(name.span);
                    if matches!(self.module.instances[id].ty, Ty::Package(..)) {
                        self.module.main = Some(id);
                    } else {
                        let shown = self.show(&self.module.instances[id].ty);
                        self.report(declarations::main_not_package(name.span, &shown));
                    }
                }
            }
            ExternFunction(proto) => self.extern_function(decl, proto),
            Extern {
                name,
                type_params,
                methods,
            } => self.extern_object(decl, name, type_params, methods),
            Function { proto, body } => self.function_decl(decl, proto, body),
            Action { name, params, body } => {
                self.action_decl(decl, name, params, body);
            }
            Parser { head, body } => self.parser_decl(decl, head, body.as_ref()),
            Control { head, body } => self.control_decl(decl, head, body.as_ref()),
            Package {
                name,
                type_params,
                params,
            } => self.package_decl(decl, name, type_params, params),
            Composite {
                kind,
                name,
                type_params,
                fields,
            } => self.composite_decl(decl, *kind, name, type_params, fields),
            Enum {
                underlying,
                name,
                members,
            } => self.enum_decl(decl, underlying.as_ref(), name, members),
            Error { members } => self.error_decl(members),
            MatchKind { members } => self.match_kind_decl(members),
            Typedef { ty, name } => self.typedef_decl(decl, ty, name),
            NewType { ty, name } => self.new_type_decl(decl, ty, name),
            Var { name, .. } | Table { name, .. } | ValueSet { name, .. } => {
                self.report(declarations::not_here(
                    decl.span,
                    kind_name(&decl.kind),
                    self.context.describe(),
                ));
                self.declare(name, Entity::Poison);
            }
        }
    }

    /// Declares type parameters in the current scope.
    pub(crate) fn type_params(&mut self, names: &[ast::Ident]) -> Vec<TypeParamId> {
        names
            .iter()
            .map(|name| {
                let id = self.module.type_params.push(TypeParam {
                    name: name.name.clone(),
                });
                self.declare(name, Entity::Type(Ty::Param(id)));
                id
            })
            .collect()
    }

    fn typedef_decl(&mut self, decl: &ast::Decl, ty: &ast::Type, name: &ast::Ident) {
        let annotations = self.annotations_of(&decl.annotations, decl.span, name.span);
        let mut display = self.with_display(annotations, ty);
        display.retain(annotation::is_display);
        self.display.insert(name.span, display);
        let resolved = self.full_ty(ty);
        if resolved == Ty::Void {
            self.report(types::not_definable(ty.span, "void"));
        }
        self.declare(name, Entity::Type(resolved));
    }

    fn new_type_decl(&mut self, decl: &ast::Decl, ty: &ast::Type, name: &ast::Ident) {
        let annotations = self.annotations_of(&decl.annotations, decl.span, name.span);
        let annotations = self.with_display(annotations, ty);
        let mut resolved = self.full_ty(ty);
        if !matches!(
            resolved,
            Ty::Poison | Ty::Bits { .. } | Ty::Bool | Ty::NewType(_)
        ) {
            let shown = self.show(&resolved);
            self.report(types::not_definable(ty.span, &shown));
            resolved = Ty::Poison;
        }
        if resolved == Ty::Poison {
            self.declare(name, Entity::Poison);
            return;
        }
        let id = self.module.new_types.push(NewType {
            name: name.name.clone(),
            ty: resolved,
            annotations,
        });
        self.declare(name, Entity::Type(Ty::NewType(id)));
    }

    fn package_decl(
        &mut self,
        decl: &ast::Decl,
        name: &ast::Ident,
        type_params: &[ast::Ident],
        params: &[ast::Param],
    ) {
        self.annotations_of(&decl.annotations, decl.span, name.span);
        let (type_params, params) = self.scoped(|c| {
            let type_params = c.type_params(type_params);
            (type_params, c.params(params, ParamOwner::Constructor))
        });
        let id = self.module.packages.push(Package {
            name: name.name.clone(),
            type_params,
            params,
            span: name.span,
        });
        self.declare(name, Entity::Package(id));
    }
}
