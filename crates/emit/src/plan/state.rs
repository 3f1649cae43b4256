//! The state that a copy of a packet begins with: the frame of the point where it begins.
//!
//! If a packet may have copies that differ, some code runs once for each copy, with headers and variables as they
//! were at some earlier point. All that this code may read before it writes it is in one struct, so that it is
//! saved and restored by copying bytes. All headers live in variables then, since the packet contains each of the
//! copies in turn.

use super::rolled::Rolled;
use crate::locals::{Home, LocalKind};
use ir::analysis::frame::{Frame, Point};
use ir::analysis::mentions::{Mentions, Storage};
use ir::{BlockBody, Header, Program, Routine, Stage, Var};
use std::collections::HashSet;

/// Contents of the struct.
#[derive(Clone, Debug)]
pub struct CopyState {
    /// Frame of the point where a copy begins.
    copy: Frame,
    /// Frame of the parser, for a packet that is resubmitted or recirculated.
    anew: Frame,
    /// Variables and headers that code after the start of a copy reads, whether they are live there or not.
    read: HashSet<Storage>,
    /// Index of each header's varbit field, by the header's number; `None` for a header without one.
    varbits: Vec<Option<u32>>,
}

impl CopyState {
    /// Computes the frames of a stage whose controls from `first` on run once for each copy. `first` is a block of
    /// the pipeline.
    pub fn new(program: &Program, stage: &Stage, first: Routine) -> CopyState {
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
        CopyState {
            copy: frame(entered),
            anew: frame(BlockBody::Parser(stage.parser)),
            read,
            varbits: headers
                .map(|header| program.header_types[header.ty].varbit())
                .collect(),
        }
    }

    /// Returns true if headers have fields of variable length.
    pub fn has_varbits(&self) -> bool {
        self.varbits.iter().any(Option::is_some)
    }

    /// Returns true if a C variable is in the struct.
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

    /// Returns the storage of a C variable that copies use. It is `CopyState` if the variable is in their frame, and
    /// `Memory` if they write it before they read it, so that all iterations look alike. `None` for other
    /// variables.
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

    /// Returns true if a C variable is read after the point where copies begin, before it is written there.
    pub(crate) fn crosses(&self, kind: LocalKind, rolled: &Rolled) -> bool {
        match kind {
            LocalKind::Kinds(n) | LocalKind::Offsets(n) | LocalKind::Lengths(n) => {
                self.reads(Storage::Header(rolled.stacks[n].first))
            }
            kind => self.holds(kind),
        }
    }

    /// Returns true if a variable is read after the packet is resubmitted or recirculated, before it is written.
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
