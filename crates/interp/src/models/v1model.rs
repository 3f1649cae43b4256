//! `v1model`, as bmv2's simple_switch runs it: a parser's error is noted and ingress runs all the
//! same; a packet whose `egress_spec` is the drop port at the end of ingress or of egress is gone;
//! checksums are updated after egress.
//!
//! Multicast, clones, resubmission and recirculation have their place between ingress and egress and
//! after egress. A multicast group that is not 0 ends the packet as a fault; the calls are refused
//! before a packet runs.

use super::DropField;
use crate::outcome::{Disposition, Fault};
use crate::run::{Parsed, Run};
use arch::v1model::{
    COMPUTE_CHECKSUM, DROP_PORT, EGRESS, INGRESS, STANDARD_METADATA, VERIFY_CHECKSUM,
};
use ir::{Parser, Program, Routine, Var};

#[derive(Clone, Copy, Debug)]
pub(crate) struct V1Model {
    parser: Parser,
    verify: Routine,
    ingress: Routine,
    egress: Routine,
    compute: Routine,
    deparser: Routine,
    ingress_port: Option<Var>,
    egress_spec: Option<Var>,
    egress_port: Option<Var>,
    packet_length: Option<Var>,
    ingress_timestamp: Option<Var>,
    egress_timestamp: Option<Var>,
    enq_timestamp: Option<Var>,
    mcast_grp: Option<Var>,
    parser_error: Option<Var>,
    pub(super) checksum_error: Option<Var>,
    pub(super) drop_spec: DropField,
    pub(super) drop_group: DropField,
}

impl V1Model {
    pub(super) fn new(program: &Program) -> Option<V1Model> {
        let var = |name: &str| program.slot_var(STANDARD_METADATA, name);
        let drop_field = |name: &str| {
            let slot = program.slots.iter().find(|s| s.name == STANDARD_METADATA);
            let place = slot.and_then(|s| s.vars.iter().position(|(n, _)| n == name));
            DropField {
                var: var(name),
                place,
            }
        };
        Some(V1Model {
            parser: program.parser_block(arch::PARSER)?,
            verify: program.control_block(VERIFY_CHECKSUM)?,
            ingress: program.control_block(INGRESS)?,
            egress: program.control_block(EGRESS)?,
            compute: program.control_block(COMPUTE_CHECKSUM)?,
            deparser: program.control_block(arch::DEPARSER)?,
            ingress_port: var("ingress_port"),
            egress_spec: var("egress_spec"),
            egress_port: var("egress_port"),
            packet_length: var("packet_length"),
            ingress_timestamp: var("ingress_global_timestamp"),
            egress_timestamp: var("egress_global_timestamp"),
            enq_timestamp: var("enq_timestamp"),
            mcast_grp: var("mcast_grp"),
            parser_error: var("parser_error"),
            checksum_error: var("checksum_error"),
            drop_spec: drop_field("egress_spec"),
            drop_group: drop_field("mcast_grp"),
        })
    }

    pub(super) fn run(self, run: &mut Run<'_>, port: u32) -> Result<Disposition, Fault> {
        let microseconds = run.now / 1_000;
        run.set_number(self.ingress_port, port.into());
        run.set_number(self.packet_length, run.packet.len() as u64);
        run.set_number(self.ingress_timestamp, microseconds);
        if let Parsed::Reject(error) = run.parser_block(self.parser)? {
            run.set_number(self.parser_error, error.into());
        }
        run.control_block(VERIFY_CHECKSUM, self.verify)?;
        run.control_block(INGRESS, self.ingress)?;
        let group = run.number(self.mcast_grp);
        if group != 0 {
            return Err(Fault::Multicast { group });
        }
        let out = run.number(self.egress_spec);
        if out == u64::from(DROP_PORT) {
            return Ok(Disposition::Drop);
        }
        run.set_number(self.egress_port, out);
        run.set_number(self.egress_spec, 0);
        run.set_number(self.enq_timestamp, microseconds);
        run.set_number(self.egress_timestamp, microseconds);
        run.control_block(EGRESS, self.egress)?;
        if run.number(self.egress_spec) == u64::from(DROP_PORT) {
            return Ok(Disposition::Drop);
        }
        run.control_block(COMPUTE_CHECKSUM, self.compute)?;
        run.control_block(arch::DEPARSER, self.deparser)?;
        let bytes = run.deparsed();
        run.send(out as u32, bytes);
        Ok(Disposition::Forward(out as u32))
    }
}
