//! Whether a script fits a program, before anything is sent.

use super::lookup::{Kind, counted_entry, find_extern, piece, register_value};
use super::script::{Script, Statement, StatementKind};
use crate::entry::{find_table, parse_default, parse_entry, parse_keys, parse_member};
use crate::errors::{self, Refusal};
use diag::Diagnostics;
use ir::Program;

/// What a multicast group is that was refused.
pub(super) const NOT_MADE: &str = "the multicast group was not made";

/// Every name and value in the script that the program does not have or take.
pub fn check(script: &Script, program: &Program) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for statement in &script.statements {
        if let Err(refusal) = fits(statement, program) {
            diagnostics.push(*refusal);
        }
    }
    diagnostics
}

fn fits(statement: &Statement, program: &Program) -> Result<(), Refusal> {
    match &statement.kind {
        StatementKind::Packet { .. }
        | StatementKind::Expect { .. }
        | StatementKind::NoPacket { .. }
        | StatementKind::RemoveAll(None)
        | StatementKind::Wait(_)
        | StatementKind::MulticastNode => Ok(()),
        StatementKind::MulticastGroup { group, ports } => crate::check_group(*group, ports)
            .map_err(|e| errors::store(statement.span, NOT_MADE, &e)),
        StatementKind::Add(text) => parse_entry(program, piece(text)).map(drop),
        StatementKind::Remove(text) => parse_keys(program, piece(text)).map(drop),
        StatementKind::RemoveAll(Some(table)) => find_table(program, piece(table)).map(drop),
        StatementKind::SetDefault(text) => parse_default(program, piece(text)).map(drop),
        StatementKind::CheckCounter {
            name,
            index: Some(_),
            ..
        } => find_extern(program, name, Kind::Counter).map(drop),
        StatementKind::CheckCounter { name, keys, .. } => {
            counted_entry(program, name, keys).map(drop)
        }
        StatementKind::RegisterRead(cell, value) | StatementKind::RegisterWrite(cell, value) => {
            register_value(program, cell, value).map(drop)
        }
        StatementKind::RegisterReset(name) => find_extern(program, name, Kind::Register).map(drop),
        StatementKind::MeterSet(cell, _) => find_extern(program, &cell.name, Kind::Meter).map(drop),
        StatementKind::ValueSetAdd(text) | StatementKind::ValueSetRemove(text) => {
            parse_member(program, piece(text)).map(drop)
        }
    }
}
