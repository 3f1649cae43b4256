//! Frames: the storage to preserve at a point where a packet leaves the code and returns, or where a copy of it starts.
//!
//! Guarantee: storage outside the frame of a point is written on every path from there before it is read, or is not
//! read. Its value is therefore unobservable. Storage is a variable (also a stack's next index), a field, or a validity
//! bit.

use super::dataflow::{self, Backward, Domain};
use super::liveness::{Live, Numbering, Transfer};
use crate::*;

/// A point of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    /// The start of a block of the pipeline.
    Block(BlockBody),
    /// After a statement, at all its call sites.
    Behind(StmtId),
}

/// Set of the storage that is live at a point.
#[derive(Clone, Debug)]
pub struct Frame {
    bits: Numbering,
    live: Live,
}

impl Frame {
    /// Computes the frame of a point. Copies may enter the block `entered` with the storage left at the end of any
    /// block, whatever [`Program::copies`] says of other blocks.
    pub fn new(program: &Program, point: Point, entered: Option<BlockBody>) -> Frame {
        let mut search = Search {
            by: Transfer::new(program),
            point,
            live: Live::default(),
            entered,
            enters: Live::default(),
            grows: false,
        };
        // A copy starts with the storage left by a block, and may itself reach the end of that block: hence a fixpoint.
        loop {
            search.grows = false;
            dataflow::backward(program, &mut search);
            if !search.grows {
                break;
            }
        }
        Frame {
            bits: search.by.bits,
            live: search.live,
        }
    }

    /// Returns true if the frame contains a variable.
    pub fn var(&self, var: Var) -> bool {
        self.live.contains(self.bits.var(var))
    }

    /// Returns true if the frame contains a header's field, perhaps only if the header is valid.
    pub fn field(&self, header: Header, field: u32) -> bool {
        let always = self.bits.field(header, field);
        self.live.contains(always) || self.live.contains(self.bits.shown(header, field))
    }

    /// Returns true if the frame contains a header's validity.
    pub fn valid(&self, header: Header) -> bool {
        self.live.contains(self.bits.valid(header))
    }
}

struct Search<'a> {
    by: Transfer<'a>,
    point: Point,
    /// Live storage at the point.
    live: Live,
    entered: Option<BlockBody>,
    /// Live storage where copies enter.
    enters: Live,
    /// True if `enters` grew in this iteration of the fixpoint.
    grows: bool,
}

impl Backward for Search<'_> {
    type Fact = Live;

    fn after(&mut self, stmt: &Stmt, live: &Live) {
        if self.point == Point::Behind(stmt.id) {
            self.live.join(live);
        }
    }

    fn block_ends(&mut self, live: &mut Live) {
        live.join(&self.enters);
        self.by.intrinsic(live);
    }

    fn block_begins(&mut self, block: BlockBody, live: &Live) {
        if self.point == Point::Block(block) {
            self.live.join(live);
        }
        if self.entered == Some(block) {
            self.grows |= self.enters.join(live);
        }
    }

    fn computed(&mut self, expr: Expr, live: &mut Live) {
        self.by.uses(expr, live);
    }

    fn applied(&mut self, hit: Option<Var>, action: Option<Var>, live: &mut Live) {
        self.by.applied(hit, action, live);
    }

    fn transfer(&mut self, stmt: &Stmt, live: &mut Live) {
        self.by.stmt(stmt, live);
    }
}

#[cfg(test)]
mod tests;
