//! Poison: when a packet or copy starts, values outside its frame (its live set) are set to values that nothing may
//! depend on. On targets such values are arbitrary. With poison a frame that is too small changes the results here,
//! too.

use super::V1Model;
use crate::run::Run;
use crate::storage::{Storage, field_types};
use ir::analysis::frame::{Frame, Point};
use ir::{Bits, BlockBody, Header, Program, Type, Value, Var};

/// Poison by point of entry.
pub(crate) struct Poisons {
    /// Poison for packets that enter the parser.
    pub parser: Poison,
    /// Poison for packets and copies that enter egress.
    pub egress: Poison,
}

/// Variables, fields and validity bits outside a frame, with the values that they get.
pub(crate) struct Poison {
    vars: Vec<(Var, Value)>,
    fields: Vec<(Header, usize, Value)>,
    validities: Vec<Header>,
}

impl V1Model {
    pub(in crate::models) fn poisons(self, program: &Program) -> Poisons {
        let egress = BlockBody::Control(self.egress);
        let at = |block| {
            let frame = Frame::new(program, Point::Block(block), Some(egress));
            Poison::new(program, &frame)
        };
        Poisons {
            parser: at(BlockBody::Parser(self.parser)),
            egress: at(egress),
        }
    }
}

impl Run<'_> {
    /// Poisons the values outside the frame of a point, unless the packet is traced: a trace shows all assignments,
    /// even if nothing depends on them.
    pub(super) fn poison(&mut self, at: impl FnOnce(&Poisons) -> &Poison) {
        if self.it.sink.is_some() {
            return;
        }
        if let Some(poisons) = &self.it.poisons {
            at(poisons).spoil(&mut self.it.storage);
        }
    }
}

impl Poison {
    fn new(program: &Program, frame: &Frame) -> Poison {
        let lost = program.vars.iter().filter(|(var, _)| !frame.var(*var));
        let vars = lost.map(|(var, data)| (var, value(program, data.ty)));
        let fields = program.headers.keys().flat_map(|header| {
            let types = field_types(program, header).enumerate();
            let lost = types.filter(move |(i, _)| !frame.field(header, *i as u32));
            lost.map(move |(i, ty)| (header, i, value(program, ty)))
        });
        let validities = program.headers.keys().filter(|&h| !frame.valid(h));
        Poison {
            vars: vars.collect(),
            fields: fields.collect(),
            validities: validities.collect(),
        }
    }

    fn spoil(&self, storage: &mut Storage) {
        for (var, value) in &self.vars {
            storage.set_var(*var, value.clone());
        }
        for (header, field, value) in &self.fields {
            storage.header_mut(*header).fields[*field] = value.clone();
        }
        for &header in &self.validities {
            let valid = &mut storage.header_mut(header).valid;
            *valid = !*valid;
        }
    }
}

/// Returns a value that is not zero: all ones, or the last member.
fn value(program: &Program, ty: Type) -> Value {
    let last = |members: usize| Value::Member(members.saturating_sub(1) as u32);
    match ty {
        Type::Bool => Value::Bool(true),
        Type::Bits { width, .. } => Value::Bits(Bits::ones(width)),
        Type::Varbit(max) => Value::Varbit {
            max,
            bits: Bits::ones(max),
        },
        Type::Error => last(program.errors.len()),
        Type::Enum(id) => last(program.enums[id].members.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interpreter, Options};
    use std::sync::Arc;

    /// Program for a packet of two bytes. Egress replaces the second byte by the value that ingress assigned to `kept`.
    const PROGRAM: &str = "program V1Switch reject continue
header_type bytes {
    a: bit<8>;
    b: bit<8>;
}
var port: bit<9>
var kept: bit<8>
var lost: bit<8>
header h: bytes
header g: bytes
routine none block() {
}
routine I block() {
    port = 9w2;
    kept = 8w3;
    lost = 8w4;
}
routine E block() {
    h.b = kept;
    lost = 8w5;
    set_invalid g;
}
routine D block() {
    emit h;
    emit g;
}
parser P start start {
    state start {
        extract h;
        goto accept;
    }
}
pipeline parser parser P
pipeline `verify checksum` control none
pipeline ingress control I
pipeline egress control E
pipeline `compute checksum` control none
pipeline deparser deparser D
slot headers {
    header \"h\" = h;
    header \"g\" = g;
}
intrinsic slot standard_metadata {
    var \"egress_spec\" = port;
}
";

    fn interpreter() -> Interpreter {
        let mut program = ir::text::parse(PROGRAM).unwrap_or_else(|e| panic!("{e}"));
        program.number_stmts();
        Interpreter::new(Arc::new(program), Options::default()).unwrap_or_else(|e| panic!("{e:?}"))
    }

    /// Returns the bytes that leave if `wrong` removes values from egress's frame.
    fn left(wrong: impl FnOnce(&Program, &mut Poison)) -> Vec<Vec<u8>> {
        let mut it = interpreter();
        let program = it.program().clone();
        wrong(&program, &mut it.poisons.as_mut().unwrap().egress);
        let packets = it.run(1, &[1, 0]).packets;
        packets.into_iter().map(|packet| packet.bytes).collect()
    }

    fn var(program: &Program, name: &str) -> Var {
        let mut vars = program.vars.iter();
        vars.find(|(_, data)| data.name == name).unwrap().0
    }

    #[test]
    fn what_is_not_live_is_poisoned_and_nobody_sees_it() {
        assert_eq!(left(|_, _| ()), [[1, 3]]);
        let it = interpreter();
        let poison = &it.poisons.as_ref().unwrap().egress;
        let lost = var(it.program(), "lost");
        assert_eq!(poison.vars, [(lost, Value::Bits(Bits::ones(8)))]);
        let [h, g] = [0, 1].map(|n| it.program().headers.keys().nth(n).unwrap());
        let fields: Vec<_> = poison.fields.iter().map(|(h, i, _)| (*h, *i)).collect();
        assert_eq!(fields, [(h, 1), (g, 0), (g, 1)]);
        assert_eq!(poison.validities, [g]);
    }

    #[test]
    fn a_frame_that_leaves_out_too_much_is_noticed() {
        let without_a_variable = left(|program, poison| {
            let kept = var(program, "kept");
            poison.vars.push((kept, Value::Bits(Bits::ones(8))));
        });
        assert_eq!(without_a_variable, [[1, 255]]);
        let header = |program: &Program| program.headers.keys().next().unwrap();
        let without_a_field = left(|program, poison| {
            let ones = Value::Bits(Bits::ones(8));
            poison.fields.push((header(program), 0, ones));
        });
        assert_eq!(without_a_field, [[255, 3]]);
        let without_a_validity = left(|program, poison| poison.validities.push(header(program)));
        assert_eq!(without_a_validity, [[]; 1] as [[u8; 0]; 1]);
    }
}
