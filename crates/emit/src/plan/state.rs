//! What a copy of a packet begins with: the variables and headers that are read where it begins.
//!
//! Where a packet may have copies that differ, code runs once for each of them, with headers and variables as they were somewhere. What that
//! code may read is in one struct, so that taking it down and putting it back is copying bytes. All headers
//! live in variables then: in the packet there is, in turn, each of the copies.

use crate::locals::LocalKind;
use ir::analysis::mentions::{Mentions, Storage};
use ir::{Header, Program, Routine, SlotKind, Stage, Var};
use std::collections::HashSet;

/// How many of a packet's first bytes are kept for fields of variable length, if it has such. One whose parser reads more of it is rejected.
pub const FRONT_BYTES: u32 = 2048;

/// What is in the struct.
#[derive(Clone, Debug)]
pub struct State {
    vars: HashSet<Var>,
    headers: HashSet<Header>,
    /// Headers have fields of variable length.
    pub varbits: bool,
}

impl State {
    /// What the controls of a stage from `first` on may read, its deparser, whoever reads the architecture's variables, and field lists.
    pub fn new(program: &Program, stage: &Stage, first: Routine) -> State {
        let mut mentions = Mentions::default();
        let repeated = stage
            .controls
            .iter()
            .skip_while(|&&control| control != first);
        for &control in repeated.chain(&stage.deparser) {
            mentions.add_block(program, &program.routines[control].body);
        }
        let mut vars: HashSet<Var> = program
            .slots
            .iter()
            .filter(|slot| slot.kind == SlotKind::Intrinsic)
            .flat_map(|slot| slot.vars.iter().map(|(_, var)| *var))
            // What a packet keeps that begins anew is that of the copy which does.
            .chain(
                program
                    .field_lists
                    .iter()
                    .flat_map(|list| list.vars.iter().copied()),
            )
            .collect();
        let mut headers = HashSet::new();
        for storage in mentions.read {
            match storage {
                Storage::Var(var) => vars.insert(var),
                Storage::Header(header) => headers.insert(header),
            };
        }
        let varbits = program
            .header_types
            .values()
            .any(|ty| ty.varbit().is_some());
        State {
            vars,
            headers,
            varbits,
        }
    }

    /// Whether a variable of the program is in it.
    pub fn holds_var(&self, var: Var) -> bool {
        self.vars.contains(&var)
    }

    /// Whether a header is in it, with its fields and validity.
    pub fn holds_header(&self, header: Header) -> bool {
        self.headers.contains(&header)
    }

    /// Whether a C variable is in it.
    pub fn holds(&self, kind: LocalKind) -> bool {
        match kind {
            LocalKind::Var(v) | LocalKind::VarAt(v) | LocalKind::VarLen(v) => self.holds_var(v),
            LocalKind::Field(h, _)
            | LocalKind::Valid(h)
            | LocalKind::Extracted(h)
            | LocalKind::VarbitAt(h)
            | LocalKind::VarbitLen(h) => self.holds_header(h),
            _ => false,
        }
    }
}
