//! Pointers to headers in the parse record. They are made where they are used, once in each region: a run of code
//! that no jump leads into.
//!
//! A region begins where paths meet. There, the packet's bounds are loaded again. Each header that is used is
//! located again by its offset, and checked once.

use crate::emitter::Gen;
use crate::hints::Event;
use crate::locals::LocalKind;
use crate::plan::header_facts::{Known, instances};
use crate::plan::{HeaderStorage, cursor::header_bytes};
use crate::rolled::Elements;
use crate::target::Target;
use cgen::tree::{BinOp, Block, Expr as C, Stmt};
use ir::visit::{self, Access};
use ir::{ExprKind, Header, HeaderRef, Place};
use std::collections::HashMap;

/// A run of bytes that a pointer leads to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum HeaderPart {
    /// From a header's first byte to its varbit field, or its end.
    Start(Header),
    /// From the byte after its varbit field to its end.
    Rest(Header),
}

/// Knowledge about a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    /// It leads to the header's bytes.
    Always,
    /// It leads to the header's bytes if the flag is set.
    IfFlagged,
}

/// The region that is being emitted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Region {
    /// True if the variables for the packet's bounds were set in it.
    bounds: bool,
    found: HashMap<HeaderPart, Found>,
    elements: Elements,
}

/// The current region, and the state that is needed at the end of a block.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    now: Region,
    /// Number of labels so far: at a label, paths may meet.
    labels: u32,
    /// True while the parser is emitted, whose blocks end with jumps.
    in_parser: bool,
    /// True while a lock is held: no header may be located, and no pointer forgotten.
    held: bool,
    /// Number of statements since the last point at which the function could be cut.
    uncut: u32,
}

impl Regions {
    /// Begins another region: another path may enter here.
    pub(crate) fn paths_meet(&mut self) {
        self.labels += 1;
        if !self.held {
            self.now = Region::default();
        }
    }

    /// Marks the beginning or the end of the parser.
    pub(crate) fn parser(&mut self, begins: bool) {
        self.in_parser = begins;
    }

    /// Returns the region before a block that may not run.
    pub(crate) fn before_block(&self) -> (Region, u32) {
        (self.now.clone(), self.labels)
    }

    /// Sets the region after such a block; paths meet at the block's end if it `ends`. Pointers made before the
    /// block are still valid, but keeping them would keep the paths apart.
    pub(crate) fn after_block(&mut self, (before, labels): (Region, u32), ends: bool) {
        if self.held {
            return;
        }
        let meets = labels != self.labels || ends && !self.in_parser;
        self.now = if meets { Region::default() } else { before };
        if ends {
            // The index that selects an element may have changed in the block.
            self.now.elements = Elements::default();
        }
    }

    /// Elements of rolled stacks that were located in this region.
    pub(crate) fn elements(&mut self) -> &mut Elements {
        &mut self.now.elements
    }

    /// Returns true if the parser is being emitted.
    pub(crate) fn in_parser(&self) -> bool {
        self.in_parser
    }

    /// Records that the variables for the packet's bounds are up to date.
    pub(crate) fn bounds_known(&mut self) {
        self.now.bounds = true;
    }

    /// Invalidates all pointers into the packet.
    pub(crate) fn packet_changed(&mut self) {
        self.paths_meet();
        self.now.bounds = true;
    }

    /// Records that a header's pointer was set.
    pub(crate) fn found(&mut self, part: HeaderPart) {
        self.now.found.insert(part, Found::Always);
    }
}

