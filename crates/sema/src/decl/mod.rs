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
use crate::errors::{declarations, names, types};
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
        self.reserved_names(decl);
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

    /// Reports declarations of names that have a meaning to the language, as something else.
    fn reserved_names(&mut self, decl: &ast::Decl) {
        use ast::DeclKind::*;
        let Some(name) = declared_name(decl) else {
            return;
        };
        let kind = kind_name(&decl.kind);
        match (name.name.as_str(), &decl.kind) {
            ("NoAction", Action { params, .. }) if params.is_empty() => {}
            ("NoAction", Action { .. }) => {
                self.report(declarations::not_no_action(
                    name,
                    "an action with parameters",
                ));
            }
            ("NoAction", _) => self.report(declarations::not_no_action(name, kind)),
            ("main", Instance { .. }) => {}
            ("main", _) => self.report(declarations::main_not_instance(name, kind)),
            _ => {}
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
        if matches!(resolved, Ty::Void | Ty::MatchKind) {
            let shown = self.show(&resolved);
            self.report(types::not_definable(ty.span, &shown));
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
            let mut type_params = c.type_params(type_params);
            let params = c.params(params, ParamOwner::Constructor);
            type_params.append(&mut c.implicit_params);
            (type_params, params)
        });
        let first = self.begin_block(name, "a package");
        let id = self.module.packages.push(Package {
            name: name.name.clone(),
            type_params,
            params,
            span: name.span,
        });
        self.end_block(name, first, Entity::Package(id));
    }

    /// Begins a parser, control or package. Gives the first of its name and kind, which it may overload by the number of
    /// its constructor's parameters.
    fn begin_block(&mut self, name: &ast::Ident, what: &'static str) -> Option<Entity> {
        let first = (self.scopes.lookup_here(&name.name))
            .map(|b| b.entity.clone())
            .filter(|e| e.describe() == what);
        if first.is_none() {
            self.declare(name, Entity::InProgress(what));
        }
        first
    }

    /// Ends what was begun: `made` is known from here on.
    fn end_block(&mut self, name: &ast::Ident, first: Option<Entity>, made: Entity) {
        let Some(first) = first else {
            return self.settle(name, made);
        };
        let others = self.overloads.get(&name.name).into_iter().flatten();
        let count = |entity: &Entity| self.constructor_params(entity).map_or(0, <[_]>::len);
        let twin = std::iter::once(&first)
            .chain(others)
            .any(|other| count(other) == count(&made));
        let is_type = |entity: &Entity| match entity {
            Entity::Parser(id) => self.module.parsers[*id].body.is_none(),
            Entity::Control(id) => self.module.controls[*id].body.is_none(),
            _ => false,
        };
        if twin || is_type(&first) || is_type(&made) {
            let earlier = self.scopes.lookup_here(&name.name).map(|b| b.span);
            self.report(names::duplicate(name, earlier.unwrap_or(name.span)));
        } else {
            let all = self.overloads.entry(name.name.clone()).or_default();
            all.push(made);
        }
    }

    /// The parameters of the constructor of a parser, control or package.
    pub(crate) fn constructor_params(&self, entity: &Entity) -> Option<&[LocalId]> {
        match entity {
            Entity::Parser(id) => Some(&self.module.parsers[*id].ctor_params),
            Entity::Control(id) => Some(&self.module.controls[*id].ctor_params),
            Entity::Package(id) => Some(&self.module.packages[*id].params),
            _ => None,
        }
    }
}
