//! Parsing: states, and the statements that only parsers have.

use super::{ControlFlow, Extracted, Run};
use crate::outcome::Fault;
use crate::packet::read_bits;
use crate::table::member_matches;
use crate::trace::{Named, TraceKind};
use control::values::show_scalar;
use cranelift_entity::{EntityRef, PrimaryMap};
use diag::Span;
use ir::types::is_signed;
use ir::{
    Automaton, Bits, Expr, Header, HeaderRef, Keyset, Parser, Pattern, Place, SelectCase,
    SkipTable, State, StateData, Transition, TransitionTarget, Type, Value, Var,
};

/// End of a parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// In `accept`.
    Accept,
    /// In `reject`, with this error; 0 is `NoError`.
    Reject(u32),
}

impl Run<'_> {
    /// Runs a parser from its first state.
    pub(crate) fn parse(&mut self, parser: Parser) -> Result<Parsed, Fault> {
        let data = &self.p.parsers[parser];
        let mut at = data.start;
        let parsed = loop {
            if self.step().is_err() {
                break self.timeout();
            }
            let state = &data.states[at];
            self.trace(state.span, |_| TraceKind::State {
                state: state.name.to_string(),
            });
            match self.block(&state.body) {
                ControlFlow::Reject(error) => break Parsed::Reject(error),
                ControlFlow::Fault(Fault::StepBudget { .. }) => break self.timeout(),
                ControlFlow::Fault(fault) => return Err(fault),
                _ => {}
            }
            let next = match &state.transition {
                Transition::To(target) => Some(*target),
                Transition::Select { keys, cases } => {
                    let found = self.select(keys, cases);
                    self.trace_select(&data.states, keys, cases, found, state.span);
                    found.map(|at| cases[at].target)
                }
            };
            match next {
                Some(TransitionTarget::State(state)) => at = state,
                Some(TransitionTarget::Accept) => break Parsed::Accept,
                Some(TransitionTarget::AcceptAt(entry)) => {
                    self.entered = Some(entry);
                    break Parsed::Accept;
                }
                // The interpreter runs full programs, which have no transitions to `rare`.
                Some(TransitionTarget::Reject | TransitionTarget::Rare) => break Parsed::Reject(0),
                None => break Parsed::Reject(self.it.errors.no_match),
            }
        };
        if let Parsed::Reject(error) = parsed {
            let name = self.p.errors.get(error as usize).cloned();
            self.outcome.rejected = true;
            self.outcome.parser_error = name.clone().filter(|_| error != 0);
            self.trace(Span::NONE, |_| TraceKind::Reject {
                error: name.unwrap_or_default().to_string(),
            });
        }
        Ok(parsed)
    }

    /// Rejects the packet because the parser exceeded its steps, as the kernel target does. The blocks after it have
    /// the full budget again.
    fn timeout(&mut self) -> Parsed {
        self.steps = 0;
        Parsed::Reject(self.it.errors.timeout)
    }

    /// Returns the first case that matches.
    fn select(&self, keys: &[Expr], cases: &[SelectCase]) -> Option<usize> {
        let values: Vec<Bits> = keys.iter().map(|&key| self.eval(key).to_bits()).collect();
        cases
            .iter()
            .position(|case| self.case_matches(&case.keysets, keys, &values))
    }

    fn trace_select(
        &mut self,
        states: &PrimaryMap<State, StateData>,
        keys: &[Expr],
        cases: &[SelectCase],
        found: Option<usize>,
        span: Span,
    ) {
        let to = |at: usize| match cases[at].target {
            TransitionTarget::State(state) => states[state].name.to_string(),
            TransitionTarget::Accept | TransitionTarget::AcceptAt(_) => "accept".to_string(),
            TransitionTarget::Reject => "reject".to_string(),
            TransitionTarget::Rare => "rare".to_string(),
        };
        let span = found.map_or(span, |at| cases[at].span);
        self.trace(span, |run| TraceKind::Select {
            keys: keys
                .iter()
                .map(|&key| {
                    show_scalar(&run.it.schema, run.p.ty(key), "", &run.eval(key).to_bits())
                })
                .collect(),
            to: found.map(to),
        });
    }

    fn case_matches(&self, keysets: &[Keyset], keys: &[Expr], values: &[Bits]) -> bool {
        let mut at = 0;
        keysets.iter().all(|keyset| {
            let from = at;
            at += match keyset {
                Keyset::ValueSet(set) => self.p.value_sets[*set].fields.len(),
                _ => 1,
            };
            let (Some(keys), Some(values)) = (keys.get(from..at), values.get(from..at)) else {
                return false;
            };
            let signed = |i: usize| is_signed(self.p.ty(keys[i]));
            match keyset {
                Keyset::Any => true,
                Keyset::Value(want) => values[0] == *want,
                Keyset::Mask(want, mask) => {
                    values[0].value() & mask.value() == want.value() & mask.value()
                }
                Keyset::Range(low, high) if signed(0) => {
                    let value = values[0].to_signed();
                    low.to_signed() <= value && value <= high.to_signed()
                }
                Keyset::Range(low, high) => {
                    low.value() <= values[0].value() && values[0].value() <= high.value()
                }
                Keyset::ValueSet(set) => self.it.value_sets[set.index()].iter().any(|member| {
                    member_matches(
                        values.iter().enumerate().map(|(i, v)| (v, signed(i))),
                        member,
                    )
                }),
            }
        })
    }

    /// Returns the number of bits left in the packet.
    fn left(&self) -> u64 {
        (self.packet.len() as u64 * 8).saturating_sub(self.cursor as u64)
    }

    /// Extracts a header. On an error the header remains unchanged.
    pub(super) fn extract(
        &mut self,
        header: HeaderRef,
        varbit: Option<Expr>,
        span: Span,
    ) -> ControlFlow {
        let errors = self.it.errors;
        let Some(header) = self.header_of(header) else {
            return ControlFlow::Reject(errors.stack_out_of_bounds);
        };
        let p = self.p;
        let layout = &p.header_types[p.headers[header].ty];
        let size = varbit.map_or(0, |expr| self.eval(expr).to_bits().to_u64().unwrap_or(0));
        let width = u64::from(layout.fixed_width()) + size;
        if !width.is_multiple_of(8) {
            return ControlFlow::Reject(errors.invalid_argument);
        }
        if self.left() < width {
            return ControlFlow::Reject(errors.packet_too_short);
        }
        let max = layout
            .varbit()
            .map_or(0, |field| layout.fields[field as usize].ty.width());
        if size > u64::from(max) {
            return ControlFlow::Reject(errors.header_too_short);
        }
        let from = self.cursor;
        let mut at = from;
        let value = self.it.storage.header_mut(header);
        value.valid = true;
        for (slot, field) in value.fields.iter_mut().zip(&layout.fields) {
            let width = match field.ty {
                Type::Varbit(_) => size as u32,
                ty => ty.width(),
            };
            *slot = Value::from_bits(&read_bits(&self.packet, at, width), field.ty);
            at += width as usize;
        }
        self.cursor = at;
        if let Some(extracted) = &mut self.extracted {
            let fields = self.it.storage.header(header).fields.iter();
            extracted.push(Extracted {
                header,
                from,
                fields: fields.map(Value::to_bits).collect(),
            });
        }
        self.trace(span, |run| TraceKind::Extract {
            header: run.p.headers[header].name.to_string(),
            from: from / 8,
            to: at / 8,
            fields: run.fields_of(header),
        });
        ControlFlow::Next
    }

    /// Reads bits without advancing.
    pub(super) fn lookahead(&mut self, place: Place, skip: u32, span: Span) -> ControlFlow {
        let target = self.target(place);
        let width = self.target_type(target).width();
        if self.left() < u64::from(skip) + u64::from(width) {
            return ControlFlow::Reject(self.it.errors.packet_too_short);
        }
        let bits = read_bits(&self.packet, self.cursor + skip as usize, width);
        self.store_bits(target, &bits, span);
        ControlFlow::Next
    }

    /// Advances to the next occurrence of a pattern, or to the first position where it cannot occur any more.
    pub(super) fn search(
        &mut self,
        pattern: &Pattern,
        limit: Option<Expr>,
        passed: Option<Var>,
        span: Span,
    ) {
        let limit = limit.and_then(|limit| self.eval(limit).to_bits().to_u64());
        let width = pattern.value.width();
        let mut bytes = 0u32;
        while limit.is_none_or(|limit| u64::from(bytes) < limit)
            && self.left() >= u64::from(pattern.end())
            && !pattern.matches(&read_bits(
                &self.packet,
                self.cursor + pattern.skip as usize,
                width,
            ))
        {
            self.cursor += 8;
            bytes += 1;
        }
        self.passed(bytes, passed, span);
    }

    /// Advances as long as an automaton has transitions.
    pub(super) fn automaton(
        &mut self,
        automaton: &Automaton,
        (start, end): (Expr, Var),
        limit: Option<Expr>,
        passed: Option<Var>,
        span: Span,
    ) {
        let mut number = |expr: Expr| self.eval(expr).to_bits().to_u64().unwrap_or(0);
        let limit = limit.map(&mut number);
        let mut state = number(start) as u32;
        let mut bytes = 0u32;
        while limit.is_none_or(|limit| u64::from(bytes) < limit) && self.left() >= 8 {
            let byte = read_bits(&self.packet, self.cursor, 8).to_u64();
            let byte = byte.and_then(|byte| u8::try_from(byte).ok());
            let Some(next) = byte.and_then(|byte| automaton.next(state, byte)) else {
                break;
            };
            state = next;
            self.cursor += 8;
            bytes += 1;
        }
        let state = Value::Bits(Bits::new(16, state));
        self.it.storage.set_var(end, state);
        self.passed(bytes, passed, span);
    }

    /// Stores the number of bytes that were skipped.
    fn passed(&mut self, bytes: u32, passed: Option<Var>, span: Span) {
        if let Some(passed) = passed {
            let value = Value::Bits(Bits::new(32, bytes));
            self.it.storage.set_var(passed, value);
        }
        if bytes > 0 {
            self.trace(span, |run| TraceKind::Advance {
                bytes: bytes.into(),
                to: run.cursor / 8,
            });
        }
    }

    /// Stores whether the packet has `bits` bits left.
    pub(super) fn fits(&mut self, bits: Expr, fits: Var) {
        let bits = self.eval(bits).to_bits().to_u64();
        let answer = bits.is_some_and(|bits| bits <= self.left());
        self.it.storage.set_var(fits, Value::Bool(answer));
    }

    /// Skips attributes. Each counts as a step, like an iteration of a loop.
    pub(super) fn skip_ahead(&mut self, table: &SkipTable, short: Var, span: Span) -> ControlFlow {
        let mut sizes = Vec::new();
        let (_, cut) = table.skip(
            self.cursor as u64,
            self.packet.len() as u64 * 8,
            |at| read_bits(&self.packet, at as usize, table.width),
            |bytes| sizes.push(bytes),
        );
        for bytes in sizes {
            if let Err(fault) = self.step() {
                return ControlFlow::Fault(fault);
            }
            self.cursor += 8 * bytes as usize;
            self.trace(span, |run| TraceKind::Advance {
                bytes: bytes.into(),
                to: run.cursor / 8,
            });
        }
        self.it.storage.set_var(short, Value::Bool(cut));
        ControlFlow::Next
    }

    /// Advances by a number of bits.
    pub(super) fn advance(&mut self, bits: Expr, span: Span) -> ControlFlow {
        let bits = self.eval(bits).to_bits().to_u64().unwrap_or(u64::MAX);
        if !bits.is_multiple_of(8) {
            return ControlFlow::Reject(self.it.errors.invalid_argument);
        }
        if self.left() < bits {
            return ControlFlow::Reject(self.it.errors.packet_too_short);
        }
        self.cursor += bits as usize;
        self.trace(span, |run| TraceKind::Advance {
            bytes: bits / 8,
            to: run.cursor / 8,
        });
        ControlFlow::Next
    }

    /// Returns the code of an error.
    pub(super) fn error_index(&self, error: Expr) -> u32 {
        match self.eval(error) {
            Value::Member(index) => index,
            _ => 0,
        }
    }

    /// Returns a header's fields in readable form.
    pub(super) fn fields_of(&self, header: Header) -> Vec<Named> {
        let layout = &self.p.header_types[self.p.headers[header].ty];
        layout
            .fields
            .iter()
            .zip(&self.storage().header(header).fields)
            .map(|(field, value)| Named {
                name: field.name.to_string(),
                value: show_scalar(&self.it.schema, field.ty, &field.name, &value.to_bits()),
            })
            .collect()
    }
}
