//! Functions that look for the end of a field, eight bytes at a time where the bytes in front of it are of a few ranges.

use super::writer::{AT, END, MEMORY, Writer, byte, here, left, may_go_on, status};
use cgen::tree::{BinOp, Block, Expr as C, Item, Stmt, Type as CType};
use payload::CharSet;
use smol_str::SmolStr;

/// What a function looks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Scan {
    /// The byte strings of which one ends the field.
    pub ends: Vec<Vec<u8>>,
    /// The bytes that may stand in front of it.
    pub chars: Option<CharSet>,
}

/// Comparisons of a byte by which it may be one that a search stops at: few enough that eight bytes are compared at once.
#[derive(Default)]
struct Ranges {
    /// Bytes below this.
    below: Option<u64>,
    /// Bytes from this on.
    from: Option<u64>,
    /// These bytes.
    equal: Vec<u8>,
}

/// More comparisons with single bytes take longer than a table of all.
const MOST_EQUAL: usize = 4;

impl Scan {
    fn stops_at(&self, byte: u8) -> bool {
        let ends = self.ends.iter().any(|end| end.first() == Some(&byte));
        ends || self.chars.as_ref().is_some_and(|c| !c.contains(byte))
    }

    /// Comparisons that hold for every byte that the search stops at, and for few others; `None` if that takes too many.
    fn ranges(&self) -> Option<Ranges> {
        let mut runs: Vec<(u8, u8)> = Vec::new();
        for byte in (0..=255u8).filter(|&byte| self.stops_at(byte)) {
            match runs.last_mut() {
                // A single byte between two runs stops the search without need.
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

impl Writer<'_> {
    /// The function for a search, which is written on first use: from an offset and an end to the offset of the first end of the field, or
    /// `MESSAGE_NO_END`; with `MESSAGE_BAD` if a byte that cannot stand there is in front of it.
    pub(super) fn scan(&mut self, scan: Scan, field: &str) -> SmolStr {
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

    fn scan_body(&mut self, scan: &Scan, name: &SmolStr) -> Block {
        let at = || C::id(AT);
        let assign = |dst: C, value: C| Stmt::Assign(dst, value);
        let no_end = || C::id("MESSAGE_NO_END");
        let with_bad = |value: C| match scan.chars {
            Some(_) => C::bin(BinOp::Or, value, C::id("bad")),
            None => value,
        };
        let nothing = || Stmt::Return(Some(with_bad(no_end())));
        let few = |most: C| {
            Stmt::If(
                C::bin(BinOp::Le, C::id("left"), most),
                vec![nothing()],
                Block::new(),
            )
        };
        let move_on = |by: C| {
            [
                Stmt::Update(BinOp::Add, at(), by.clone()),
                Stmt::Update(BinOp::Sub, C::id("left"), by),
            ]
        };
        let mut body = vec![Stmt::If(
            C::not(C::id(MEMORY)),
            vec![Stmt::Return(Some(no_end()))],
            Block::new(),
        )];
        if scan.chars.is_some() {
            body.push(Stmt::decl(CType::U32, "bad", C::int(0)));
        }
        let ranges = scan.ranges();
        let may_stand = (scan.chars.is_some()).then(|| self.chars_table(scan, name));
        // What is left gets less in each turn, of which the verifier learns nothing new.
        body.push(Stmt::decl(CType::U32, "left", left(&C::id(END), at())));
        let mut turn = vec![few(C::int(0))];
        if let Some(ranges) = &ranges {
            turn.push(Stmt::decl(
                CType::U64,
                "word",
                C::pure("load_le64", vec![here(at())]),
            ));
            turn.push(Stmt::decl(CType::U64, "stops", ranges.stops()));
            let mut none = vec![few(C::int(8))];
            none.extend(move_on(C::int(8)));
            none.extend([may_go_on(), Stmt::Continue]);
            turn.push(Stmt::If(C::not(C::id("stops")), none, Block::new()));
            let first = C::pure("first_byte", vec![C::id("stops")]);
            turn.push(Stmt::decl(CType::U32, "first", first));
            turn.push(few(C::id("first")));
            turn.extend(move_on(C::id("first")));
        }
        turn.push(Stmt::decl(CType::U32, "byte", byte(at())));
        let mut ends: Vec<&Vec<u8>> = scan.ends.iter().collect();
        ends.sort_by_key(|end| std::cmp::Reverse(end.len()));
        let found = ends.into_iter().map(|end| match end[..] {
            [one] => C::bin(BinOp::Eq, C::id("byte"), C::int(one.into())),
            _ => stands(&at(), C::id("left"), end),
        });
        if let Some(found) = found.reduce(C::or) {
            let there = vec![Stmt::Return(Some(with_bad(at())))];
            turn.push(Stmt::If(found, there, Block::new()));
        }
        if let Some(table) = may_stand {
            let bad = C::not(C::Ident(table).index(C::id("byte")));
            let bad_byte = assign(C::id("bad"), C::id("MESSAGE_BAD"));
            turn.push(Stmt::If(bad, vec![bad_byte], Block::new()));
        }
        turn.extend(move_on(C::int(1)));
        turn.push(may_go_on());
        body.push(Stmt::Loop(turn));
        body.push(Stmt::Label(super::writer::ENDLESS.into()));
        body.push(nothing());
        body
    }

    /// An array that says of each byte whether it may stand in front of the end.
    fn chars_table(&mut self, scan: &Scan, function: &SmolStr) -> SmolStr {
        let name = self.file.fresh(&format!("{function}_chars"));
        let may = |byte: u8| scan.chars.as_ref().is_none_or(|c| c.contains(byte));
        let values = (0..=255u8).map(|byte| (None, C::int(may(byte).into())));
        self.tables.push(Item::Variable {
            ty: CType::U8.array(256),
            name: name.clone(),
            init: Some(C::Init(values.collect())),
            attribute: None,
            constant: true,
        });
        name
    }
}

impl Ranges {
    /// The marks of the bytes of `word` that may stop the search.
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

/// Whether bytes stand at an offset, from which on there are `left`.
pub(super) fn stands(offset: &C, left: C, bytes: &[u8]) -> C {
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

/// Whether bytes stand at an offset of a message of so many bytes, as far as it has bytes there.
pub(super) fn may_stand(offset: usize, all: &C, bytes: &[u8]) -> C {
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

/// Up to 8 bytes as a word of which the first is the lowest.
pub(super) fn word(bytes: &[u8]) -> u64 {
    let bytes = bytes.iter().take(8).enumerate();
    bytes.fold(0, |sum, (at, &byte)| sum | u64::from(byte) << (8 * at))
}