impl<T: Target> Gen<'_, T> {
    /// Before a statement: allows the function to be cut here, once in a number of statements.
    pub(crate) fn may_cut(&mut self) {
        let Some(most) = self.plan.forms.cut_after else {
            return;
        };
        self.regions.uncut += 1;
        if self.in_record() && !self.regions.in_parser && self.regions.uncut >= most {
            self.regions.uncut = 0;
            self.regions.paths_meet();
        }
    }

    /// Returns true if the parser's results are in memory.
    pub(crate) fn in_record(&self) -> bool {
        self.plan.record.is_some()
    }

    /// Prevents values in memory from being kept in registers across a point at which paths meet.
    pub fn forget(&mut self) {
        if !self.in_record() {
            return;
        }
        if let Some(forgotten) = self.target.on(Event::PathsMeet)
            && self.out.last() != Some(&forgotten)
        {
            self.push(forgotten);
        }
    }

    /// Loads the packet's bounds, unless that was done in this region.
    pub(crate) fn ask_bounds(&mut self) {
        if self.regions.now.bounds {
            return;
        }
        self.forget();
        self.reload();
        self.regions.bounds_known();
        // Earlier checks do not apply to the new pointers.
        self.cursor.avail = 0;
    }

    /// Returns the packet's length in bytes, by its bounds in this region. The bounds of an earlier region would be
    /// live across a cut of the function.
    pub fn packet_length(&mut self) -> C {
        if self.in_record() && self.plan.forms.cut_after.is_some() {
            self.ask_bounds();
        }
        crate::block::packet_length()
    }

    /// Sets the pointers to a header that is certainly in the packet.
    pub(crate) fn find(&mut self, h: Header) {
        for part in self.parts(h) {
            if self.regions.now.found.get(&part) == Some(&Found::Always) {
                continue;
            }
            self.ask_bounds();
            self.point_at(part);
            self.regions.found(part);
        }
    }

    /// Sets the pointers to a header that may be in the packet; returns a flag that says whether it is.
    pub(crate) fn find_if_there(&mut self, h: Header) -> C {
        let flag = self.local(LocalKind::Found(h));
        let parts = self.parts(h);
        let found = |part| self.regions.now.found.get(part).copied();
        if parts.iter().all(|part| found(part) == Some(Found::Always)) {
            return C::int(1);
        }
        if parts.iter().all(|part| found(part).is_some()) {
            return flag;
        }
        if self.is_held() {
            self.not_lowered("a header that was not held", self.p.headers[h].span);
            return flag;
        }
        self.ask_bounds();
        self.set(flag.clone(), C::int(0));
        if self.plan.forms.cut_after.is_some() {
            // Kills the pointers' earlier values, so that they are not live where the function is cut.
            for part in self.parts(h) {
                let pointer = self.local(match part {
                    HeaderPart::Start(h) => LocalKind::Pointer(h),
                    HeaderPart::Rest(h) => LocalKind::Rest(h),
                });
                self.set(pointer.clone(), C::id("data"));
                // The packet's context has 32 bits of it, and in that form it would be kept on the stack.
                self.on(Event::Computed(&pointer));
            }
        }
        let there = self.local(self.presence_kind(h));
        let made = self.block(|g| {
            for part in g.parts(h) {
                g.point_at(part);
            }
            let set = g.flag();
            g.set(flag.clone(), set);
        });
        self.push(Stmt::If(there, made, Block::new()));
        for part in parts {
            self.regions
                .now
                .found
                .entry(part)
                .or_insert(Found::IfFlagged);
        }
        flag
    }

    /// Sets a pointer from an offset in the record. Rejects the packet if it does not have the bytes, which the
    /// parser has seen.
    fn point_at(&mut self, part: HeaderPart) {
        let (HeaderPart::Start(h) | HeaderPart::Rest(h)) = part;
        let (before, after) = self.split(h);
        let (pointer, offset, bytes) = match part {
            HeaderPart::Start(_) => (LocalKind::Pointer(h), self.header_offset(h), before),
            HeaderPart::Rest(_) => {
                let at = self.local(LocalKind::VarbitAt(h));
                let len = self.local(LocalKind::VarbitLen(h));
                (LocalKind::Rest(h), C::bin(BinOp::Add, at, len), after)
            }
        };
        let most = self.target.limits().offset;
        let place = match offset.as_int() {
            Some(at) => C::id("data").plus(at),
            None if (most + 1).is_power_of_two() => {
                let bounded = C::bin(BinOp::And, offset, C::int(most));
                C::bin(BinOp::Add, C::id("data"), bounded)
            }
            None => C::bin(BinOp::Add, C::id("data"), offset),
        };
        let pointer = self.local(pointer);
        self.set(pointer.clone(), place);
        self.on(Event::Computed(&pointer));
        let end = pointer.plus(bytes.into());
        self.goto_reject(C::bin(BinOp::Gt, end, C::id("data_end")));
    }

    /// Returns the offset of a header in the packet, in bytes.
    pub(crate) fn header_offset(&mut self, h: Header) -> C {
        match self.plan.fixed_at[h.as_u32() as usize] {
            Some(at) => C::int(at.into()),
            None => self.local(LocalKind::Offset(h)),
        }
    }

    /// Returns the number of bytes of a header before its varbit field, and after it.
    fn split(&self, h: Header) -> (u32, u32) {
        let layout = &self.p.header_types[self.p.headers[h].ty];
        let all = header_bytes(self.p, HeaderRef::Header(h));
        let Some(v) = layout.varbit() else {
            return (all, 0);
        };
        let before: u32 = layout.fields[..v as usize]
            .iter()
            .map(|f| f.ty.width())
            .sum();
        (before / 8, all - before / 8)
    }

    fn parts(&self, h: Header) -> Vec<HeaderPart> {
        let (before, after) = self.split(h);
        let start = (before > 0).then_some(HeaderPart::Start(h));
        let rest = (after > 0).then_some(HeaderPart::Rest(h));
        start.into_iter().chain(rest).collect()
    }

    /// Sets the pointers of all headers that statements use. They stay valid until [`Gen::release_headers`]: a lock
    /// is taken in between, so no jump may leave that code.
    pub fn hold_headers(&mut self, stmts: &[ir::Stmt]) {
        if !self.in_record() {
            return;
        }
        let p = self.p;
        let mut used: Vec<Header> = Vec::new();
        let mut add = |header: HeaderRef| {
            for h in instances(p, header) {
                if !used.contains(&h) {
                    used.push(h);
                }
            }
        };
        visit::walk_block(stmts, &mut |stmt| {
            visit::accesses(p, &stmt.kind, |access| match access {
                Access::Eval(e) => visit::walk_expr(p, e, &mut |data| {
                    if let ExprKind::Field(header, _) = data.kind {
                        add(header);
                    }
                }),
                Access::Write(Place::Field(header, _)) => add(header),
                _ => {}
            });
        });
        let mut found = HashMap::new();
        for h in used {
            if self.plan.storage(h) != HeaderStorage::Packet {
                continue;
            }
            match self.header_facts.extracted(h) {
                Known::No => {}
                Known::Yes => self.find(h),
                Known::Maybe => {
                    self.find_if_there(h);
                }
            }
            // Paths meet after each header that may be absent; the pointers made before are still valid.
            for part in self.parts(h) {
                found.extend(self.regions.now.found.get(&part).map(|&is| (part, is)));
            }
        }
        self.regions.now.found.extend(found);
        self.regions.held = true;
    }

    /// Records that no lock is held any more.
    pub fn release_headers(&mut self) {
        self.regions.held = false;
    }

    /// Returns true if headers are held, so that none can be located now.
    pub(crate) fn is_held(&self) -> bool {
        self.regions.held
    }
}
