//! Emits the function that finds an entry in bit vectors. It is a function of its own, so that a checker checks it
//! once, and its loop has a constant bound.

use crate::target::Tables;
use cgen::tree::{BinOp, Block, Expr as C, Stmt, Type};
use emit::{Event, Function};
use layout::{BitVectorsAbi, RowForm, Test};
use smol_str::SmolStr;

/// Number of lanes after which it is worthwhile to test whether any entry is left.
const LANES_AT_ONCE: usize = 4;

/// Variable that points to the row of enabled positions.
const ENABLED: &str = "enabled";

/// Words of the rows that are combined.
#[derive(Clone, Copy)]
enum RowWords {
    /// The summary.
    Summary,
    /// The words of a block, with their number.
    Block(u32),
}

/// Returns the function of this name, which maps a key and the half in use to the position of the entry that wins.
pub(super) fn find<T: Tables>(
    target: &T,
    name: &SmolStr,
    key: &SmolStr,
    abi: &BitVectorsAbi,
) -> Function {
    let no_entry = || Stmt::Return(Some(C::id("NO_ENTRY")));
    let rows = T::find(&SmolStr::from(&abi.rows), C::id("half").addr());
    let mut body = vec![
        Stmt::If(C::not(C::id("key")), vec![no_entry()], Vec::new()),
        Stmt::decl(Type::U8.ptr(), "bytes", C::id("key").cast(Type::U8.ptr())),
        Stmt::decl(Type::U8.ptr(), "rows", rows),
        Stmt::If(C::not(C::id("rows")), vec![no_entry()], Vec::new()),
    ];
    let first = C::bin(BinOp::Mul, C::id("half"), C::int(abi.positions.into()));
    if abi.form.blocks() == 1 {
        body.extend(part(abi, RowWords::Block(abi.form.words), &no_entry()));
        body.extend(lowest(abi.form.words, &first));
        body.push(no_entry());
    } else {
        body.extend(part(abi, RowWords::Summary, &no_entry()));
        body.extend(blocks(target, abi, &first));
    }
    Function {
        linkage: target.linkage().into(),
        name: name.clone(),
        result: Type::U32,
        params: vec![
            (Type::Struct(key.clone()).ptr(), "key".into()),
            (Type::U32, "half".into()),
        ],
        body,
    }
}

/// Emits the search of the blocks that the summary lists. The summary is in the variable `blocks`.
fn blocks<T: Tables>(target: &T, abi: &BitVectorsAbi, first: &C) -> Block {
    let no_entry = || Stmt::Return(Some(C::id("NO_ENTRY")));
    let count = abi.form.blocks();
    let words = abi.form.words_of_a_block();
    let next = "next_block";
    let of_block = times("block", u64::from(words) * 64);
    let mut search = part(abi, RowWords::Block(words), &Stmt::Goto(next.into()));
    search.extend(lowest(words, &C::bin(BinOp::Add, first.clone(), of_block)));
    let over = |counter: &str| {
        let over = C::bin(BinOp::Eq, C::id(counter), C::int(count.into()));
        let over = C::bin(BinOp::LogicalOr, over, C::not(C::id("blocks")));
        Stmt::If(over, vec![no_entry()], Vec::new())
    };
    // The addresses of the rows are computed in each iteration, and not kept on the stack across iterations.
    let anew = ["rows", "bytes", "block"].map(C::id);
    let anew = anew
        .iter()
        .filter_map(|name| target.on(Event::Computed(name)));
    let counter = |name: &str| Stmt::Update(BinOp::Add, C::id(name), C::int(1));
    if words > 1 {
        let candidate = C::bin(BinOp::And, C::id("blocks"), C::int(1));
        let mut iteration = vec![over("block")];
        iteration.extend(anew);
        iteration.extend([
            Stmt::If(candidate, search, Vec::new()),
            Stmt::Label(next.into()),
            Stmt::Update(BinOp::Shr, C::id("blocks"), C::int(1)),
            counter("block"),
        ]);
        return vec![
            Stmt::decl(Type::U32, "block", C::int(0)),
            Stmt::Loop(iteration),
        ];
    }
    let last = C::int(u64::from(count) - 1);
    let lowest = C::call("lowest_block", vec![C::id("blocks"), last]);
    let but_one = C::bin(BinOp::Sub, C::id("blocks"), C::int(1));
    let mut iteration = vec![over("turn"), Stmt::decl(Type::U64, "block", lowest)];
    iteration.extend(anew);
    iteration.extend([
        Stmt::Block(search),
        Stmt::Label(next.into()),
        Stmt::Update(BinOp::And, C::id("blocks"), but_one),
        counter("turn"),
    ]);
    vec![
        Stmt::decl(Type::U32, "turn", C::int(0)),
        Stmt::Loop(iteration),
    ]
}

