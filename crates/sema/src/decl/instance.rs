//! Named instances, and the methods that they implement.

use crate::call::Use;
use crate::checker::{Checker, Context};
use crate::errors::{declarations, names, types};
use crate::infer::{any, has_infer, mentions, subst};
use crate::scope::Entity;
use crate::types::Container;
use diag::nearest;
use diag::{Span, counted};
use hir::*;
use num_traits::ToPrimitive;
use smol_str::SmolStr;
use std::rc::Rc;
use syntax::ast;

impl Checker<'_> {
    /// Checks `T(args) x;`, optionally with implementations of methods.
    pub(crate) fn instance_decl(&mut self, decl: &ast::Decl) -> Option<InstanceId> {
        let ast::DeclKind::Instance {
            ty,
            args,
            name,
            size,
            body,
        } = &decl.kind
        else {
            return None;
        };
        let annotations = self.annotations_of(&decl.annotations, decl.span, name.span);
        let made = self.make(ty, args, name, decl.span);
        let undecided = self.undecided_now.take();
        let Some(mut instance) = made else {
            self.declare(name, Entity::Poison);
            return None;
        };
        self.instance_context(&instance.ty, ty.span);
        instance.name = name.name.clone();
        instance.annotations = annotations;
        instance.span = name.span;
        instance.implementations = self.implementations(&instance.ty, body.as_deref(), name);
        if let Some(size) = size {
            instance.count = self.instance_count(&instance.ty, size, ty.span);
        }
        if self.context != Context::TopLevel {
            self.expect_use("instance", name);
        }
        let id = self.module.instances.push(instance);
        self.undecided.extend(undecided.map(|open| (id, open)));
        self.declare(name, Entity::Instance(id));
        Some(id)
    }

    /// Evaluates the number of instances in an array.
    fn instance_count(&mut self, ty: &Ty, size: &ast::Expr, span: Span) -> Option<u32> {
        let (value, at) = self.const_int(size)?;
        if !matches!(ty, Ty::Extern(..)) {
            let shown = self.show(ty);
            self.report(types::nesting(span, &shown, Container::Stack));
            return None;
        }
        let count = value.to_u32().filter(|n| *n <= MAX_STACK_SIZE);
        if count.is_none() {
            self.report(types::stack_size(at, &value, MAX_STACK_SIZE));
        }
        count
    }

    fn make(
        &mut self,
        ty: &ast::Type,
        args: &[ast::Arg],
        instance: &ast::Ident,
        span: Span,
    ) -> Option<Instance> {
        let (base, type_args): (&ast::Type, &[ast::Type]) = match &ty.kind {
            ast::TypeKind::Specialized { base, args } => (base, args),
            _ => (ty, &[]),
        };
        let ast::TypeKind::Name { global, name } = &base.kind else {
            let resolved = self.ty(ty);
            let shown = self.show(&resolved);
            self.report(declarations::not_instantiable(
                ty.span,
                &shown,
                "a type without constructor",
                Some(&instance.name),
            ));
            return None;
        };
        let Some(entity) = self.resolve(*global, name, "type", Entity::is_type) else {
            self.give_up(args);
            return None;
        };
        let types: Vec<Ty> = type_args.iter().map(|t| self.ty(t)).collect();
        self.construct(
            &entity,
            name,
            &types,
            args,
            Use::Named(&instance.name),
            span,
        )
    }

    /// Reports an instance in a context that does not allow its type (specification appendix "Restrictions on
    /// compile-time calls").
    pub(crate) fn instance_context(&mut self, ty: &Ty, span: Span) {
        use Context::*;
        let (what, allowed, help): (_, &[Context], _) = match ty {
            Ty::Package(..) => (
                "a package",
                &[TopLevel],
                "instantiate packages at the top level",
            ),
            Ty::Parser(..) => (
                "a parser",
                &[ParserLocals],
                "instantiate it in a parser, or pass it to a package as `P()`",
            ),
            Ty::Control(..) => (
                "a control",
                &[ControlLocals, ControlApply],
                "instantiate it in a control, or pass it to a package as `C()`",
            ),
            _ => (
                "an extern",
                &[TopLevel, ParserLocals, ControlLocals, ControlApply],
                "declare it in the control or parser, or at the top level",
            ),
        };
        if !allowed.contains(&self.context) {
            self.report(declarations::instance_context(
                span,
                what,
                self.context.describe(),
                help,
            ));
        }
    }

    fn implementations(
        &mut self,
        ty: &Ty,
        body: Option<&[ast::Decl]>,
        name: &ast::Ident,
    ) -> Vec<(u32, FunctionId)> {
        let Ty::Extern(id, args) = ty else {
            if let Some(first) = body.and_then(|b| b.first()) {
                self.report(declarations::no_abstract_methods(first.span));
            }
            return Vec::new();
        };
        // Instances in the body are in scope for its methods only.
        let done = self.scoped(|c| c.instance_body(*id, ty, args, body.unwrap_or(&[])));
        // A method with another signature was already reported.
        let tried = |method: &str| {
            body.unwrap_or(&[]).iter().any(|decl| {
                matches!(&decl.kind, ast::DeclKind::Function { proto, .. } if proto.name.name == method)
            })
        };
        let missing: Vec<usize> = self.module.externs[*id]
            .methods
            .iter()
            .enumerate()
            .filter(|(i, m)| m.is_abstract && !done.iter().any(|(d, _)| *d as usize == *i))
            .filter(|(_, m)| !m.proto.annotations.iter().any(|a| a.name == "optional"))
            .filter(|(_, m)| !tried(&m.proto.name))
            .map(|(i, _)| i)
            .collect();
        for i in missing {
            let decl = &self.module.externs[*id];
            let proto = &decl.methods[i].proto;
            let result = self.show(&subst(&proto.result, &decl.type_params, args));
            let params = self.runtime_signature(&proto.params, &decl.type_params, args);
            let params = self.params_text(&proto.params, &params);
            let head = format!("{result} {}({params})", proto.name);
            let found = declarations::not_implemented(name, &proto.name, &head, proto.span);
            self.report(found);
        }
        done
    }

    /// Checks the methods in the braces after an instance, and the instances that they use.
    fn instance_body(
        &mut self,
        id: ExternId,
        ty: &Ty,
        args: &[Ty],
        body: &[ast::Decl],
    ) -> Vec<(u32, FunctionId)> {
        let mut done: Vec<(u32, FunctionId)> = Vec::new();
        for decl in body {
            let (proto, body) = match &decl.kind {
                ast::DeclKind::Function { proto, body } => (proto, body),
                ast::DeclKind::Instance { .. } => {
                    self.instance_decl(decl);
                    continue;
                }
                other => {
                    self.report(declarations::not_here(
                        decl.span,
                        super::kind_name(other),
                        "an instance's body",
                    ));
                    continue;
                }
            };
            let annotations = self.annotations_of(&decl.annotations, decl.span, proto.name.span);
            let before = self.this.replace((ty.clone(), proto.name.name.clone()));
            let function = self.function(proto, annotations, body, Context::Method);
            self.this = before;
            if let Some(method) = self.implemented(id, args, &function, proto) {
                if done.iter().any(|(m, _)| *m == method) {
                    let first = done
                        .iter()
                        .find(|(m, _)| *m == method)
                        .map(|(_, f)| self.module.functions[*f].proto.span);
                    self.report(names::duplicate(&proto.name, first.unwrap_or(Span::NONE)));
                    continue;
                }
                done.push((method, self.module.functions.push(function)));
            }
        }
        done
    }

    /// Returns the index of the abstract method that a function implements.
    fn implemented(
        &mut self,
        id: ExternId,
        args: &[Ty],
        function: &Function,
        proto: &ast::Proto,
    ) -> Option<u32> {
        let decl = &self.module.externs[id];
        let name = &proto.name;
        let candidates: Vec<usize> = (0..decl.methods.len())
            .filter(|&i| decl.methods[i].proto.name == name.name && decl.methods[i].is_abstract)
            .collect();
        if candidates.is_empty() {
            let near = nearest(
                &name.name,
                decl.methods
                    .iter()
                    .filter(|m| m.is_abstract)
                    .map(|m| m.proto.name.as_str()),
            );
            let diagnostic = declarations::nothing_to_implement(name, &decl.name, near);
            self.report(diagnostic);
            return None;
        }
        // An error in the instance's type arguments was already reported.
        if args.iter().any(crate::infer::has_poison) {
            return Some(candidates[0] as u32);
        }
        let fits = candidates.iter().copied().find(|&i| {
            let wanted = &decl.methods[i].proto;
            let own = &function.proto.params;
            // An implementation may omit `@optional` parameters at the end.
            let (params, _) = self.without_optional(&wanted.params, own);
            wanted.type_params.len() == function.proto.type_params.len()
                && self.runtime_signature(params, &decl.type_params, args)
                    == self.runtime_signature(own, &[], &[])
                && subst(&wanted.result, &decl.type_params, args) == function.proto.result
        });
        if fits.is_none() {
            let wanted = &decl.methods[candidates[0]].proto;
            let why = self.signatures_differ(
                (
                    wanted,
                    self.runtime_signature(&wanted.params, &decl.type_params, args),
                ),
                &subst(&wanted.result, &decl.type_params, args),
                &function.proto,
            );
            self.report(declarations::implementation_signature(
                name,
                &why,
                wanted.span,
            ));
        }
        fits.map(|i| i as u32)
    }

    /// Substitutes, in all instances, the type arguments that were inferred from their uses.
    pub(crate) fn close_instances(&mut self) {
        let ids: Vec<InstanceId> = self.module.instances.keys().collect();
        // After other errors these may only be consequences.
        let reports = !self.diagnostics.has_errors();
        let mut open = Vec::new();
        for &id in &ids {
            let ty = self.zonk(&self.module.instances[id].ty);
            if reports && let Some((param, of)) = self.undetermined(&ty) {
                let span = self.module.instances[id].span;
                self.report(types::cannot_infer(span, &param, &of));
            }
            any(&ty, &mut |part| {
                if let Ty::Infer(_) = part {
                    open.push(part.clone());
                }
                false
            });
        }
        // No value will ever have a type that is still open.
        for var in open {
            self.unify(&var, &Ty::Void);
        }
        for id in ids {
            let ty = self.zonk(&self.module.instances[id].ty);
            let mut args = std::mem::take(&mut self.module.instances[id].args);
            for arg in &mut args {
                if let Arg::In(value) = arg {
                    self.zonk_expr(value);
                }
            }
            let instance = &mut self.module.instances[id];
            (instance.ty, instance.args) = (ty, args);
        }
    }

    /// Returns the first type parameter of an object that nothing determined, with the name of the object's type.
    fn undetermined(&self, ty: &Ty) -> Option<(SmolStr, SmolStr)> {
        let (name, params, args) = match ty {
            // No call of its methods needs the type.
            Ty::Extern(..) => return None,
            Ty::Parser(id, args) => {
                let decl = &self.module.parsers[*id];
                (&decl.name, &decl.type_params, args)
            }
            Ty::Control(id, args) => {
                let decl = &self.module.controls[*id];
                (&decl.name, &decl.type_params, args)
            }
            Ty::Package(id, args) => {
                let decl = &self.module.packages[*id];
                (&decl.name, &decl.type_params, args)
            }
            _ => return None,
        };
        let mut open = params.iter().zip(args.iter());
        let (param, _) =
            open.find(|(param, arg)| has_infer(arg) && self.depends_on(ty, **param))?;
        let param = self.module.type_params[*param].name.clone();
        Some((param, name.clone()))
    }

    /// True if a block of this type, or one that a package takes, has a parameter whose type depends on the type
    /// parameter.
    fn depends_on(&self, ty: &Ty, param: TypeParamId) -> bool {
        let (params, own, args) = match ty {
            Ty::Parser(id, args) => {
                let decl = &self.module.parsers[*id];
                let params = [&decl.params[..], &decl.ctor_params].concat();
                (params, &decl.type_params, args)
            }
            Ty::Control(id, args) => {
                let decl = &self.module.controls[*id];
                let params = [&decl.params[..], &decl.ctor_params].concat();
                (params, &decl.type_params, args)
            }
            Ty::Package(id, args) => {
                let decl = &self.module.packages[*id];
                (decl.params.clone(), &decl.type_params, args)
            }
            _ => return mentions(ty, param),
        };
        // The type parameters of the object itself are open. Those of another type are replaced by its arguments.
        let is_own = own.contains(&param);
        params.iter().any(|p| {
            let ty = &self.module.locals[*p].ty;
            let given = if is_own {
                ty.clone()
            } else {
                subst(ty, own, args)
            };
            mentions(&given, param) && self.depends_on(&given, param)
        })
    }

    /// Describes the first difference between the implementation of a method and its declaration.
    fn signatures_differ(
        &self,
        (wanted, params): (&Prototype, Vec<(Direction, Ty)>),
        result: &Ty,
        made: &Prototype,
    ) -> String {
        let own = self.runtime_signature(&made.params, &[], &[]);
        if wanted.type_params.len() != made.type_params.len() {
            return format!("has {}", counted(made.type_params.len(), "type parameter"));
        }
        if params.len() != own.len() {
            let wanted = counted(params.len(), "parameter");
            return format!("has {}, not {wanted}", counted(own.len(), "parameter"));
        }
        for (i, (want, have)) in params.iter().zip(&own).enumerate() {
            if want != have {
                let name = &self.module.locals[made.params[i]].name;
                let (have, want) = (self.directed(have), self.directed(want));
                return format!("`{name}` is `{have}`, not `{want}`");
            }
        }
        let (have, want) = (self.show(&made.result), self.show(result));
        format!("returns `{have}`, not `{want}`")
    }

    /// Returns the type of a named instance, or of an array of instances.
    pub(crate) fn instance_type(&self, id: InstanceId) -> Ty {
        let instance = &self.module.instances[id];
        match instance.count {
            Some(count) => Ty::Stack(Rc::new(instance.ty.clone()), count),
            None => instance.ty.clone(),
        }
    }
}
