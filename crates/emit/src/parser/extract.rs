//! Input operations of a parser state: headers, look-ahead, skipped bytes.

use super::CursorAt;
use crate::access::Bytes;
use crate::block::packet_length;
use crate::emitter::Gen;
use crate::errors;
use crate::headers::Resolved;
use crate::locals::LocalKind;
use crate::plan::cursor::{const_bits, header_bytes};
use crate::plan::header_facts::instances;
use crate::plan::{HeaderStorage, facts};
use crate::region::HeaderPart;
use crate::rolled::Element;
use crate::target::Target;
use crate::values::{Value, load_value};
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Stmt, Type as CType};
use ir::{Expr, Header, HeaderRef, Place, Type, Var};
use std::ops::Range;

impl<T: Target> Gen<'_, T> {
    pub(crate) fn extract(&mut self, header: HeaderRef, varbit: Option<Expr>, stmt: &ir::Stmt) {
        let span = stmt.span;
        if let Some(element) = self.rolled(header) {
            self.extract_element(&element, header, varbit, stmt);
            let first = self.plan.rolled.stacks[element.member.stack].first;
            return self.passed(facts::CursorStep::Extract(first));
        }
        match self.resolve(header) {
            Resolved::One(h) => match varbit {
                None => {
                    let ahead = self.ahead(stmt.id);
                    self.extract_fixed(h, ahead, stmt);
                }
                Some(size) => self.extract_varbit(h, size, stmt),
            },
            Resolved::Outside => self.push(Stmt::Goto("reject".into())),
            Resolved::Any(..) if varbit.is_some() => {
                self.refuse(errors::dynamic_varbit(self.target.name(), span))
            }
            Resolved::Any(..) => {
                let bytes = header_bytes(self.p, header);
                self.ensure(bytes, bytes);
                let place = self.cursor.clone();
                self.with_header(header, |g, h| {
                    g.cursor = place.clone();
                    g.load_fields(h, stmt);
                });
                self.cursor = place;
                self.cursor.delta += bytes;
            }
        }
        self.passed(match self.resolve(header) {
            Resolved::One(h) => facts::CursorStep::Extract(h),
            _ => facts::CursorStep::Skip,
        });
    }

    /// Records the end of the part of the packet that the deparser may move.
    pub(super) fn passed(&mut self, step: facts::CursorStep) {
        let moves = match step {
            facts::CursorStep::Extract(h) => self.plan.layout.moves(h),
            facts::CursorStep::Skip => true,
        };
        if moves && !self.plan.layout.is_empty() {
            let offset = self.offset();
            self.set(C::id("keep"), offset);
        }
    }

    fn extract_fixed(&mut self, h: Header, ahead: u32, stmt: &ir::Stmt) {
        let bytes = header_bytes(self.p, HeaderRef::Header(h));
        self.ensure(bytes, ahead);
        self.load_fields(h, stmt);
        self.cursor.delta += bytes;
    }

    /// Loads a header of fixed size at the cursor, and makes it valid.
    fn load_fields(&mut self, h: Header, stmt: &ir::Stmt) {
        let here = self.cursor.base().plus(self.cursor.delta.into());
        self.arrive(h, &here);
        if self.plan.storage(h) == HeaderStorage::Fields {
            let layout = &self.p.header_types[self.p.headers[h].ty];
            let len = layout.fixed_width() / 8;
            self.load_range(h, 0..layout.fields.len(), here, len, stmt);
        }
    }

    /// Loads the fields of a header in variables, as far as they are in a range and still read.
    fn load_range(&mut self, h: Header, fields: Range<usize>, base: C, len: u32, stmt: &ir::Stmt) {
        let layout = &self.p.header_types[self.p.headers[h].ty];
        let mut bit = 0;
        for f in fields {
            let ty = layout.fields[f].ty;
            if let Type::Varbit(_) = ty {
                continue;
            }
            let width = ty.width();
            if width > 0 && self.plan.live.field(stmt, h, f as u32) {
                let value = self.extracted_field(base.clone(), len, bit, ty);
                let var = self.local(LocalKind::Field(h, f as u32));
                match value {
                    Value::Limbs(limbs) => {
                        for (i, limb) in limbs.into_iter().enumerate() {
                            self.set(var.clone().index(C::int(i as u64)), limb);
                        }
                    }
                    Value::Scalar(value) => self.set(var, value),
                    Value::Slice(..) => {}
                }
            }
            bit += width;
        }
    }

    /// Records that a header is valid.
    fn arrive(&mut self, h: Header, here: &C) {
        if self.plan.storage(h) == HeaderStorage::Packet {
            let moves = self.plan.fixed_at[h.as_u32() as usize].is_none();
            if self.in_record() {
                self.record_offset(h, moves);
            }
            if moves || self.in_record() {
                let pointer = self.local(LocalKind::Pointer(h));
                self.set(pointer, here.clone());
                self.regions.found(HeaderPart::Start(h));
            }
            let kind = self.presence_kind(h);
            if kind != LocalKind::Valid(h) {
                let extracted = self.local(kind);
                let set = match self.in_record() {
                    true => C::int(1),
                    false => self.flag(),
                };
                self.set(extracted, set);
            }
        }
        let valid = self.local(LocalKind::Valid(h));
        if self.plan.storage(h) == HeaderStorage::Packet && !self.in_record() {
            self.set(valid, self.flag());
        } else {
            self.set(valid, C::int(1));
        }
    }

    /// Records the offset of a header, for code that finds it again.
    fn record_offset(&mut self, h: Header, moves: bool) {
        if !moves {
            return;
        }
        let offset = self.local(LocalKind::Offset(h));
        let here = self.offset_in_bounds();
        self.set(offset, here);
    }

    /// Extracts an element of a rolled stack.
    fn extract_element(
        &mut self,
        element: &Element,
        header: HeaderRef,
        varbit: Option<Expr>,
        stmt: &ir::Stmt,
    ) {
        let fixed = header_bytes(self.p, header);
        let ahead = self.ahead(stmt.id);
        let most = instances(self.p, header)
            .first()
            .map_or(0, |&h| self.varbit_bits(h));
        let Some(size) = varbit else {
            self.ensure(fixed, ahead);
            let here = self.offset_in_bounds();
            self.record_element(element, here, C::int(fixed.into()));
            self.cursor.delta += fixed;
            return;
        };
        let bytes = self.varbit_length(size, most);
        let here = self.offset_in_bounds();
        let start = self.pinned_local("element_start", None);
        self.set(start.clone(), here.clone());
        self.set_offset(C::bin(BinOp::Add, here.plus(fixed.into()), bytes.clone()));
        self.follow_offset(true);
        self.cursor = CursorAt::variable();
        self.goto_short(C::bin(BinOp::Gt, C::id("cur"), C::id("data_end")));
        self.record_element(element, start, bytes.plus(fixed.into()));
    }

    /// Greatest length of a header's varbit field, in bits.
    fn varbit_bits(&self, h: Header) -> u32 {
        let layout = &self.p.header_types[self.p.headers[h].ty];
        layout
            .varbit()
            .map_or(0, |v| layout.fields[v as usize].ty.width())
    }

    /// Returns the cursor as a bounded offset, which later code can use again.
    fn offset_in_bounds(&mut self) -> C {
        let here = self.offset();
        if self.cursor.variable && self.cursor.delta > 0 {
            let far = C::bin(BinOp::Gt, here.clone(), C::int(self.target.limits().offset));
            self.goto_reject(far);
        }
        here
    }

    /// Returns the length in bytes of a varbit field whose size is given in bits. Rejects the packet if the size is
    /// more than `most` or not a multiple of 8.
    fn varbit_length(&mut self, size: Expr, most: u32) -> C {
        let bits = lower::scalar(self, size);
        let len = self.pinned_local("bits", None);
        self.set(len.clone(), bits);
        self.at_most(&len, most.into());
        let odd = C::bin(
            BinOp::Ne,
            C::bin(BinOp::And, len.clone(), C::int(7)),
            C::int(0),
        );
        self.goto_reject(odd);
        C::bin(BinOp::Shr, len, C::int(3))
    }

    fn extract_varbit(&mut self, h: Header, size: Expr, stmt: &ir::Stmt) {
        let layout = &self.p.header_types[self.p.headers[h].ty];
        let Some(v) = layout.varbit() else {
            return self.extract_fixed(h, 0, stmt);
        };
        let max = layout.fields[v as usize].ty.width();
        let width = |f: &ir::FieldData| match f.ty {
            Type::Varbit(_) => 0,
            _ => f.ty.width(),
        };
        let before: u32 = layout.fields[..v as usize].iter().map(width).sum::<u32>() / 8;
        let after = layout.fixed_width() / 8 - before;
        let bytes = self.varbit_length(size, max);
        self.ensure(before, before);
        let here = self.cursor.base().plus(self.cursor.delta.into());
        self.arrive(h, &here);
        let fields = layout.fields.len();
        if self.plan.storage(h) == HeaderStorage::Fields {
            self.load_range(h, 0..v as usize, here, before, stmt);
        }
        self.cursor.delta += before;
        let at = self.local(LocalKind::VarbitAt(h));
        let varbit_len = self.local(LocalKind::VarbitLen(h));
        let offset = self.offset();
        self.set(at, offset.clone());
        self.set(varbit_len, bytes.clone());
        self.set_offset(C::bin(BinOp::Add, offset, bytes));
        self.follow_offset(self.in_record());
        self.cursor = CursorAt::variable();
        let end = C::id("cur").plus(after.into());
        self.goto_short(C::bin(BinOp::Gt, end, C::id("data_end")));
        self.cursor.avail = after;
        if self.plan.storage(h) == HeaderStorage::Packet {
            let rest = self.local(LocalKind::Rest(h));
            self.set(rest, C::id("cur"));
            self.regions.found(HeaderPart::Rest(h));
        } else {
            self.load_range(h, v as usize..fields, C::id("cur"), after, stmt);
        }
        self.cursor.delta += after;
    }

    pub(crate) fn lookahead(&mut self, place: ir::Place, skip: u32) {
        let width = self.p.place_type(place).map_or(0, Type::width);
        if skip + width == 0 {
            return;
        }
        let bytes = (skip + width).div_ceil(8);
        self.ensure(bytes, bytes);
        let run = Bytes {
            base: self.cursor.base().plus(self.cursor.delta.into()),
            len: bytes,
        };
        if width == 0 {
            return;
        }
        let value = load_value(&run, skip, width);
        self.store(place, value);
    }

    /// Stores in `fits` whether the packet has `bits` more bits.
    pub(crate) fn fits(&mut self, bits: Expr, fits: Var) {
        let most = self.target.limits().offset;
        let answer = match const_bits(self.p, bits).map(|bits| u64::from(bits.div_ceil(8))) {
            Some(bytes) if bytes > most => C::int(0),
            Some(bytes) => {
                let end = u64::from(self.cursor.delta) + bytes;
                match end <= self.cursor.avail.into() {
                    true => C::int(1),
                    // The same comparison as for reading the bytes, so that the compiler makes it once.
                    false => C::bin(BinOp::Le, self.cursor.base().plus(end), C::id("data_end")),
                }
            }
            None => {
                let bits = lower::scalar(self, bits).cast(CType::U64);
                let bytes = C::bin(BinOp::Shr, bits.plus(7), C::int(3));
                let end = C::bin(BinOp::Add, self.offset(), bytes);
                C::bin(BinOp::Le, end, packet_length())
            }
        };
        self.store(Place::Var(fits), Value::Scalar(answer));
    }

    pub(crate) fn advance(&mut self, by: Expr) {
        match const_bits(self.p, by) {
            Some(bits) if bits % 8 == 0 => {
                self.ensure(bits / 8, bits / 8);
                self.cursor.delta += bits / 8;
            }
            _ => {
                let n = self.pinned_local("bits", None);
                let bits = lower::scalar(self, by);
                self.set(n.clone(), bits);
                self.at_most(&n, self.target.limits().offset * 8);
                let odd = C::bin(
                    BinOp::Ne,
                    C::bin(BinOp::And, n.clone(), C::int(7)),
                    C::int(0),
                );
                self.goto_reject(odd);
                let bytes = C::bin(BinOp::Shr, n, C::int(3));
                let offset = self.offset();
                self.set_offset(C::bin(BinOp::Add, offset, bytes));
                self.follow_offset(false);
                self.goto_short(C::bin(BinOp::Gt, C::id("cur"), C::id("data_end")));
                self.cursor = CursorAt::variable();
            }
        }
        if const_bits(self.p, by) != Some(0) {
            self.passed(facts::CursorStep::Skip);
        }
    }
}
