//! The frame of every program: headers, and what a parser extracts and a deparser emits. These never change, so
//! that their result is known without an evaluator of parsers.

use super::call::Given;
use super::machine::{Frame, Machine};
use super::place::StoragePath;
use super::value::Value;
use hir::{Arg, Expr, ExprKind, Module, Ty};
use num_bigint::{BigInt, Sign};

/// Beginning of every program.
const HEAD: &str = "\
#include <core.p4>
#include <xdp_model.p4>
header e_t { bit<8> a; bit<8> b; bit<8> c; bit<16> w; int<8> d; bit<8>[4] r; }
header h_t { bit<8> x; bit<8> y; }
header g_t { bit<16> z; }
header v_t { bit<8> valid; }
header o_t { bit<8> p; bit<8> q; bit<8> v; bit<8> a0; bit<8> a1; bit<16> w; int<8> i; bit<8> b; bit<8> g; bit<8> k; bit<8> u; }
header_union u_t { h_t h; g_t g; }
struct pair_t { bit<8> p; bit<8> q; }
struct headers_t { e_t e; h_t h; h_t[4] s; u_t u; o_t o; }
control d(in headers_t hdr, packet_out packet) {
    v_t v;
    apply {
        v.setValid();
        v.valid = (bit<1>)hdr.e.isValid() ++ (bit<1>)hdr.h.isValid() ++ (bit<1>)hdr.s[0].isValid()
            ++ (bit<1>)hdr.s[1].isValid() ++ (bit<1>)hdr.s[2].isValid() ++ (bit<1>)hdr.s[3].isValid()
            ++ (bit<1>)hdr.u.h.isValid() ++ (bit<1>)hdr.u.g.isValid();
        packet.emit(v);
        packet.emit(hdr);
    }
}
";

/// Beginning of the parser, up to the program's own statements.
const PARSER: &str = "\
parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.e);
        packet.extract(hdr.h);
        packet.extract(hdr.s.next);
        packet.extract(hdr.s.next);
        packet.extract(hdr.s.next);
        packet.extract(hdr.u.h);
        transition change;
    }
    state change {
";

/// A program's own parts.
#[derive(Default)]
pub(super) struct Parts {
    /// Declarations of the top level.
    pub(super) top: String,
    /// Statements of the parser, after the headers.
    pub(super) parsing: String,
    /// Controls, `c` among them.
    pub(super) controls: String,
}

/// Number of bytes that the parser reads.
pub(super) const LENGTH: usize = 20;

/// A whole program.
pub(super) fn complete(parts: &Parts) -> String {
    let Parts {
        top,
        parsing,
        controls,
    } = parts;
    format!(
        "{HEAD}{top}{PARSER}{parsing}        transition accept;\n    }}\n}}\n{controls}\nxdp(p(), c(), d()) main;\n"
    )
}

/// Returns the packet that comes out for this one, by the specification.
pub(super) fn run(module: &Module, packet: &[u8]) -> Vec<u8> {
    let main = &module.instances[module.main.expect("a main")];
    let [parser, control, _] = [0, 1, 2].map(|i| match &main.args[i] {
        Arg::In(Expr {
            kind: ExprKind::Instance(instance),
            ..
        }) => *instance,
        other => panic!("{other:?} is no block"),
    });
    let mut machine = Machine {
        module,
        frames: vec![Frame::default()],
        target: None,
    };
    let Ty::Parser(parser, _) = module.instances[parser].ty else {
        panic!("{:?} is no parser", main.args[0]);
    };
    let parser = &module.parsers[parser];
    let headers = parser.params[1];
    let empty = machine.nothing(&module.locals[headers].ty);
    machine.declare(headers, Some(parsed(empty, packet)));
    let states = &parser.body.as_ref().expect("a parser with a body").states;
    let change = states.values().find(|state| state.name == "change");
    let _ = machine.block(&change.expect("a second state").body);
    let place = StoragePath::of(0, headers);
    let given = Given {
        values: vec![Some(machine.read(&place)), None, None],
        back: vec![(0, place.clone())],
    };
    // An `exit` ends the block, and the deparser runs.
    let _ = machine.run_control(control, given);
    deparsed(&machine.read(&place))
}

/// Returns the headers after the parser.
fn parsed(mut headers: Value, packet: &[u8]) -> Value {
    let mut rest = packet;
    let [e, h, s, u, _] = &mut headers.parts_mut()[..] else {
        panic!("{headers:?} are not the headers");
    };
    extract(e, &mut rest);
    extract(h, &mut rest);
    for element in &mut s.parts_mut()[..3] {
        extract(element, &mut rest);
    }
    extract(&mut u.parts_mut()[0], &mut rest);
    headers
}

/// Reads a header, or a part of one. Every number is a whole number of bytes.
fn extract(value: &mut Value, packet: &mut &[u8]) {
    match value {
        Value::Bits(bits) => {
            let (bytes, rest) = packet.split_at(bits.width as usize / 8);
            *packet = rest;
            let number = BigInt::from_bytes_be(Sign::Plus, bytes);
            *value = Value::number(number, bits.width, bits.signed);
        }
        _ => {
            if let Value::Header(valid, _) = value {
                *valid = true;
            }
            for part in value.parts_mut() {
                extract(part, packet);
            }
        }
    }
}

/// Returns the packet after the deparser.
fn deparsed(headers: &Value) -> Vec<u8> {
    let [e, h, s, u, _] = headers.parts() else {
        panic!("{headers:?} are not the headers");
    };
    let all = [e, h].into_iter().chain(s.parts()).chain(u.parts());
    let valid = all.fold(0u8, |bits, header| bits << 1 | u8::from(header.is_valid()));
    let mut bytes = vec![valid];
    emit(headers, &mut bytes);
    bytes
}

/// Appends the headers that are valid.
fn emit(value: &Value, packet: &mut Vec<u8>) {
    match value {
        Value::Header(false, _) => {}
        Value::Bits(bits) => {
            let bytes = bits.unsigned().to_bytes_be().1;
            packet.extend(vec![0; bits.width as usize / 8 - bytes.len()]);
            packet.extend(bytes);
        }
        _ => value.parts().iter().for_each(|part| emit(part, packet)),
    }
}
