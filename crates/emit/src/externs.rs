//! Calls of externs: arguments and results.

use crate::emitter::Gen;
use crate::target::Target;
use crate::values::Value;
use cgen::lower;
use cgen::tree::{Expr as C, Stmt};
use ir::{ExternArg, ExternCall};

impl<T: Target> Gen<'_, T> {
    /// Stores a call's result in its destination.
    pub fn result(&mut self, call: &ExternCall, value: C) {
        match call.result.first() {
            Some(&place) => self.store(place, Value::Scalar(value)),
            None => self.push(Stmt::Expr(value)),
        }
    }

    /// Lowers the values of a call's `in` arguments, each of up to 64 bits.
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

    /// Calls a C function without side effects.
    pub fn pure_function(&mut self, name: &str, call: &ExternCall) {
        if call.result.is_empty() {
            return;
        }
        let args = self.arguments(call);
        self.result(call, C::pure(name, args));
    }
}
