//! Functions that search for the end of a field, eight bytes at a time. If few ranges of bytes stop a search, all eight
//! bytes are compared with these ranges. From a byte on that stops the search but does not end the field, the kinds of
//! all eight are looked up. So no byte costs more than others, whatever follows it.

use crate::file::array;
use crate::writer::{AT, END, MEMORY, Writer, byte, here, left, may_go_on, status};
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type as CType};
use payload::{CharSet, MessageField};
use smol_str::SmolStr;

/// Search for the end of a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Scan {
    /// Byte strings, any of which ends the field.
    pub ends: Vec<Vec<u8>>,
    /// Bytes that the field may have before its end.
    pub chars: Option<CharSet>,
    /// True if another byte ends the search: then the rest of the field does not matter.
    pub stops_at_bad: bool,
    /// True if the last byte may be the first one of a truncated end.
    pub may_be_cut: bool,
}

/// Comparisons that a byte must pass to stop a search. They are few enough to compare eight bytes at once.
#[derive(Default)]
struct Ranges {
    /// Bound below which all bytes may stop the search.
    below: Option<u64>,
    /// Bound from which on all bytes may stop the search.
    from: Option<u64>,
    /// Single bytes.
    equal: Vec<u8>,
}

/// Greatest number of comparisons with single bytes; for more, a table of all bytes is faster.
const MOST_EQUAL: usize = 4;

/// Kinds of bytes that a search distinguishes, a bit each.
struct Kinds {
    /// Byte of each kind, except the kind of bytes that are not allowed in the field.
    bytes: Vec<u8>,
    /// Kinds of the bytes of each end.
    ends: Vec<Vec<usize>>,
    /// Number of bytes, of eight, at which an end can be recognised.
    step: u64,
}

/// Kind of the bytes that are not allowed in the field.
const BAD: u8 = 0x80;
/// Greatest number of other kinds.
const MOST_KINDS: usize = 7;
/// Longest end, in bytes, that is recognised in one look.
const LONGEST: usize = 4;

impl Scan {
    fn is_bad(&self, byte: u8) -> bool {
        self.chars.as_ref().is_some_and(|c| !c.contains(byte))
    }

    /// Returns true if the first byte that stops the search is always an end.
    fn finds_bytes_alone(&self) -> bool {
        let ranges = self.ranges();
        ranges.is_some_and(|ranges| ranges.are_ends_alone(self))
    }

    /// Returns the bytes that are not allowed in the field but may be its last byte so far: then they may begin an end.
    fn begun(&self) -> impl Iterator<Item = u8> {
        let matters = self.may_be_cut && self.stops_at_bad;
        let longer = self.ends.iter().filter(move |end| matters && end.len() > 1);
        let mut firsts: Vec<u8> = longer.map(|end| end[0]).collect();
        firsts.retain(|&first| self.is_bad(first));
        firsts.sort_unstable();
        firsts.dedup();
        firsts.into_iter()
    }

    fn stops_at(&self, byte: u8) -> bool {
        let ends = self.ends.iter().any(|end| end.first() == Some(&byte));
        ends || self.is_bad(byte)
    }

    /// Returns comparisons that hold for every byte that stops the search, and for few others; `None` if that takes too
    /// many.
    fn ranges(&self) -> Option<Ranges> {
        let mut runs: Vec<(u8, u8)> = Vec::new();
        for byte in (0..=255u8).filter(|&byte| self.stops_at(byte)) {
            match runs.last_mut() {
                // A single byte between two runs may stop the search needlessly.
                Some((_, last)) if byte - *last <= 2 => *last = byte,
                _ => runs.push((byte, byte)),
            }
        }
        let mut ranges = Ranges::default();
        for (first, last) in runs {
            match (first, last) {
                (0, 1..=127) => ranges.below = Some(u64::from(last) + 1),
                (1..=128, 255) => ranges.from = Some(first.into()),
                _ if last - first < 2 => ranges.equal.extend(first..=last),
                _ => return None,
            }
        }
        (ranges.equal.len() <= MOST_EQUAL).then_some(ranges)
    }
}

