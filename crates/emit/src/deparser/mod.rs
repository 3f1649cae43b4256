//! The deparser: emits the difference between the packet as received and the packet as sent.
//!
//! The retained suffix (see [`crate::plan::layout`]) stays in place with the payload. Headers emitted before it are
//! read from the packet. Then the packet is resized once, by the difference, and these headers are written back. If
//! the target can insert bytes after the packet's front, headers there that never move stay in place.

mod elements;
mod fields;
mod put_back;

use crate::emitter::Gen;
use crate::hints::Event;
use crate::locals::LocalKind;
use crate::plan::HeaderStorage;
use crate::plan::layout::Emit;
use crate::plan::shapes::Shapes;
use crate::target::Target;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use ir::{Header, HeaderRef, StmtKind};

/// Greatest size, in bytes, of a header that is moved through registers. Larger headers are moved through scratch
/// memory.
const IN_REGISTERS: u32 = 64;

/// A header to be emitted.
struct Item {
    header: Header,
    /// Condition that it is emitted, as 0 or 1.
    present: C,
    /// Bytes of its fixed part.
    fixed: u32,
    /// Bytes of its varbit field.
    varbit: Option<C>,
    /// Words of a header of fixed size that were taken out of the packet: offset, size and value.
    words: Vec<(u32, u32, C)>,
    /// Location of its bytes in memory, if they are not in words or variables.
    saved: Option<Saved>,
    /// Number of the rolled stack whose elements it stands for: they are its varying part.
    rolled: Option<usize>,
}

/// Bytes of a header in memory.
#[derive(Clone)]
enum Saved {
    /// In scratch memory, at this offset.
    Scratch(u32),
    /// Among the packet's first bytes as they came in, at this offset, and the greatest number of bytes.
    Front(C, u32),
}

