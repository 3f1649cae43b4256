//! Reading a header of a stack that does not stay rolled, at an index that the packet decides.
//!
//! Its offset is chosen first, and only that one header is found in the packet: to find each and choose among them afterwards would
//! have a verifier follow each combination of headers that are there.

use crate::access::Bytes;
use crate::emitter::Gen;
use crate::plan::HeaderStorage;
use crate::plan::header_facts::Known;
use crate::rolled::At;
use crate::target::Target;
use crate::values::{choose, choose_or};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use ir::Header;

/// With fewer headers that may be in the packet, each is found.
const FEWEST: usize = 4;

/// A header whose pointer is made: the flag says whether the pointer leads to its bytes.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    /// The first header of its stack.
    pub(crate) first: Header,
    pub(crate) at: At,
    pointer: C,
    flag: C,
}

impl<T: Target> Gen<'_, T> {
    /// Bits `hi` down to `lo` of a field of the header at an index, 0 if it is not there or there is none; nothing if too few of the
    /// headers are in the packet.
    pub(crate) fn read_chosen(
        &mut self,
        elems: &[Header],
        index: &C,
        field: u32,
        (hi, lo): (u32, u32),
    ) -> Option<C> {
        let first = *elems.first()?;
        let layout = &self.p.header_types[self.p.headers[first].ty];
        let in_front = layout.varbit().is_none_or(|varbit| field < varbit);
        let in_packet: Vec<bool> = elems.iter().map(|&h| self.may_be_in_packet(h)).collect();
        let count = in_packet.iter().filter(|&&is| is).count();
        if !self.in_record() || self.is_held() || !in_front || count < FEWEST {
            return None;
        }
        let width = self.field_type(first, field).width();
        let before = layout.fields[..field as usize].iter();
        let bit: u32 = before.map(|f| f.ty.width()).sum();
        let others = elems.iter().zip(&in_packet).map(|(&h, &is)| match is {
            true => C::int(0),
            false => self.read_field(h, field, hi, lo),
        });
        let others = choose(index, others.collect());
        for (&h, _) in elems.iter().zip(&in_packet).filter(|&(_, &is)| is) {
            self.read_if_there(h, field);
        }
        let len = self.plain_bytes(first);
        let (pointer, flag) = self.point_at_chosen(elems, &in_packet, index, len);
        let base = self.target.behind_check(pointer);
        let value = Bytes { base, len }.load(bit + width - 1 - hi, hi - lo + 1);
        Some(C::Cond(Box::new(flag), Box::new(value), Box::new(others)))
    }

    fn may_be_in_packet(&self, h: Header) -> bool {
        self.plan.storage(h) == HeaderStorage::Packet && self.header_facts.extracted(h) != Known::No
    }

    /// A pointer to the bytes of the header at an index, and whether it leads to them.
    fn point_at_chosen(
        &mut self,
        elems: &[Header],
        in_packet: &[bool],
        index: &C,
        bytes: u32,
    ) -> (C, C) {
        let at = At::Run(index.clone());
        if let Some(known) = self.regions.elements().chosen(elems[0], &at) {
            return (known.pointer.clone(), known.flag.clone());
        }
        self.ask_bounds();
        let nowhere = C::int(self.target.limits().offset + 1);
        let mut offsets = Vec::new();
        for (&h, &is) in elems.iter().zip(in_packet) {
            offsets.push(match is {
                true => {
                    let there = self.local(self.presence_kind(h));
                    let offset = self.header_offset(h);
                    C::Cond(Box::new(there), Box::new(offset), Box::new(nowhere.clone()))
                }
                false => nowhere.clone(),
            });
        }
        let offset = self.pinned_local("element_offset", None);
        let pointer = self.own_local("element", CType::U8.ptr(), None);
        let flag = self.pinned_local("element_found", None);
        self.set(offset.clone(), choose_or(index, offsets, nowhere.clone()));
        self.set(flag.clone(), C::int(0));
        self.set(pointer.clone(), C::id("data"));
        let made = self.guarded(|g| {
            g.point_into(&pointer, offset.clone(), bytes);
            let set = g.target.flag();
            g.set(flag.clone(), set);
        });
        self.push(Stmt::If(
            C::bin(BinOp::Ne, offset, nowhere),
            made,
            Block::new(),
        ));
        self.regions.elements().note_chosen(Chosen {
            first: elems[0],
            at,
            pointer: pointer.clone(),
            flag: flag.clone(),
        });
        (pointer, flag)
    }
}