impl Kinds {
    /// Returns `None` if the ends have too many bytes, or too many different ones.
    fn of(scan: &Scan) -> Option<Kinds> {
        let mut bytes = scan.ends.concat();
        bytes.sort_unstable();
        bytes.dedup();
        let longest = scan.ends.iter().map(Vec::len).max().unwrap_or(1);
        if bytes.len() > MOST_KINDS || longest > LONGEST {
            return None;
        }
        let kind = |byte: &u8| bytes.iter().position(|b| b == byte).unwrap_or(0);
        Some(Kinds {
            ends: (scan.ends.iter())
                .map(|end| end.iter().map(kind).collect())
                .collect(),
            step: 9 - longest as u64,
            bytes,
        })
    }

    /// Returns the kinds of a byte.
    fn of_byte(&self, scan: &Scan, byte: u8) -> u64 {
        let bad = if scan.is_bad(byte) { BAD } else { 0 };
        let own = self.bytes.iter().position(|&known| known == byte);
        u64::from(own.map_or(bad, |kind| bad | 1 << kind))
    }

    /// Marks the positions at which bytes of these kinds follow one another. Other bits of the result mean nothing.
    fn standing(kinds: &[usize]) -> C {
        let all = kinds.iter().enumerate().map(|(at, kind)| {
            match 8 * at as u64 + *kind as u64 {
                // The mark of a byte is its highest bit.
                up @ 0..7 => C::bin(BinOp::Shl, C::id("kinds"), C::int(7 - up)),
                7 => C::id("kinds"),
                down => C::bin(BinOp::Shr, C::id("kinds"), C::int(down - 7)),
            }
        });
        let all = all.reduce(|a, b| C::bin(BinOp::And, a, b));
        all.unwrap_or(C::int(0))
    }

    /// Marks the positions at which an end stands.
    fn ends(&self) -> Option<C> {
        let all = self.ends.iter().map(|end| Kinds::standing(end));
        all.reduce(|a, b| C::bin(BinOp::Or, a, b))
    }

    /// Marks the bytes that are not allowed in the field, if they may begin a truncated end.
    fn begun(&self, scan: &Scan) -> Option<C> {
        let kind = |first| self.bytes.iter().position(|&known| known == first);
        let marks = scan.begun().filter_map(kind);
        let marks = marks.map(|kind| Kinds::standing(&[kind]));
        marks.reduce(|a, b| C::bin(BinOp::Or, a, b))
    }
}

