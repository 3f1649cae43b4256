//! Checks of a program's accesses to the payload.

use super::{
    CHANGES, EXTERNS, FIND, FIND_NAME, FIND_PATTERN, FIND_URL, GET_BYTES, GET_NUMBER, LENGTH,
    MATCHES, MATCHES_PATTERN, MESSAGE, MOST_BYTES, MOST_CONNECTIONS, MOST_RULES, MOST_STATES,
    MOST_STREAMS, NAME_SET, OBJECTS, OF_URL, PATTERN, PATTERN_SET, QUIC_INITIALS, READ,
    STREAM_BYTES, WIDEST_ATTRIBUTE, WIDEST_CONSTANT, WIDEST_READ, WRITE, known_schemas, names_in,
    read_for, schema_name, schema_of,
};
use crate::errors::payload as errors;
use diag::{Diagnostic, Diagnostics, Span, nearest};
use ir::{
    ExprKind, ExternArg, ExternCall, ExternData, ExternInst, Place, Program, StmtKind, Type, visit,
};
use num_traits::ToPrimitive;
use payload::{Asked, AttributeKind, Pattern, PatternError, Schema, Unasked};
use std::collections::HashMap;

/// Returns the errors of all accesses, with their locations.
pub fn check(program: &Program) -> Diagnostics {
    let mut check = Check {
        program,
        found: Diagnostics::new(),
        schemas: HashMap::new(),
    };
    for (object, data) in &program.externs {
        if data.ty == MESSAGE {
            check.object(object, data);
        } else if data.ty == NAME_SET {
            let refused = |most| errors::name_set_size(&data.name, most, data.span);
            check.size(data, "size", MOST_RULES, refused);
        } else if data.ty == PATTERN_SET {
            let refused = |most| errors::pattern_set_size(&data.name, most, data.span);
            check.size(data, "size", MOST_STATES, refused);
        } else if data.ty == STREAM_BYTES {
            let refused = |most| errors::streams(&data.name, most, data.span);
            check.size(data, "streams", MOST_STREAMS, refused);
        } else if data.ty == QUIC_INITIALS {
            let refused = |most| errors::connections(&data.name, most, data.span);
            check.size(data, "connections", MOST_CONNECTIONS, refused);
        }
    }
    for (object, asked) in super::asked(program) {
        if asked.held_by.len() + usize::from(asked.keeps) > 1 {
            let data = &program.externs[object];
            check.found.push(errors::held_twice(&data.name, data.span));
        }
    }
    let routines = program.routines.values().map(|routine| &routine.body);
    let actions = program.actions.values().map(|action| &action.body);
    for body in routines.chain(actions) {
        visit::walk_block(body, &mut |stmt| {
            if let StmtKind::Extern(call) = &stmt.kind {
                check.call(call, stmt.span);
            }
        });
    }
    if let Some(deparser) = program.control_block(crate::DEPARSER) {
        visit::walk_block(&program.routines[deparser].body, &mut |stmt| {
            if let StmtKind::Extern(call) = &stmt.kind
                && call.object.is_none()
                && CHANGES.contains(&call.name.as_str())
            {
                check
                    .found
                    .push(errors::changed_late(&call.name, stmt.span));
            }
        });
    }
    let parsers = program.parsers.values();
    for state in parsers.flat_map(|parser| parser.states.values()) {
        visit::walk_block(&state.body, &mut |stmt| {
            if let StmtKind::Extern(call) = &stmt.kind
                && let Some(name) = check.about_payload(call)
            {
                check.found.push(errors::in_parser(&name, stmt.span));
            }
        });
    }
    check.found
}

struct Check<'p> {
    program: &'p Program,
    found: Diagnostics,
    schemas: HashMap<ExternInst, Schema>,
}

