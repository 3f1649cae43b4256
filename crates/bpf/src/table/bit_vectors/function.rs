//! The function that finds an entry. It is one of its own, which the verifier checks once, and its loop has a constant
//! bound, so that every kernel takes it.

use crate::abi::{BitVectorsAbi, Lane, Test, WORDS_OF_A_BLOCK};
use crate::table::map_element;
use crate::target::barrier;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type};
use emit::Function;
use smol_str::SmolStr;

/// Lanes after which it is worthwhile to ask whether any entry is left.
const LANES_AT_ONCE: usize = 4;

/// Which words of the rows are combined.
#[derive(Clone, Copy)]
enum Part {
    /// The summary.
    Summary,
    /// The words of a block, of which there are so many.
    Block(u32),
}

/// The function of this name: from a key and the half in use to the place of the entry that wins.
pub(super) fn find(name: &SmolStr, key: &SmolStr, abi: &BitVectorsAbi) -> Function {
    let no_entry = || Stmt::Return(Some(C::id("NO_ENTRY")));
    let rows = map_element(&SmolStr::from(&abi.rows), C::id("half"));
    let mut body = vec![
        Stmt::If(C::not(C::id("key")), vec![no_entry()], Vec::new()),
        Stmt::decl(Type::U8.ptr(), "bytes", C::id("key").cast(Type::U8.ptr())),
        Stmt::decl(Type::U8.ptr(), "rows", rows),
        Stmt::If(C::not(C::id("rows")), vec![no_entry()], Vec::new()),
    ];
    let first = C::bin(BinOp::Mul, C::id("half"), C::int(abi.positions.into()));
    if abi.blocks() == 1 {
        body.extend(part(abi, Part::Block(abi.words), &no_entry()));
        body.extend(lowest(abi.words, &first));
        body.push(no_entry());
    } else {
        body.extend(part(abi, Part::Summary, &no_entry()));
        let over = C::bin(BinOp::Eq, C::id("block"), C::int(abi.blocks().into()));
        let over = C::bin(BinOp::LogicalOr, over, C::not(C::id("blocks")));
        let next = "next_block";
        let go_on = Stmt::Goto(next.into());
        let mut turn = part(abi, Part::Block(WORDS_OF_A_BLOCK), &go_on);
        let of_block = C::bin(
            BinOp::Mul,
            C::id("block"),
            C::int(u64::from(WORDS_OF_A_BLOCK) * 64),
        );
        turn.extend(lowest(
            WORDS_OF_A_BLOCK,
            &C::bin(BinOp::Add, first, of_block),
        ));
        let candidate = C::bin(BinOp::And, C::id("blocks"), C::int(1));
        body.extend([
            Stmt::decl(Type::U32, "block", C::int(0)),
            Stmt::Loop(vec![
                Stmt::If(over, vec![no_entry()], Vec::new()),
                // Where the rows are is found anew in each turn, and not kept on the stack for all of them.
                barrier(&C::id("rows")),
                barrier(&C::id("bytes")),
                barrier(&C::id("block")),
                Stmt::If(candidate, turn, Vec::new()),
                Stmt::Label(next.into()),
                Stmt::Update(BinOp::Shr, C::id("blocks"), C::int(1)),
                Stmt::Update(BinOp::Add, C::id("block"), C::int(1)),
            ]),
        ]);
    }
    Function {
        linkage: "GLOBAL_FUNC".into(),
        name: name.clone(),
        result: Type::U32,
        params: vec![
            (Type::Struct(key.clone()).ptr(), "key".into()),
            (Type::U32, "half".into()),
        ],
        body,
    }
}

/// The variable of the words of this number.
fn word(number: u32) -> C {
    C::id(format!("word{number}"))
}

/// Returns the place of the lowest bit that is set, if one is.
fn lowest(words: u32, first: &C) -> Block {
    let place = |number: u32| {
        let bit = C::call("lowest_bit", vec![word(number)]);
        C::bin(BinOp::Add, first.clone().plus(u64::from(number) * 64), bit)
    };
    let found = |number| {
        Stmt::If(
            word(number),
            vec![Stmt::Return(Some(place(number)))],
            vec![],
        )
    };
    (0..words).map(found).collect()
}

