//! Calls of routines: copies arguments in, runs the body, copies results out.

use super::place::ResolvedPlace;
use super::{ControlFlow, Run};
use diag::Span;
use ir::{Arg, Header, Param, Routine, Value, Var};

/// Copy that is made when the body has ended.
enum Out {
    Scalar(Var, ResolvedPlace),
    Header(Header, Header),
}

impl Run<'_> {
    pub(super) fn call(&mut self, routine: Routine, args: &[Arg], span: Span) -> ControlFlow {
        let data = &self.p.routines[routine];
        // Every argument is evaluated before the first parameter is written.
        let mut scalars: Vec<(Var, Value)> = Vec::with_capacity(args.len());
        let mut headers: Vec<(Header, Option<Header>)> = Vec::new();
        let mut outs: Vec<Out> = Vec::new();
        for (&param, &arg) in data.params.iter().zip(args) {
            match (param, arg) {
                (Param::In(var), Arg::In(expr)) => scalars.push((var, self.eval(expr))),
                (Param::Out(var), Arg::Out(place)) => {
                    scalars.push((var, Value::zero(self.p.vars[var].ty)));
                    outs.extend(place.map(|place| Out::Scalar(var, self.target(place))));
                }
                (Param::InOut(var), Arg::InOut(place)) => {
                    let target = self.target(place);
                    scalars.push((var, self.load(target)));
                    outs.push(Out::Scalar(var, target));
                }
                (Param::HeaderIn(to), Arg::Header(from)) => {
                    headers.push((to, from.and_then(|from| self.header_of(from))));
                }
                (Param::HeaderOut(inner), Arg::Header(outer)) => {
                    headers.push((inner, None));
                    let outer = outer.and_then(|outer| self.header_of(outer));
                    outs.extend(outer.map(|outer| Out::Header(inner, outer)));
                }
                (Param::HeaderInOut(inner), Arg::Header(outer)) => {
                    let outer = outer.and_then(|outer| self.header_of(outer));
                    headers.push((inner, outer));
                    outs.extend(outer.map(|outer| Out::Header(inner, outer)));
                }
                // A program that passes the IR verifier has no other combinations.
                _ => {}
            }
        }
        for (var, value) in scalars {
            self.it.storage.set_var(var, value);
        }
        for (inner, outer) in headers {
            match outer {
                Some(outer) => self.it.storage.copy_header(inner, outer),
                None => self.it.storage.clear_header(self.p, inner),
            }
        }
        let flow = match self.block(&data.body) {
            ControlFlow::Return => ControlFlow::Next,
            flow @ (ControlFlow::Reject(_) | ControlFlow::Fault(_)) => return flow,
            flow => flow,
        };
        for out in outs {
            match out {
                Out::Scalar(var, target) => {
                    let value = self.storage().var(var).clone();
                    self.store_result(target, value, &data.name, span);
                }
                Out::Header(inner, outer) => self.it.storage.copy_header(outer, inner),
            }
        }
        flow
    }
}
