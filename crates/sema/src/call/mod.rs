//! Calls: the callee, the contexts that allow it, and its arguments.

mod args;
mod builtin;
mod construct;
mod overload;

pub(crate) use args::{Mode, Signature, surplus};
pub(crate) use construct::{Undecided, Use};

use crate::checker::{Checker, Context, constant, poison_expr};
use crate::errors::{calls, constants, declarations, names, types};
use crate::infer::void_open;
use crate::scope::{Entity, Overload};
use crate::types::Measure;
use diag::Span;
use diag::nearest;
use hir::*;
use syntax::ast;

/// Result of resolving a call.
pub(crate) enum Called {
    /// A call, and the instance that a direct application (`C.apply()`) makes for it.
    Call(Call, Option<InstanceId>),
    /// A value, written like a call.
    Value(Expr),
    /// A call with an error.
    Poison,
}

impl Checker<'_> {
    /// Checks any expression of the form `callee<types>(args)`.
    pub(crate) fn call(
        &mut self,
        callee: &ast::Expr,
        type_args: &[ast::Type],
        args: &[ast::Arg],
        want: Option<&Ty>,
        span: Span,
    ) -> Called {
        match &callee.kind {
            // An action may have the same name as the extern function that it calls.
            ast::ExprKind::Name { name, .. }
                if self.scopes.functions_around(&name.name).is_some() =>
            {
                let around = self.scopes.functions_around(&name.name).cloned();
                match around.map(|b| (self.used.insert(b.span), b.entity)) {
                    Some((_, Entity::Functions(all))) => {
                        self.function_call(name, &all, type_args, args, want, span)
                    }
                    _ => self.give_up(args),
                }
            }
            ast::ExprKind::Name { global, name } => {
                let Some(entity) = self.resolve(*global, name, "function", |e| {
                    matches!(e, Entity::Functions(_) | Entity::Action(_))
                }) else {
                    return self.give_up(args);
                };
                match entity {
                    Entity::Functions(all) => {
                        self.function_call(name, &all, type_args, args, want, span)
                    }
                    Entity::Action(id) => {
                        if !self.takes_no_types(type_args, &name.name) {
                            return self.give_up(args);
                        }
                        self.action_call(id, args, span)
                    }
                    Entity::Poison => self.give_up(args),
                    other if other.is_type() => {
                        let types: Vec<Ty> = type_args.iter().map(|t| self.ty(t)).collect();
                        self.constructor_call(&other, name, &types, args, want, span)
                    }
                    other => {
                        let instead = self.called_instead(&other, &name.name);
                        let what = self.describe(&other);
                        self.report(calls::not_callable(callee.span, what, instead));
                        self.give_up(args)
                    }
                }
            }
            ast::ExprKind::Type(ty) => match &ty.kind {
                ast::TypeKind::Name { global, name } => {
                    let Some(entity) = self.resolve(*global, name, "type", Entity::is_type) else {
                        return self.give_up(args);
                    };
                    let types: Vec<Ty> = type_args.iter().map(|t| self.ty(t)).collect();
                    self.constructor_call(&entity, name, &types, args, want, span)
                }
                ast::TypeKind::Specialized { base, args: types } => {
                    let ast::TypeKind::Name { global, name } = &base.kind else {
                        return self.give_up(args);
                    };
                    let Some(entity) = self.resolve(*global, name, "type", Entity::is_type) else {
                        return self.give_up(args);
                    };
                    let types: Vec<Ty> = types.iter().map(|t| self.ty(t)).collect();
                    self.constructor_call(&entity, name, &types, args, want, span)
                }
                _ => {
                    self.report(calls::not_callable(callee.span, "a type", None));
                    self.give_up(args)
                }
            },
            ast::ExprKind::Member(base, name) => {
                self.method_call(base, name, type_args, args, want, span)
            }
            _ => {
                self.report(calls::not_callable(callee.span, "a value", None));
                self.give_up(args)
            }
        }
    }

    /// Reports type arguments for a callee without type parameters.
    fn takes_no_types(&mut self, types: &[ast::Type], name: &str) -> bool {
        if let Some((first, last)) = types.first().zip(types.last()) {
            self.report(types::not_generic(first.span.to(last.span), name));
        }
        types.is_empty()
    }

    /// Checks arguments for their own errors alone, after an error in the call.
    pub(crate) fn give_up(&mut self, args: &[ast::Arg]) -> Called {
        let before = std::mem::replace(&mut self.constructors_allowed, true);
        for arg in args {
            // Skip arguments that need a type from their parameter: the lack of one would be reported.
            if !matches!(
                arg.value.kind,
                ast::ExprKind::DontCare
                    | ast::ExprKind::Default
                    | ast::ExprKind::Struct { .. }
                    | ast::ExprKind::List(_)
                    | ast::ExprKind::Invalid
            ) {
                self.expr(&arg.value, None);
            }
        }
        self.constructors_allowed = before;
        Called::Poison
    }

    fn function_call(
        &mut self,
        name: &ast::Ident,
        all: &[Overload],
        type_args: &[ast::Type],
        args: &[ast::Arg],
        want: Option<&Ty>,
        span: Span,
    ) -> Called {
        let protos: Vec<Signature> = all
            .iter()
            .map(|o| match o {
                Overload::Function(id) => Signature::of_proto(&self.module.functions[*id].proto),
                Overload::Extern(id) => Signature::of_extern(&self.module.extern_functions[*id]),
            })
            .collect();
        let Some(which) = self.pick(name, &protos, args, span) else {
            return self.give_up(args);
        };
        let signature = &protos[which];
        self.used.insert(signature.span);
        if let Some(why) = self.deprecated.get(&signature.span) {
            let diagnostic = crate::errors::warnings::deprecated(name, why);
            self.report(diagnostic);
        }
        let Some(bound) = self.bind(signature, type_args, args, want, span) else {
            return Called::Poison;
        };
        if matches!(bound.result, Ty::Extern(..)) && !self.require_fixed_object(&bound, &name.name)
        {
            return Called::Poison;
        }
        if let Overload::Extern(id) = all[which] {
            if self.module.extern_functions[id].name == "static_assert" {
                return self.static_assert(&bound.args, span);
            }
            if name.name == "verify" && signature.params.len() == 2 && !self.context.in_parser() {
                self.report(calls::wrong_context(
                    name.span,
                    "`verify`",
                    self.context.describe(),
                    "call it in a parser state",
                ));
            }
        }
        let callee = match all[which] {
            Overload::Function(id) => Callee::Function(id, bound.type_args),
            Overload::Extern(id) => Callee::ExternFunction(id, bound.type_args),
        };
        Called::Call(
            Call {
                callee,
                args: bound.args,
                result: bound.result,
                span,
            },
            None,
        )
    }

    /// Reports arguments known only at run time, for a function that makes an object as constructors do.
    fn require_fixed_object(&mut self, bound: &args::Bound, name: &str) -> bool {
        let what = format!("an argument of `{name}`, which makes an object,");
        bound.args.iter().all(|arg| match arg {
            Arg::In(value) | Arg::Out(value) | Arg::InOut(value) => {
                matches!(value.ty, Ty::Extern(..)) || self.require_compile_time(value, &what)
            }
            Arg::Discard(_) | Arg::Absent => true,
        })
    }

    /// Evaluates `static_assert`.
    fn static_assert(&mut self, args: &[Arg], span: Span) -> Called {
        let value = |arg: Option<&Arg>| match arg {
            Some(Arg::In(Expr {
                kind: ExprKind::Const(value),
                ..
            })) => Some(value.clone()),
            _ => None,
        };
        match value(args.first()) {
            Some(ConstValue::Bool(true)) => {}
            Some(ConstValue::Bool(false)) => {
                let text = match value(args.get(1)) {
                    Some(ConstValue::String(text)) => Some(text),
                    _ => None,
                };
                self.report(constants::static_assert(span, text.as_deref()));
            }
            _ => {
                if let Some(Arg::In(check)) = args.first()
                    && check.ty != Ty::Poison
                {
                    self.report(constants::not_constant(
                        check.span,
                        "the condition of `static_assert`",
                    ));
                }
            }
        }
        Called::Value(constant(ConstValue::Bool(true), Ty::Bool, span))
    }

    fn action_call(&mut self, id: ActionId, args: &[ast::Arg], span: Span) -> Called {
        if !matches!(self.context, Context::ControlApply | Context::Action) {
            self.report(calls::wrong_context(
                span,
                "an action",
                self.context.describe(),
                "call it in a control's `apply` block, in another action, or from a table",
            ));
            return self.give_up(args);
        }
        let action = &self.module.actions[id];
        let signature = Signature::plain(&action.name, &action.params, Mode::Action, action.span);
        let Some(bound) = self.bind(&signature, &[], args, None, span) else {
            return Called::Poison;
        };
        Called::Call(
            Call {
                callee: Callee::Action(id),
                args: bound.args,
                result: Ty::Void,
                span,
            },
            None,
        )
    }

    /// Checks `base.name(args)`.
    fn method_call(
        &mut self,
        base: &ast::Expr,
        name: &ast::Ident,
        type_args: &[ast::Type],
        args: &[ast::Arg],
        want: Option<&Ty>,
        span: Span,
    ) -> Called {
        if name.name == "apply"
            && let Some(direct) = self.direct_application(base, args, span)
        {
            return direct;
        }
        if let Some(ty) = self.type_operand(base) {
            return match ty {
                Some(_) if !self.takes_no_types(type_args, &name.name) => self.give_up(args),
                Some(ty) => self.size_method(&ty, name, args, span),
                None => self.give_up(args),
            };
        }
        if let ast::ExprKind::Name {
            global,
            name: table,
        } = &base.kind
            && matches!(
                self.named_entity(base),
                Some(Entity::Table(_) | Entity::InProgress(_))
            )
        {
            return match self.resolve(*global, table, "table", |e| matches!(e, Entity::Table(_))) {
                Some(Entity::Table(id)) if self.takes_no_types(type_args, &name.name) => {
                    self.table_method(id, name, args, span)
                }
                _ => self.give_up(args),
            };
        }
        if name.name == "apply"
            && let Some(Entity::Instance(id)) = self.named_entity(base)
        {
            let id = *id;
            if !self.decide(id, args, span) {
                return self.give_up(args);
            }
        }
        let object = self.receiver(base);
        match object.ty.clone() {
            Ty::Poison => self.give_up(args),
            Ty::Extern(id, type_arguments) => self.extern_method(
                object,
                id,
                &type_arguments,
                name,
                type_args,
                args,
                want,
                span,
            ),
            Ty::Parser(id, types) if name.name == "apply" => {
                let parser = &self.module.parsers[id];
                let signature =
                    Signature::plain(&parser.name, &parser.params, Mode::Apply, parser.span)
                        .inside(&parser.type_params, &types);
                if self.context != Context::ParserState {
                    let (what, instead) = ("a parser", "apply it in a state of another parser");
                    return self.applied_elsewhere(what, instead, args, span);
                }
                self.apply(object, &signature, type_args, args, Callee::Parser, span)
            }
            Ty::Control(id, types) if name.name == "apply" => {
                let control = &self.module.controls[id];
                let signature =
                    Signature::plain(&control.name, &control.params, Mode::Apply, control.span)
                        .inside(&control.type_params, &types);
                if self.context != Context::ControlApply {
                    let instead = "apply it in the `apply` block of another control";
                    return self.applied_elsewhere("a control", instead, args, span);
                }
                self.apply(object, &signature, type_args, args, Callee::Control, span)
            }
            _ if !self.takes_no_types(type_args, &name.name) => self.give_up(args),
            _ => self.builtin_method(object, name, args, span),
        }
    }

    /// Reports the application of a parser or control where it is not allowed.
    fn applied_elsewhere(
        &mut self,
        what: &str,
        instead: &str,
        args: &[ast::Arg],
        span: Span,
    ) -> Called {
        let here = self.context.describe();
        self.report(calls::wrong_context(span, what, here, instead));
        self.give_up(args)
    }

    /// Checks the application of a parser or control.
    fn apply(
        &mut self,
        mut object: Expr,
        signature: &Signature,
        type_args: &[ast::Type],
        args: &[ast::Arg],
        callee: fn(Expr) -> Callee,
        span: Span,
    ) -> Called {
        let Some(bound) = self.bind(signature, type_args, args, None, span) else {
            return Called::Poison;
        };
        // Its type arguments may have just been inferred.
        self.zonk_expr(&mut object);
        let call = Call {
            callee: callee(object),
            args: bound.args,
            result: Ty::Void,
            span,
        };
        Called::Call(call, None)
    }

    /// Checks the object of a method call. An extern may be instantiated there.
    fn receiver(&mut self, base: &ast::Expr) -> Expr {
        let constructs = match &base.kind {
            ast::ExprKind::Call { callee, .. } => match &callee.kind {
                ast::ExprKind::Name { .. } => matches!(
                    self.named_entity(callee),
                    Some(Entity::Extern(_) | Entity::Type(Ty::Extern(..)))
                ),
                _ => false,
            },
            _ => false,
        };
        if !constructs {
            return self.expr(base, None);
        }
        let outer = std::mem::replace(&mut self.constructors_allowed, true);
        let object = self.expr(base, None);
        self.constructors_allowed = outer;
        if object.ty != Ty::Poison {
            self.instance_context(&object.ty, base.span);
        }
        object
    }

    fn table_method(
        &mut self,
        id: TableId,
        name: &ast::Ident,
        args: &[ast::Arg],
        span: Span,
    ) -> Called {
        if name.name != "apply" {
            let near = nearest(&name.name, ["apply"].into_iter());
            self.report(names::no_member(name, "a table", "method", near));
            return self.give_up(args);
        }
        if !matches!(self.context, Context::ControlApply | Context::Key) {
            self.report(calls::wrong_context(
                span,
                "a table",
                self.context.describe(),
                "apply it in the `apply` block of the control that declares it",
            ));
            return self.give_up(args);
        }
        if !args.is_empty() {
            self.report(calls::too_many(surplus(args), "apply", 0, args.len()));
            return self.give_up(args);
        }
        let result = Ty::ApplyResult(id);
        Called::Call(
            Call {
                callee: Callee::Table(id),
                args: Args::default(),
                result,
                span,
            },
            None,
        )
    }

    #[allow(clippy::too_many_arguments)]
    fn extern_method(
        &mut self,
        mut object: Expr,
        id: ExternId,
        outer: &[Ty],
        name: &ast::Ident,
        type_args: &[ast::Type],
        args: &[ast::Arg],
        want: Option<&Ty>,
        span: Span,
    ) -> Called {
        let decl = &self.module.externs[id];
        let (indices, signatures): (Vec<usize>, Vec<Signature>) = decl
            .methods
            .iter()
            .enumerate()
            .filter(|(_, m)| m.proto.name == name.name)
            .map(|(i, m)| {
                (
                    i,
                    Signature::of_extern(&m.proto).inside(&decl.type_params, outer),
                )
            })
            .unzip();
        if signatures.is_empty() {
            let near = nearest(
                &name.name,
                decl.methods.iter().map(|m| m.proto.name.as_str()),
            )
            .map(str::to_owned);
            let of = format!("the extern `{}`", decl.name);
            self.report(names::no_member(name, &of, "method", near.as_deref()));
            return self.give_up(args);
        }
        let core = decl.name.clone();
        if let Some((_, own)) = &self.this
            && matches!(object.kind, ExprKind::This)
            && *own == name.name
        {
            self.report(names::recursion(name, "a method", name.span));
            return self.give_up(args);
        }
        let Some(which) = self.pick(name, &signatures, args, span) else {
            return self.give_up(args);
        };
        let signature = &signatures[which];
        if let Some(why) = self.deprecated.get(&signature.span) {
            let diagnostic = crate::errors::warnings::deprecated(name, why);
            self.report(diagnostic);
        }
        let Some(bound) = self.bind(signature, type_args, args, want, span) else {
            return Called::Poison;
        };
        self.packet_rules(&core, &name.name, &bound, span);
        // The type for `_` may have just been inferred. If it is inferred later, the instance has it.
        self.zonk_expr(&mut object);
        object.ty = void_open(&object.ty);
        if let ExprKind::StackIndex(array, _) = &mut object.kind {
            array.ty = void_open(&array.ty);
        }
        let callee = Callee::Method {
            object,
            method: indices[which] as u32,
            type_args: bound.type_args,
        };
        Called::Call(
            Call {
                callee,
                args: bound.args,
                result: bound.result,
                span,
            },
            None,
        )
    }

    /// Checks the rules of the specification on the arguments of `extract`, `lookahead` and `emit`.
    fn packet_rules(&mut self, of: &str, method: &str, bound: &args::Bound, span: Span) {
        let Some(ty) = bound.type_args.first().cloned() else {
            return;
        };
        if matches!(ty, Ty::Poison | Ty::Param(_)) {
            return;
        }
        let at = match bound.args.first() {
            Some(Arg::In(e) | Arg::Out(e) | Arg::InOut(e)) => e.span,
            _ => span,
        };
        let measure = self.measure(&ty);
        if measure.is_too_large() {
            return self.report(types::too_large(at, "this type", &Measure::most()));
        }
        let shown = self.show(&ty);
        match (of, method) {
            ("packet_in", "extract") => {
                if self.composite_kind(&ty) != Some(CompositeKind::Header) {
                    self.report(types::extract_needs_header(at, &shown));
                } else if bound.args.len() == 1 && measure.varbits > 0 {
                    self.report(types::extract_varbit(
                        at,
                        &shown,
                        "has a varbit field",
                        "give its length in bits as the second argument",
                    ));
                } else if bound.args.len() == 2 && measure.varbits == 0 {
                    self.report(types::extract_varbit(
                        at,
                        &shown,
                        "has no varbit field",
                        "omit the second argument",
                    ));
                }
            }
            ("packet_in", "lookahead") if !measure.sized || measure.varbits > 0 => {
                self.report(types::lookahead_size(span, &shown));
            }
            ("packet_out", "emit") if !self.is_emittable(&ty) => {
                self.report(types::emit_type(at, &shown));
            }
            _ => {}
        }
    }

    fn is_emittable(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Poison | Ty::Param(_) => true,
            Ty::Stack(elem, _) => self.is_emittable(elem),
            Ty::Tuple(elems) => elems.iter().all(|e| self.is_emittable(e)),
            Ty::Composite(id, args) => match self.module.composites[*id].kind {
                CompositeKind::Header | CompositeKind::Union => true,
                CompositeKind::Struct => self
                    .field_types(*id, args)
                    .iter()
                    .all(|(_, f)| self.is_emittable(f)),
            },
            _ => false,
        }
    }

    /// Checks a constructor call in place of a value: an argument of another constructor, or a table property.
    fn constructor_call(
        &mut self,
        entity: &Entity,
        name: &ast::Ident,
        types: &[Ty],
        args: &[ast::Arg],
        want: Option<&Ty>,
        span: Span,
    ) -> Called {
        if !self.constructors_allowed {
            let list = match entity {
                Entity::Composite(_) | Entity::Type(Ty::Composite(..)) => {
                    let texts = args.iter().map(|a| self.written(a.value.span));
                    let texts: Option<Vec<&str>> = texts.collect();
                    Some(texts.map_or("{ ... }".to_owned(), |t| format!("{{ {} }}", t.join(", "))))
                }
                _ => None,
            };
            self.report(calls::constructor_elsewhere(
                span,
                &name.name,
                list.as_deref(),
            ));
            return self.give_up(args);
        }
        match self.construct(entity, name, types, args, Use::Value(want), span) {
            Some(instance) => {
                let ty = instance.ty.clone();
                self.refuse_abstract(&ty, span);
                let id = self.module.instances.push(instance);
                Called::Value(Expr {
                    kind: ExprKind::Instance(id),
                    ty,
                    span,
                })
            }
            None => Called::Value(poison_expr(span)),
        }
    }

    /// Reports an unnamed object with abstract methods, which nothing can implement.
    fn refuse_abstract(&mut self, ty: &Ty, span: Span) {
        let Ty::Extern(id, _) = ty else { return };
        let decl = &self.module.externs[*id];
        let missing = decl.methods.iter().find(|m| {
            let optional = m.proto.annotations.iter().any(|a| a.name == "optional");
            m.is_abstract && !optional
        });
        if let Some(method) = missing {
            let diagnostic = declarations::abstract_unnamed(span, &decl.name, &method.proto.name);
            self.report(diagnostic);
        }
    }
}
