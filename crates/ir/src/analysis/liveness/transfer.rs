//! Transfer function of liveness: the storage that a statement generates and kills.

use super::{Live, Numbering};
use crate::analysis::mentions::{Mentions, Storage};
use crate::visit::{self, Access};
use crate::*;
use std::collections::HashSet;

/// Transfer functions of statements and expressions.
pub(in crate::analysis) struct Transfer<'a> {
    p: &'a Program,
    pub(in crate::analysis) bits: Numbering,
    intrinsic: HashSet<Var>,
}

impl<'a> Transfer<'a> {
    pub(in crate::analysis) fn new(p: &'a Program) -> Transfer<'a> {
        Transfer {
            p,
            bits: Numbering::new(p),
            intrinsic: p.intrinsic_vars(),
        }
    }

    /// Adds the variables that the architecture reads at the end of a block.
    pub(in crate::analysis) fn intrinsic(&self, live: &mut Live) {
        for var in &self.intrinsic {
            live.insert(self.bits.var(*var));
        }
    }

    /// Adds all storage.
    pub(in crate::analysis) fn everything(&self, live: &mut Live) {
        let vars = self.p.vars.keys();
        vars.for_each(|var| live.insert(self.bits.var(var)));
        for header in self.p.headers.keys() {
            self.gen_header(HeaderRef::Header(header), live);
        }
    }

    /// Transfer function of the stores of a table's results.
    pub(in crate::analysis) fn applied(
        &self,
        hit: Option<Var>,
        action: Option<Var>,
        live: &mut Live,
    ) {
        for var in [hit, action].into_iter().flatten() {
            live.remove(self.bits.var(var));
        }
    }

    /// Transfer function of a simple statement: one that has no blocks, is not a jump and applies no table.
    pub(in crate::analysis) fn stmt(&self, stmt: &Stmt, live: &mut Live) {
        match &stmt.kind {
            StmtKind::Assign { dst, value } if self.is_live(*dst, live) => {
                self.kill(*dst, live);
                self.uses(*value, live);
            }
            StmtKind::CopyHeader { dst, src } => self.copy(*dst, *src, live),
            StmtKind::SetValid(header) => self.set_valid(*header, live),
            StmtKind::SetInvalid(header) => self.set_invalid(*header, live),
            StmtKind::PushFront(stacks, by) => {
                stacks.iter().for_each(|&s| self.shift(s, *by, true, live));
            }
            StmtKind::PopFront(stacks, by) => {
                stacks.iter().for_each(|&s| self.shift(s, *by, false, live));
            }
            StmtKind::Call(..) => self.all(&Mentions::of_stmt(self.p, &stmt.kind), live),
            StmtKind::Extern(call) => self.extern_call(&stmt.kind, call, live),
            StmtKind::Extract { header, varbit } => {
                self.kill_header(*header, live);
                self.index_uses(*header, live);
                if let Some(size) = varbit {
                    self.uses(*size, live);
                }
            }
            // A dead assignment does not evaluate its value.
            StmtKind::Assign { .. } => {}
            StmtKind::Emit(header) => self.show(*header, live),
            // The solver handles statements with blocks, and jumps.
            kind => self.scalars(kind, live),
        }
    }

    /// Transfer function of a statement whose only effect on storage is to read and write scalars.
    fn scalars(&self, kind: &StmtKind, live: &mut Live) {
        let mut read = Vec::new();
        visit::accesses(self.p, kind, |access| match access {
            Access::Write(place) => self.kill(place, live),
            Access::Eval(expr) => read.push(expr),
            _ => {}
        });
        read.into_iter().for_each(|expr| self.uses(expr, live));
    }

    /// Adds the storage that an expression reads.
    pub(in crate::analysis) fn uses(&self, expr: Expr, live: &mut Live) {
        let bits = &self.bits;
        visit::walk_expr(self.p, expr, &mut |data| match data.kind {
            ExprKind::Var(var) => live.insert(bits.var(var)),
            ExprKind::Field(header, field) => {
                self.each(header, |h| live.insert(bits.field(h, field)));
            }
            ExprKind::IsValid(header) => self.each(header, |h| live.insert(bits.valid(h))),
            _ => {}
        });
    }

    fn each(&self, header: HeaderRef, mut f: impl FnMut(Header)) {
        match header {
            HeaderRef::Header(header) => f(header),
            HeaderRef::Element(stack, _) => {
                self.p.stacks[stack].elems.iter().for_each(|&h| f(h));
            }
        }
    }

    fn index_uses(&self, header: HeaderRef, live: &mut Live) {
        if let Some(index) = visit::header_index(header) {
            self.uses(index, live);
        }
    }

    fn fields(&self, header: Header) -> u32 {
        let ty = self.p.headers[header].ty;
        self.p.header_types[ty].fields.len() as u32
    }

    fn is_live(&self, place: Place, live: &Live) -> bool {
        match place {
            Place::Var(var) => live.contains(self.bits.var(var)),
            Place::Field(header, field) => {
                let bits = &self.bits;
                let mut any = false;
                self.each(header, |h| {
                    any |= live.contains(bits.field(h, field));
                    any |= live.contains(bits.shown(h, field));
                });
                any
            }
        }
    }

    /// Kills an l-value, if it is known which storage it is.
    fn kill(&self, place: Place, live: &mut Live) {
        match place {
            Place::Var(var) => live.remove(self.bits.var(var)),
            Place::Field(HeaderRef::Header(header), field) => {
                live.remove(self.bits.field(header, field));
                live.remove(self.bits.shown(header, field));
            }
            Place::Field(HeaderRef::Element(_, index), _) => self.uses(index, live),
        }
    }

    fn kill_header(&self, header: HeaderRef, live: &mut Live) {
        if let HeaderRef::Header(h) = header {
            live.remove(self.bits.valid(h));
            for field in 0..self.fields(h) {
                live.remove(self.bits.field(h, field));
                live.remove(self.bits.shown(h, field));
            }
        }
    }

    /// Adds the reads of an `emit`: the validity, and the fields, live if the header is valid.
    fn show(&self, header: HeaderRef, live: &mut Live) {
        self.each(header, |h| {
            live.insert(self.bits.valid(h));
            for field in 0..self.fields(h) {
                live.insert(self.bits.shown(h, field));
            }
        });
        self.index_uses(header, live);
    }

    fn set_valid(&self, header: HeaderRef, live: &mut Live) {
        self.each(header, |h| self.may_become_valid(h, live));
        match header {
            HeaderRef::Header(h) => live.remove(self.bits.valid(h)),
            HeaderRef::Element(..) => self.index_uses(header, live),
        }
    }

    /// Makes fields live in any case that were live only if the header is valid, because it may be made valid here.
    fn may_become_valid(&self, header: Header, live: &mut Live) {
        for field in 0..self.fields(header) {
            if live.contains(self.bits.shown(header, field)) {
                live.insert(self.bits.field(header, field));
            }
        }
    }

    fn set_invalid(&self, header: HeaderRef, live: &mut Live) {
        match header {
            HeaderRef::Header(h) => {
                live.remove(self.bits.valid(h));
                for field in 0..self.fields(h) {
                    live.remove(self.bits.shown(h, field));
                }
            }
            HeaderRef::Element(..) => self.index_uses(header, live),
        }
    }

    fn gen_header(&self, header: HeaderRef, live: &mut Live) {
        self.each(header, |h| {
            live.insert(self.bits.valid(h));
            for field in 0..self.fields(h) {
                live.insert(self.bits.field(h, field));
            }
        });
        self.index_uses(header, live);
    }

    fn copy(&self, dst: HeaderRef, src: HeaderRef, live: &mut Live) {
        let bits = &self.bits;
        let mut fields = 0;
        self.each(dst, |h| fields = self.fields(h));
        let (mut valid, mut wanted) = (false, vec![(false, false); fields as usize]);
        self.each(dst, |h| {
            valid |= live.contains(bits.valid(h));
            for (field, wanted) in wanted.iter_mut().enumerate() {
                wanted.0 |= live.contains(bits.field(h, field as u32));
                wanted.1 |= live.contains(bits.shown(h, field as u32));
            }
        });
        if !valid && wanted.iter().all(|&w| w == (false, false)) {
            return;
        }
        self.kill_header(dst, live);
        self.index_uses(dst, live);
        self.index_uses(src, live);
        self.each(src, |h| {
            if valid {
                live.insert(bits.valid(h));
            }
            for (field, &(always, shown)) in wanted.iter().enumerate() {
                if always {
                    live.insert(bits.field(h, field as u32));
                }
                if shown {
                    live.insert(bits.shown(h, field as u32));
                }
            }
        });
    }

    /// Transfer function of a push or pop: elements that move are read if their new positions are live. No element
    /// counts as overwritten.
    fn shift(&self, stack: Stack, by: u32, up: bool, live: &mut Live) {
        let bits = &self.bits;
        let elems = &self.p.stacks[stack].elems;
        let after = live.clone();
        for (i, &from) in elems.iter().enumerate() {
            let to = if up {
                i.checked_add(by as usize).filter(|&to| to < elems.len())
            } else {
                i.checked_sub(by as usize)
            };
            let Some(to) = to.map(|to| elems[to]) else {
                continue;
            };
            if after.contains(bits.valid(to)) {
                live.insert(bits.valid(from));
            }
            for field in 0..self.fields(from) {
                if after.contains(bits.field(to, field)) {
                    live.insert(bits.field(from, field));
                }
                if after.contains(bits.shown(to, field)) {
                    live.insert(bits.shown(from, field));
                }
            }
        }
    }

    fn extern_call(&self, kind: &StmtKind, call: &ExternCall, live: &mut Live) {
        // Calls of a flow state write all their results in any case. Other externs may leave theirs unwritten.
        if atomic::flow_call(self.p, kind).is_some() {
            visit::accesses(self.p, kind, |access| {
                if let Access::Write(place) = access {
                    self.kill(place, live);
                }
            });
        }
        visit::accesses(self.p, kind, |access| match access {
            Access::Eval(expr) => self.uses(expr, live),
            Access::Read(place) => match place {
                Place::Var(var) => live.insert(self.bits.var(var)),
                Place::Field(header, field) => {
                    self.each(header, |h| live.insert(self.bits.field(h, field)));
                }
            },
            Access::ReadHeader(header) => self.gen_header(header, live),
            Access::Write(_) | Access::WriteHeader(_) | Access::SetValidity(..) => {}
        });
        if call.effect == Effect::None {
            return;
        }
        if call.effect == Effect::Any {
            self.intrinsic(live);
        }
        if let Some(object) = call.object {
            for (_, routine) in &self.p.externs[object].implementations {
                let body = &self.p.routines[*routine].body;
                self.all(&Mentions::of_block(self.p, body), live);
            }
        }
    }

    fn all(&self, mentions: &Mentions, live: &mut Live) {
        for &storage in &mentions.written {
            if let Storage::Header(header) = storage {
                self.may_become_valid(header, live);
            }
        }
        for &storage in &mentions.read {
            match storage {
                Storage::Var(var) => live.insert(self.bits.var(var)),
                Storage::Header(header) => self.gen_header(HeaderRef::Header(header), live),
            }
        }
    }
}
