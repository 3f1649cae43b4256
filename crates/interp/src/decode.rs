//! A packet as the program's own parser sees it: names and values for its bytes.

use crate::run::{Parsed, Run};
use crate::{Interpreter, Options};
use control::values::show_scalar;
use ir::{Program, Type};
use std::ops::Range;
use std::sync::Arc;

/// A packet in the words of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The headers in the order in which they lie in the packet.
    pub headers: Vec<DecodedHeader>,
    /// The bytes after them.
    pub payload: Range<usize>,
    /// Why the parser rejected the packet, by the error's name, `NoError` for a plain `reject`;
    /// `None` if it did not.
    pub rejected: Option<String>,
}

/// A header in a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedHeader {
    /// Its name in the program.
    pub name: String,
    /// Its bytes.
    pub bytes: Range<usize>,
    /// Its fields in order.
    pub fields: Vec<DecodedField>,
}

/// A field in a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedField {
    /// Its name within its header.
    pub name: String,
    /// Its value as people read it.
    pub value: String,
    /// Its bits, counted from the packet's first.
    pub bits: Range<usize>,
}

/// Decodes a packet with the program's parser. Parser value sets count as empty. `None` if the
/// interpreter does not run the program.
pub fn decode(program: &Arc<Program>, packet: &[u8]) -> Option<Decoded> {
    let mut interpreter = Interpreter::new(Arc::clone(program), Options::default()).ok()?;
    let parser = program.parser_block(arch::PARSER)?;
    let schema = Arc::clone(&interpreter.schema);
    let mut run = Run::new(program, &mut interpreter, packet, 0);
    run.extracted = Some(Vec::new());
    let rejected = match run.parse(parser) {
        Ok(Parsed::Accept) => None,
        Ok(Parsed::Reject(error)) => Some(
            program
                .errors
                .get(error as usize)
                .map_or_else(|| "NoError".to_string(), ToString::to_string),
        ),
        Err(fault) => Some(fault.to_string()),
    };
    let payload = run.cursor / 8..packet.len();
    let extracted = run.extracted.take().unwrap_or_default();
    let headers = extracted
        .into_iter()
        .map(|found| {
            let data = &program.headers[found.header];
            let layout = &program.header_types[data.ty];
            let mut at = found.from;
            let fields = layout
                .fields
                .iter()
                .zip(&found.fields)
                .map(|(field, bits)| {
                    let from = at;
                    at += match field.ty {
                        Type::Varbit(_) => bits.width() as usize,
                        ty => ty.width() as usize,
                    };
                    DecodedField {
                        name: field.name.to_string(),
                        value: show_scalar(&schema, field.ty, &field.name, bits),
                        bits: from..at,
                    }
                })
                .collect();
            DecodedHeader {
                name: data.name.to_string(),
                bytes: found.from / 8..at / 8,
                fields,
            }
        })
        .collect();
    Some(Decoded {
        headers,
        payload,
        rejected,
    })
}
