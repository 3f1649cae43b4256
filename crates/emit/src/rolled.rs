//! Elements of rolled stacks ([`crate::plan::rolled`]): locating them by index, reading, writing, invalidating,
//! moving.
//!
//! Each element has a kind, an offset in the packet, and a length. The kind is 0 if the parser found no such
//! element. Otherwise it is 1 plus the index of the union's member, with [`INVALID`] if the element was made
//! invalid since.

use crate::access::Bytes;
use crate::emitter::Gen;
use crate::hints::{Event, Role};
use crate::locals::LocalKind;
use crate::plan::header_facts::Known;
use crate::plan::rolled::RolledMember;
use crate::target::Target;
use crate::values::{Value, store_value};
use cgen::lower;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType, UnOp};
use ir::{BinaryOp, ExprKind, Header, HeaderRef, StmtKind};

/// Bit in an element's kind: it was extracted, but is no longer valid.
const INVALID: u64 = 0x80;

/// Index of an element in its stack.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum At {
    /// A constant, which is in bounds.
    Const(u32),
    /// A value that depends on the packet.
    Run(C),
}

/// An element that code refers to.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Element {
    pub(crate) member: RolledMember,
    pub(crate) at: At,
    /// Any header of its type.
    header: Header,
    /// Knowledge about its extraction.
    extracted: Known,
}

/// Properties of an element that are looked up by its index and kept in two variables.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum What {
    /// Kind and offset of an element of a rolled stack.
    Place { stack: usize },
    /// Pointer to the bytes of an element of a rolled stack, and the flag that it leads to them.
    Bytes(RolledMember),
    /// Pointer and flag for another stack, of which this is the first element.
    BytesOfChosen(Header),
}

/// Elements that were located in a region: property, index, and variables.
#[derive(Clone, Default, Debug)]
pub(crate) struct Elements(Vec<(What, At, (C, C))>);

impl Elements {
    /// Returns the variables with a property of an element, if it was looked up.
    pub(crate) fn found(&self, what: What, at: &At) -> Option<(C, C)> {
        let mut all = self.0.iter();
        let found = all.find(|(is, place, _)| *is == what && place == at)?;
        Some(found.2.clone())
    }

    /// Records a property that was looked up, if [`Elements::assigned`] is called for everything that may change
    /// the index. It is not called for stores to memory.
    pub(crate) fn note(&mut self, what: What, at: At, variables: (C, C)) {
        let stays_known = match &at {
            At::Const(_) => true,
            At::Run(index) => in_variables(index),
        };
        if stays_known {
            self.0.push((what, at, variables));
        }
    }

    /// Handles the assignment of a variable: forgets the elements that were located by it.
    pub(crate) fn assigned(&mut self, name: &str) {
        self.0.retain(|(_, at, _)| match at {
            At::Const(_) => true,
            At::Run(index) => !mentions(index, name),
        });
    }

    /// Handles the change of a rolled stack: forgets its elements.
    fn changed(&mut self, stack: usize) {
        self.0.retain(|(what, ..)| match what {
            What::Place { stack: of } => *of != stack,
            What::Bytes(member) => member.stack != stack,
            What::BytesOfChosen(_) => true,
        });
    }
}

/// Returns true if a value depends only on variables, and on nothing in memory.
fn in_variables(e: &C) -> bool {
    let is_value = match e {
        C::Ident(_) | C::Int { .. } | C::Signed(_) => true,
        C::Unary(op, _) => !matches!(op, UnOp::Addr | UnOp::Deref),
        C::Binary(..) | C::Cast(..) | C::Cond(..) => true,
        _ => false,
    };
    is_value && e.parts().into_iter().all(in_variables)
}

fn mentions(e: &C, name: &str) -> bool {
    matches!(e, C::Ident(is) if is == name) || e.parts().into_iter().any(|p| mentions(p, name))
}

