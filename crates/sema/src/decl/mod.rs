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
use diag::Span;
use hir::*;
use syntax::ast;

/// Returns the name that a declaration declares.
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

/// Describes a kind of declaration in messages, with its article.
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
    /// Checks a declaration at the top level.
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
            // Already declared, before all other declarations.
            Error { .. } => {}
            MatchKind { members } => self.match_kind_decl(members),
            Typedef { ty, name } => self.typedef_decl(decl, ty, name),
            NewType { ty, name } => self.new_type_decl(decl, ty, name),
            ValueSet { ty, size, name } => {
                let id = self.value_set_decl(decl, ty, size, name);
                self.module.shared_sets.push(id);
            }
            Var { name, .. } | Table { name, .. } => {
                self.report(declarations::not_here(
                    decl.span,
                    kind_name(&decl.kind),
                    self.context.describe(),
                ));
                self.declare(name, Entity::Poison);
            }
        }
    }

    /// Reports declarations that use a name of the language for something else.
    fn reserved_names(&mut self, decl: &ast::Decl) {
        self.keep_no_action(decl);
        let is_main = declared_name(decl).filter(|name| name.name == "main");
        if let Some(name) = is_main
            && !matches!(decl.kind, ast::DeclKind::Instance { .. })
        {
            let kind = kind_name(&decl.kind);
            self.report(declarations::main_not_instance(name, kind));
        }
    }

    /// Reports a `NoAction` at the top level that is not an empty action, which tables run by default. An empty one may
    /// be declared again. A control may have a `NoAction` of its own.
    fn keep_no_action(&mut self, decl: &ast::Decl) {
        let Some(name) = declared_name(decl).filter(|name| name.name == "NoAction") else {
            return;
        };
        let what = match &decl.kind {
            ast::DeclKind::Action { params, .. } if !params.is_empty() => {
                "an action with parameters"
            }
            ast::DeclKind::Action { body, .. } if !body.stmts.is_empty() => {
                "an action with statements"
            }
            ast::DeclKind::Action { .. } => return,
            other => kind_name(other),
        };
        self.report(declarations::not_no_action(name, what));
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
        let resolved = self.full_ty(ty);
        if let Some(format) = annotation::format_by_name(&name.name, &resolved)
            && display.iter().all(|known| known.name != "format")
        {
            display.push(Annotation {
                name: "format".into(),
                body: AnnotationBody::Tokens(vec![format.into()]),
                span: name.span,
            });
        }
        self.display.insert(name.span, display);
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

    /// Begins a parser, control or package. Returns the first of its name and kind, which it may overload by its
    /// parameters.
    fn begin_block(&mut self, name: &ast::Ident, what: &'static str) -> Option<Entity> {
        let first = (self.scopes.lookup_here(&name.name))
            .map(|b| b.entity.clone())
            .filter(|e| e.describe() == what);
        if first.is_none() {
            self.declare(name, Entity::InProgress(what));
        }
        first
    }

    /// Ends the declaration that `begin_block` began: `made` is in scope from here on.
    fn end_block(&mut self, name: &ast::Ident, first: Option<Entity>, made: Entity) {
        let Some(first) = first else {
            return self.settle(name, made);
        };
        let others = self.overloads.get(&name.name).into_iter().flatten();
        let constructed = |entity: &Entity| self.constructor_params(entity).unwrap_or(&[]).to_vec();
        let is_twin = |other: &&Entity| {
            self.same_parameters(&constructed(other), &constructed(&made))
                && self.same_parameters(self.block_params(other), self.block_params(&made))
        };
        let twin = std::iter::once(&first).chain(others).find(is_twin);
        let twin = twin.map(|other| self.block_span(other));
        let is_type = |entity: &Entity| match entity {
            Entity::Parser(id) => self.module.parsers[*id].body.is_none(),
            Entity::Control(id) => self.module.controls[*id].body.is_none(),
            _ => false,
        };
        if twin.is_some() || is_type(&first) || is_type(&made) {
            let earlier = twin.unwrap_or_else(|| self.block_span(&first));
            self.report(names::duplicate(name, earlier));
        } else {
            let all = self.overloads.entry(name.name.clone()).or_default();
            all.push(made);
        }
    }

    /// Returns the location of the declaration of a parser, control or package.
    fn block_span(&self, entity: &Entity) -> Span {
        match entity {
            Entity::Parser(id) => self.module.parsers[*id].span,
            Entity::Control(id) => self.module.controls[*id].span,
            Entity::Package(id) => self.module.packages[*id].span,
            _ => Span::NONE,
        }
    }

    /// Returns the parameters with which a parser or control is applied. Packages have none.
    pub(crate) fn block_params(&self, entity: &Entity) -> &[LocalId] {
        match entity {
            Entity::Parser(id) => &self.module.parsers[*id].params,
            Entity::Control(id) => &self.module.controls[*id].params,
            _ => &[],
        }
    }

    /// Returns the parameters of the constructor of a parser, control or package.
    pub(crate) fn constructor_params(&self, entity: &Entity) -> Option<&[LocalId]> {
        match entity {
            Entity::Parser(id) => Some(&self.module.parsers[*id].ctor_params),
            Entity::Control(id) => Some(&self.module.controls[*id].ctor_params),
            Entity::Package(id) => Some(&self.module.packages[*id].params),
            _ => None,
        }
    }
}
