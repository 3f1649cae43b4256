//! Methods of headers, unions and stacks, and the size methods of all types.

use super::{Called, surplus};
use crate::checker::{Checker, constant};
use crate::errors::{calls, names, types};
use crate::expr::member::BUILTIN_METHODS;
use diag::Span;
use diag::nearest;
use hir::*;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use syntax::ast;

impl Checker<'_> {
    /// Checks `value.name(args)` for a value that is not an object.
    pub(super) fn builtin_method(
        &mut self,
        object: Expr,
        name: &ast::Ident,
        args: &[ast::Arg],
        span: Span,
    ) -> Called {
        let kind = self.composite_kind(&object.ty);
        let done = |callee| {
            Called::Call(
                Call {
                    callee,
                    args: Args::default(),
                    result: Ty::Void,
                    span,
                },
                None,
            )
        };
        match (name.name.as_str(), kind, &object.ty) {
            ("isValid", Some(CompositeKind::Header | CompositeKind::Union), _) => {
                if !self.no_arguments(name, args) {
                    return Called::Poison;
                }
                Called::Value(Expr {
                    kind: ExprKind::IsValid(Box::new(object)),
                    ty: Ty::Bool,
                    span,
                })
            }
            ("setValid" | "setInvalid", Some(CompositeKind::Header), _) => {
                if !self.no_arguments(name, args) || !self.require_lvalue(&object) {
                    return Called::Poison;
                }
                done(if name.name == "setValid" {
                    Callee::SetValid(object)
                } else {
                    Callee::SetInvalid(object)
                })
            }
            ("push_front" | "pop_front", _, Ty::Stack(elem, _)) if self.is_stacked(elem) => {
                let [arg] = args else {
                    let diagnostic = if args.is_empty() {
                        calls::missing(span, &name.name, &["count".into()])
                    } else {
                        calls::too_many(surplus(&args[1..]), &name.name, 1, args.len())
                    };
                    self.report(diagnostic);
                    return self.give_up(args);
                };
                let count = self.const_int(&arg.value);
                if !self.require_lvalue(&object) {
                    return Called::Poison;
                }
                let Some((count, at)) = count else {
                    return Called::Poison;
                };
                match count.to_u32() {
                    Some(n) if name.name == "push_front" => done(Callee::PushFront(object, n)),
                    Some(n) => done(Callee::PopFront(object, n)),
                    None => {
                        self.report(calls::bad_count(at, &name.name, &count));
                        Called::Poison
                    }
                }
            }
            (method, ..) if is_size_method(method) => {
                let ty = object.ty.clone();
                self.size_method(&ty, name, args, span)
            }
            _ => self.no_method(&object.ty, kind, name, args),
        }
    }

    fn no_method(
        &mut self,
        ty: &Ty,
        kind: Option<CompositeKind>,
        name: &ast::Ident,
        args: &[ast::Arg],
    ) -> Called {
        let usable = self.own_methods(ty, kind);
        let near = nearest(
            &name.name,
            usable.iter().chain(&BUILTIN_METHODS[5..]).copied(),
        );
        let of = format!("`{}`", self.show(ty));
        self.report(names::no_member(name, &of, "method", near));
        self.give_up(args)
    }

    /// Returns the methods of values of a type, except the size methods.
    fn own_methods(&self, ty: &Ty, kind: Option<CompositeKind>) -> &'static [&'static str] {
        match (kind, ty) {
            (Some(CompositeKind::Header), _) => &["isValid", "setValid", "setInvalid"],
            (Some(CompositeKind::Union), _) => &["isValid"],
            (_, Ty::Stack(elem, _)) if self.is_stacked(elem) => &["push_front", "pop_front"],
            (_, Ty::Parser(..) | Ty::Control(..)) => &["apply"],
            _ => &[],
        }
    }

    /// Returns true if values of a type have a built-in method of this name.
    pub(crate) fn has_builtin(&mut self, ty: &Ty, name: &str) -> bool {
        self.own_methods(ty, self.composite_kind(ty))
            .contains(&name)
            || is_size_method(name) && self.measure(ty).sized
    }

    fn no_arguments(&mut self, name: &ast::Ident, args: &[ast::Arg]) -> bool {
        if !args.is_empty() {
            self.report(calls::too_many(surplus(args), &name.name, 0, args.len()));
        }
        args.is_empty()
    }

    /// Evaluates `T.minSizeInBits()` and its relatives, constants of type `int`.
    pub(super) fn size_method(
        &mut self,
        ty: &Ty,
        name: &ast::Ident,
        args: &[ast::Arg],
        span: Span,
    ) -> Called {
        if !is_size_method(&name.name) {
            return self.no_method(ty, self.composite_kind(ty), name, args);
        }
        if !self.no_arguments(name, args) {
            return Called::Poison;
        }
        let measure = self.measure(ty);
        if !measure.sized {
            let shown = self.show(ty);
            self.report(types::no_size(span, &shown));
            return Called::Poison;
        }
        let bits = if name.name.starts_with("min") {
            measure.min_bits
        } else {
            measure.max_bits
        };
        let size = if name.name.ends_with("Bytes") {
            bits.div_ceil(8)
        } else {
            bits
        };
        Called::Value(constant(ConstValue::Int(BigInt::from(size)), Ty::Int, span))
    }
}

fn is_size_method(name: &str) -> bool {
    BUILTIN_METHODS[5..].contains(&name)
}
