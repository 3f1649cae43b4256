//! Instances of a field: tag, extent, contents, and attributes.

use crate::layout::{Frame, Window};
use crate::needs::Needs;
use crate::scan::{stands, word};
use crate::writer::{AT, Helper, MEMORY, Wanted, Writer, byte, here, left, status};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use payload::{
    AttributeKind, CaseKey, Cases, CharSet, Contents, Extent, FieldId, LayoutId, MessageField,
    Only, Site,
};

/// Extent of an instance, as offsets that do not change while its contents are read.
pub(crate) struct InstanceExtent {
    pub start: C,
    pub end: C,
    /// Offset of the next field.
    pub next: C,
    /// Its number, if the extent itself is one.
    pub number: Option<C>,
    /// True if its bytes were already compared with those that it may have.
    pub is_checked: bool,
}

impl Writer<'_> {
    /// Reads an instance, which begins at [`AT`]; `index` is its index in a repetition.
    pub(crate) fn instance(&mut self, frame: &mut Frame, id: FieldId, window: &Window, index: &C) {
        let schema = self.schema;
        let field = &schema.layouts[frame.layout].fields[id];
        self.skip(field, window);
        self.tag(field, window);
        if let Extent::Joined { layout, part } = field.extent {
            return self.joined(frame, id, window, (layout, part));
        }
        let is_open = field.extent == Extent::Contents;
        let choices = self.choices(frame, field, window, is_open);
        let needs = Needs::of(self, frame.layout, id);
        let mut wanted = self.wanted_of(frame.layout, id);
        wanted.retain(|(_, only)| !matches!(only, Only::Member(_)));
        let is_kept = needs.span || !wanted.is_empty() || field.trim.is_some();
        let is_compared = field.min > 0 || field.max.is_some() || field.chars.is_some();
        self.push(Stmt::Comment(match field.extent {
            Extent::Bits(bits) => format!("{}, {bits} bits", field.name),
            _ => field.name.clone(),
        }));
        let start = match is_kept || is_compared || !(is_open || choices.is_empty()) {
            true => self.declare(CType::U32, &field.name, C::id(AT)),
            false => C::id(AT),
        };
        let place = self.place(frame, field, window, start, !choices.is_empty() || is_kept);
        let place = self.checked(field, place);
        self.followed(field, window, &place);
        let number = self.number(field, &place);
        let wants_number = needs.number || wanted.iter().any(|(w, _)| is_number(w));
        let number = match number {
            Some(number) if wants_number => {
                let number = number.cast(needs.number_type());
                match frame.slots[id].number.clone() {
                    Some(slot) => {
                        self.push(Stmt::Assign(slot.clone(), number));
                        Some(slot)
                    }
                    None => {
                        let slot = self.declare(needs.number_type(), &field.name, number);
                        frame.slots[id].number = Some(slot.clone());
                        Some(slot)
                    }
                }
            }
            _ => None,
        };
        self.contents(choices, &place, window, index, is_open);
        let end = match is_open {
            // The end was not known before.
            true => C::id(AT),
            false => place.end.clone(),
        };
        self.keep(frame, id, needs, (&place.start, &end));
        self.agree(frame, id, (&place.start, &end));
        for (wanted, only) in wanted {
            self.found(frame, wanted, only, (&place.start, &end, number.as_ref()));
        }
        if let Contents::Json | Contents::Xml = field.contents {
            let function = self.document(frame.layout, id);
            let args = vec![C::id(MEMORY), place.start, place.end];
            let done = self.declare(CType::U32, "done", C::call(function, args));
            self.fail_if(done.clone(), done);
        }
        if !is_open {
            self.go_to(place.next);
        }
    }

    /// Passes over byte strings that may precede a field.
    fn skip(&mut self, field: &MessageField, window: &Window) {
        if field.skip.is_empty() {
            return;
        }
        let mut all: Vec<&Vec<u8>> = field.skip.iter().filter(|one| !one.is_empty()).collect();
        all.sort_by_key(|one| one.len());
        let here = |bytes: &[u8]| stands(&C::id(AT), window.left(), bytes);
        let single = all.iter().filter(|one| one.len() == 1);
        let eight: Vec<[u8; 8]> = single.map(|one| [one[0]; 8]).collect();
        self.pass(&C::id(AT), |w| {
            // A sender may repeat a single byte a thousand times, so eight are skipped at once.
            for eight in eight {
                let over = Stmt::Update(BinOp::Add, C::id(AT), C::int(8));
                let next = vec![over, crate::writer::may_go_on(), Stmt::Continue];
                w.push(Stmt::If(here(&eight), next, Block::new()));
            }
            let step = all.iter().fold(vec![Stmt::Break], |rest, one| {
                let length = C::int(one.len() as u64);
                let over = vec![Stmt::Update(BinOp::Add, C::id(AT), length)];
                vec![Stmt::If(here(one), over, rest)]
            });
            w.out.extend(step);
        });
        let begins = all
            .iter()
            .flat_map(|one| (1..one.len()).map(|size| &one[..size]));
        let begins = begins.map(|bytes| {
            let size = C::int(bytes.len() as u64);
            C::and(C::bin(BinOp::Eq, window.left(), size), here(bytes))
        });
        if let Some(cut) = begins.reduce(C::or) {
            self.fail_if(cut, status("TRUNCATED"));
        }
    }

    /// Passes over a field's tag.
    fn tag(&mut self, field: &MessageField, window: &Window) {
        if field.tag.is_empty() {
            return;
        }
        self.push(Stmt::Comment(format!(
            "{:?} in front of {}",
            String::from_utf8_lossy(&field.tag),
            field.name
        )));
        for piece in field.tag.chunks(8) {
            let size = C::int(piece.len() as u64);
            let args = vec![
                here(C::id(AT)),
                window.left(),
                C::int(word(piece)),
                size.clone(),
            ];
            let differs = C::pure("message_tag", args);
            let differs = self.declare(CType::U32, "differs", differs);
            self.fail_if(differs.clone(), differs);
            self.push(Stmt::Update(BinOp::Add, C::id(AT), size));
        }
    }

    /// Trims a field, and checks its bytes.
    fn checked(&mut self, field: &MessageField, mut place: InstanceExtent) -> InstanceExtent {
        if let Some(trim) = &field.trim {
            let start = self.declare(CType::U32, &field.name, place.start.clone());
            let end = self.declare(
                CType::U32,
                &format!("{}_end", field.name),
                place.end.clone(),
            );
            let last = || C::bin(BinOp::Sub, end.clone(), C::int(1));
            let one = |op, bound: &C| Stmt::Update(op, bound.clone(), C::int(1));
            let trims = [
                (&start, start.clone(), one(BinOp::Add, &start)),
                (&end, last(), one(BinOp::Sub, &end)),
            ];
            for (bound, at, moved) in trims {
                let none = C::bin(BinOp::Eq, start.clone(), end.clone());
                let over = C::or(none, C::not(is_in(trim, &at)));
                self.pass(bound, |w| {
                    w.push(Stmt::If(over, vec![Stmt::Break], Block::new()));
                    w.push(moved);
                });
            }
            (place.start, place.end) = (start, end);
        }
        let size = left(&place.end, place.start.clone());
        if field.min > 0 {
            let short = C::bin(BinOp::Lt, size.clone(), C::int(field.min as u64));
            self.fail_if(short, status("UNEXPECTED"));
        }
        if let Some(max) = field.max {
            let long = C::bin(BinOp::Gt, size, C::int(max as u64));
            self.fail_if(long, status("UNEXPECTED"));
        }
        if let Some(chars) = field.chars.filter(|_| !place.is_checked) {
            let scan = crate::scan::Scan {
                ends: Vec::new(),
                chars: Some(chars),
                stops_at_bad: true,
                may_be_cut: false,
            };
            let function = self.scan(scan, &field.name);
            let args = vec![C::id(MEMORY), place.start.clone(), place.end.clone()];
            let bad = C::bin(BinOp::And, C::call(function, args), C::id("MESSAGE_BAD"));
            self.fail_if(bad, status("UNEXPECTED"));
        }
        place
    }

    /// Checks the byte after a field.
    fn followed(&mut self, field: &MessageField, window: &Window, place: &InstanceExtent) {
        let Some(set) = &field.followed_by else {
            return;
        };
        let none = C::bin(BinOp::Eq, place.next.clone(), window.end.clone());
        self.fail_if(none, status("TRUNCATED"));
        self.fail_if(C::not(is_in(set, &place.next)), status("UNEXPECTED"));
    }

    /// Returns the number in a field.
    fn number(&mut self, field: &MessageField, place: &InstanceExtent) -> Option<C> {
        if place.number.is_some() {
            return place.number.clone();
        }
        match (&field.contents, &field.extent) {
            (Contents::Number { little_endian }, Extent::Size(size @ 1..=8)) => {
                let bits = 8 * *size as u32;
                let at = here(place.start.clone());
                Some(match little_endian {
                    false => C::pure(format!("load_be{bits}"), vec![at]),
                    true => {
                        let word = C::pure("load_le64", vec![at]);
                        C::bin(BinOp::And, word, C::int(cgen::lower::mask(bits)))
                    }
                })
            }
            (Contents::Number { .. }, _) => {
                self.refuse(format!(
                    "`{}` is a number without a constant size",
                    field.name
                ));
                None
            }
            (Contents::Decimal, _) => {
                let function = self.helper(Helper::Decimal);
                let args = vec![C::id(MEMORY), place.start.clone(), place.end.clone()];
                let number = self.declare(CType::S64, "decimal", C::call(function, args));
                let none = C::bin(BinOp::Eq, number.clone(), C::id("MESSAGE_NO_NUMBER"));
                self.fail_if(none, status("UNEXPECTED"));
                Some(number)
            }
            _ => None,
        }
    }

    /// Returns the layouts that a field may hold and that must be read, each with its condition. The last one may have
    /// none. A value that fits no case is not read, or unexpected in a field that ends with its contents.
    fn choices(
        &mut self,
        frame: &Frame,
        field: &MessageField,
        window: &Window,
        is_open: bool,
    ) -> Vec<(Option<C>, Option<LayoutId>)> {
        let choices = match &field.contents {
            Contents::Layout(layout) => vec![(None, Some(*layout))],
            Contents::Select(by, cases) => {
                let slot = frame.slots[*by].clone();
                let present = slot.present.clone();
                let fits = |key: &CaseKey| {
                    let same = self.is_key(&slot, key, false)?;
                    Some(present.clone().map_or(same.clone(), |p| C::and(p, same)))
                };
                grouped(cases, fits)
            }
            Contents::Starts(cases) => {
                // The field begins here, and ends with the enclosing bytes, unless its own end is known.
                if !is_open && field.extent != Extent::Rest {
                    self.refuse(format!(
                        "`{}` has an end, and is recognised by its first bytes",
                        field.name
                    ));
                }
                let fits = |bytes: &Vec<u8>| Some(stands(&C::id(AT), window.left(), bytes));
                grouped(cases, fits)
            }
            _ => return Vec::new(),
        };
        let depth = window.depth + 1;
        let is_idle = |layout: &Option<LayoutId>| match layout {
            Some(layout) => !is_open && self.is_idle(*layout, depth),
            None => !is_open,
        };
        if choices.iter().all(|(_, layout)| is_idle(layout)) {
            return Vec::new();
        }
        choices
    }

    /// Reads the contents of a field.
    fn contents(
        &mut self,
        choices: Vec<(Option<C>, Option<LayoutId>)>,
        place: &InstanceExtent,
        window: &Window,
        index: &C,
        is_open: bool,
    ) {
        let mut rest = Block::new();
        for (condition, layout) in choices.into_iter().rev() {
            let inner = match is_open {
                true => window.inner(window.end.clone()),
                false => window.inner(place.end.clone()),
            };
            let start = place.start.clone();
            let block = self.block(|w| match layout {
                Some(layout) if is_open || !w.is_idle(layout, inner.depth) => {
                    w.go_to(start);
                    w.layout(layout, &inner, index, None);
                }
                None if is_open => {
                    let failed = w.fail(status("UNEXPECTED"));
                    w.out.extend(failed);
                }
                _ => {}
            });
            rest = match condition {
                None => block,
                Some(condition) => vec![Stmt::If(condition, block, rest)],
            };
        }
        self.out.extend(rest);
    }

    /// Preserves what other fields need of a field.
    fn keep(&mut self, frame: &mut Frame, id: FieldId, needs: Needs, (start, end): (&C, &C)) {
        let slot = &mut frame.slots[id];
        if needs.span {
            match (slot.start.clone(), slot.end.clone()) {
                (Some(kept), Some(kept_end)) => {
                    self.push(Stmt::Assign(kept, start.clone()));
                    self.push(Stmt::Assign(kept_end, end.clone()));
                }
                _ => {
                    let start = start.clone();
                    let name = self.schema.layouts[frame.layout].fields[id].name.clone();
                    let end = match end {
                        C::Ident(name) if name != AT => end.clone(),
                        _ => self.declare(CType::U32, &format!("{name}_end"), end.clone()),
                    };
                    let slot = &mut frame.slots[id];
                    (slot.start, slot.end) = (Some(start), Some(end));
                }
            }
        }
        if let Some(present) = frame.slots[id].present.clone() {
            self.push(Stmt::Assign(present, C::int(1)));
        }
    }

    /// Notes an attribute's value, if it is the first one in the message.
    fn found(
        &mut self,
        frame: &Frame,
        wanted: &Wanted,
        only: &Only,
        (start, end, number): (&C, &C, Option<&C>),
    ) {
        let member = |name: &str| wanted.member.of(C::id(MEMORY)).member(name);
        let Some(conditions) = self.is_instance(frame, only) else {
            return;
        };
        let first = C::bin(BinOp::Lt, start.clone(), member("start"));
        let fits = conditions
            .into_iter()
            .rfold(first, |fits, one| C::and(one, fits));
        let mut then = vec![Stmt::Assign(member("start"), start.clone())];
        match (is_number(wanted), number) {
            (true, Some(number)) => then.push(Stmt::Assign(
                member("number"),
                number.clone().cast(CType::U64),
            )),
            _ => then.push(Stmt::Assign(member("length"), left(end, start.clone()))),
        }
        self.push(Stmt::If(fits, then, Block::new()));
    }

    /// Returns the conditions for an instance to be selected; `None` if it never is.
    fn is_instance(&self, frame: &Frame, only: &Only) -> Option<Vec<C>> {
        match only {
            Only::All | Only::Member(_) => Some(Vec::new()),
            Only::Index(number) => {
                let same = C::bin(BinOp::Eq, frame.index.clone(), C::int(*number as u64));
                Some(vec![same])
            }
            Only::Key(key) => {
                let by = self.schema.layouts[frame.layout].key?;
                let slot = frame.slots[by.field].clone();
                let same = self.is_key(&slot, key, by.ignore_case)?;
                Some(slot.present.into_iter().chain([same]).collect())
            }
        }
    }

    /// Emits failures for conflicting lengths: one that differs from an earlier one or stands beside a coding, and a
    /// second coding.
    fn agree(&mut self, frame: &Frame, id: FieldId, (start, end): (&C, &C)) {
        let Some(next) = &self.schema.next else {
            return;
        };
        let known = |name: &String| {
            let mut all = self.wanted.iter();
            let found = all.find(|wanted| wanted.asked.name == *name);
            found.map(|wanted| wanted.member.of(C::id(MEMORY)))
        };
        let Some(length) = known(&next.length) else {
            return;
        };
        let is_there = |of: &C| {
            C::bin(
                BinOp::Ne,
                of.clone().member("start"),
                C::id("MESSAGE_ABSENT"),
            )
        };
        let chunked = next.chunked.as_ref().and_then(known);
        let conditions = |w: &Self, sites: &[Site]| {
            let here = sites
                .iter()
                .filter(|site| (site.layout, site.field) == (frame.layout, id));
            let all = here.filter_map(|site| {
                let all = w.is_instance(frame, &site.only)?;
                Some(all.into_iter().reduce(C::and).unwrap_or(C::int(1)))
            });
            all.reduce(C::or)
        };
        if let Some(is_length) = conditions(self, &next.lengths.length) {
            let function = self.helper(Helper::Same);
            let size = left(end, start.clone());
            let args = vec![
                C::id(MEMORY),
                length.clone().member("start"),
                start.clone(),
                size.clone(),
            ];
            let same_size = C::bin(BinOp::Eq, length.clone().member("length"), size);
            let same = C::and(same_size, C::call(function, args));
            let differs = C::and(is_there(&length), C::not(same));
            let wrong = chunked
                .as_ref()
                .map_or(differs.clone(), |chunked| C::or(is_there(chunked), differs));
            self.fail_if(C::and(is_length, wrong), status("CONFLICT"));
        }
        if let Some(is_chunked) = conditions(self, &next.lengths.chunked) {
            let wrong = chunked.as_ref().map_or(is_there(&length), |chunked| {
                C::or(is_there(&length), is_there(chunked))
            });
            self.fail_if(C::and(is_chunked, wrong), status("CONFLICT"));
        }
    }

    /// Tests that a field has a value; `None` if it never does.
    fn is_key(&self, slot: &crate::layout::Slot, key: &CaseKey, ignore_case: bool) -> Option<C> {
        match key {
            CaseKey::Number(number) => {
                let number = match u64::try_from(*number) {
                    Ok(number) => C::int(number),
                    Err(_) => C::Signed(i64::try_from(*number).ok()?),
                };
                Some(C::bin(BinOp::Eq, slot.number.clone()?, number))
            }
            CaseKey::Bytes(bytes) => {
                let (start, end) = (slot.start.clone()?, slot.end.clone()?);
                let size = left(&end, start.clone());
                let long = C::bin(BinOp::Eq, size, C::int(bytes.len() as u64));
                let pieces = bytes.chunks(8).enumerate().map(|(number, piece)| {
                    let at = here(start.clone().plus(8 * number as u64));
                    let size = C::int(piece.len() as u64);
                    if !ignore_case {
                        return C::pure(
                            "message_stands",
                            vec![at, size.clone(), C::int(word(piece)), size],
                        );
                    }
                    let small = piece.to_ascii_lowercase();
                    let letters: Vec<u8> = small
                        .iter()
                        .map(|b| 0x20 * u8::from(b.is_ascii_lowercase()))
                        .collect();
                    let args = vec![at, C::int(word(&letters)), C::int(word(&small)), size];
                    C::pure("message_resembles", args)
                });
                Some(pieces.fold(long, C::and))
            }
        }
    }
}

