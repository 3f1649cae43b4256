//! Decoding of a packet with the program's own parser: names and values for its bytes.

use crate::run::{Parsed, Run};
use crate::{Interpreter, Options};
use control::values::show_scalar;
use ir::{Program, Type};
use std::ops::Range;
use std::sync::Arc;

/// Packet decoded by a program's parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Headers in the order of their positions in the packet.
    pub headers: Vec<DecodedHeader>,
    /// Bytes after the headers.
    pub payload: Range<usize>,
    /// Name of the error with which the parser rejected the packet, `NoError` for a plain `reject`. `None` if it did
    /// not reject it.
    pub rejected: Option<String>,
}

/// Header in a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedHeader {
    /// Name in the program.
    pub name: String,
    /// Range of bytes in the packet.
    pub bytes: Range<usize>,
    /// Fields in order.
    pub fields: Vec<DecodedField>,
}

/// Field in a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedField {
    /// Name within its header.
    pub name: String,
    /// Value in readable form.
    pub value: String,
    /// Range of bits, counted from the packet's first bit.
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
