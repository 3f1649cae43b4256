//! `v1model`, as bmv2's simple_switch runs it. A parser error is recorded, and ingress runs nevertheless. A packet
//! whose `egress_spec` is the drop port at the end of ingress or of egress is dropped. Checksums are updated after
//! egress.
//!
//! [`traffic`] moves a packet and its copies from block to block. When a packet or copy enters the parser or egress,
//! all storage that is dead at that point is poisoned ([`poison`]).

mod poison;
mod traffic;

use super::DropField;
use crate::outcome::{Disposition, Fault};
use crate::run::{Parsed, Run};
use crate::storage::Storage;
use arch::v1model::traffic::{AT_EGRESS, AT_PARSER, Given, origin};
use arch::v1model::{COMPUTE_CHECKSUM, EGRESS, INGRESS, META, STANDARD_METADATA, VERIFY_CHECKSUM};
use ir::{Parser, Program, Routine, Value, Var};
pub(crate) use poison::Poisons;
use traffic::{AtEgress, AtIngress};

#[derive(Clone, Copy, Debug)]
pub(crate) struct V1Model {
    parser: Parser,
    verify: Routine,
    ingress: Routine,
    egress: Routine,
    compute: Routine,
    deparser: Routine,
    at_parser: [(Option<Var>, Given); AT_PARSER.len()],
    at_egress: [(Option<Var>, Given); AT_EGRESS.len()],
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
            at_parser: AT_PARSER.map(|(name, given)| (var(name), given)),
            at_egress: AT_EGRESS.map(|(name, given)| (var(name), given)),
            parser_error: var("parser_error"),
            checksum_error: var("checksum_error"),
            drop_spec: drop_field("egress_spec"),
            drop_group: drop_field("mcast_grp"),
        })
    }

    pub(super) fn run(self, run: &mut Run<'_>, port: u32) -> Result<Disposition, Fault> {
        traffic::manage(self, run, port)
    }

    /// Parses a packet. Its storage is cleared before, except for the preserved fields.
    fn parse(self, run: &mut Run<'_>, packet: &AtIngress, port: u32) -> Result<(), Fault> {
        run.it.storage.reset(&run.it.zero);
        for (var, value) in &packet.kept {
            run.it.storage.set_var(*var, value.clone());
        }
        run.begin_anew(packet.bytes.clone());
        run.poison(|poisons| &poisons.parser);
        for (field, given) in self.at_parser {
            let number = match given {
                Given::InstanceType => packet.instance as u64,
                Given::IngressPort => port.into(),
                Given::Length => packet.bytes.len() as u64,
                Given::Came => run.now / 1_000,
                _ => 0,
            };
            run.set_number(field, number);
        }
        if let Parsed::Reject(error) = run.parser_block(arch::PARSER, self.parser)? {
            run.set_number(self.parser_error, error.into());
        }
        Ok(())
    }

    /// Runs the blocks between the parser and the traffic manager: checksum verification and ingress.
    fn ingress(self, run: &mut Run<'_>) -> Result<(), Fault> {
        run.control_block(VERIFY_CHECKSUM, self.verify)?;
        run.control_block(INGRESS, self.ingress)
    }

    /// Runs egress on the state that the traffic manager holds for this packet or copy.
    fn egress(self, run: &mut Run<'_>, packet: &AtEgress) -> Result<(), Fault> {
        run.begin_anew(packet.bytes.clone());
        run.cursor = packet.cursor;
        run.truncate = packet.truncate;
        run.requests.recirculate = packet.recirculate;
        run.it.storage.clone_from(&packet.storage);
        run.poison(|poisons| &poisons.egress);
        for (field, given) in self.at_egress {
            let number = match given {
                Given::InstanceType => packet.instance as u64,
                Given::Port => packet.replica.port.into(),
                Given::Rid => packet.replica.rid.into(),
                Given::Now => run.now / 1_000,
                _ => 0,
            };
            run.set_number(field, number);
        }
        run.control_block(EGRESS, self.egress)
    }

    /// Runs the blocks after egress: checksum update and deparser. Returns the bytes of the packet.
    fn deparse(self, run: &mut Run<'_>) -> Result<Vec<u8>, Fault> {
        run.control_block(COMPUTE_CHECKSUM, self.compute)?;
        run.control_block(arch::DEPARSER, self.deparser)?;
        Ok(run.deparsed())
    }

    /// Clears all metadata except for the fields that record the packet's origin ([`origin`]).
    fn forget_metadata(self, program: &Program, storage: &mut Storage) {
        let stays: Vec<_> = origin()
            .map(|name| program.slot_var(STANDARD_METADATA, name))
            .collect();
        let metadata = [META, STANDARD_METADATA];
        for slot in program
            .slots
            .iter()
            .filter(|s| metadata.contains(&s.name.as_str()))
        {
            for &(_, var) in slot
                .vars
                .iter()
                .filter(|(_, var)| !stays.contains(&Some(*var)))
            {
                storage.set_var(var, Value::zero(program.vars[var].ty));
            }
            for &(_, header) in &slot.headers {
                storage.clear_header(program, header);
            }
        }
    }
}
