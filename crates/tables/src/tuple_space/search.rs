//! Emits the search through the list of masks: a loop in the function itself, or a function called for each iteration
//! if the target has no such loops.

use super::TupleSpace;
use crate::target::{IterationCalls, Tables};
use cgen::tree::{BinOp, Block, Expr as C, Member, Stmt, Type, UnOp};
use emit::{Function, Gen};
use ir::Expr;
use smol_str::SmolStr;

/// Iteration over the list of masks.
#[derive(Clone, Debug)]
pub(crate) enum Iterations {
    /// By a jump back.
    Jump,
    /// By calls of a function.
    Call(Called),
}

/// Function of one iteration.
#[derive(Clone, Debug)]
pub(crate) struct Called {
    /// Name of the function.
    function: SmolStr,
    /// Struct of its operands.
    state: SmolStr,
    /// Means to call it iteratively.
    calls: IterationCalls,
}

/// Operands of one iteration, as C expressions.
struct Iteration {
    /// Index in the list, a variable.
    at: C,
    /// Best entry so far, or null.
    best: C,
    /// Key, whose address is constant.
    key: C,
    /// Memory for the masked key.
    masked: C,
    /// Statement that ends the search.
    end: Stmt,
}

impl TupleSpace {
    /// Declares the function of an iteration, if the target needs one.
    pub(super) fn with_iterations<T: Tables>(
        self,
        g: &mut Gen<'_, T>,
        short: &str,
        entry: Type,
    ) -> TupleSpace {
        let Some(calls) = T::iteration_calls(g) else {
            return self;
        };
        let field = |ty: Type, name: &str| Member::Field {
            ty,
            name: name.into(),
            note: String::new(),
        };
        let state = g.file.names.fresh(&format!("{short}_search"));
        let members = vec![
            field(Type::Struct(self.tuple_key.clone()), "masked"),
            field(Type::Struct(self.key.name.clone()).ptr(), "key"),
            field(entry.clone().ptr(), "best"),
            field(Type::U32, "at"),
        ];
        g.file.declare_struct(&state, members);
        let function = g.file.names.fresh(&format!("{short}_turn"));
        let of_state = |name: &str| C::id("search").arrow(name);
        let iteration = Iteration {
            at: C::id("at"),
            best: of_state("best"),
            key: C::Unary(UnOp::Deref, Box::new(of_state("key"))),
            masked: of_state("masked"),
            end: Stmt::Return(Some(C::int(1))),
        };
        let names = ["mask", "found"].map(SmolStr::from);
        let mut body = vec![
            Stmt::Expr(C::id("turn").cast(Type::Void)),
            Stmt::decl(Type::U32, "at", of_state("at")),
            Stmt::Update(BinOp::Add, of_state("at"), C::int(1)),
        ];
        body.extend(self.iteration::<T>(&iteration, entry.ptr(), &names));
        body.push(Stmt::Return(Some(C::int(0))));
        g.file.functions.push(Function {
            linkage: calls.linkage.into(),
            name: function.clone(),
            result: Type::Named("long".into()),
            params: vec![
                (Type::U32, "turn".into()),
                (Type::Struct(state.clone()).ptr(), "search".into()),
            ],
            body,
        });
        TupleSpace {
            iterations: Iterations::Call(Called {
                function,
                state,
                calls,
            }),
            ..self
        }
    }

    /// Emits the look-up of a key under one mask. A better entry becomes the best one.
    fn iteration<T: Tables>(
        &self,
        iteration: &Iteration,
        entry_type: Type,
        [mask, entry]: &[SmolStr; 2],
    ) -> Block {
        let id = |n: &SmolStr| C::Ident(n.clone());
        let best = || iteration.best.clone();
        let end_if = |cond: C| Stmt::If(cond, vec![iteration.end.clone()], Vec::new());
        let none_is_better = C::bin(
            BinOp::LogicalAnd,
            best(),
            C::bin(BinOp::Ge, best().arrow("priority"), id(mask).arrow("top")),
        );
        let mut out = vec![
            Stmt::decl(
                Type::Struct(self.mask.clone()).ptr(),
                mask.clone(),
                T::find(&self.masks, iteration.at.clone().addr()),
            ),
            end_if(C::not(id(mask))),
            end_if(none_is_better),
            Stmt::Assign(
                iteration.masked.clone().member("tuple"),
                id(mask).arrow("tuple"),
            ),
        ];
        out.extend(and_words(
            iteration.masked.clone().member("key").addr(),
            iteration.key.clone().addr(),
            id(mask).arrow("key").addr(),
            self.key.record.size / 4,
        ));
        let better = C::bin(
            BinOp::LogicalAnd,
            id(entry),
            C::bin(
                BinOp::LogicalOr,
                C::not(best()),
                C::bin(
                    BinOp::Gt,
                    id(entry).arrow("priority"),
                    best().arrow("priority"),
                ),
            ),
        );
        out.extend([
            Stmt::decl(
                entry_type,
                entry.clone(),
                T::find(&self.entries, iteration.masked.clone().addr()),
            ),
            Stmt::If(better, vec![Stmt::Assign(best(), id(entry))], Vec::new()),
        ]);
        out
    }
}

/// Emits the iteration over the masks. Returns a pointer to the best entry, which may be null.
pub(crate) fn search<T: Tables>(
    g: &mut Gen<'_, T>,
    space: &TupleSpace,
    exprs: &[Expr],
    entry_type: Type,
) -> C {
    match &space.iterations {
        Iterations::Jump => by_jumps(g, space, exprs, entry_type),
        Iterations::Call(called) => by_calls(g, space, exprs, called, entry_type),
    }
}

