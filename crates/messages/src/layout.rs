//! Layouts and the repetition of fields. The code mirrors `payload`'s reader, with the lengths of bits and the depths
//! of nesting known at compile time.

use crate::needs::Needs;
use crate::scan::stands;
use crate::writer::{AT, Failing, MEMORY, Writer, any_is_missing, left, status};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use payload::{Contents, Extent, FieldId, LayoutId, MessageLayout, Order, Repeat};

/// Bytes that a layout is read from: their end and their nesting depth.
#[derive(Clone)]
pub(crate) struct Window {
    pub end: C,
    pub depth: usize,
}

impl Window {
    /// Returns a window one level deeper, up to another end.
    pub(crate) fn inner(&self, end: C) -> Window {
        Window {
            end,
            depth: self.depth + 1,
        }
    }

    /// Returns the number of bytes left.
    pub(crate) fn left(&self) -> C {
        left(&self.end, C::id(AT))
    }
}

/// Properties of an instance's field that other fields need.
#[derive(Clone, Default)]
pub(crate) struct Slot {
    pub start: Option<C>,
    pub end: Option<C>,
    pub number: Option<C>,
    /// Condition that it was read, where that is not certain.
    pub present: Option<C>,
}

/// Instance that is being read.
pub(crate) struct Frame {
    pub layout: LayoutId,
    /// Its index in the innermost enclosing repetition.
    pub index: C,
    pub slots: Vec<Slot>,
    /// Number of bits already read of the byte at the current offset.
    pub bit: u32,
}

