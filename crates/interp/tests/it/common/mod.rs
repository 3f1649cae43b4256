//! Programs in the IR's text form, and helpers that run them in tests.

use control::{Change, Packet, Store};
use interp::{Interpreter, Options, Outcome};
use ir::{ActionCall, Bits, Entry, KeyMatch, Program, Table};
use std::sync::Arc;

/// Errors of `core.p4`.
pub(crate) const ERRORS: &str = "errors NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, \
                          ParserTimeout, ParserInvalidArgument\n";

/// Reads and verifies a program.
pub(crate) fn program(text: &str) -> Arc<Program> {
    let program = ir::text::parse(text).unwrap_or_else(|e| panic!("{e}"));
    if let Err(errors) = ir::verify::verify(&program) {
        panic!("{errors:?}");
    }
    Arc::new(program)
}

/// Creates an interpreter for a program.
pub(crate) fn interpreter(text: &str) -> Interpreter {
    Interpreter::new(program(text), Options::default()).unwrap_or_else(|e| panic!("{e:?}"))
}

/// Returns the bytes of the only packet that came out.
#[allow(dead_code)]
pub(crate) fn sent(outcome: &Outcome) -> &[u8] {
    match outcome.packets.as_slice() {
        [Packet { bytes, .. }] => bytes,
        other => panic!("{other:?} {:?}", outcome.disposition),
    }
}

/// Returns the table with this name.
#[allow(dead_code)]
pub(crate) fn table(interpreter: &Interpreter, name: &str) -> Table {
    let mut tables = interpreter.program().tables.iter();
    tables.find(|(_, t)| t.name == name).unwrap().0
}

/// Adds an entry whose action has one argument of 8 bits.
#[allow(dead_code)]
pub(crate) fn add(
    interpreter: &mut Interpreter,
    name: &str,
    keys: Vec<KeyMatch>,
    priority: u32,
    value: u32,
) -> Result<(), control::StoreError> {
    let table = table(interpreter, name);
    interpreter.change(Change::Insert(table, entry(keys, priority, value)))
}

/// Returns an entry with action 0 and one argument of 8 bits.
#[allow(dead_code)]
pub(crate) fn entry(keys: Vec<KeyMatch>, priority: u32, value: u32) -> Entry {
    Entry {
        keys,
        priority,
        action: ActionCall {
            action: 0,
            args: vec![Bits::new(8, value)],
        },
        is_const: false,
    }
}

/// Returns an XDP program around the body of its switch. It parses and deparses a header `h` of four bytes `a` to `d`.
/// The verdict is PASS unless the body sets another.
#[allow(dead_code)]
pub(crate) fn switch(declarations: &str, body: &str) -> String {
    format!(
        "program xdp reject stop\n{ERRORS}labels 4\n\
         enum xdp_action {{ XDP_ABORTED, XDP_DROP, XDP_PASS, XDP_TX, XDP_REDIRECT }}\n\
         header_type bytes {{\n  a: bit<8>;\n  b: bit<8>;\n  c: bit<8>;\n  d: bit<8>;\n}}\n\
         var xin.input_port: bit<32>\nvar xout.output_action: xdp_action\nvar xout.output_port: bit<32>\n\
         var x: bit<8>\nvar y: bit<8>\nvar flag: bool\nvar n: bit<32>\n\
         header h: bytes\n{declarations}\n\
         routine S block() {{\n  xout.output_action = xdp_action::XDP_PASS;\n{body}\n}}\n\
         routine D block() {{\n  emit h;\n}}\n\
         parser P start start {{\n  state start {{\n    extract h;\n    goto accept;\n  }}\n}}\n\
         pipeline parser parser P\npipeline switch control S\npipeline deparser deparser D\n\
         slot headers {{\n  header \"h\" = h;\n}}\n\
         intrinsic slot xdp_input {{\n  var \"input_port\" = xin.input_port;\n}}\n\
         intrinsic slot xdp_output {{\n  var \"output_action\" = xout.output_action;\n  \
         var \"output_port\" = xout.output_port;\n}}\n"
    )
}

/// Runs the body on the bytes 1, 2, 3, 4, 9 and returns the packet that came out.
#[allow(dead_code)]
pub(crate) fn run_body(declarations: &str, body: &str) -> Vec<u8> {
    let mut interpreter = interpreter(&switch(declarations, body));
    sent(&interpreter.run(7, &[1, 2, 3, 4, 9])).to_vec()
}