/// Returns the list's head: the index of its first element, and its length.
fn list<T: Tables>(g: &mut Gen<'_, T>, space: &TupleSpace, name: SmolStr) -> (C, C) {
    let globals = C::id(T::GLOBALS).member(space.head.clone());
    let head = C::Ident(name.clone());
    g.push(Stmt::decl(Type::U64, name, globals));
    let count = C::bin(BinOp::Shr, head.clone(), C::int(32)).cast(Type::U32);
    (head.cast(Type::U32), count)
}

fn by_jumps<T: Tables>(
    g: &mut Gen<'_, T>,
    space: &TupleSpace,
    exprs: &[Expr],
    entry_type: Type,
) -> C {
    let wishes = [
        "best",
        "list",
        "turn",
        "next_mask",
        "searched",
        "masked",
        "place",
        "mask",
        "found",
    ];
    let [best, head, i, again, done, masked, at, mask, found] =
        wishes.map(|wish| g.file.names.fresh(wish));
    let id = |n: &SmolStr| C::Ident(n.clone());
    g.push(Stmt::decl(entry_type.clone(), best.clone(), C::id("NULL")));
    let (first, count) = list(g, space, head);
    // If there are no entries, no key is built.
    let outer = std::mem::take(&mut g.out);
    let any = count.clone();
    let key = g.build_key(&space.key, exprs);
    // Values computed for the key may not have been computed.
    g.kill_computed();
    g.push(declared(&space.tuple_key, &masked));
    g.push(Stmt::decl(Type::U32, i.clone(), C::int(0)));
    g.push(Stmt::Label(again.clone()));
    g.push(Stmt::goto_if(
        C::bin(BinOp::Ge, id(&i), count),
        done.clone(),
    ));
    let place = C::bin(BinOp::Add, first, id(&i));
    let mut iteration = vec![Stmt::decl(Type::U32, at.clone(), place)];
    iteration.extend(space.iteration::<T>(
        &Iteration {
            at: id(&at),
            best: id(&best),
            key,
            masked: id(&masked),
            end: Stmt::Goto(done.clone()),
        },
        entry_type,
        &[mask, found],
    ));
    iteration.push(Stmt::Update(BinOp::Add, id(&i), C::int(1)));
    g.push(Stmt::Block(iteration));
    g.enter_loop();
    g.back_edge(&done, &again);
    g.exit_loop();
    let search = std::mem::replace(&mut g.out, outer);
    g.push(Stmt::If(any, search, Vec::new()));
    g.push(Stmt::Label(done));
    id(&best)
}

/// Emits the search by calls of a function.
///
/// A checker may check the iterated function once, with the facts before the first iteration, and apply its
/// conclusions to all iterations. So the first iteration is an ordinary call. After it there may or may not be a best
/// entry.
fn by_calls<T: Tables>(
    g: &mut Gen<'_, T>,
    space: &TupleSpace,
    exprs: &[Expr],
    Called {
        function,
        state,
        calls,
    }: &Called,
    entry_type: Type,
) -> C {
    let [best, head, search] = ["best", "list", "search"].map(|wish| g.file.names.fresh(wish));
    let id = |n: &SmolStr| C::Ident(n.clone());
    g.push(Stmt::decl(entry_type, best.clone(), C::id("NULL")));
    let (first, count) = list(g, space, head);
    // If there are no entries, no key is built.
    let outer = std::mem::take(&mut g.out);
    let key = g.build_key(&space.key, exprs);
    // Values computed for the key may not have been computed.
    g.kill_computed();
    g.push(declared(state, &search));
    g.set(id(&search).member("key"), key.addr());
    g.set(id(&search).member("at"), first);
    let state = id(&search).addr();
    let once = C::call(function.clone(), vec![C::int(0), state.clone()]);
    let others = C::bin(BinOp::Sub, count.clone(), C::int(1));
    let rest = (calls.run)(others, C::Ident(function.clone()), state);
    let goes_on = C::and(C::not(once), C::bin(BinOp::Gt, count.clone(), C::int(1)));
    g.push(Stmt::If(goes_on, vec![Stmt::Expr(rest)], Vec::new()));
    g.set(id(&best), id(&search).member("best"));
    let search = std::mem::replace(&mut g.out, outer);
    g.push(Stmt::If(count, search, Vec::new()));
    id(&best)
}

/// Returns the declaration of a zeroed struct.
fn declared(ty: &SmolStr, name: &SmolStr) -> Stmt {
    Stmt::Decl {
        ty: Type::Struct(ty.clone()),
        name: name.clone(),
        init: Some(C::Init(Vec::new())),
        align: Some(8),
    }
}

/// Returns assignments of `a & b`, word by word, of structs of `words` 4-byte words.
fn and_words(dst: C, a: C, b: C, words: u32) -> Vec<Stmt> {
    let word = |base: &C, i: u32, wide: bool| {
        let ty = Type::Named(if wide { "any64" } else { "any32" }.into()).ptr();
        let address = C::bin(
            BinOp::Add,
            base.clone().cast(Type::U8.ptr()),
            C::int((i * 4).into()),
        );
        C::Unary(UnOp::Deref, Box::new(address.cast(ty)))
    };
    let mut out = Vec::new();
    let mut i = 0;
    while i < words {
        let wide = words - i >= 2;
        let value = C::bin(BinOp::And, word(&a, i, wide), word(&b, i, wide));
        out.push(Stmt::Assign(word(&dst, i, wide), value));
        i += if wide { 2 } else { 1 };
    }
    out
}