impl Writer<'_> {
    /// Reads an instance, which begins at [`AT`], and leaves [`AT`] at its end. `preset` is a field that a chain has
    /// set. Returns the instance's slots.
    pub(crate) fn layout(
        &mut self,
        layout: LayoutId,
        window: &Window,
        index: &C,
        preset: Option<(FieldId, C)>,
    ) -> Vec<Slot> {
        let schema = self.schema;
        let known = &schema.layouts[layout];
        if window.depth > schema.limits.depth {
            let failed = self.fail(status("TOO_DEEP"));
            self.out.extend(failed);
            return vec![Slot::default(); known.fields.len()];
        }
        if preset.is_none() && self.nested(layout, window) {
            return vec![Slot::default(); known.fields.len()];
        }
        self.check_depth(window);
        if known.order == Order::Any {
            self.refuse(format!("the fields of `{}` stand in any order", known.name));
        }
        self.push(Stmt::Comment(format!("{}:", known.name)));
        let incomplete = self.begin_whole(known);
        let mut frame = Frame {
            layout,
            index: index.clone(),
            slots: vec![Slot::default(); known.fields.len()],
            bit: 0,
        };
        for field in 0..known.fields.len() {
            self.declare_slot(&mut frame, field, preset.as_ref());
        }
        for field in 0..known.fields.len() {
            self.field(&mut frame, field, window);
            if (layout, window.depth) == (schema.root, 0) && self.stop == Some(field) {
                let asked = self.wanted.iter().filter(|wanted| !wanted.is_hidden);
                let missing = any_is_missing(asked.map(|wanted| &wanted.member));
                let stop = vec![Stmt::Return(Some(status("READ")))];
                self.push(Stmt::Comment("what follows does not matter".into()));
                self.push(Stmt::If(C::not(missing), stop, Block::new()));
            }
        }
        if let Some(incomplete) = incomplete {
            self.push(Stmt::Assign(incomplete, C::id("MESSAGE_ABSENT")));
            self.in_whole = false;
        }
        frame.slots
    }

    /// Emits the note of where an instance begins whose values count only as a whole. Returns the variable, which is
    /// reset after the instance. `None` if its values always count, or if an enclosing instance already has a note.
    fn begin_whole(&mut self, layout: &MessageLayout) -> Option<C> {
        if !layout.whole || std::mem::replace(&mut self.in_whole, true) {
            return None;
        }
        if self.nesting.is_some() || matches!(self.failing, Failing::Joined { .. }) {
            self.refuse(format!(
                "`{}` counts as a whole inside of itself or of joined parts",
                layout.name
            ));
        }
        let name = match &self.incomplete {
            Some(known) => known.clone(),
            None => {
                let name = self.members.fresh("incomplete");
                self.counts.push(name.clone());
                self.incomplete.insert(name).clone()
            }
        };
        let incomplete = C::id(MEMORY).arrow(name);
        self.push(Stmt::Assign(incomplete.clone(), C::id(AT)));
        Some(incomplete)
    }

    /// Declares the variables of a field that may be absent or read several times.
    pub(crate) fn declare_slot(
        &mut self,
        frame: &mut Frame,
        id: FieldId,
        preset: Option<&(FieldId, C)>,
    ) {
        let field = &self.schema.layouts[frame.layout].fields[id];
        let preset = preset
            .filter(|(link, _)| *link == id)
            .map(|(_, value)| value.clone());
        let needs = Needs::of(self, frame.layout, id);
        let is_certain = field.when.is_none() && field.repeat == Repeat::Once && preset.is_none();
        if is_certain {
            return;
        }
        let is_preset = preset.is_some();
        if needs.number {
            let value = preset.unwrap_or(C::int(0));
            let number = self.declare(needs.number_type(), &field.name, value);
            frame.slots[id].number = Some(number);
        }
        if needs.span {
            let start = self.declare(CType::U32, &field.name, C::int(0));
            let end = self.declare(CType::U32, &format!("{}_end", field.name), C::int(0));
            (frame.slots[id].start, frame.slots[id].end) = (Some(start), Some(end));
        }
        if needs.presence && !is_preset {
            let wish = format!("has_{}", field.name);
            frame.slots[id].present = Some(self.declare(CType::U32, &wish, C::int(0)));
        }
    }

    /// Reads all occurrences of a field.
    pub(crate) fn field(&mut self, frame: &mut Frame, id: FieldId, window: &Window) {
        let schema = self.schema;
        let field = &schema.layouts[frame.layout].fields[id];
        let is_plain = field.when.is_none() && field.repeat == Repeat::Once;
        if matches!(field.extent, Extent::Bits(_)) && !is_plain {
            self.refuse(format!("`{}` has bits that may be missing", field.name));
        }
        match &field.when {
            None => self.repetition(frame, id, window),
            Some(when) => {
                let holds = self.condition(frame, when);
                let then = self.block(|w| w.repetition(frame, id, window));
                self.push(Stmt::If(holds, then, Block::new()));
            }
        }
    }

    fn repetition(&mut self, frame: &mut Frame, id: FieldId, window: &Window) {
        let schema = self.schema;
        let field = &schema.layouts[frame.layout].fields[id];
        // With an order comparison, the verifier would learn a new bound in each iteration.
        let at_end = C::bin(BinOp::Eq, C::id(AT), window.end.clone());
        let around = frame.index.clone();
        match &field.repeat {
            Repeat::Once => self.instance(frame, id, window, &around),
            Repeat::Optional => {
                let there = self.block(|w| w.instance(frame, id, window, &around));
                self.push(Stmt::If(C::not(at_end), there, Block::new()));
            }
            Repeat::ToEnd => {
                if let Some(size) = self.plain_size(frame.layout, id) {
                    let rest = C::bin(BinOp::Mod, window.left(), C::int(size));
                    self.push(Stmt::Comment(format!("{}:", field.name)));
                    self.fail_if(rest, status("TRUNCATED"));
                    return self.go_to(window.end.clone());
                }
                let over = Stmt::If(at_end, vec![Stmt::Break], Block::new());
                self.iterations(frame, id, window, vec![over]);
            }
            Repeat::Count(sum) => {
                let times = self.sum(frame, sum);
                let times = self.declare(CType::S64, "times", times);
                let none = C::bin(BinOp::Le, times.clone(), C::int(0));
                let over = Stmt::If(none, vec![Stmt::Break], Block::new());
                let counted = Stmt::Update(BinOp::Sub, times, C::int(1));
                self.iterations(frame, id, window, vec![over, counted]);
            }
            Repeat::Stop(ends) => {
                let mut ends: Vec<&Vec<u8>> = ends.iter().collect();
                ends.sort_by_key(|end| std::cmp::Reverse(end.len()));
                let stop = |end: &Vec<u8>| {
                    let length = C::int(end.len() as u64);
                    let there = vec![Stmt::Update(BinOp::Add, C::id(AT), length), Stmt::Break];
                    Stmt::If(stands(&C::id(AT), window.left(), end), there, Block::new())
                };
                let mut first: Block = ends.iter().copied().map(stop).collect();
                let failed = self.fail(status("TRUNCATED"));
                // The bytes that are left may be the start of a stop string.
                let begins = ends
                    .iter()
                    .flat_map(|end| (1..end.len()).map(|size| &end[..size]));
                let begins = begins.map(|bytes| {
                    let size = C::int(bytes.len() as u64);
                    let alone = C::bin(BinOp::Eq, window.left(), size);
                    C::and(alone, stands(&C::id(AT), window.left(), bytes))
                });
                let none = begins.fold(at_end, C::or);
                first.push(Stmt::If(none, failed, Block::new()));
                self.iterations(frame, id, window, first);
            }
            Repeat::Chain(link) => self.chain(frame, id, window, *link),
        }
    }

    /// Emits the loop of a repetition; each iteration begins with `first`.
    fn iterations(&mut self, frame: &mut Frame, id: FieldId, window: &Window, first: Block) {
        let index = self.index();
        let makes_progress = self.makes_progress(frame.layout, id);
        self.repeat(&C::id(AT), |w| {
            w.out.extend(first);
            let before = (!makes_progress).then(|| w.declare(CType::U32, "before", C::id(AT)));
            w.instance(frame, id, window, &index);
            w.progress(before);
            w.next_index(&index);
        });
    }

    /// Reads a chain: each instance decides whether another follows.
    fn chain(&mut self, frame: &mut Frame, id: FieldId, window: &Window, first: FieldId) {
        let schema = self.schema;
        let layout = &schema.layouts[frame.layout];
        let Contents::Layout(item) = layout.fields[id].contents else {
            return;
        };
        let name = &layout.fields[first].name;
        let mut fields = schema.layouts[item].fields.iter();
        let Some(link) = fields.position(|field| field.name == *name) else {
            return;
        };
        let number = frame.slots[first].number.clone().unwrap_or(C::int(0));
        let next = self.declare(CType::S64, name, number);
        let index = self.index();
        self.repeat(&C::id(AT), |w| {
            let over = C::bin(BinOp::Eq, next.clone(), C::int(0));
            w.push(Stmt::If(over, vec![Stmt::Break], Block::new()));
            let before = w.declare(CType::U32, "before", C::id(AT));
            let inner = window.inner(window.end.clone());
            let slots = w.layout(item, &inner, &index, Some((link, next.clone())));
            w.progress(Some(before));
            if let Some(read) = slots[link].number.clone() {
                w.push(Stmt::Assign(next.clone(), read));
            }
            w.next_index(&index);
        });
    }

    /// Joins the fields of consecutive instances by moving them together. An instance that is malformed ends them.
    pub(crate) fn joined(
        &mut self,
        frame: &Frame,
        id: FieldId,
        window: &Window,
        (layout, part): (LayoutId, FieldId),
    ) {
        let contents = match self.schema.layouts[frame.layout].fields[id].contents {
            Contents::Layout(contents) => contents,
            _ => return self.refuse("joined parts hold no layout"),
        };
        if !matches!(self.failing, Failing::Return) {
            return self.refuse("joined parts have joined parts");
        }
        if self.reads_names(contents) {
            return self.refuse("there are DNS names in joined parts");
        }
        if self.is_wanted_within(layout) {
            return self.refuse("attributes around joined parts are asked for");
        }
        let zero = || C::int(0);
        let parts = self.declare(CType::U32, "parts", zero());
        let next = self.declare(CType::U32, "next", C::id(AT));
        let start = self.declare(CType::U32, "start", zero());
        let end = self.declare(CType::U32, "joined_end", zero());
        let done = self.names.fresh("joined");
        self.failing = Failing::Joined {
            parts: parts.clone(),
            done: done.clone(),
        };
        self.repeat(&C::id(AT), |w| {
            let over = C::bin(BinOp::Eq, C::id(AT), window.end.clone());
            w.push(Stmt::If(over, vec![Stmt::Break], Block::new()));
            let inner = window.inner(window.end.clone());
            let slots = w.layout(layout, &inner, &C::int(0), None);
            let none = C::bin(BinOp::Eq, C::id(AT), next.clone());
            w.push(Stmt::If(none, vec![Stmt::Break], Block::new()));
            let Slot {
                start: Some(from),
                end: Some(to),
                ..
            } = slots[part].clone()
            else {
                return;
            };
            let first = vec![
                Stmt::Assign(start.clone(), from.clone()),
                Stmt::Assign(end.clone(), to.clone()),
            ];
            let further = w.block(|w| {
                let length = left(&to, from.clone());
                let move_to = w.helper(crate::writer::Helper::Move);
                let mut args = vec![C::id(MEMORY), end.clone(), from.clone()];
                let byte = C::call("message_move_byte", args.clone());
                args.push(length.clone());
                // An attacker sends as many parts as fit; so parts of one byte are moved without a call.
                w.push(Stmt::If(
                    C::bin(BinOp::Eq, length.clone(), C::int(1)),
                    vec![Stmt::Expr(byte)],
                    vec![Stmt::Expr(C::call(move_to, args))],
                ));
                w.push(Stmt::Update(BinOp::Add, end.clone(), length));
            });
            w.push(Stmt::If(C::not(parts.clone()), first, further));
            w.push(Stmt::Assign(parts.clone(), C::int(1)));
            w.push(Stmt::Assign(next.clone(), C::id(AT)));
        });
        self.failing = Failing::Return;
        self.push(Stmt::Label(done));
        self.go_to(start);
        self.layout(contents, &window.inner(end), &C::int(0), None);
        self.go_to(next);
    }

    /// Returns the variable for the index of a repetition's instances, if an attribute depends on it.
    fn index(&mut self) -> C {
        match self.counts_instances() {
            true => {
                let name = self.members.fresh("count");
                self.counts.push(name.clone());
                let count = C::id(MEMORY).arrow(name);
                self.push(Stmt::Assign(count.clone(), C::int(0)));
                count
            }
            false => C::int(0),
        }
    }

    fn next_index(&mut self, index: &C) {
        if index.as_int().is_none() {
            self.push(Stmt::Update(BinOp::Add, index.clone(), C::int(1)));
        }
    }

    /// Emits a failure for an instance of a repetition that consumed no byte.
    fn progress(&mut self, before: Option<C>) {
        if let Some(before) = before {
            let none = C::bin(BinOp::Eq, C::id(AT), before);
            self.fail_if(none, status("UNEXPECTED"));
        }
    }

    /// Returns the size of a field's instances if nothing matters but that they are complete.
    fn plain_size(&self, layout: LayoutId, id: FieldId) -> Option<u64> {
        let field = &self.schema.layouts[layout].fields[id];
        let Extent::Size(size) = field.extent else {
            return None;
        };
        let needs = Needs::of(self, layout, id);
        let is_plain = field.tag.is_empty()
            && field.skip.is_empty()
            && matches!(field.contents, Contents::Bytes | Contents::Number { .. })
            && field.chars.is_none()
            && field.followed_by.is_none()
            && field.trim.is_none()
            && field.min <= size
            && field.max.is_none_or(|max| size <= max)
            && !(needs.number || needs.span || needs.presence)
            && self.wanted_of(layout, id).is_empty();
        (is_plain && size > 0).then_some(size as u64)
    }
}