/// Multiplies a variable by a constant.
fn times(variable: &str, factor: u64) -> C {
    match factor {
        1 => C::id(variable),
        _ => C::bin(BinOp::Mul, C::id(variable), C::int(factor)),
    }
}

/// Returns the name of the variable of a word.
fn word(number: u32) -> SmolStr {
    format!("word{number}").into()
}

/// Emits a return of the position of the lowest bit set, if there is one.
fn lowest(words: u32, first: &C) -> Block {
    let place = |number: u32| {
        let bit = C::call("lowest_bit", vec![C::Ident(word(number))]);
        C::bin(BinOp::Add, first.clone().plus(u64::from(number) * 64), bit)
    };
    let found = |number| {
        Stmt::If(
            C::Ident(word(number)),
            vec![Stmt::Return(Some(place(number)))],
            vec![],
        )
    };
    (0..words).map(found).collect()
}

/// Emits the combination of the words of all lanes' rows. Runs `otherwise` if no bit is left.
fn part(abi: &BitVectorsAbi, part: RowWords, otherwise: &Stmt) -> Block {
    let form = &abi.form;
    let (results, from): (Vec<SmolStr>, Option<C>) = match part {
        RowWords::Summary => (vec!["blocks".into()], None),
        RowWords::Block(count) => {
            let of_block = times("block", count.into());
            let from = (form.blocks() > 1).then(|| of_block.plus(form.head().into()));
            ((0..count).map(word).collect(), from)
        }
    };
    let enabled = row(form, form.lanes.len(), C::int(0), from.as_ref());
    let mut out: Block = vec![Stmt::decl(Type::U64.ptr(), ENABLED, enabled)];
    for (number, result) in results.iter().enumerate() {
        let bits = C::pure("enabled_bits", vec![C::id(ENABLED), C::int(number as u64)]);
        out.push(Stmt::decl(Type::U64, result.clone(), bits));
    }
    let none_left = || {
        let or = |a, b| C::bin(BinOp::Or, a, b);
        let all = results.iter().cloned().map(C::Ident).reduce(or);
        all.map(|all| Stmt::If(C::not(all), vec![otherwise.clone()], Vec::new()))
    };
    let mut since = 0;
    let mut at = 0;
    while let Some(lane) = form.lanes.get(at) {
        let rest = form.lanes[at..].iter();
        let length = match lane.test {
            Test::Accepts => 1,
            _ => rest.take_while(|other| other.field == lane.field).count(),
        };
        out.push(Stmt::Block(field(
            form,
            at,
            length,
            from.as_ref(),
            &results,
        )));
        at += length;
        since += length;
        if since >= LANES_AT_ONCE && at < form.lanes.len() {
            out.extend(none_left());
            since = 0;
        }
    }
    out
}

/// Returns the row of a byte's value in a lane, from the word `from` on.
fn row(form: &RowForm, lane: usize, byte: C, from: Option<&C>) -> C {
    let args = vec![
        C::id("rows"),
        C::int(lane as u64),
        byte,
        C::int(form.stride().into()),
    ];
    let found = C::pure("bit_row", args);
    match from {
        None => found,
        Some(from) => C::bin(BinOp::Add, found, from.clone()),
    }
}

/// Emits the combination of the results with the rows of a byte, or of all bytes of a field that is matched by ranges.
fn field(form: &RowForm, at: usize, length: usize, from: Option<&C>, results: &[SmolStr]) -> Block {
    let name = |number: usize| SmolStr::from(format!("row{number}"));
    let mut out: Block = Vec::new();
    for (number, lane) in form.lanes[at..at + length].iter().enumerate() {
        let byte = C::id("bytes").index(C::int(lane.offset.into()));
        let found = row(form, at + number, byte, from);
        out.push(Stmt::decl(Type::U64.ptr(), name(number), found));
    }
    for (number, result) in results.iter().enumerate() {
        let bits = |lane: usize| C::Ident(name(lane)).index(C::int(number as u64));
        let answers = match length {
            1 => bits(0),
            _ => in_range(length, &bits),
        };
        out.push(Stmt::Update(BinOp::And, C::Ident(result.clone()), answers));
    }
    out
}

/// Returns the result of a range test, for one word. `bits` returns the word of a lane, in the order of
/// [`RowForm::lanes`].
fn in_range(lanes: usize, bits: &impl Fn(usize) -> C) -> C {
    let digits = (lanes - 2) / 4;
    let end = |beyond: usize, or_equal: usize, last: usize| {
        (0..digits).rev().fold(bits(last), |rest, digit| {
            let first = 4 * digit;
            let both = C::bin(BinOp::And, bits(first + or_equal), rest);
            C::bin(BinOp::Or, bits(first + beyond), both)
        })
    };
    C::bin(BinOp::And, end(0, 1, lanes - 2), end(2, 3, lanes - 1))
}
