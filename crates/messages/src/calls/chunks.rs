//! Chunked bodies, passed over by the automaton of [`payload::chunks`].

use super::cursor::offset;
use super::object::push_function;
use super::{Payload, file};
use crate::tables;
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Stmt, Type as CType};
use emit::Gen;
use emit::calls::values;
use ir::ExternCall;
use smol_str::SmolStr;

/// `payload_chunks`
pub(super) fn call<T: Payload>(g: &mut Gen<'_, T>, call: &ExternCall, parsed: C) {
    let ([length], [state]) = (values(call, 1), values(call, 2)) else {
        return;
    };
    let [length, state] = [*length, *state].map(|value| lower::scalar(g, value));
    let from = C::bin(BinOp::Add, parsed.cast(CType::U64), offset(g, call));
    let function = function(g);
    let args = vec![C::id("ctx"), from, length, g.packet_length(), state];
    g.result(call, C::call(function, args));
}

/// Returns the function that passes over a body; emits it on first use.
fn function<T: Payload>(g: &mut Gen<'_, T>) -> SmolStr {
    if let Some(known) = &T::shared(&mut g.file.own).chunks {
        return known.clone();
    }
    let [kinds, phases] = tables::chunks(&mut file(g));
    let name = g.file.names.fresh("chunks_pass");
    let left = C::call("payload_left", vec![C::id("from"), C::id("length")]);
    let args = ["ctx", "from", "most", "length", "ticket"].map(C::id);
    let [ctx, from, most, _, state] = args;
    let passed = C::call(
        "chunks_pass",
        vec![ctx, from, left, most, state, kinds, phases],
    );
    let body = vec![Stmt::Return(Some(passed))];
    let linkage = g.target.linkage();
    push_function(g, linkage, &name, CType::U64, true, body);
    T::shared(&mut g.file.own).chunks = Some(name.clone());
    name
}

#[cfg(test)]
mod tests {
    use payload::chunks::{BEGIN, LOST, NAMED};

    #[test]
    fn phases_are_those_of_the_header() {
        let header = include_str!("../../include/onpath/message.h");
        for (name, phase) in NAMED {
            assert!(
                header.contains(&format!("    {name} = {phase},\n")),
                "{name}"
            );
        }
    }

    #[test]
    fn states_are_those_of_the_interface() {
        let file = include_str!("../../../../p4include/payload.p4");
        for (name, value) in [("CHUNKS_BEGIN", BEGIN), ("CHUNKS_LOST", LOST)] {
            let line = format!("\nconst bit<64> {name} = {value:#x};\n");
            assert!(file.contains(&line), "{line}");
        }
    }
}
