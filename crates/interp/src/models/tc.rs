//! `tc_model`: a packet that the parser rejects is dropped. Copies are made of the bytes that the deparser emitted and
//! the payload, whatever the verdict. The packet itself follows unless it is dropped.
//!
//! Packets are plain here: no device stores a VLAN tag beside them or will segment them.

use super::stages::{Reached, Stages};
use crate::outcome::{Disposition, Fault, Marks};
use crate::run::Run;
use arch::tc::{INPUT, OUTPUT};
use ir::{Program, Var};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Tc {
    stages: Stages,
    input: Input,
    output: Output,
}

/// Input fields that the pipeline sets. All others are 0.
#[derive(Clone, Copy, Debug)]
struct Input {
    port: Option<Var>,
    direction: Option<Var>,
    length: Option<Var>,
    mark: Option<Var>,
    priority: Option<Var>,
    timestamp: Option<Var>,
    mtu: Option<Var>,
}

/// Output fields that the pipeline reads.
#[derive(Clone, Copy, Debug)]
struct Output {
    verdict: Option<Var>,
    port: Option<Var>,
    mark: Option<Var>,
    priority: Option<Var>,
    queue: Option<Var>,
    clone: Option<Var>,
    clone_port: Option<Var>,
    group: Option<Var>,
}

impl Tc {
    pub(super) fn new(program: &Program) -> Option<Tc> {
        let input = |name: &str| program.slot_var(INPUT, name);
        let output = |name: &str| program.slot_var(OUTPUT, name);
        Some(Tc {
            stages: Stages::new(program)?,
            input: Input {
                port: input("input_port"),
                direction: input("direction"),
                length: input("length"),
                mark: input("mark"),
                priority: input("priority"),
                timestamp: input("timestamp"),
                mtu: input("mtu"),
            },
            output: Output {
                verdict: output("verdict"),
                port: output("output_port"),
                mark: output("mark"),
                priority: output("priority"),
                queue: output("queue"),
                clone: output("clone"),
                clone_port: output("clone_port"),
                group: output("multicast_group"),
            },
        })
    }

    pub(super) fn run(
        self,
        run: &mut Run<'_>,
        port: u32,
        marks: Marks,
    ) -> Result<Disposition, Fault> {
        let options = run.it.options;
        run.set_number(self.input.port, port.into());
        run.set_number(self.input.direction, options.direction as u64);
        run.set_number(self.input.length, run.packet.len() as u64);
        run.set_number(self.input.timestamp, run.now);
        for (place, mark) in [
            (self.input.mark, marks.mark),
            (self.output.mark, marks.mark),
            (self.input.priority, marks.priority),
            (self.output.priority, marks.priority),
        ] {
            run.set_number(place, mark.into());
        }
        run.set_number(self.input.mtu, options.mtu.into());
        if self.stages.run(run)? != Reached::Verdict {
            return Ok(Disposition::Drop);
        }
        let copies = self.copies(run);
        let (disposition, out) = self.disposition(run, port);
        if disposition == Disposition::Drop && copies.is_empty() {
            return Ok(disposition);
        }
        run.mark(Marks {
            mark: run.number(self.output.mark) as u32,
            priority: run.number(self.output.priority) as u32,
            queue: run.number(self.output.queue) as u16,
        });
        let bytes = self.stages.deparse(run)?;
        for copy in copies {
            run.copy(copy, &bytes);
        }
        if disposition != Disposition::Drop {
            run.send(out, bytes);
        }
        Ok(disposition)
    }

    /// Returns the packet's disposition, and the port at which the packet appears next.
    fn disposition(self, run: &Run<'_>, port: u32) -> (Disposition, u32) {
        let out = run.number(self.output.port) as u32;
        match arch::tc::Verdict::from_index(run.number(self.output.verdict)) {
            arch::tc::Verdict::Pass => (Disposition::Pass, port),
            arch::tc::Verdict::Drop => (Disposition::Drop, port),
            arch::tc::Verdict::RedirectEgress => (Disposition::Redirect(out), out),
            arch::tc::Verdict::RedirectIngress => (Disposition::RedirectIngress(out), out),
        }
    }

    /// Returns the ports of the copies: the clone first, then those of the group.
    fn copies(self, run: &Run<'_>) -> Vec<u32> {
        let mut ports = Vec::new();
        if run.number(self.output.clone) != 0 {
            ports.push(run.number(self.output.clone_port) as u32);
        }
        let group = run.number(self.output.group) as u16;
        let replicas = run.it.groups.get(&group).into_iter().flatten();
        ports.extend(replicas.map(|replica| replica.port));
        ports
    }
}