impl<T: Target> Gen<'_, T> {
    /// Handles an emit statement: records that the header is emitted, unless the statement always runs.
    pub(crate) fn emitted(&mut self, stmt: &ir::Stmt) {
        let StmtKind::Emit(HeaderRef::Header(h)) = stmt.kind else {
            return;
        };
        let id = stmt.id;
        let emits = &self.plan.layout.emits;
        if let Some(i) = emits.iter().position(|e| e.stmt == id && !e.always) {
            let valid = self.validity(h);
            let flag = self.local(LocalKind::Emitted(i));
            self.set(flag, valid);
        }
    }

    /// Clears the flags of emits if the packet is put together several times, once for each copy.
    pub(crate) fn nothing_emitted(&mut self) {
        let plan = self.plan;
        let emits = plan.layout.emits.iter().enumerate();
        for (i, _) in emits.filter(|(_, emit)| plan.state.is_some() && !emit.always) {
            let flag = self.local(LocalKind::Emitted(i));
            self.set(flag, C::int(0));
        }
    }

    /// Rebuilds the part of the packet that may have changed.
    pub(crate) fn rebuild(&mut self) {
        if self.plan.layout.is_empty() {
            return;
        }
        let emits: Vec<Emit> = self.plan.layout.emits[..self.plan.layout.relocated].to_vec();
        let plan = self.plan;
        let body = self.block(|g| match &plan.shapes {
            Some(shapes) => g.rebuild_shapes(&emits, shapes, &shapes.sets),
            None => g.rebuild_items(&emits),
        });
        if self.plan.layout.fixed_if_untouched {
            self.on(Event::Decides);
            self.push(Stmt::If(C::id("touched"), body, Block::new()));
        } else {
            self.out.extend(body);
        }
    }

    /// Emits code for each of these sets of headers separately.
    fn rebuild_shapes(&mut self, emits: &[Emit], shapes: &Shapes, sets: &[u64]) {
        if let Some((header, with, without)) = shapes.distinguishing(sets) {
            let valid = self.local(LocalKind::Valid(header));
            let with = self.block(|g| g.rebuild_shapes(emits, shapes, &with));
            let without = self.block(|g| g.rebuild_shapes(emits, shapes, &without));
            self.push(Stmt::If(valid, with, without));
            return;
        }
        let before = self.header_facts.clone();
        for &set in sets {
            shapes.know(set, &mut self.header_facts, &self.plan.only_extracted);
            self.rebuild_items(emits);
        }
        self.header_facts = before;
    }

    fn rebuild_items(&mut self, emits: &[Emit]) {
        let mut items = Vec::new();
        let mut fixed = 0;
        for (i, e) in emits.iter().enumerate() {
            if let Some((member, _)) = self.plan.rolled.element(e.header) {
                let length = self.elements_length(member.stack);
                items.push(Item {
                    header: e.header,
                    present: C::int(1),
                    fixed: 0,
                    varbit: Some(length),
                    words: Vec::new(),
                    saved: None,
                    rolled: Some(member.stack),
                });
                continue;
            }
            let present = if e.always {
                self.validity(e.header)
            } else {
                self.local(LocalKind::Emitted(i))
            };
            if present.as_int() == Some(0) {
                continue;
            }
            let layout = &self.p.header_types[self.p.headers[e.header].ty];
            let varbit = layout
                .varbit()
                .map(|_| self.local(LocalKind::VarbitLen(e.header)));
            fixed += usize::from(i < self.plan.layout.fixed);
            items.push(Item {
                header: e.header,
                present,
                fixed: layout.fixed_width() / 8,
                varbit,
                words: Vec::new(),
                saved: None,
                rolled: None,
            });
        }
        let mut items_behind = items.split_off(fixed);
        let front = self.total_size("front", C::int(0), &items);
        let size = self.total_size("size", front.clone(), &items_behind);
        self.forget();
        for item in &mut items_behind {
            self.take_out(item);
        }
        let always = items.iter().filter(|item| item.present.as_int().is_some());
        let least = always.map(|item| item.fixed).sum();
        T::before_resize(self, least, &size);
        let grows = match size.as_int() {
            Some(0) => C::id("keep"),
            _ => C::bin(BinOp::Ne, C::id("keep"), size.clone()),
        };
        let adjust = C::call(
            "packet_resize",
            vec![C::id("ctx"), front.clone(), C::id("keep"), size.clone()],
        );
        let abort = vec![Stmt::goto_if(adjust, "reject")];
        self.push(Stmt::If(grows, abort, Block::new()));
        self.rebuilding.resizes = true;
        if self.plan.state.is_some() {
            // The paths after this point must not differ by how the packet was resized.
            self.forget();
        }
        self.reload();
        self.regions.packet_changed();
        self.put_back(&items_behind, &front, &size);
        if self.plan.state.is_some() {
            // Bytes that the next copy replaces.
            self.forget();
            self.set(C::id("keep"), size);
        }
    }

    /// Returns `front` plus the bytes of all items.
    fn total_size(&mut self, name: &str, front: C, items: &[Item]) -> C {
        if items.is_empty() {
            return front;
        }
        let always: u32 = items
            .iter()
            .filter(|i| i.present.as_int().is_some())
            .map(|i| i.fixed)
            .sum();
        let simple = items
            .iter()
            .all(|i| i.present.as_int().is_some() && i.varbit.is_none());
        if simple {
            return front.plus(always.into());
        }
        let size = self.summed_local(name, None);
        self.set(size.clone(), front.plus(always.into()));
        for item in items {
            if self.plan.state.is_some() && item.varbit.is_none() {
                // A multiplication instead of a jump: a jump for each header that may be absent would multiply the
                // paths.
                let length = C::bin(BinOp::Mul, item.present.clone(), C::int(item.fixed.into()));
                if item.present.as_int().is_none() {
                    self.push(Stmt::Update(BinOp::Add, size.clone(), length));
                }
                continue;
            }
            let mut add = Block::new();
            if item.present.as_int().is_none() {
                add.push(Stmt::Update(
                    BinOp::Add,
                    size.clone(),
                    C::int(item.fixed.into()),
                ));
            }
            if let Some(len) = &item.varbit {
                add.push(Stmt::Update(BinOp::Add, size.clone(), len.clone()));
            }
            self.when(&item.present, add);
        }
        size
    }

    fn when(&mut self, cond: &C, block: Block) {
        match cond.as_int() {
            Some(0) => {}
            Some(_) => self.out.extend(block),
            None => self.push(Stmt::If(cond.clone(), block, Block::new())),
        }
    }

    /// Loads the bytes of an item that are in the packet and may have to move.
    fn take_out(&mut self, item: &mut Item) {
        if let Some(stack) = item.rolled {
            item.saved = Some(Saved::Scratch(self.take_out_elements(stack)));
            return;
        }
        let h = item.header;
        let in_packet = self.plan.storage(h) == HeaderStorage::Packet;
        let max = self.varbit_bytes(h);
        if !in_packet && max == 0 {
            return;
        }
        if in_packet && max == 0 && item.fixed <= IN_REGISTERS {
            let mut loads = match self.in_record() {
                true => self.block(|g| g.find(h)),
                false => Block::new(),
            };
            let pointer = self.local(LocalKind::Pointer(h));
            let mut at = 0;
            while at < item.fixed {
                let size = [8, 4, 2, 1]
                    .into_iter()
                    .find(|s| at + s <= item.fixed)
                    .unwrap_or(1);
                let ty = if size == 8 { CType::U64 } else { CType::U32 };
                let word = self.own_local("word", ty, Some(C::int(0)));
                let from = pointer.clone().plus(at.into());
                let load = C::pure(format!("load_be{}", size * 8), vec![from]);
                loads.push(Stmt::Assign(word.clone(), load));
                item.words.push((at, size, word));
                at += size;
            }
            let present = item.present.clone();
            self.when(&present, loads);
            return;
        }
        if self.plan.state.is_some() {
            // The packet may now hold the bytes of another copy.
            let at = self.local(LocalKind::VarbitAt(h));
            item.saved = Some(Saved::Front(at, max));
            return;
        }
        // Through scratch memory: the whole header if it is in the packet, else its varbit field.
        let slot = self.rebuilding.relocated_bytes;
        item.saved = Some(Saved::Scratch(slot));
        let fixed = if in_packet { item.fixed } else { 0 };
        self.rebuilding.relocated_bytes += (fixed + max).next_multiple_of(8);
        let from = if in_packet && self.in_record() {
            self.header_offset(h)
        } else if in_packet {
            let pointer = self.local(LocalKind::Pointer(h));
            C::bin(BinOp::Sub, pointer, C::id("data"))
        } else {
            self.local(LocalKind::VarbitAt(h))
        };
        let len = self.pinned_local("relocated_len", None);
        let value = self.relocated_length(item, fixed);
        self.set(len.clone(), value);
        // The bound may have been lost in a loop in between.
        self.at_most(&len, (fixed + max).into());
        let to = self.target.relocated().plus(slot.into());
        self.file.contents.copied_bytes = true;
        let copy = |len: C| {
            let args = vec![C::id("ctx"), from, to, len];
            vec![Stmt::goto_if(C::call("packet_load_bytes", args), "reject")]
        };
        let present = item.present.clone();
        let block = match item.varbit {
            Some(_) => self.unless_empty(&len, fixed + max, copy),
            None => copy(len),
        };
        self.when(&present, block);
    }

    /// Returns the code that `then` makes for a length, under the condition that it is not 0. The length is at most
    /// `most`, and the comparison proves that: it compares the length less 1, since a comparison with 0 would prove
    /// no bound.
    pub(crate) fn unless_empty(
        &mut self,
        len: &C,
        most: u32,
        then: impl FnOnce(C) -> Block,
    ) -> Block {
        let less = self.pinned_local("less", None);
        self.block(|g| {
            g.set(less.clone(), C::bin(BinOp::Sub, len.clone(), C::int(1)));
            g.on(Event::Computed(&less));
            let some = C::bin(BinOp::Lt, less.clone(), C::int(most.into()));
            g.push(Stmt::If(some, then(less.plus(1)), Block::new()));
        })
    }

    fn relocated_length(&self, item: &Item, fixed: u32) -> C {
        match &item.varbit {
            Some(len) => len.clone().plus(fixed.into()),
            None => C::int(fixed.into()),
        }
    }

    /// Greatest length of a header's varbit field, in bytes.
    fn varbit_bytes(&self, h: Header) -> u32 {
        let layout = &self.p.header_types[self.p.headers[h].ty];
        layout
            .varbit()
            .map_or(0, |v| layout.fields[v as usize].ty.width().div_ceil(8))
    }

    /// Loads the bounds of the packet's bytes again.
    pub(crate) fn reload(&mut self) {
        let (data, data_end) = self.target.bounds();
        self.set(C::id("data"), data);
        self.set(C::id("data_end"), data_end);
    }
}
