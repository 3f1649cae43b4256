//! Fields of a stack element that is selected by a run-time index, if the parse record has each element. One
//! pointer is made, to the selected element. With a pointer for each element, which may be present or not, every
//! combination of present elements would be a separate path.

use crate::access::Bytes;
use crate::emitter::Gen;
use crate::hints::Role;
use crate::plan::HeaderStorage;
use crate::plan::header_facts::Known;
use crate::rolled::{At, What};
use crate::target::Target;
use crate::values::choose;
use cgen::lower;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use ir::{Expr, Header};

impl<T: Target> Gen<'_, T> {
    /// Reads bits of a field of the element at an index: 0 if the element is absent or the index is out of bounds.
    /// Returns `None` if each element must be read separately.
    pub(crate) fn read_chosen(
        &mut self,
        elems: &[Header],
        index: Expr,
        field: u32,
        (hi, lo): (u32, u32),
    ) -> Option<C> {
        let &first = elems.first()?;
        let layout = &self.p.header_types[self.p.headers[first].ty];
        let width = layout.fields[field as usize].ty.width();
        let is_in_front = layout.varbit().is_none_or(|varbit| field < varbit) && width > 0;
        let several = elems.iter().filter(|&&h| self.is_in_packet(h)).count() > 1;
        if !self.in_record() || self.is_held() || !is_in_front || !several {
            return None;
        }
        let before = layout.fields[..field as usize].iter();
        let bit: u32 = before.map(|f| f.ty.width()).sum();
        let index = lower::scalar(self, index);
        let (pointer, flag) = self.point_at_chosen(elems, first, index.clone());
        let bytes = Bytes {
            base: self.target.see(Role::Checked, pointer),
            len: self.plain_bytes(first),
        };
        let in_packet = bytes.load(bit + width - 1 - hi, hi - lo + 1);
        let mut value = C::choose(flag, in_packet, C::int(0));
        for (i, &h) in elems.iter().enumerate() {
            if !self.is_in_packet(h) {
                let is = C::bin(BinOp::Eq, index.clone(), C::int(i as u64));
                value = C::choose(is, self.read_field(h, field, hi, lo), value);
            } else if self.header_facts.extracted(h) != Known::Yes {
                self.conditional.reads.insert((h, field));
            }
        }
        Some(value)
    }

    fn is_in_packet(&self, h: Header) -> bool {
        self.plan.storage(h) == HeaderStorage::Packet
    }

    /// Returns a pointer to the bytes of the element at an index, and a flag that it leads to them. The flag is 0
    /// if the element's fields are in variables.
    fn point_at_chosen(&mut self, elems: &[Header], first: Header, index: C) -> (C, C) {
        let what = What::BytesOfChosen(first);
        let place = At::Run(index.clone());
        if let Some(found) = self.regions.elements().found(what, &place) {
            return found;
        }
        self.ask_bounds();
        let there: Vec<C> = elems.iter().map(|&h| self.is_extracted(h)).collect();
        let offset = |&h: &Header| match self.is_in_packet(h) {
            true => self.header_offset(h),
            false => C::int(0),
        };
        let offsets: Vec<C> = elems.iter().map(offset).collect();
        let at = self.pinned_local("element_at", None);
        let pointer = self.own_local("element", CType::U8.ptr(), None);
        let flag = self.pinned_local("element_found", None);
        self.set(at.clone(), index);
        self.set(flag.clone(), C::int(0));
        self.set(pointer.clone(), C::id("data"));
        let bytes = self.plain_bytes(first);
        let made = self.guarded(|g| {
            g.point_into(&pointer, choose(&at, offsets), bytes);
            let set = g.flag();
            g.set(flag.clone(), set);
        });
        self.push(Stmt::If(choose(&at, there), made, Block::new()));
        let found = (pointer, flag);
        // In the parser, elements are still being extracted, so the pointer cannot be reused.
        if !self.regions.in_parser() {
            let elements = self.regions.elements();
            elements.note(what, place, found.clone());
        }
        found
    }

    /// Flag that a header was extracted and its bytes are in the packet, as 0 or 1. It does not rely on assumptions
    /// that hold only within the current expression.
    fn is_extracted(&mut self, h: Header) -> C {
        match self.header_facts.extracted(h) {
            Known::No => C::int(0),
            _ if !self.is_in_packet(h) => C::int(0),
            Known::Yes if !self.only_assumed(h) => C::int(1),
            _ => self.local(self.presence_kind(h)),
        }
    }
}