impl Writer<'_> {
    /// Returns the function for a search; emits it on first use. It takes an offset and an end, and returns the offset
    /// of the first end of the field, or `MESSAGE_NO_END`. `MESSAGE_BAD` is added if a byte that is not allowed
    /// precedes it.
    pub(crate) fn scan(&mut self, scan: Scan, field: &str) -> SmolStr {
        if let Some((_, name)) = self.scans.iter().find(|(known, _)| *known == scan) {
            return name.clone();
        }
        let wish = format!("{}_end_of_{field}", self.structure);
        let name = self.file.fresh(&wish);
        let body = self.scan_body(&scan, &name);
        let params = vec![(CType::U32, AT.into()), (CType::U32, END.into())];
        self.function(&name, CType::U32, params, body);
        self.scans.push((scan, name.clone()));
        name
    }

    /// Returns the offset of the first end of a field that begins at [`AT`]. Short fields take no call of the function.
    /// These are fields whose end is among the next eight bytes, if only ends stop the search; otherwise empty fields,
    /// or fields of one byte where empty ones are impossible. An attacker sends as many fields as fit.
    pub(crate) fn end(&mut self, scan: Scan, field: &MessageField, window_end: &C) -> C {
        let single = scan.ends.iter().filter(|end| end.len() == 1);
        let single: Vec<u8> = single.map(|end| end[0]).collect();
        let (is_alone, is_single) = (scan.finds_bytes_alone(), single.len() == scan.ends.len());
        let ranges = scan.ranges();
        let stops_at_bad = scan.stops_at_bad;
        let function = self.scan(scan, &field.name);
        let table = self
            .scan_tables
            .iter()
            .find(|(known, _)| *known == function);
        let table = table.map(|(_, table)| table.clone());
        let found = C::call(function, vec![C::id(MEMORY), at(), window_end.clone()]);
        let wish = format!("{}_end", field.name);
        let an_end = |offset: C| {
            let is = |one: &u8| C::bin(BinOp::Eq, byte(offset.clone()), C::int((*one).into()));
            single.iter().map(is).reduce(C::or)
        };
        let (bytes, short) = match (field.min, table) {
            (0, _) => (0, an_end(at())),
            (1, Some(table)) if is_single && stops_at_bad => {
                let may_stand = C::not(C::Ident(table).index(byte(at())));
                (1, an_end(at().plus(1)).map(|end| C::and(end, may_stand)))
            }
            _ => (0, None),
        };
        let Some(short) = short else {
            return self.declare(CType::U32, &wish, found);
        };
        let enough = match bytes {
            0 => C::bin(BinOp::Ne, at(), window_end.clone()),
            more => C::bin(BinOp::Gt, left(window_end, at()), C::int(more)),
        };
        if let (true, 0, Some(ranges)) = (is_alone, bytes, ranges) {
            let end = self.declare(CType::U32, &wish, no_end());
            let near = vec![C::id("stops"), at(), left(window_end, at())];
            let near = C::pure("message_near", near);
            let look = vec![
                Stmt::decl(CType::U64, "word", C::pure("load_le64", vec![here(at())])),
                Stmt::decl(CType::U64, "stops", ranges.stops()),
                Stmt::If(
                    C::id("stops"),
                    vec![Stmt::Assign(end.clone(), near)],
                    vec![Stmt::If(
                        C::bin(BinOp::Gt, left(window_end, at()), C::int(8)),
                        vec![Stmt::Assign(end.clone(), found)],
                        Block::new(),
                    )],
                ),
            ];
            self.push(Stmt::If(enough, look, Block::new()));
            return end;
        }
        let end = self.declare(CType::U32, &wish, at().plus(bytes));
        let call = vec![Stmt::Assign(end.clone(), found)];
        let is_short = C::and(enough, short);
        self.push(Stmt::If(C::not(is_short), call, Block::new()));
        end
    }

    fn scan_body(&mut self, scan: &Scan, name: &SmolStr) -> Block {
        let mut body = vec![Stmt::If(
            C::not(C::id(MEMORY)),
            vec![Stmt::Return(Some(no_end()))],
            Block::new(),
        )];
        if scan.keeps_bad() {
            body.push(Stmt::decl(CType::U32, "bad", C::int(0)));
        }
        body.push(Stmt::decl(CType::U32, "left", left(&C::id(END), at())));
        // `left` decreases in each iteration, but the verifier learns nothing new.
        let mut iteration = vec![scan.nothing_in(0)];
        let ranges = scan.ranges();
        if let Some(ranges) = &ranges {
            iteration.extend(scan.by_ranges(ranges));
        }
        if !scan.finds_bytes_alone() {
            iteration.extend(match Kinds::of(scan) {
                Some(kinds) => self.by_kinds(scan, &kinds, name),
                None => self.by_byte(scan, ranges.is_some(), name),
            });
            iteration.push(may_go_on());
        }
        body.push(Stmt::Loop(iteration));
        body.push(Stmt::Label(crate::writer::ENDLESS.into()));
        body.push(Stmt::Return(Some(scan.with_bad(no_end()))));
        body
    }

    /// Classifies the next bytes by their kinds, in constant time.
    fn by_kinds(&mut self, scan: &Scan, kinds: &Kinds, name: &SmolStr) -> Block {
        let table = self.kinds_table(|byte| kinds.of_byte(scan, byte), name);
        self.scan_tables.push((name.clone(), table.clone()));
        let args = vec![here(at()), C::id("left"), C::Ident(table)];
        let read = C::call("message_kinds", args);
        let mut iteration = vec![Stmt::decl(CType::U64, "kinds", read)];
        let places = || C::int((0..kinds.step).fold(0, |all, _| all << 8 | 0x80));
        let ends = kinds.ends();
        let has_ends = ends.is_some();
        if let Some(ends) = ends {
            let ends = C::bin(BinOp::And, ends, places());
            iteration.push(Stmt::decl(CType::U64, "ends", ends));
        }
        if scan.chars.is_some() {
            let mut bads = C::bin(BinOp::And, C::id("kinds"), places());
            if has_ends {
                let before = C::pure("marks_before", vec![C::id("ends")]);
                bads = C::bin(BinOp::And, bads, before);
            }
            if let Some(begun) = kinds.begun(scan) {
                bads = C::call("message_but_last", vec![bads, begun, C::id("left")]);
            }
            iteration.push(Stmt::If(bads, vec![scan.found_bad()], Block::new()));
        }
        if has_ends {
            let first = C::pure("first_byte", vec![C::id("ends")]);
            let there = C::bin(BinOp::Add, at(), first.cast(CType::U32));
            let found = vec![Stmt::Return(Some(scan.with_bad(there)))];
            iteration.push(Stmt::If(C::id("ends"), found, Block::new()));
        }
        iteration.push(scan.nothing_in(kinds.step));
        iteration.extend(move_on(C::int(kinds.step)));
        iteration
    }

    /// Tests the next byte alone; if the search `stopped` here, the byte does not begin an end.
    fn by_byte(&mut self, scan: &Scan, stopped: bool, name: &SmolStr) -> Block {
        let mut iteration = Block::new();
        if !stopped {
            iteration.push(Stmt::decl(CType::U32, "byte", byte(at())));
            iteration.push(scan.end_here(C::id("byte")));
        }
        if scan.chars.is_some() {
            let kind = |byte| u64::from(if scan.is_bad(byte) { BAD } else { 0 });
            let mut bad = C::Ident(self.kinds_table(kind, name)).index(byte(at()));
            let begins = scan
                .begun()
                .map(|first| C::bin(BinOp::Eq, byte(at()), C::int(first.into())));
            if let Some(begins) = begins.reduce(C::or) {
                let is_last = C::bin(BinOp::Eq, C::id("left"), C::int(1));
                bad = C::and(bad, C::not(C::and(is_last, begins)));
            }
            iteration.push(Stmt::If(bad, vec![scan.found_bad()], Block::new()));
        }
        iteration.extend(move_on(C::int(1)));
        iteration
    }

    /// Adds an array with the kinds of each byte.
    fn kinds_table(&mut self, kinds: impl Fn(u8) -> u64, function: &SmolStr) -> SmolStr {
        let name = self.file.fresh(&format!("{function}_kinds"));
        let values = &mut (0..=255).map(kinds);
        self.tables.push(array(&name, CType::U8, 256, values));
        name
    }
}