impl<T: Target> Gen<'_, T> {
    /// Returns the element that a reference means, if it belongs to a rolled stack.
    pub(crate) fn rolled(&mut self, header: HeaderRef) -> Option<Element> {
        let plan = self.plan;
        let (member, at, h, extracted) = match header {
            HeaderRef::Header(h) => {
                let (member, index) = plan.rolled.element(h)?;
                // Its pointer is made before the expression, where the expression's assumptions do not hold yet.
                let extracted = match self.only_assumed(h) {
                    true => Known::Maybe,
                    false => self.header_facts.extracted(h),
                };
                (member, At::Const(index), h, extracted)
            }
            HeaderRef::Element(stack, index) => {
                let member = plan.rolled.member(stack)?;
                let first = *self.p.stacks[stack].elems.first()?;
                let index = lower::scalar(self, index);
                let at = match index.as_int() {
                    Some(at) if at < plan.rolled.stacks[member.stack].size.into() => {
                        At::Const(at as u32)
                    }
                    _ => At::Run(index),
                };
                (member, at, first, Known::Maybe)
            }
        };
        Some(Element {
            member,
            at,
            header: h,
            extracted,
        })
    }

    fn kinds(&mut self, stack: usize) -> C {
        self.local(LocalKind::Kinds(stack))
    }

    /// Returns an element's kind in memory, for an index in bounds.
    fn kind_in_memory(&mut self, stack: usize, at: C) -> C {
        self.kinds(stack).index(at)
    }

    /// Returns the code that `f` emits, as a block that may not run. Pointers made before it remain known.
    pub(crate) fn guarded(&mut self, f: impl FnOnce(&mut Self)) -> Block {
        let outer = std::mem::take(&mut self.out);
        f(self);
        std::mem::replace(&mut self.out, outer)
    }

    /// Emits the code of `f` under the condition that an index is in bounds. `f` gets a copy of the index.
    fn in_bounds(&mut self, stack: usize, index: C, f: impl FnOnce(&mut Self, C)) {
        let size = self.plan.rolled.stacks[stack].size;
        let at = self.pinned_local("element_at", None);
        self.set(at.clone(), index);
        self.on(Event::Computed(&at));
        let inside = self.guarded(|g| {
            g.on(Event::Bounded(&at));
            f(g, at.clone());
        });
        let fits = C::bin(BinOp::Lt, at, C::int(size.into()));
        self.push(Stmt::If(fits, inside, Block::new()));
    }

    /// Returns an element's kind and offset, in variables if its index is not constant. The kind is 0 if the index
    /// is out of bounds.
    fn look(&mut self, e: &Element) -> (C, C) {
        let stack = e.member.stack;
        let offsets = self.local(LocalKind::Offsets(stack));
        let index = match &e.at {
            At::Const(at) => {
                let at = C::int((*at).into());
                return (self.kind_in_memory(stack, at.clone()), offsets.index(at));
            }
            At::Run(index) => index.clone(),
        };
        let what = What::Place { stack };
        if let Some(found) = self.regions.elements().found(what, &e.at) {
            return found;
        }
        let kind = self.pinned_local("element_kind", None);
        let offset = self.pinned_local("element_offset", None);
        self.set(kind.clone(), C::int(0));
        self.set(offset.clone(), C::int(0));
        self.in_bounds(stack, index, |g, at| {
            let is = g.kind_in_memory(stack, at.clone());
            g.set(kind.clone(), is);
            g.set(offset.clone(), offsets.index(at));
        });
        let found = (kind, offset);
        let elements = self.regions.elements();
        elements.note(what, e.at.clone(), found.clone());
        found
    }

    /// Condition that an element is valid.
    pub(crate) fn element_validity(&mut self, e: &Element) -> C {
        let (kind, _) = self.look(e);
        C::bin(BinOp::Eq, kind, C::int((e.member.member + 1).into()))
    }

    /// Returns a pointer to an element's bytes, and a flag that it leads to them.
    fn point(&mut self, e: &Element) -> (C, C) {
        let what = What::Bytes(e.member);
        if let Some(found) = self.regions.elements().found(what, &e.at) {
            return found;
        }
        self.ask_bounds();
        let (kind, offset) = self.look(e);
        let bytes = self.plain_bytes(e.header);
        let pointer = self.own_local("element", CType::U8.ptr(), None);
        let flag = match e.extracted {
            Known::Yes => {
                self.point_into(&pointer, offset, bytes);
                C::int(1)
            }
            _ => {
                let flag = self.pinned_local("element_found", None);
                self.set(flag.clone(), C::int(0));
                self.set(pointer.clone(), C::id("data"));
                let made = self.guarded(|g| {
                    g.point_into(&pointer, offset, bytes);
                    let set = g.flag();
                    g.set(flag.clone(), set);
                });
                let is = C::bin(BinOp::And, kind, C::int(INVALID - 1));
                let there = C::bin(BinOp::Eq, is, C::int((e.member.member + 1).into()));
                self.push(Stmt::If(there, made, Block::new()));
                flag
            }
        };
        let found = (pointer, flag);
        let elements = self.regions.elements();
        elements.note(what, e.at.clone(), found.clone());
        found
    }

    /// Returns the number of bytes of a header before its varbit field.
    pub(crate) fn plain_bytes(&self, h: Header) -> u32 {
        let layout = &self.p.header_types[self.p.headers[h].ty];
        let fields = layout.varbit().map_or(layout.fields.len(), |v| v as usize);
        let bits: u32 = layout.fields[..fields].iter().map(|f| f.ty.width()).sum();
        bits / 8
    }

    /// Reads bits of an element's field; 0 if the element is absent.
    pub(crate) fn read_element(&mut self, e: &Element, field: u32, hi: u32, lo: u32) -> C {
        let width = self.field_type(e.header, field).width();
        if width == 0 || e.extracted == Known::No {
            return C::int(0);
        }
        let (bytes, bit, flag) = self.element_bytes(e, field);
        let value = bytes.load(bit + width - 1 - hi, hi - lo + 1);
        match flag.as_int() {
            Some(_) => value,
            None => C::Cond(Box::new(flag), Box::new(value), Box::new(C::int(0))),
        }
    }

    /// Stores to a field of an element; does nothing if the element is absent.
    pub(crate) fn write_element(&mut self, e: &Element, field: u32, value: Value) {
        let width = self.field_type(e.header, field).width();
        if width == 0 || e.extracted == Known::No {
            return;
        }
        let (bytes, bit, flag) = self.element_bytes(e, field);
        let mut stores = Block::new();
        store_value(&bytes, bit, width, value, &mut stores);
        match flag.as_int() {
            Some(_) => self.out.append(&mut stores),
            None => self.push(Stmt::If(flag, stores, Block::new())),
        }
    }

    fn element_bytes(&mut self, e: &Element, field: u32) -> (Bytes, u32, C) {
        let (pointer, flag) = self.point(e);
        let layout = &self.p.header_types[self.p.headers[e.header].ty];
        let before = layout.fields[..field as usize].iter();
        let bit = before.map(|f| f.ty.width()).sum();
        let base = match flag.as_int() {
            Some(_) => pointer,
            None => self.target.see(Role::Checked, pointer),
        };
        let len = self.plain_bytes(e.header);
        (Bytes { base, len }, bit, flag)
    }

    /// Makes an element invalid, if it is valid.
    pub(crate) fn clear_element(&mut self, e: &Element) {
        if self.regions.in_parser() {
            // In the parser, another member of the union was extracted, so this one is not valid.
            return;
        }
        let stack = e.member.stack;
        let valid = C::int((e.member.member + 1).into());
        let gone = C::int(INVALID | u64::from(e.member.member + 1));
        let clear = |g: &mut Self, at: C| {
            let kind = g.kind_in_memory(stack, at);
            let is = C::bin(BinOp::Eq, kind.clone(), valid);
            let set = vec![Stmt::Assign(kind, gone)];
            g.push(Stmt::If(is, set, Block::new()));
        };
        match &e.at {
            At::Const(at) => clear(self, C::int((*at).into())),
            At::Run(index) => self.in_bounds(stack, index.clone(), clear),
        }
        self.regions.elements().changed(stack);
        self.touch(e.header);
    }

    /// Returns true if the deparser may have to move the elements of a stack.
    fn is_moved(&self, stack: usize) -> bool {
        let layout = &self.plan.layout;
        let first = self.plan.rolled.stacks[stack].first;
        layout.emits[..layout.relocated]
            .iter()
            .any(|e| e.header == first)
    }

    /// Returns true if a statement only checks that a stack has room for the element that the next statement
    /// extracts. The extraction checks that, too.
    pub(crate) fn is_room_checked(&self, stmt: &ir::Stmt, next: Option<&ir::Stmt>) -> bool {
        let exprs = &self.p.exprs;
        let StmtKind::Verify { cond, .. } = stmt.kind else {
            return false;
        };
        let Some(StmtKind::Extract { header, .. }) = next.map(|s| &s.kind) else {
            return false;
        };
        let HeaderRef::Element(stack, index) = *header else {
            return false;
        };
        let Some(member) = self.plan.rolled.member(stack) else {
            return false;
        };
        let rolled = &self.plan.rolled.stacks[member.stack];
        let is_next = |e: ir::Expr| matches!(exprs[e].kind, ExprKind::Var(v) if v == rolled.next);
        match exprs[cond].kind {
            ExprKind::Binary(BinaryOp::Lt, a, b) => {
                let size = match &exprs[b].kind {
                    ExprKind::Const(bits) => bits.to_u64(),
                    _ => None,
                };
                is_next(index) && is_next(a) && size == Some(rolled.size.into())
            }
            _ => false,
        }
    }

    /// Moves the elements of a rolled stack down by `by` positions.
    pub(crate) fn pop_elements(&mut self, stack: usize, by: u32) {
        let size = self.plan.rolled.stacks[stack].size;
        let by = by.min(size);
        let mut arrays = vec![LocalKind::Kinds(stack), LocalKind::Offsets(stack)];
        if self.is_moved(stack) {
            arrays.push(LocalKind::Lengths(stack));
        }
        for kind in arrays {
            let array = self.local(kind);
            for i in 0..size - by {
                let from = array.clone().index(C::int((i + by).into()));
                self.set(array.clone().index(C::int(i.into())), from);
            }
        }
        let kinds = self.kinds(stack);
        for i in size - by..size {
            self.set(kinds.clone().index(C::int(i.into())), C::int(0));
        }
        self.regions.elements().changed(stack);
        self.touch(self.plan.rolled.stacks[stack].first);
    }

    /// Records an element that the parser found: its offset and its length.
    pub(crate) fn record_element(&mut self, e: &Element, offset: C, length: C) {
        let stack = e.member.stack;
        let size = self.plan.rolled.stacks[stack].size;
        let at = match &e.at {
            At::Const(at) => C::int((*at).into()),
            At::Run(index) => {
                let at = self.pinned_local("element_at", None);
                self.set(at.clone(), index.clone());
                // The program has checked that there is room; this test proves it here.
                self.at_most(&at, u64::from(size) - 1);
                at
            }
        };
        let kind = C::int((e.member.member + 1).into());
        let mut known = vec![
            (LocalKind::Kinds(stack), kind),
            (LocalKind::Offsets(stack), offset),
        ];
        if self.is_moved(stack) {
            known.push((LocalKind::Lengths(stack), length));
        }
        for (array, value) in known {
            let array = self.local(array);
            self.set(array.index(at.clone()), value);
        }
        self.regions.elements().changed(stack);
    }

    pub(crate) fn point_into(&mut self, pointer: &C, offset: C, bytes: u32) {
        let most = self.target.limits().offset;
        let bounded = match (most + 1).is_power_of_two() {
            true => C::bin(BinOp::And, offset, C::int(most)),
            false => offset,
        };
        let place = C::bin(BinOp::Add, C::id("data"), bounded);
        self.set(pointer.clone(), place);
        self.on(Event::Computed(pointer));
        let end = pointer.clone().plus(bytes.into());
        self.goto_reject(C::bin(BinOp::Gt, end, C::id("data_end")));
    }

    /// Emits the code of `f` for each valid element of a stack, in order. `f` gets the element's offset and length.
    pub(crate) fn for_each_valid(&mut self, stack: usize, f: impl FnOnce(&mut Self, ForElement)) {
        let rolled = &self.plan.rolled.stacks[stack];
        let (size, longest) = (rolled.size, rolled.longest);
        let members = rolled.members.len() as u64;
        let (again, done) = (
            self.file.names.fresh("each"),
            self.file.names.fresh("each_done"),
        );
        // If iterations are counted, the number identifies the iteration; otherwise all iterations must be alike.
        let counts = self.plan.forms.iteration_limit.is_some();
        let iteration = match counts {
            true => self.pinned_local("turn", None),
            false => self.summed_local("turn", None),
        };
        let at = self.pinned_local("element_at", None);
        self.set(iteration.clone(), C::int(0));
        self.push(Stmt::Label(again.clone()));
        self.forget();
        self.set(at.clone(), iteration.clone());
        self.on(Event::Computed(&at));
        let outside = C::bin(BinOp::Ge, at.clone(), C::int(size.into()));
        self.push(Stmt::goto_if(outside, done.clone()));
        self.on(Event::Bounded(&at));
        let kind = self.kind_in_memory(stack, at.clone());
        let is = C::bin(BinOp::Sub, kind.cast(CType::U32), C::int(1));
        let valid = C::bin(BinOp::Lt, is, C::int(members));
        let [offsets, lengths] =
            [LocalKind::Offsets(stack), LocalKind::Lengths(stack)].map(|kind| self.local(kind));
        let each = ForElement {
            offset: offsets.index(at.clone()),
            length: lengths.index(at.clone()),
            slot: C::bin(BinOp::Mul, at, C::int(longest.into())),
            longest,
        };
        let block = self.guarded(|g| f(g, each));
        self.push(Stmt::If(valid, block, Block::new()));
        self.push(Stmt::Update(BinOp::Add, iteration, C::int(1)));
        if !counts {
            self.file.contents.loops = true;
            let left = self.target.leave_loop("reject");
            self.out.extend(left);
        }
        self.push(Stmt::Goto(again));
        self.push(Stmt::Label(done));
    }
}

/// Properties of an element in [`Gen::for_each_valid`].
pub(crate) struct ForElement {
    /// Its offset in the packet as it came in, in bytes.
    pub offset: C,
    /// Its length, in bytes.
    pub length: C,
    /// Its offset in memory in which each element has [`ForElement::longest`] bytes.
    pub slot: C,
    /// Greatest length of an element, in bytes.
    pub longest: u32,
}