impl Check<'_> {
    fn object(&mut self, object: ExternInst, data: &ExternData) {
        let Some(schema) = schema_of(data) else {
            let name = schema_name(data).unwrap_or_default();
            let known = known_schemas();
            let near = nearest(name, known.iter().copied());
            let unknown = errors::unknown_schema(name, &known, near, data.span);
            return self.found.push(unknown);
        };
        if let Some(limit) = data.int_arg("limit")
            && !limit
                .to_u32()
                .is_some_and(|n| (1..=MOST_BYTES).contains(&n))
        {
            let text = limit.to_string();
            let refused = errors::limit(&data.name, &text, MOST_BYTES, data.span);
            self.found.push(refused);
        }
        self.schemas.insert(object, schema);
    }

    /// Refuses an object whose size is 0 or more than `most`.
    fn size(
        &mut self,
        data: &ExternData,
        name: &str,
        most: u32,
        refused: impl Fn(u32) -> Diagnostic,
    ) {
        let size = data.int_arg(name).and_then(ToPrimitive::to_u32);
        if !size.is_some_and(|size| (1..=most).contains(&size)) {
            self.found.push(refused(most));
        }
    }

    /// Returns the name of the callee, if a call is about the payload.
    fn about_payload(&self, call: &ExternCall) -> Option<String> {
        match call.object {
            Some(object) => {
                let data = &self.program.externs[object];
                let is_about = OBJECTS.contains(&data.ty.as_str());
                is_about.then(|| format!("{}.{}", data.ty, call.name))
            }
            None => {
                let known = EXTERNS.contains(&call.name.as_str());
                known.then(|| call.name.to_string())
            }
        }
    }

    fn call(&mut self, call: &ExternCall, span: Span) {
        let Some(object) = call.object else {
            return self.function(call, span);
        };
        let Some(schema) = self.schemas.get(&object) else {
            return;
        };
        if let Some(list) = read_for(call) {
            let all = names_in(list).map(|name| asked(schema, name, span));
            let wrong = all.filter_map(Result::err);
            return wrong.for_each(|wrong| self.found.push(*wrong));
        }
        if call.name == FIND_URL {
            let all = OF_URL.iter().map(|name| asked(schema, name, span));
            let wrong = all.filter_map(Result::err).next();
            return wrong.into_iter().for_each(|wrong| self.found.push(*wrong));
        }
        let asks = [
            GET_NUMBER,
            GET_BYTES,
            MATCHES_PATTERN,
            FIND_NAME,
            FIND_PATTERN,
        ];
        let asks = asks.contains(&call.name.as_str());
        let (true, Some(ExternArg::String(name))) = (asks, call.args.first()) else {
            return;
        };
        let asked = match asked(schema, name, span) {
            Ok(asked) => asked,
            Err(refused) => return self.found.push(*refused),
        };
        let ty = self.destination(call, 1);
        let refused = match (asked.kind, call.name.as_str()) {
            (AttributeKind::Number { bits, signed }, GET_NUMBER) => {
                number_fits(name, bits, signed, ty)
            }
            (AttributeKind::Number { .. }, MATCHES_PATTERN | FIND_NAME | FIND_PATTERN) => {
                let what = format!("{name:?} of `{}` is a number", schema.name);
                Some((what, format!("call `{GET_NUMBER}`, and compare it")))
            }
            (_, MATCHES_PATTERN) => return self.pattern(call, 1, span),
            (AttributeKind::Bytes | AttributeKind::DnsName, FIND_NAME | FIND_PATTERN) => None,
            (AttributeKind::Number { .. }, _) => {
                let what = format!("{name:?} of `{}` is a number", schema.name);
                Some((what, format!("call `{GET_NUMBER}`")))
            }
            (_, GET_NUMBER) => {
                let what = format!("{name:?} of `{}` is no number", schema.name);
                Some((what, format!("call `{GET_BYTES}`")))
            }
            _ => bytes_fit("an attribute that is bytes", WIDEST_ATTRIBUTE, ty),
        };
        self.refuse(refused, span);
    }

    /// Reports a regular expression for which no program has an automaton.
    fn pattern(&mut self, call: &ExternCall, at: usize, span: Span) {
        let Some(ExternArg::String(text)) = call.args.get(at) else {
            return;
        };
        let refused = match Pattern::new(text).map(|pattern| pattern.table()) {
            Ok(Ok(_)) => return,
            Ok(Err((states, classes))) => errors::large_table(text, states, classes, span),
            Err(PatternError::Syntax(what, at)) => errors::no_pattern(text, &what, at, span),
            Err(PatternError::NoAutomaton(what)) => errors::no_pattern(text, &what, 0..0, span),
            Err(PatternError::TooLarge) => errors::large_pattern(text, span),
        };
        self.found.push(refused);
    }

    fn function(&mut self, call: &ExternCall, span: Span) {
        let refused = match call.name.as_str() {
            LENGTH => None,
            PATTERN => return self.pattern(call, 2, span),
            READ => bytes_fit("what is read", WIDEST_READ, self.destination(call, 1)),
            name if CHANGES.contains(&name)
                && self.program.arch != crate::xdp::ARCHITECTURE.package =>
            {
                return self.found.push(errors::unchanged(&call.name, span));
            }
            WRITE => bytes_fit("what is written", WIDEST_CONSTANT, self.value(call, 1)),
            name @ (MATCHES | FIND) => {
                let value = match call.args.get(1) {
                    Some(ExternArg::In(values)) if values.len() == 1 => Some(values[0]),
                    _ => None,
                };
                let constant = value
                    .filter(|&value| matches!(self.program.exprs[value].kind, ExprKind::Const(_)));
                match constant {
                    None => Some((
                        format!("`{name}` is called with a value that is no constant"),
                        "give a bit<W> that is known at compile time".to_string(),
                    )),
                    Some(value) => {
                        let ty = Some(self.program.exprs[value].ty);
                        bytes_fit("the value", WIDEST_CONSTANT, ty)
                    }
                }
            }
            _ => None,
        };
        self.refuse(refused, span);
    }

    fn refuse(&mut self, refused: Option<(String, String)>, span: Span) {
        if let Some((what, instead)) = refused {
            self.found.push(errors::destination(&what, &instead, span));
        }
    }

    /// Returns the type of an `in` argument that is a single value.
    fn value(&self, call: &ExternCall, at: usize) -> Option<Type> {
        match call.args.get(at) {
            Some(ExternArg::In(values)) if values.len() == 1 => {
                Some(self.program.exprs[values[0]].ty)
            }
            _ => None,
        }
    }

    /// Returns the type of an `out` argument that is a single l-value.
    fn destination(&self, call: &ExternCall, at: usize) -> Option<Type> {
        match call.args.get(at) {
            Some(ExternArg::Out(places)) => match places[..] {
                [place @ (Place::Var(_) | Place::Field(..))] => self.program.place_type(place),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Returns the attributes that a name denotes in a schema.
fn asked(schema: &Schema, name: &str, span: Span) -> Result<Asked, Box<Diagnostic>> {
    schema.asked(name).map_err(|why| {
        let of = schema.name.as_str();
        let known = schema.names();
        Box::new(match why {
            Unasked::Unknown(near) => {
                errors::unknown_attribute(of, name, &known, near.as_deref(), span)
            }
            Unasked::Key { attribute, keys } => {
                errors::wrong_key(of, name, (&attribute, &keys), span)
            }
            Unasked::Many => errors::many_attributes(of, name, span),
            Unasked::Mixed => errors::mixed_attributes(of, name, span),
        })
    })
}

/// Returns the fault in the type of a number's destination, and the remedy.
fn number_fits(name: &str, bits: u32, signed: bool, ty: Option<Type>) -> Option<(String, String)> {
    let (width, is_signed) = match ty {
        Some(Type::Bits { width, signed }) if width <= 64 => (width, signed),
        _ => {
            let what = format!("{name:?} is a number, which needs a bit<W> of up to 64 bits");
            return Some((what, format!("declare the destination as bit<{bits}>")));
        }
    };
    let least = bits + u32::from(is_signed && !signed);
    if width < least {
        let what = format!("{name:?} may need {bits} bits; its destination has {width}");
        let kind = if signed { "int" } else { "bit" };
        return Some((what, format!("declare the destination as {kind}<{bits}>")));
    }
    None
}

/// Returns the fault in the type of a destination of bytes, and the remedy.
fn bytes_fit(what: &str, most: u32, ty: Option<Type>) -> Option<(String, String)> {
    let fits = |width: u32| width.is_multiple_of(8) && (8..=most).contains(&width);
    match ty {
        Some(Type::Bits {
            width,
            signed: false,
        }) if fits(width) => None,
        _ => Some((
            format!("{what} needs a bit<W> of whole bytes, {} at most", most / 8),
            format!("W is a multiple of 8, and {most} at most"),
        )),
    }
}