fn is_number(wanted: &Wanted) -> bool {
    matches!(wanted.asked.kind, AttributeKind::Number { .. })
}

/// Groups the cases by layout, followed by the default.
fn grouped<K>(
    cases: &Cases<K>,
    mut fits: impl FnMut(&K) -> Option<C>,
) -> Vec<(Option<C>, Option<LayoutId>)> {
    let mut groups: Vec<(Option<C>, Option<LayoutId>)> = Vec::new();
    for (key, layout) in &cases.cases {
        let Some(condition) = fits(key) else {
            continue;
        };
        match groups.last_mut() {
            Some((Some(known), Some(of))) if of == layout => {
                *known = C::or(known.clone(), condition);
            }
            _ => groups.push((Some(condition), Some(*layout))),
        }
    }
    groups.push((None, cases.default));
    groups
}

/// Tests that the byte at an offset is in a set.
fn is_in(set: &CharSet, at: &C) -> C {
    let others = set.complement();
    let (ranges, others) = (set.ranges(), others.ranges());
    match others.len() < ranges.len() {
        true => C::not(is_one_of(&others, at)),
        false => is_one_of(&ranges, at),
    }
}

fn is_one_of(ranges: &[(u8, u8)], at: &C) -> C {
    let all = ranges.iter().map(|&(first, last)| {
        let byte = byte(at.clone());
        let number = |byte: u8| C::int(byte.into());
        match last - first {
            0 => C::bin(BinOp::Eq, byte, number(first)),
            more => {
                let behind = C::bin(BinOp::Sub, byte.cast(CType::U32), number(first));
                C::bin(BinOp::Le, behind.cast(CType::U32), number(more))
            }
        }
    });
    all.reduce(C::or).unwrap_or(C::int(0))
}