/// Combines the words of all lanes' rows; does `otherwise` where none is left.
fn part(abi: &BitVectorsAbi, part: Part, otherwise: &Stmt) -> Block {
    let (results, from): (Vec<C>, Option<C>) = match part {
        Part::Summary => (vec![C::id("blocks")], None),
        Part::Block(count) => {
            let of_block = C::bin(BinOp::Mul, C::id("block"), C::int(WORDS_OF_A_BLOCK.into()));
            let from = (abi.blocks() > 1).then(|| of_block.plus(abi.head().into()));
            ((0..count).map(word).collect(), from)
        }
    };
    let name = |result: &C| match result {
        C::Ident(name) => name.clone(),
        _ => SmolStr::default(),
    };
    let mut out: Block = Vec::new();
    for result in &results {
        let all = C::Unary(
            cgen::tree::UnOp::BitNot,
            Box::new(C::int(0).cast(Type::U64)),
        );
        out.push(Stmt::decl(Type::U64, name(result), all));
    }
    let none_left = || {
        let or = |a, b| C::bin(BinOp::Or, a, b);
        let all = results.iter().cloned().reduce(or);
        all.map(|all| Stmt::If(C::not(all), vec![otherwise.clone()], Vec::new()))
    };
    let mut since = 0;
    let mut at = 0;
    while let Some(lane) = abi.lanes.get(at) {
        let rest = abi.lanes[at..].iter();
        let length = match lane.test {
            Test::Accepts => 1,
            _ => rest.take_while(|other| other.field == lane.field).count(),
        };
        out.push(Stmt::Block(field(abi, at, length, from.as_ref(), &results)));
        at += length;
        since += length;
        if since >= LANES_AT_ONCE && at < abi.lanes.len() {
            out.extend(none_left());
            since = 0;
        }
    }
    out
}

/// Takes the rows of a byte, or of a field that is matched by ranges, into the results.
fn field(abi: &BitVectorsAbi, at: usize, length: usize, from: Option<&C>, results: &[C]) -> Block {
    let lanes = &abi.lanes[at..at + length];
    let row = |number: usize| SmolStr::from(format!("row{number}"));
    let mut out: Block = Vec::new();
    for (number, lane) in lanes.iter().enumerate() {
        let byte = C::id("bytes").index(C::int(lane.offset.into()));
        let args = vec![
            C::id("rows"),
            C::int((at + number) as u64),
            byte,
            C::int(abi.stride().into()),
        ];
        let found = match from {
            None => C::pure("bit_row", args),
            Some(from) => C::bin(BinOp::Add, C::pure("bit_row", args), from.clone()),
        };
        out.push(Stmt::decl(Type::U64.ptr(), row(number), found));
    }
    for (number, result) in results.iter().enumerate() {
        let bits = |lane: usize| C::Ident(row(lane)).index(C::int(number as u64));
        out.push(Stmt::Update(
            BinOp::And,
            result.clone(),
            answers(lanes, &bits),
        ));
    }
    out
}

/// The answers about a byte or a range, of one word.
fn answers(lanes: &[Lane], bits: &impl Fn(usize) -> C) -> C {
    if let [
        Lane {
            test: Test::Accepts,
            ..
        },
    ] = lanes
    {
        return bits(0);
    }
    let lane = |digit: u32, test: Test| {
        let found = lanes
            .iter()
            .position(|l| l.digit == digit && l.test == test);
        found.map(bits)
    };
    let last = lanes.iter().map(|lane| lane.digit).max().unwrap_or(0);
    let end = |beyond: Test, or_equal: Test| {
        (0..=last).rev().fold(None, |rest: Option<C>, digit| {
            let not_beyond = lane(digit, or_equal)?;
            Some(match (lane(digit, beyond), rest) {
                (Some(beyond), Some(rest)) => {
                    let both = C::bin(BinOp::And, not_beyond, rest);
                    C::bin(BinOp::Or, beyond, both)
                }
                _ => not_beyond,
            })
        })
    };
    let ends = [end(Test::Above, Test::From), end(Test::Below, Test::To)];
    let both = ends.into_iter().flatten();
    both.reduce(|a, b| C::bin(BinOp::And, a, b))
        .unwrap_or(C::int(0))
}
