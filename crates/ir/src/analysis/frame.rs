//! Frames: what a packet has to have with it at a point where it leaves the code and comes back, or a copy of it begins.
//!
//! Guarantee: a variable (the next index of a stack is one), a field or a validity bit that is not in the frame of a point is
//! written on every path from there before it is read, or not read at all. Its value is unobservable.

use super::dataflow::{self, Backward, Domain};
use super::liveness::{Live, Numbering, Transfer};
use crate::*;

/// A place in a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    /// The start of a block of the pipeline.
    Block(BlockBody),
    /// Behind a statement, wherever it is run from.
    Behind(StmtId),
}

/// What is live at a point.
#[derive(Clone, Debug)]
pub struct Frame {
    bits: Numbering,
    live: Live,
}

impl Frame {
    /// The frame of a point. Copies may enter a block, `entered`, with what there is where any block ends, whatever
    /// [`Program::copies`] says of other blocks.
    pub fn new(program: &Program, point: Point, entered: Option<BlockBody>) -> Frame {
        let mut search = Search {
            by: Transfer::new(program),
            point,
            live: Live::default(),
            entered,
            enters: Live::default(),
            grows: false,
        };
        // What a block leaves is what copies begin with, and with that they may come to its end.
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

    /// Whether a variable is in it.
    pub fn var(&self, var: Var) -> bool {
        self.live.contains(self.bits.var(var))
    }

    /// Whether a header's field is in it, if only for a header that is valid.
    pub fn field(&self, header: Header, field: u32) -> bool {
        let always = self.bits.field(header, field);
        self.live.contains(always) || self.live.contains(self.bits.shown(header, field))
    }

    /// Whether a header's validity is in it.
    pub fn valid(&self, header: Header) -> bool {
        self.live.contains(self.bits.valid(header))
    }
}

struct Search<'a> {
    by: Transfer<'a>,
    point: Point,
    /// What is live at the point.
    live: Live,
    entered: Option<BlockBody>,
    /// What is live where copies enter.
    enters: Live,
    /// That has become more in this round.
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
