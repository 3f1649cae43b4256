//! `xdp_model`: a packet that the parser rejects is aborted. The deparser runs for verdicts that do not drop the
//! packet. The packet that leaves is the headers that it emitted, followed by the payload.

use super::stages::{Reached, Stages};
use crate::outcome::{Disposition, Fault};
use crate::run::Run;
use ir::{Program, Var};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Xdp {
    stages: Stages,
    input_port: Option<Var>,
    output_action: Option<Var>,
    output_port: Option<Var>,
}

impl Xdp {
    pub(super) fn new(program: &Program) -> Option<Xdp> {
        Some(Xdp {
            stages: Stages::new(program)?,
            input_port: program.slot_var(arch::xdp::INPUT, "input_port"),
            output_action: program.slot_var(arch::xdp::OUTPUT, "output_action"),
            output_port: program.slot_var(arch::xdp::OUTPUT, "output_port"),
        })
    }

    pub(super) fn run(self, run: &mut Run<'_>, port: u32) -> Result<Disposition, Fault> {
        run.set_number(self.input_port, port.into());
        match self.stages.run(run)? {
            Reached::Verdict => {}
            Reached::Rejected => return Ok(Disposition::Aborted),
            Reached::Dropped => return Ok(Disposition::Drop),
        }
        let (disposition, out) =
            match arch::xdp::Verdict::from_index(run.number(self.output_action)) {
                arch::xdp::Verdict::Aborted => return Ok(Disposition::Aborted),
                arch::xdp::Verdict::Drop => return Ok(Disposition::Drop),
                arch::xdp::Verdict::Pass => (Disposition::Pass, port),
                arch::xdp::Verdict::Tx => (Disposition::Tx, port),
                arch::xdp::Verdict::Redirect => {
                    let out = run.number(self.output_port) as u32;
                    (Disposition::Redirect(out), out)
                }
            };
        let bytes = self.stages.deparse(run)?;
        run.send(out, bytes);
        Ok(disposition)
    }
}
