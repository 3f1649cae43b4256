//! The state that a copy of a packet begins with: the frame of the place where it begins.
//!
//! Where a packet may have copies that differ, code runs once for each of them, with headers and variables as they were somewhere. What that
//! code may read before it writes it is in one struct, so that taking it down and putting it back is copying bytes. All headers
//! live in variables then: in the packet there is, in turn, each of the copies.

use super::rolled::Rolled;
use crate::locals::{Home, LocalKind};
use ir::analysis::frame::{Frame, Point};
use ir::analysis::mentions::{Mentions, Storage};
use ir::{BlockBody, Header, Program, Routine, Stage, Var};
use std::collections::HashSet;

/// What is in the struct.
#[derive(Clone, Debug)]
pub struct State {
    /// The frame where a copy begins.
    copy: Frame,
    /// The frame of the parser, where a packet begins anew.
    anew: Frame,
    /// Variables and headers that code behind the start of a copy reads, live there or not.
    read: HashSet<Storage>,
    /// The last field of each header, by the header's number, if its length varies.
    varbits: Vec<Option<u32>>,
}

impl State {
    /// Finds the frames of a stage whose controls from `first` on run once for each copy. `first` is a block of the pipeline.
    pub fn new(program: &Program, stage: &Stage, first: Routine) -> State {
        let mut mentions = Mentions::default();
        let repeated = stage
            .controls
            .iter()
            .skip_while(|&&control| control != first);
        for &control in repeated.chain(&stage.deparser) {
            mentions.add_block(program, &program.routines[control].body);
        }
        let mut read = mentions.read;
        read.extend(program.intrinsic_vars().into_iter().map(Storage::Var));
        let entered = BlockBody::Control(first);
        let frame = |block| Frame::new(program, Point::Block(block), Some(entered));
        let headers = program.headers.values();
        State {
            copy: frame(entered),
            anew: frame(BlockBody::Parser(stage.parser)),
            read,
            varbits: headers
                .map(|header| program.header_types[header.ty].varbit())
                .collect(),
        }
    }

    /// True if headers have fields of variable length.
    pub fn has_varbits(&self) -> bool {
        self.varbits.iter().any(Option::is_some)
    }

    /// Whether a C variable is in it.
    pub fn holds(&self, kind: LocalKind) -> bool {
        let copy = &self.copy;
        match kind {
            LocalKind::Var(v) | LocalKind::VarAt(v) | LocalKind::VarLen(v) => copy.var(v),
            LocalKind::Field(h, field) => copy.field(h, field),
            LocalKind::Valid(h) => copy.valid(h),
            LocalKind::VarbitAt(h) | LocalKind::VarbitLen(h) => {
                self.varbit(h).is_some_and(|field| copy.field(h, field))
            }
            LocalKind::Extracted(h) => self.reads(Storage::Header(h)),
            _ => false,
        }
    }

    /// Gives the storage of a C variable that copies touch: `State` if it is in their frame, `Memory` if they write it before they read
    /// it, so that all turns look alike; `None` for others.
    pub(crate) fn home_of(&self, kind: LocalKind) -> Option<Home> {
        if self.holds(kind) {
            return Some(Home::State);
        }
        let storage = match kind {
            LocalKind::Var(v) | LocalKind::VarAt(v) | LocalKind::VarLen(v) => Storage::Var(v),
            LocalKind::Field(h, _)
            | LocalKind::Valid(h)
            | LocalKind::VarbitAt(h)
            | LocalKind::VarbitLen(h) => Storage::Header(h),
            _ => return None,
        };
        self.reads(storage).then_some(Home::Memory)
    }

    /// True if a C variable is read after the point where copies begin, before it is written there.
    pub(crate) fn crosses(&self, kind: LocalKind, rolled: &Rolled) -> bool {
        match kind {
            LocalKind::Kinds(n) | LocalKind::Offsets(n) | LocalKind::Lengths(n) => {
                self.reads(Storage::Header(rolled.stacks[n].first))
            }
            kind => self.holds(kind),
        }
    }

    /// True if a variable is read after the packet is resubmitted or recirculated, before it is written.
    pub fn is_read_anew(&self, var: Var) -> bool {
        self.anew.var(var)
    }

    fn reads(&self, storage: Storage) -> bool {
        self.read.contains(&storage)
    }

    fn varbit(&self, header: Header) -> Option<u32> {
        self.varbits.get(header.as_u32() as usize).copied()?
    }
}
