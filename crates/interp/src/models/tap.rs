//! `tap_model`: the control sees every packet, and every packet is sent on unchanged.

use crate::outcome::{Disposition, Fault};
use crate::run::{Parsed, Run};
use arch::tap::{INPUT, PARSER_ERROR, WATCH};
use ir::{Parser, Program, Routine, Var};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Tap {
    parser: Parser,
    watch: Routine,
    length: Option<Var>,
    timestamp: Option<Var>,
    parser_error: Option<Var>,
}

impl Tap {
    pub(super) fn new(program: &Program) -> Option<Tap> {
        Some(Tap {
            parser: program.parser_block(arch::PARSER)?,
            watch: program.control_block(WATCH)?,
            length: program.slot_var(INPUT, "length"),
            timestamp: program.slot_var(INPUT, "timestamp"),
            parser_error: program.slot_var(INPUT, PARSER_ERROR),
        })
    }

    pub(super) fn run(self, run: &mut Run<'_>, port: u32) -> Result<Disposition, Fault> {
        run.set_number(self.length, run.packet.len() as u64);
        run.set_number(self.timestamp, run.now);
        run.set_number(self.parser_error, 0);
        if let Parsed::Reject(error) = run.parser_block(arch::PARSER, self.parser)? {
            run.set_number(self.parser_error, error.into());
        }
        run.control_block(WATCH, self.watch)?;
        run.send(port, run.packet.to_vec());
        Ok(Disposition::Pass)
    }
}
