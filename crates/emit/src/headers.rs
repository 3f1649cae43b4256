//! Headers: resolves references, and lowers validity, reads and writes of fields, for each storage of a header.

use crate::access::Bytes;
use crate::emitter::Gen;
use crate::hints::Role;
use crate::locals::LocalKind;
use crate::plan::HeaderStorage;
use crate::plan::header_facts::Known;
use crate::target::Target;
use crate::values::{Value, load_value, store_value};
use cgen::lower;
use cgen::tree::{Block, Expr as C, Stmt};
use ir::{Expr, ExprKind, Header, HeaderRef, Type};

/// Header that a reference means.
pub(crate) enum Resolved {
    /// This one.
    One(Header),
    /// None: the index is out of bounds.
    Outside,
    /// One of these, selected by an index.
    Any(Vec<Header>, Expr),
}

impl<T: Target> Gen<'_, T> {
    /// Resolves a reference to a header.
    pub(crate) fn resolve(&self, header: HeaderRef) -> Resolved {
        match header {
            HeaderRef::Header(h) => Resolved::One(h),
            HeaderRef::Element(stack, index) => {
                let elems = &self.p.stacks[stack].elems;
                match &self.p.exprs[index].kind {
                    ExprKind::Const(bits) => bits
                        .to_u64()
                        .and_then(|i| elems.get(usize::try_from(i).ok()?))
                        .map_or(Resolved::Outside, |&h| Resolved::One(h)),
                    _ => Resolved::Any(elems.clone(), index),
                }
            }
        }
    }

    /// Calls `f` for the header that a reference means, if it means one.
    pub(crate) fn with_header(&mut self, header: HeaderRef, f: impl FnMut(&mut Self, Header)) {
        self.with_header_or(header, f, |_| {});
    }

    /// Calls `f` for the header that a reference means, or `outside` if the index is out of bounds.
    pub(crate) fn with_header_or(
        &mut self,
        header: HeaderRef,
        mut f: impl FnMut(&mut Self, Header),
        outside: impl FnOnce(&mut Self),
    ) {
        match self.resolve(header) {
            Resolved::One(h) => f(self, h),
            Resolved::Outside => outside(self),
            Resolved::Any(elems, index) => {
                let on = lower::scalar(self, index);
                let default = self.block(outside);
                let mut cases = Vec::new();
                for (i, h) in elems.into_iter().enumerate() {
                    let block = self.block(|g| f(g, h));
                    cases.push((vec![C::int(i as u64)], block));
                }
                self.push(Stmt::Switch { on, cases, default });
            }
        }
    }

    /// Validity of a header, as 0 or 1.
    pub(crate) fn validity(&mut self, h: Header) -> C {
        match self.header_facts.valid(h) {
            Known::No => C::int(0),
            Known::Yes => C::int(1),
            Known::Maybe => match self.rolled(HeaderRef::Header(h)) {
                Some(element) => self.element_validity(&element),
                None => self.local(LocalKind::Valid(h)),
            },
        }
    }

    /// Condition that a header's pointer leads to its bytes, as 0 or 1.
    fn presence(&mut self, h: Header) -> C {
        let known = self.header_facts.extracted(h);
        if known == Known::No {
            return C::int(0);
        }
        if self.in_record() {
            if known == Known::Maybe || self.only_assumed(h) || self.is_held() {
                return self.find_if_there(h);
            }
            self.find(h);
        }
        match known {
            Known::Maybe => self.local(self.presence_kind(h)),
            _ => C::int(1),
        }
    }

    /// Returns true if a header is known to be extracted only by an assumption within the current expression.
    pub(crate) fn only_assumed(&self, h: Header) -> bool {
        self.moment
            .assumed
            .first()
            .is_some_and(|facts| facts.extracted(h) != Known::Yes)
    }

    /// Kind of the variable that holds the presence of a header.
    pub(crate) fn presence_kind(&self, h: Header) -> LocalKind {
        if self.plan.invalidated[h.as_u32() as usize] {
            LocalKind::Extracted(h)
        } else {
            LocalKind::Valid(h)
        }
    }

    /// Returns the bytes of the packet that hold a field, and the position of the field's first bit in them.
    fn place_of(&mut self, h: Header, field: u32) -> (Bytes, u32) {
        let layout = &self.p.header_types[self.p.headers[h].ty];
        let width = |f: &ir::FieldData| match f.ty {
            Type::Varbit(_) => 0,
            _ => f.ty.width(),
        };
        let bit: u32 = layout.fields[..field as usize].iter().map(width).sum();
        match layout.varbit() {
            Some(v) => {
                let before: u32 = layout.fields[..v as usize].iter().map(width).sum();
                if field > v {
                    let bytes = Bytes {
                        base: self.local(LocalKind::Rest(h)),
                        len: (layout.fixed_width() - before) / 8,
                    };
                    (bytes, bit - before)
                } else {
                    let bytes = Bytes {
                        base: self.local(LocalKind::Pointer(h)),
                        len: before / 8,
                    };
                    (bytes, bit)
                }
            }
            None => {
                let bytes = Bytes {
                    base: self.local(LocalKind::Pointer(h)),
                    len: layout.fixed_width() / 8,
                };
                (bytes, bit)
            }
        }
    }

    pub(crate) fn field_type(&self, h: Header, field: u32) -> Type {
        self.p.header_types[self.p.headers[h].ty].fields[field as usize].ty
    }

    pub(crate) fn read_field(&mut self, h: Header, field: u32, hi: u32, lo: u32) -> C {
        let ty = self.field_type(h, field);
        if ty.width() == 0 {
            return C::int(0);
        }
        match self.plan.storage(h) {
            HeaderStorage::Rolled => match self.rolled(HeaderRef::Header(h)) {
                Some(element) => self.read_element(&element, field, hi, lo),
                None => C::int(0),
            },
            HeaderStorage::Fields => {
                let var = self.local(LocalKind::Field(h, field));
                part_of(var, ty.width(), hi, lo)
            }
            HeaderStorage::Packet => {
                let present = self.presence(h);
                if self.header_facts.extracted(h) != Known::Yes {
                    self.conditional.reads.insert((h, field));
                }
                if present.as_int() == Some(0) {
                    return C::int(0);
                }
                let (mut bytes, bit) = self.place_of(h, field);
                if present.as_int().is_none() || self.only_assumed(h) {
                    bytes.base = self.target.see(Role::Checked, bytes.base);
                }
                let value = bytes.load(bit + ty.width() - 1 - hi, hi - lo + 1);
                match present.as_int() {
                    Some(_) => value,
                    None => C::Cond(Box::new(present), Box::new(value), Box::new(C::int(0))),
                }
            }
        }
    }

    /// Loads a field from the packet at the time of its extraction.
    pub(crate) fn extracted_field(&mut self, base: C, len: u32, bit: u32, ty: Type) -> Value {
        let bytes = Bytes { base, len };
        load_value(&bytes, bit, ty.width())
    }

    /// Stores to a field of a header, whether the header is valid or not.
    pub(crate) fn write_field(&mut self, h: Header, field: u32, value: Value) {
        let ty = self.field_type(h, field);
        if let Value::Slice(at, len) = value {
            let (dst_at, dst_len) = (
                self.local(LocalKind::VarbitAt(h)),
                self.local(LocalKind::VarbitLen(h)),
            );
            self.set(dst_at, at);
            self.set(dst_len, len);
            self.touch(h);
            return;
        }
        if ty.width() == 0 {
            return;
        }
        match self.plan.storage(h) {
            HeaderStorage::Rolled => {
                if let Some(element) = self.rolled(HeaderRef::Header(h)) {
                    self.write_element(&element, field, value);
                }
            }
            HeaderStorage::Fields => {
                let var = self.local(LocalKind::Field(h, field));
                self.store_local(var, value);
                self.touch(h);
            }
            HeaderStorage::Packet => {
                let present = self.presence(h);
                if self.header_facts.extracted(h) != Known::Yes {
                    self.conditional.writes.insert((h, field));
                }
                if present.as_int() == Some(0) {
                    return;
                }
                let (mut bytes, bit) = self.place_of(h, field);
                if present.as_int().is_none() {
                    bytes.base = self.target.see(Role::Checked, bytes.base);
                }
                let mut stores = Block::new();
                store_value(&bytes, bit, ty.width(), value, &mut stores);
                match present.as_int() {
                    Some(_) => self.out.append(&mut stores),
                    None => self.push(Stmt::If(present, stores, Vec::new())),
                }
            }
        }
    }

    /// Records that a header changed which the deparser may have to write.
    pub(crate) fn touch(&mut self, h: Header) {
        let h = self.plan.rolled.representative(h);
        if self.plan.layout.fixed_if_untouched && self.plan.layout.moves(h) {
            let touched = Stmt::Assign(C::id("touched"), C::int(1));
            // Once is enough in a run of statements.
            let run = self.out.iter().rev().take_while(|s| {
                matches!(
                    s,
                    Stmt::Assign(..) | Stmt::Line { .. } | Stmt::Expr(_) | Stmt::Hint { .. }
                )
            });
            if !run.into_iter().any(|s| *s == touched) {
                self.push(touched);
            }
        }
    }

    /// Sets a header's validity.
    pub(crate) fn set_validity(&mut self, h: Header, valid: bool) {
        let var = self.local(LocalKind::Valid(h));
        self.set(var, C::int(valid.into()));
        self.touch(h);
    }

    /// Returns bits `hi` down to `lo` of a field's variable, as the deparser writes them.
    pub(crate) fn local_field(&mut self, h: Header, field: u32, hi: u32, lo: u32) -> C {
        let width = self.field_type(h, field).width();
        let var = self.local(LocalKind::Field(h, field));
        part_of(var, width, hi, lo)
    }
}

/// Returns bits of a variable of any width.
fn part_of(var: C, width: u32, hi: u32, lo: u32) -> C {
    if width > 64 {
        return lower::part_of_limbs(&var, hi, lo);
    }
    if lo == 0 && hi + 1 == width {
        return var;
    }
    lower::part_of_register(var, width, hi, lo)
}
