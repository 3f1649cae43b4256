//! The deparser: the difference between what came in and what goes out.
//!
//! The kept part (see [`crate::plan::layout`]) stays where it is with the payload. What is emitted before
//! it is taken out of the packet, room is made or taken once for the difference in size, and it is put back. Where
//! the hook can make room behind the packet's front, what never changes its place stays in there.

use super::access::Bytes;
use super::locals::Role;
use crate::emitter::Gen;
use crate::plan::Rep;
use crate::plan::layout::Emit;
use crate::target::Target;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use ir::{Header, HeaderRef, StmtKind, Type};

/// Larger headers are moved through scratch memory instead of registers, in bytes.
const IN_REGISTERS: u32 = 64;

/// A header on its way out.
struct Item {
    header: Header,
    /// Whether it is emitted, 0 or 1.
    present: C,
    /// Bytes of its fixed part.
    fixed: u32,
    /// Bytes of its varbit field.
    varbit: Option<C>,
    /// What was taken out of the packet: words of a fixed header, with their offsets and sizes.
    words: Vec<(u32, u32, C)>,
    /// Where in scratch its bytes are, if not in words or variables.
    saved: Option<u32>,
}

impl<T: Target> Gen<'_, T> {
    /// An emit statement: notes that the header goes out, if that is not always so.
    pub(crate) fn emitted(&mut self, stmt: &ir::Stmt) {
        let StmtKind::Emit(HeaderRef::Header(h)) = stmt.kind else {
            return;
        };
        let id = stmt.id;
        let emits = &self.plan.layout.emits;
        if let Some(i) = emits.iter().position(|e| e.stmt == id && !e.always) {
            let valid = self.validity(h);
            let flag = self.local(Role::Emitted(i));
            self.set(flag, valid);
        }
    }

    /// Rebuilds the part of the packet that may have changed.
    pub(crate) fn rebuild(&mut self) {
        if self.plan.layout.is_empty() {
            return;
        }
        let emits: Vec<Emit> = self.plan.layout.emits[..self.plan.layout.moving].to_vec();
        let body = self.block(|g| g.rebuild_items(&emits));
        if self.plan.layout.still_if_untouched {
            self.push(Stmt::If(C::id("touched"), body, Block::new()));
        } else {
            self.out.extend(body);
        }
    }

    fn rebuild_items(&mut self, emits: &[Emit]) {
        let mut items = Vec::new();
        let mut still = 0;
        for (i, e) in emits.iter().enumerate() {
            let present = if e.always {
                self.validity(e.header)
            } else {
                self.local(Role::Emitted(i))
            };
            if present.as_int() == Some(0) {
                continue;
            }
            let layout = &self.p.header_types[self.p.headers[e.header].ty];
            let varbit = layout
                .varbit()
                .map(|_| self.local(Role::VarbitLen(e.header)));
            still += usize::from(i < self.plan.layout.still);
            items.push(Item {
                header: e.header,
                present,
                fixed: layout.fixed_width() / 8,
                varbit,
                words: Vec::new(),
                saved: None,
            });
        }
        let mut items_behind = items.split_off(still);
        let front = self.total_size("front", C::int(0), &items);
        let size = self.total_size("size", front.clone(), &items_behind);
        for item in &mut items_behind {
            self.take_out(item);
        }
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
        self.reload();
        self.put_back(&items_behind, &front, &size);
    }

    /// The bytes of all items behind what is in front of them.
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
        let size = self.own_local(name, CType::U32, None);
        self.set(size.clone(), front.plus(always.into()));
        for item in items {
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

    /// Loads what lies in the packet and may have to move.
    fn take_out(&mut self, item: &mut Item) {
        let h = item.header;
        let in_packet = self.plan.rep(h) == Rep::Packet;
        let max = self.varbit_bytes(h);
        if !in_packet && max == 0 {
            return;
        }
        if in_packet && max == 0 && item.fixed <= IN_REGISTERS {
            let pointer = self.local(Role::Pointer(h));
            let mut loads = Block::new();
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
        // Through scratch memory: the whole header if it is in the packet, else its varbit field.
        let slot = self.rebuilding.moving_bytes;
        item.saved = Some(slot);
        let fixed = if in_packet { item.fixed } else { 0 };
        self.rebuilding.moving_bytes += (fixed + max).next_multiple_of(8);
        let from = if in_packet {
            let pointer = self.local(Role::Pointer(h));
            C::bin(BinOp::Sub, pointer, C::id("data"))
        } else {
            self.local(Role::VarbitAt(h))
        };
        let len = self.own_local("moved", CType::U32, None);
        let value = self.moved_length(item, fixed);
        self.set(len.clone(), value);
        // Whoever checks the C may have forgotten the bound in a loop on the way.
        self.barrier(&len);
        let most = C::int((fixed + max).into());
        self.goto_reject(C::bin(BinOp::Gt, len.clone(), most));
        let copy = vec![Stmt::goto_if(
            C::call(
                "packet_load_bytes",
                vec![
                    C::id("ctx"),
                    from,
                    self.target.moving().plus(slot.into()),
                    len.clone(),
                ],
            ),
            "reject",
        )];
        let present = item.present.clone();
        let block = match item.varbit {
            Some(_) => vec![Stmt::If(len, copy, Block::new())],
            None => copy,
        };
        self.when(&present, block);
    }

    fn moved_length(&self, item: &Item, fixed: u32) -> C {
        match &item.varbit {
            Some(len) => len.clone().plus(fixed.into()),
            None => C::int(fixed.into()),
        }
    }

    /// Bytes that a header's varbit field may have.
    fn varbit_bytes(&self, h: Header) -> u32 {
        let layout = &self.p.header_types[self.p.headers[h].ty];
        layout
            .varbit()
            .map_or(0, |v| layout.fields[v as usize].ty.width().div_ceil(8))
    }

    fn reload(&mut self) {
        let (data, data_end) = self.target.bounds();
        self.set(C::id("data"), data);
        self.set(C::id("data_end"), data_end);
    }

    /// Writes all items behind the packet's front.
    fn put_back(&mut self, items: &[Item], front: &C, size: &C) {
        let fixed = size.as_int().is_some();
        if fixed && size != front {
            let end = C::bin(BinOp::Add, C::id("data"), size.clone());
            self.push(Stmt::goto_if(
                C::bin(BinOp::Gt, end, C::id("data_end")),
                "reject",
            ));
        }
        let mut known = front.as_int().map(|at| at as u32);
        // Storing bytes by the primitive forgets the check of the whole.
        let mut checked = true;
        let at = self.own_local("at", CType::U32, Some(C::int(0)));
        if known.is_none() {
            self.set(at.clone(), front.clone());
            let most = self.target.limits().offset;
            self.goto_reject(C::bin(BinOp::Gt, at.clone(), C::int(most)));
        }
        for item in items {
            if known.is_some() && !fixed {
                // From here on the place depends on the packet, or may.
                self.set(at.clone(), C::int(known.unwrap_or(0).into()));
                known = None;
            }
            let block = self.block(|g| {
                let (pointer, place) = match known {
                    Some(at) => {
                        if !checked && item.saved.is_none() {
                            let end = C::id("data").plus((at + item.fixed).into());
                            g.goto_reject(C::bin(BinOp::Gt, end, C::id("data_end")));
                        }
                        (C::id("data").plus(at.into()), C::int(at.into()))
                    }
                    None => {
                        let limits = g.target.limits();
                        if limits.recheck_lengths {
                            g.barrier(&at);
                            g.goto_reject(C::bin(BinOp::Gt, at.clone(), C::int(limits.offset)));
                        }
                        let pointer = g.own_local("out", CType::U8.ptr(), None);
                        g.set(
                            pointer.clone(),
                            C::bin(BinOp::Add, C::id("data"), at.clone()),
                        );
                        // Else the compiler may check one sum and store through another.
                        g.barrier(&pointer);
                        if item.saved.is_none() || g.plan.rep(item.header) == Rep::Fields {
                            let end = pointer.clone().plus(item.fixed.into());
                            g.push(Stmt::goto_if(
                                C::bin(BinOp::Gt, end, C::id("data_end")),
                                "reject",
                            ));
                        }
                        (pointer, at.clone())
                    }
                };
                g.put(item, &pointer, &place);
                if known.is_none() {
                    let len = g.moved_length(item, item.fixed);
                    g.push(Stmt::Update(BinOp::Add, at.clone(), len));
                }
            });
            self.when(&item.present, block);
            checked &= item.saved.is_none();
            if let Some(k) = &mut known {
                *k += item.fixed;
            }
        }
    }

    fn put(&mut self, item: &Item, pointer: &C, place: &C) {
        let h = item.header;
        if self.plan.rep(h) == Rep::Packet {
            match item.saved {
                None => {
                    for (at, size, word) in &item.words {
                        let to = pointer.clone().plus((*at).into());
                        let name = format!("store_be{}", size * 8);
                        self.push(Stmt::Expr(C::call(name, vec![to, word.clone()])));
                    }
                }
                Some(slot) => {
                    let len = self.moved_length(item, item.fixed);
                    self.store_bytes(place.clone(), slot, len);
                }
            }
            return;
        }
        let layout = &self.p.header_types[self.p.headers[h].ty];
        let varbit = layout.varbit();
        let before: u32 = layout.fields[..varbit.map_or(layout.fields.len(), |v| v as usize)]
            .iter()
            .map(|f| f.ty.width())
            .sum();
        let bytes = Bytes {
            base: pointer.clone(),
            len: before / 8,
        };
        let count = varbit.map_or(layout.fields.len(), |v| v as usize);
        self.write_fields(h, 0, count, &bytes);
        if let (Some(v), Some(len), Some(slot)) = (varbit, &item.varbit, item.saved) {
            let after = (layout.fixed_width() - before) / 8;
            let offset = place.clone().plus((before / 8).into());
            self.store_bytes(offset.clone(), slot, len.clone());
            if after > 0 {
                let rest = self.own_local("out", CType::U8.ptr(), None);
                let start = C::bin(BinOp::Add, offset, len.clone());
                self.set(rest.clone(), C::bin(BinOp::Add, C::id("data"), start));
                self.barrier(&rest);
                let end = rest.clone().plus(after.into());
                self.push(Stmt::goto_if(
                    C::bin(BinOp::Gt, end, C::id("data_end")),
                    "reject",
                ));
                let bytes = Bytes {
                    base: rest,
                    len: after,
                };
                self.write_fields(h, v as usize + 1, layout.fields.len(), &bytes);
            }
        }
    }

    fn store_bytes(&mut self, offset: C, slot: u32, len: C) {
        let len = match len {
            C::Int { .. } => len,
            _ => {
                let moved = self.own_local("moved", CType::U32, None);
                self.set(moved.clone(), len);
                self.barrier(&moved);
                let room = self.rebuilding.moving_bytes - slot;
                self.goto_reject(C::bin(BinOp::Gt, moved.clone(), C::int(room.into())));
                moved
            }
        };
        let store = C::call(
            "packet_store_bytes",
            vec![
                C::id("ctx"),
                offset,
                self.target.moving().plus(slot.into()),
                len.clone(),
            ],
        );
        let store = Stmt::goto_if(store, "reject");
        if len.as_int().is_some() {
            self.push(store);
        } else {
            // The length of nothing is not for the primitive.
            self.push(Stmt::If(len, vec![store], Block::new()));
        }
        self.reload();
    }

    /// Writes fields from variables, in as few stores as whole bytes allow.
    fn write_fields(&mut self, h: Header, from: usize, to: usize, bytes: &Bytes) {
        let layout = &self.p.header_types[self.p.headers[h].ty];
        let widths: Vec<u32> = layout.fields[from..to]
            .iter()
            .map(|f| match f.ty {
                Type::Varbit(_) => 0,
                _ => f.ty.width(),
            })
            .collect();
        let total: u32 = widths.iter().sum();
        let mut start = 0;
        while start < total {
            let end = chunk_end(&widths, start, total);
            let value = self.chunk(h, from, &widths, start, end);
            let mut out = Block::new();
            bytes.store(start, end - start, value, &mut out);
            self.out.append(&mut out);
            start = end;
        }
    }

    /// Bits `start..end` of a header's fields as one number of up to 64 bits.
    fn chunk(&mut self, h: Header, from: usize, widths: &[u32], start: u32, end: u32) -> C {
        let mut result: Option<C> = None;
        let mut at = 0;
        for (i, &width) in widths.iter().enumerate() {
            let (lo, hi) = (at.max(start), (at + width).min(end));
            if lo < hi {
                let value = self.local_field(
                    h,
                    (from + i) as u32,
                    width - 1 - (lo - at),
                    width - (hi - at),
                );
                let below = end - hi;
                let value = if end - start > 32 && hi - lo <= 32 {
                    value.cast(CType::U64)
                } else if end - start <= 32 && width > 32 {
                    value.cast(CType::U32)
                } else {
                    value
                };
                let value = if below > 0 {
                    C::bin(BinOp::Shl, value, C::int(below.into()))
                } else {
                    value
                };
                result = Some(match result {
                    None => value,
                    Some(high) => C::bin(BinOp::Or, high, value),
                });
            }
            at += width;
        }
        result.unwrap_or(C::int(0))
    }
}

/// Where the run of fields that begins at `start` and that one store writes ends.
fn chunk_end(widths: &[u32], start: u32, total: u32) -> u32 {
    let mut ends = Vec::new();
    let mut at = 0;
    for width in widths {
        at += width;
        if at > start && at.is_multiple_of(8) {
            ends.push(at);
        }
    }
    let first = ends.first().copied().unwrap_or(total);
    let len = first - start;
    if len > 64 {
        return start + 64;
    }
    if matches!(len, 8 | 16 | 32 | 48 | 64) {
        return first;
    }
    // 3, 5 or 7 bytes: with the next field they may make one store.
    match ends.get(1) {
        Some(&second) if matches!(second - start, 32 | 64) => second,
        _ => first,
    }
}
