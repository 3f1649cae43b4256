//! Extern functions that users supply in C. A parameter or result has the smallest type among `u8`, `u16`, `u32`
//! and `u64` that holds it, in the machine's byte order. Inputs are passed by value, written arguments by pointer.

use crate::emitter::Gen;
use crate::errors;
use crate::target::Target;
use crate::values::Value;
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Item, Stmt, Type as CType};
use diag::{Diagnostic, Span};
use ir::{ExternArg, ExternCall, Place, Program, Type};
use smol_str::{SmolStr, format_smolstr};

/// A user's function, as it is declared in C.
#[derive(Clone, Debug)]
pub struct UserFunction {
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its result, if it has one.
    pub result: Option<(Type, CType)>,
}

/// A scalar that a user's function reads, writes, or both.
#[derive(Clone, Debug)]
pub struct Param {
    /// Index of the P4 call's argument that it is part of.
    pub arg: usize,
    /// Its index among the scalars of that argument.
    pub part: usize,
    /// Its name.
    pub name: SmolStr,
    /// Its type in P4.
    pub ty: Type,
    /// Its type in C.
    pub c: CType,
    /// True if it is read by the function.
    pub is_read: bool,
    /// True if it is written; the function then gets a pointer.
    pub is_written: bool,
}

impl Param {
    /// Returns its type and name in the function's prototype.
    fn declared(&self) -> (CType, SmolStr) {
        let c = self.c.clone();
        (if self.is_written { c.ptr() } else { c }, self.name.clone())
    }
}

impl UserFunction {
    /// Returns the function that a call refers to, or a diagnostic if C cannot declare it.
    pub fn of(
        program: &Program,
        call: &ExternCall,
        span: Span,
    ) -> Result<UserFunction, Box<Diagnostic>> {
        let refusal = |why| Box::new(errors::extern_parameter(&call.name, why, span));
        let result = match call.result[..] {
            [] => None,
            [place] => {
                let ty = program.place_type(place);
                let c = ty.and_then(c_type);
                Some(
                    ty.zip(c)
                        .ok_or_else(|| refusal("its result has more than 64 bits"))?,
                )
            }
            _ => return Err(refusal("its result is a struct")),
        };
        let mut params = Vec::new();
        for (at, arg) in call.args.iter().enumerate() {
            let (types, is_read, is_written): (Vec<Option<Type>>, _, _) = match arg {
                ExternArg::In(values) => {
                    let types = values.iter().map(|&e| Some(program.ty(e)));
                    (types.collect(), true, false)
                }
                ExternArg::Out(places) | ExternArg::InOut(places) => {
                    let types = places.iter().map(|&place| program.place_type(place));
                    (types.collect(), matches!(arg, ExternArg::InOut(_)), true)
                }
                ExternArg::Member(..) => (vec![Some(Type::bit(32))], true, false),
                ExternArg::HeaderIn(_) | ExternArg::HeaderOut(_) => {
                    return Err(refusal("an argument is a header"));
                }
                ExternArg::String(_) | ExternArg::Object(_) | ExternArg::Absent => {
                    return Err(refusal("an argument is a string, an object or left out"));
                }
            };
            let parts = types.len();
            for (part, ty) in types.into_iter().enumerate() {
                let known = ty.and_then(|ty| Some((ty, c_type(ty)?)));
                let Some((ty, c)) = known else {
                    return Err(refusal("an argument has more than 64 bits"));
                };
                params.push(Param {
                    arg: at,
                    part,
                    name: match parts {
                        1 => format_smolstr!("arg{at}"),
                        _ => format_smolstr!("arg{at}_{part}"),
                    },
                    ty,
                    c,
                    is_read,
                    is_written,
                });
            }
        }
        Ok(UserFunction { params, result })
    }

    /// Returns its prototype.
    pub(crate) fn prototype(&self, name: &str) -> Item {
        let result = self.result.as_ref().map(|(_, c)| c.clone());
        Item::Prototype {
            result: result.unwrap_or(CType::Void),
            name: name.into(),
            params: self.params.iter().map(Param::declared).collect(),
        }
    }
}

/// Returns the C type of a scalar.
fn c_type(ty: Type) -> Option<CType> {
    match ty {
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

impl<T: Target> Gen<'_, T> {
    /// Calls a function of the user's C file.
    pub fn user_function(&mut self, name: &str, call: &ExternCall, span: Span) {
        let function = match UserFunction::of(self.p, call, span) {
            Ok(function) => function,
            Err(refusal) => return self.refuse(*refusal),
        };
        let mut args = Vec::new();
        let mut before = Vec::new();
        let mut after: Vec<(Place, C)> = Vec::new();
        for param in &function.params {
            match &call.args[param.arg] {
                ExternArg::In(values) => args.push(lower::scalar(self, values[param.part])),
                ExternArg::Out(places) | ExternArg::InOut(places) => {
                    let place = places[param.part];
                    let holder = self.file.names.fresh(&param.name);
                    let first = match param.is_read {
                        true => self.read_place(place),
                        false => C::int(0),
                    };
                    before.push(Stmt::decl(param.c.clone(), holder.clone(), first));
                    args.push(C::Ident(holder.clone()).addr());
                    after.push((place, C::Ident(holder)));
                }
                ExternArg::Member(_, index) => args.push(C::int((*index).into())),
                // These have no parameter.
                ExternArg::HeaderIn(_)
                | ExternArg::HeaderOut(_)
                | ExternArg::String(_)
                | ExternArg::Object(_)
                | ExternArg::Absent => {}
            }
        }
        if !self.file.prototypes.iter().any(|(n, _)| n == name) {
            let item = function.prototype(name);
            self.file.prototypes.push((name.into(), item));
        }
        let outer = std::mem::replace(&mut self.out, before);
        let value = C::call(name, args);
        match call.result.first() {
            Some(&place) => {
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

    /// Stores a result of C code, without the bits that its P4 type does not have.
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
}