impl Scan {
    /// Returns true if the search continues after a byte that is not allowed, and remembers it.
    fn keeps_bad(&self) -> bool {
        self.chars.is_some() && !self.stops_at_bad
    }

    fn with_bad(&self, value: C) -> C {
        match self.keeps_bad() {
            true => C::bin(BinOp::Or, value, C::id("bad")),
            false => value,
        }
    }

    fn found_bad(&self) -> Stmt {
        let bad = || C::id("MESSAGE_BAD");
        match self.stops_at_bad {
            true => Stmt::Return(Some(C::bin(BinOp::Or, no_end(), bad()))),
            false => Stmt::Assign(C::id("bad"), bad()),
        }
    }

    /// Ends the search if at most `bytes` are left, which contain no end.
    fn nothing_in(&self, bytes: u64) -> Stmt {
        self.nothing_if(C::bin(BinOp::Le, C::id("left"), C::int(bytes)))
    }

    fn nothing_if(&self, over: C) -> Stmt {
        let nothing = vec![Stmt::Return(Some(self.with_bad(no_end())))];
        Stmt::If(over, nothing, Block::new())
    }

    /// Ends the search if one of the ends stands here. `byte` is compared with the ends of one byte.
    fn end_here(&self, byte: C) -> Stmt {
        let mut ends: Vec<&Vec<u8>> = self.ends.iter().collect();
        ends.sort_by_key(|end| std::cmp::Reverse(end.len()));
        let found = ends.into_iter().map(|end| match end[..] {
            [one] => C::bin(BinOp::Eq, byte.clone(), C::int(one.into())),
            _ => stands(&at(), C::id("left"), end),
        });
        let found = found.reduce(C::or).unwrap_or(C::int(0));
        let there = vec![Stmt::Return(Some(self.with_bad(at())))];
        Stmt::If(found, there, Block::new())
    }

