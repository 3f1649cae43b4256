//! Calls of externs: arguments and results, and functions that users supply in C.

use crate::emitter::Gen;
use crate::errors;
use crate::target::{Called, Target};
use crate::values::Value;
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Item, Stmt, Type as CType};
use diag::Span;
use ir::{ExternArg, ExternCall, Place, Type};
use smol_str::SmolStr;

impl<T: Target> Gen<'_, T> {
    pub(crate) fn extern_call(&mut self, call: &ExternCall, stmt: &ir::Stmt) {
        match T::call(self, call, stmt) {
            Called::Done => {}
            Called::Suspended => {
                let refusal = errors::suspended(self.target.name(), &call.name, stmt.span);
                self.refuse(refusal);
            }
        }
    }

    /// Stores a call's results in their destinations.
    pub fn result(&mut self, call: &ExternCall, value: C) {
        match call.result.first() {
            Some(&place) => self.store(place, Value::Scalar(value)),
            None => self.push(Stmt::Expr(value)),
        }
    }

    /// The values of a call's `in` arguments, each of up to 64 bits.
    pub fn arguments(&mut self, call: &ExternCall) -> Vec<C> {
        let mut args = Vec::new();
        for arg in &call.args {
            if let ExternArg::In(values) = arg {
                for &e in values {
                    args.push(lower::scalar(self, e));
                }
            }
        }
        args
    }

    /// Calls a C function of which nothing but its result matters.
    pub fn pure_function(&mut self, name: &str, call: &ExternCall) {
        if call.result.is_empty() {
            return;
        }
        let args = self.arguments(call);
        self.result(call, C::pure(name, args));
    }

    /// Calls a function of the user's C file: values by value, what is written by pointer, all in the
    /// machine's byte order, in the smallest of `u8`, `u16`, `u32` and `u64` that holds them.
    pub fn user_function(&mut self, name: &str, call: &ExternCall, span: Span) {
        let mut params = Vec::new();
        let mut args = Vec::new();
        let mut before = Vec::new();
        let mut after: Vec<(Place, C)> = Vec::new();
        let result = match &call.result[..] {
            [] => None,
            [place] => match self.c_type(self.p.place_type(*place)) {
                Some(ty) => Some((*place, ty)),
                None => {
                    self.refuse(errors::extern_parameter(
                        name,
                        "its result has more than 64 bits",
                        span,
                    ));
                    return;
                }
            },
            _ => {
                self.refuse(errors::extern_parameter(
                    name,
                    "its result is a struct",
                    span,
                ));
                return;
            }
        };
        for (i, arg) in call.args.iter().enumerate() {
            let param: SmolStr = format!("arg{i}").into();
            match arg {
                ExternArg::In(values) => {
                    for (k, &e) in values.iter().enumerate() {
                        let Some(ty) = self.c_type(Some(self.p.ty(e))) else {
                            self.refuse(errors::extern_parameter(
                                name,
                                "an argument has more than 64 bits",
                                span,
                            ));
                            return;
                        };
                        let param = if values.len() == 1 {
                            param.clone()
                        } else {
                            format!("{param}_{k}").into()
                        };
                        params.push((ty, param));
                        let value = lower::scalar(self, e);
                        args.push(value);
                    }
                }
                ExternArg::Out(places) | ExternArg::InOut(places) => {
                    for (k, &place) in places.iter().enumerate() {
                        let Some(ty) = self.c_type(self.p.place_type(place)) else {
                            self.refuse(errors::extern_parameter(
                                name,
                                "an argument has more than 64 bits",
                                span,
                            ));
                            return;
                        };
                        let param = if places.len() == 1 {
                            param.clone()
                        } else {
                            format!("{param}_{k}").into()
                        };
                        let holder = self.file.names.fresh(&param);
                        let first = match arg {
                            ExternArg::InOut(_) => self.read_place(place),
                            _ => C::int(0),
                        };
                        before.push(Stmt::decl(ty.clone(), holder.clone(), first));
                        params.push((ty.ptr(), param));
                        args.push(C::Ident(holder.clone()).addr());
                        after.push((place, C::Ident(holder)));
                    }
                }
                ExternArg::Member(_, index) => {
                    params.push((CType::U32, param));
                    args.push(C::int((*index).into()));
                }
                ExternArg::HeaderIn(_) | ExternArg::HeaderOut(_) => {
                    self.refuse(errors::extern_parameter(
                        name,
                        "an argument is a header",
                        span,
                    ));
                    return;
                }
                ExternArg::String(_) | ExternArg::Absent => {
                    self.refuse(errors::extern_parameter(
                        name,
                        "an argument is a string or left out",
                        span,
                    ));
                    return;
                }
            }
        }
        if !self.file.prototypes.iter().any(|(n, _)| n == name) {
            let result = result.as_ref().map_or(CType::Void, |(_, ty)| ty.clone());
            let item = Item::Prototype {
                result,
                name: name.into(),
                params,
            };
            self.file.prototypes.push((name.into(), item));
        }
        let outer = std::mem::replace(&mut self.out, before);
        let value = C::call(name, args);
        match result {
            Some((place, _)) => {
                let width = self.p.place_type(place).map_or(0, Type::width);
                let holder = self.own_local("result", CType::register(width), None);
                self.set(holder.clone(), value);
                self.trimmed_store(place, holder);
            }
            None => self.push(Stmt::Expr(value)),
        }
        for (place, holder) in after {
            self.trimmed_store(place, holder);
        }
        let block = std::mem::replace(&mut self.out, outer);
        self.push(Stmt::Block(block));
    }

    /// Stores what C gave, without the bits that P4's type does not have.
    fn trimmed_store(&mut self, place: Place, value: C) {
        let ty = self.p.place_type(place);
        let width = ty.map_or(0, Type::width);
        let value = match (ty, width) {
            (Some(Type::Bool), _) => C::bin(BinOp::Ne, value, C::int(0)),
            (_, 8 | 16 | 32 | 64) => value,
            _ => C::bin(BinOp::And, value, C::int(lower::mask(width))),
        };
        self.store(place, Value::Scalar(value));
    }

    fn read_place(&mut self, place: Place) -> C {
        use cgen::lower::Leaves;
        let width = self.p.place_type(place).map_or(1, Type::width).max(1);
        match place {
            Place::Var(v) => self.var(v),
            Place::Field(h, f) => self.field(h, f, width - 1, 0),
        }
    }

    fn c_type(&self, ty: Option<Type>) -> Option<CType> {
        match ty? {
            Type::Varbit(_) => None,
            ty => match ty.width() {
                0..=8 => Some(CType::U8),
                9..=16 => Some(CType::U16),
                17..=32 => Some(CType::U32),
                33..=64 => Some(CType::U64),
                _ => None,
            },
        }
    }
}
