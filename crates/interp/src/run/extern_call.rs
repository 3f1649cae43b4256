//! Calls of externs: converts arguments to values, calls the extern, and stores its results.

use super::place::ResolvedPlace;
use super::{ControlFlow, Run};
use crate::outcome::Fault;
use crate::trace::{Named, TraceKind};
use control::values::{show_scalar, show_value};
use cranelift_entity::EntityRef;
use diag::Span;
use externs::{Arg, Effect, Env, ExternState, Reply};
use ir::{Bits, ExternArg, ExternCall, Header, HeaderRef, Type, Value};
use std::sync::Arc;

/// Destination of an argument's new value.
enum Sink {
    None,
    Scalars(Vec<ResolvedPlace>),
    Header(Option<Header>),
}

impl Run<'_> {
    pub(super) fn extern_call(&mut self, call: &ExternCall, span: Span) -> ControlFlow {
        let (args, sinks): (Vec<Arg>, Vec<Sink>) = call
            .args
            .iter()
            .map(|arg| self.extern_arg(arg, call))
            .unzip();
        let results: Vec<ResolvedPlace> = call
            .result
            .iter()
            .map(|&place| self.target(place))
            .collect();
        let reply = match self.carry_out(call, &args) {
            Ok(reply) => reply,
            Err(externs::Fault::AssertionFailed) => {
                return ControlFlow::Fault(Fault::AssertionFailed);
            }
            Err(externs::Fault::Malformed) => {
                let name = call.name.clone();
                return ControlFlow::Fault(Fault::MalformedCall { name });
            }
        };
        self.trace(span, |run| match run.effects.last() {
            Some(Effect::Digest {
                receiver,
                data,
                number,
            }) => run.digest_event(*number, *receiver, data),
            Some(Effect::Log(line)) => TraceKind::Log { line: line.clone() },
            _ => run.extern_event(call, &args, &reply),
        });
        for (target, bits) in results.into_iter().zip(&reply.result) {
            let value = Value::from_bits(bits, self.target_type(target));
            self.store_result(target, value, &call.name, span);
        }
        for (at, values) in &reply.outs {
            match sinks.get(*at) {
                Some(Sink::Scalars(targets)) => {
                    for (&target, bits) in targets.iter().zip(values) {
                        self.store_bits(target, bits, span);
                    }
                }
                Some(&Sink::Header(Some(header))) => {
                    for (field, bits) in values.iter().enumerate() {
                        self.store_bits(ResolvedPlace::Field(header, field), bits, span);
                    }
                }
                _ => {}
            }
        }
        for effect in std::mem::take(&mut self.effects) {
            match effect {
                Effect::Drop => self.mark_to_drop(call),
                Effect::ChecksumError => self.set_number(self.it.model.checksum_error(), 1),
                other => self.keep(other),
            }
        }
        ControlFlow::Next
    }

    fn digest_event(&self, number: u32, receiver: u64, data: &[Bits]) -> TraceKind {
        let schema = &*self.it.schema;
        let digest = schema.digests.get(number as usize);
        let fields = digest.into_iter().flat_map(|digest| &digest.fields);
        TraceKind::Digest {
            digest: digest.map_or(String::new(), |digest| digest.name.to_string()),
            receiver,
            fields: fields
                .zip(data)
                .map(|(field, value)| Named {
                    name: field.name.to_string(),
                    value: show_value(schema, field, value),
                })
                .collect(),
        }
    }

    fn carry_out(&mut self, call: &ExternCall, args: &[Arg]) -> Result<Reply, externs::Fault> {
        let parsed = self.cursor / 8;
        let it = &mut *self.it;
        let mut env = Env {
            now: self.now,
            rng: &mut it.rng,
            numbers: &mut it.numbers,
            packet: &self.packet,
            parsed,
            direct_color: self.color,
            effects: &mut self.effects,
        };
        match call.object {
            Some(object) => {
                let ty = &self.p.externs[object].ty;
                let method =
                    externs::find_method(ty, &call.name).ok_or(externs::Fault::Malformed)?;
                method(&mut it.externs[object.index()], args, &mut env)
            }
            None => match it.functions.get(&call.name) {
                Some(function) => function(args, &mut env),
                None => it
                    .supplied
                    .get(&call.name)
                    .ok_or(externs::Fault::Malformed)?(args),
            },
        }
    }

    fn extern_arg(&self, arg: &ExternArg, call: &ExternCall) -> (Arg, Sink) {
        match arg {
            ExternArg::In(exprs) => {
                // A flow state stores values; other externs need the name of the enum member.
                let keeps = call
                    .object
                    .is_some_and(|o| self.p.externs[o].ty == ir::atomic::FLOW_STATE);
                if let [one] = exprs[..]
                    && !keeps
                    && let Type::Enum(id) = self.p.ty(one)
                {
                    let index = self.eval(one).to_bits().to_u64().unwrap_or(u64::MAX);
                    let members = &self.p.enums[id].members;
                    if let Some(name) = members.get(index as usize) {
                        return (Arg::member(name.clone(), index as u32), Sink::None);
                    }
                }
                let values = exprs
                    .iter()
                    .map(|&expr| self.eval(expr).to_bits())
                    .collect();
                (Arg::Values(values), Sink::None)
            }
            ExternArg::Out(places) | ExternArg::InOut(places) => {
                let targets: Vec<ResolvedPlace> = places.iter().map(|&p| self.target(p)).collect();
                let values = targets.iter().map(|&t| self.load(t).to_bits()).collect();
                (Arg::Values(values), Sink::Scalars(targets))
            }
            ExternArg::HeaderIn(header) => (self.header_arg(*header), Sink::None),
            ExternArg::HeaderOut(header) => (
                self.header_arg(*header),
                Sink::Header(self.header_of(*header)),
            ),
            ExternArg::String(text) => (Arg::String(text.clone()), Sink::None),
            ExternArg::Member(id, index) => {
                let members = &self.p.enums[*id].members;
                let name = members.get(*index as usize).cloned().unwrap_or_default();
                (Arg::member(name, *index), Sink::None)
            }
            ExternArg::Object(object) => {
                let arg = match &self.it.externs[object.index()] {
                    ExternState::Names(rules) => Arg::Names(Arc::clone(rules)),
                    ExternState::Patterns(rules) => Arg::Patterns(Arc::clone(rules)),
                    ExternState::Streams(streams) => Arg::Streams(Arc::clone(streams)),
                    ExternState::Quic(held) => Arg::Quic(Arc::clone(held)),
                    _ => Arg::Absent,
                };
                (arg, Sink::None)
            }
            ExternArg::Absent => (Arg::Absent, Sink::None),
        }
    }

    fn header_arg(&self, header: HeaderRef) -> Arg {
        match self.header_of(header) {
            Some(header) => {
                let value = self.storage().header(header);
                Arg::Header {
                    valid: value.valid,
                    fields: value.fields.iter().map(Value::to_bits).collect(),
                }
            }
            None => Arg::Header {
                valid: false,
                fields: Vec::new(),
            },
        }
    }

    /// Writes the drop port and multicast group 0 to the argument of `mark_to_drop`. Without an argument it writes the
    /// architecture's own fields. A parameter of a sub-control is separate from these.
    fn mark_to_drop(&mut self, call: &ExternCall) {
        let Some((spec, group)) = self.it.model.drop_fields() else {
            return;
        };
        match call.args.first() {
            Some(ExternArg::InOut(places)) => {
                for (field, number) in [(spec, arch::v1model::DROP_PORT), (group, 0)] {
                    if let Some(&place) = field.place.and_then(|at| places.get(at)) {
                        let target = self.target(place);
                        self.store_bits(target, &Bits::new(32, number), Span::NONE);
                    }
                }
            }
            _ => {
                self.set_number(spec.var, arch::v1model::DROP_PORT.into());
                self.set_number(group.var, 0);
            }
        }
    }

    fn extern_event(&self, call: &ExternCall, args: &[Arg], reply: &Reply) -> TraceKind {
        let name = match call.object {
            Some(object) => format!("{}.{}", self.p.externs[object].name, call.name),
            None => call.name.to_string(),
        };
        let show = |values: &[Bits]| -> Vec<String> {
            values
                .iter()
                .map(|bits| show_scalar(&self.it.schema, Type::bit(bits.width()), "", bits))
                .collect()
        };
        let args = args
            .iter()
            .zip(&call.args)
            .filter(|(_, given)| !matches!(given, ExternArg::Out(_)))
            .flat_map(|(arg, given)| match arg {
                _ if let ExternArg::Object(object) = given => {
                    vec![self.p.externs[*object].name.to_string()]
                }
                Arg::Values(values) => show(values),
                Arg::Header { fields, .. } => show(fields),
                Arg::String(text) => vec![format!("{text:?}")],
                Arg::Member(name, _) => vec![name.to_string()],
                Arg::Names(_) | Arg::Patterns(_) | Arg::Streams(_) | Arg::Quic(_) | Arg::Absent => {
                    Vec::new()
                }
            });
        let results = std::iter::once(&reply.result)
            .chain(reply.outs.iter().map(|(_, values)| values))
            .flat_map(|values| show(values));
        TraceKind::Extern {
            name,
            args: args.collect(),
            results: results.collect(),
        }
    }
}