    /// Passes over eight bytes if none of them stops the search. Otherwise moves to the first one that does, and tests
    /// for an end.
    fn by_ranges(&self, ranges: &Ranges) -> Block {
        let word = C::pure("load_le64", vec![here(at())]);
        let mut none = vec![self.nothing_in(8)];
        none.extend(move_on(C::int(8)));
        none.extend([may_go_on(), Stmt::Continue]);
        let mut iteration = vec![
            Stmt::decl(CType::U64, "word", word),
            Stmt::decl(CType::U64, "stops", ranges.stops()),
            Stmt::If(C::not(C::id("stops")), none, Block::new()),
            Stmt::decl(
                CType::U32,
                "stop",
                C::pure("first_byte", vec![C::id("stops")]),
            ),
            self.nothing_in_first(),
        ];
        if ranges.are_ends_alone(self) {
            let there = C::bin(BinOp::Add, at(), C::id("stop"));
            iteration.push(Stmt::Return(Some(there)));
            return iteration;
        }
        iteration.extend(move_on(C::id("stop")));
        if !self.ends.is_empty() {
            iteration.push(Stmt::decl(CType::U32, "byte", byte(at())));
            iteration.push(self.end_here(C::id("byte")));
        }
        iteration
    }

    fn nothing_in_first(&self) -> Stmt {
        self.nothing_if(C::bin(BinOp::Le, C::id("left"), C::id("stop")))
    }
}

fn at() -> C {
    C::id(AT)
}

fn no_end() -> C {
    C::id("MESSAGE_NO_END")
}

/// Advances by a number of the bytes that are left.
fn move_on(by: C) -> [Stmt; 2] {
    [
        Stmt::Update(BinOp::Add, at(), by.clone()),
        Stmt::Update(BinOp::Sub, C::id("left"), by),
    ]
}

impl Ranges {
    /// Returns true if only ends, of one byte each, stop the search: then the first mark is always right.
    fn are_ends_alone(&self, scan: &Scan) -> bool {
        let bytes = scan.ends.iter().all(|end| end.len() == 1);
        bytes
            && scan.chars.is_none()
            && self.equal.iter().all(|&byte| scan.stops_at(byte))
            && self.below.is_none()
            && self.from.is_none()
    }

    /// Marks the bytes of `word` that may stop the search.
    fn stops(&self) -> C {
        let word = || C::id("word");
        let below = self
            .below
            .map(|n| C::pure("bytes_below", vec![word(), C::int(n)]));
        let from = self
            .from
            .map(|n| C::pure("bytes_from", vec![word(), C::int(n)]));
        let equal = self.equal.iter().map(|&byte| {
            let all = u64::from(byte) * 0x0101_0101_0101_0101;
            let differs = C::bin(BinOp::Xor, word(), C::int(all));
            C::pure("zero_bytes", vec![differs])
        });
        let all = below.into_iter().chain(from).chain(equal);
        all.reduce(|a, b| C::bin(BinOp::Or, a, b))
            .unwrap_or(C::int(0))
    }
}

/// Tests that bytes stand at an offset with `left` bytes after it.
pub(crate) fn stands(offset: &C, left: C, bytes: &[u8]) -> C {
    let pieces = bytes.chunks(8).enumerate().map(|(number, piece)| {
        let skipped = 8 * number as u64;
        let rest = match skipped {
            0 => left.clone(),
            _ => C::bin(BinOp::Sub, left.clone(), C::int(skipped)),
        };
        let args = vec![
            here(offset.clone().plus(skipped)),
            rest,
            C::int(word(piece)),
            C::int(piece.len() as u64),
        ];
        C::pure("message_stands", args)
    });
    pieces.reduce(C::and).unwrap_or(C::int(1))
}

/// Tests that bytes stand at an offset of a message of `all` bytes, as far as it has bytes there.
pub(crate) fn may_stand(offset: usize, all: &C, bytes: &[u8]) -> C {
    let pieces = bytes.chunks(8).enumerate().map(|(number, piece)| {
        let at = C::int((offset + 8 * number) as u64);
        let args = vec![
            here(at.clone()),
            left(all, at.clone()),
            C::int(word(piece)),
            C::int(piece.len() as u64),
        ];
        let found = C::pure("message_tag", args);
        let differs = C::bin(BinOp::Eq, found, status("UNEXPECTED"));
        C::or(C::bin(BinOp::Le, all.clone(), at), C::not(differs))
    });
    pieces.reduce(C::and).unwrap_or(C::int(1))
}

/// Packs up to 8 bytes into a word, the first byte lowest.
pub fn word(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().take(8).enumerate();
    bytes.fold(0, |sum, (at, &byte)| sum | u64::from(byte) << (8 * at))
}
