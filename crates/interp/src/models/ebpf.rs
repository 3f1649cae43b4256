//! `ebpf_model`: a packet that the parser rejects is dropped. A packet that the filter accepts is sent unchanged to the
//! port that it came from.

use crate::outcome::{Disposition, Fault};
use crate::run::{Parsed, Run};
use ir::{Parser, Program, Routine, Var};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ebpf {
    parser: Parser,
    filter: Routine,
    accept: Var,
}

impl Ebpf {
    pub(super) fn new(program: &Program) -> Option<Ebpf> {
        Some(Ebpf {
            parser: program.parser_block(arch::PARSER)?,
            filter: program.control_block(arch::ebpf::FILTER)?,
            accept: program.slot_var(arch::ebpf::ACCEPT, "")?,
        })
    }

    pub(super) fn run(self, run: &mut Run<'_>, port: u32) -> Result<Disposition, Fault> {
        if run.parser_block(arch::PARSER, self.parser)? != Parsed::Accept {
            return Ok(Disposition::Drop);
        }
        run.control_block(arch::ebpf::FILTER, self.filter)?;
        if run.number(Some(self.accept)) == 0 {
            return Ok(Disposition::Drop);
        }
        run.send(port, run.packet.to_vec());
        Ok(Disposition::Pass)
    }
}
