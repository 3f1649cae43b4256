//! Traversal of statements and expressions.

use crate::*;

/// Returns the operands of an operation from left to right, including a header's index.
pub fn operands(kind: &ExprKind) -> impl Iterator<Item = Expr> + use<> {
    let list = match *kind {
        ExprKind::Const(_) | ExprKind::Bool(_) | ExprKind::Member(_) | ExprKind::Var(_) => {
            [None; 3]
        }
        ExprKind::Field(header, _) | ExprKind::IsValid(header) => {
            [header_index(header), None, None]
        }
        ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Slice { base: a, .. } => {
            [Some(a), None, None]
        }
        ExprKind::Binary(_, a, b) => [Some(a), Some(b), None],
        ExprKind::Mux(a, b, c) => [Some(a), Some(b), Some(c)],
    };
    list.into_iter().flatten()
}

/// Returns the index if a header reference is to an element of a stack.
pub fn header_index(header: HeaderRef) -> Option<Expr> {
    match header {
        HeaderRef::Header(_) => None,
        HeaderRef::Element(_, index) => Some(index),
    }
}

/// Maps the operands of an operation. Constants and reads of storage remain as they are.
pub fn map_operation(kind: ExprKind, mut f: impl FnMut(Expr) -> Expr) -> ExprKind {
    match kind {
        ExprKind::Const(_)
        | ExprKind::Bool(_)
        | ExprKind::Member(_)
        | ExprKind::Var(_)
        | ExprKind::Field(..)
        | ExprKind::IsValid(_) => kind,
        ExprKind::Unary(op, a) => ExprKind::Unary(op, f(a)),
        ExprKind::Binary(op, a, b) => ExprKind::Binary(op, f(a), f(b)),
        ExprKind::Cast(a) => ExprKind::Cast(f(a)),
        ExprKind::Slice { base, hi, lo } => ExprKind::Slice {
            base: f(base),
            hi,
            lo,
        },
        ExprKind::Mux(a, b, c) => ExprKind::Mux(f(a), f(b), f(c)),
    }
}

/// Calls `f` on an expression and all its subexpressions, outer ones first.
pub fn walk_expr(program: &Program, expr: Expr, f: &mut impl FnMut(&ExprData)) {
    let data = &program.exprs[expr];
    f(data);
    for operand in operands(&data.kind) {
        walk_expr(program, operand, f);
    }
}

/// Calls `f` on every statement of a program, outer ones first.
pub fn walk_program_mut(program: &mut Program, f: &mut impl FnMut(&mut Stmt)) {
    for routine in program.routines.values_mut() {
        walk_block_mut(&mut routine.body, f);
    }
    for action in program.actions.values_mut() {
        walk_block_mut(&mut action.body, f);
    }
    for parser in program.parsers.values_mut() {
        for state in parser.states.values_mut() {
            walk_block_mut(&mut state.body, f);
        }
    }
}

/// Access to storage by a statement. Accesses by nested blocks are not included, and the order is unspecified.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// An expression is evaluated. Element indices in l-values and headers are reported too.
    Eval(Expr),
    /// A scalar is overwritten.
    Write(Place),
    /// A scalar is read as an l-value: by an `inout` argument, or as the next index of a push or pop.
    Read(Place),
    /// A header's fields and validity are read as a whole.
    ReadHeader(HeaderRef),
    /// A header's fields and validity may be written. They keep their old value in part or on some paths (element
    /// indices out of bounds, failing extracts, externs).
    WriteHeader(HeaderRef),
    /// A header's validity is written; its fields are not.
    SetValidity(HeaderRef, bool),
}

/// Reports the accesses of a statement itself. Those of a call are its arguments, without the accesses of the routine.
/// Those of a table are the variables of its result, without the accesses of keys and actions. Pushes and pops read and
/// write all elements and the next index.
pub fn accesses(program: &Program, kind: &StmtKind, mut f: impl FnMut(Access)) {
    fn place(p: Place, f: &mut impl FnMut(Access)) {
        if let Place::Field(HeaderRef::Element(_, index), _) = p {
            f(Access::Eval(index));
        }
    }
    fn header(h: HeaderRef, f: &mut impl FnMut(Access)) {
        if let Some(index) = header_index(h) {
            f(Access::Eval(index));
        }
    }
    fn write(p: Place, f: &mut impl FnMut(Access)) {
        place(p, f);
        f(Access::Write(p));
    }
    let f = &mut f;
    match kind {
        StmtKind::Assign { dst, value } => {
            f(Access::Eval(*value));
            write(*dst, f);
        }
        StmtKind::CopyHeader { dst, src } => {
            header(*src, f);
            header(*dst, f);
            f(Access::ReadHeader(*src));
            f(Access::WriteHeader(*dst));
        }
        StmtKind::SetValid(h) => {
            header(*h, f);
            f(Access::SetValidity(*h, true));
        }
        StmtKind::SetInvalid(h) => {
            header(*h, f);
            f(Access::SetValidity(*h, false));
        }
        StmtKind::PushFront(stacks, _) | StmtKind::PopFront(stacks, _) => {
            for &stack in stacks {
                let data = &program.stacks[stack];
                for &elem in &data.elems {
                    f(Access::ReadHeader(HeaderRef::Header(elem)));
                    f(Access::WriteHeader(HeaderRef::Header(elem)));
                }
                f(Access::Read(Place::Var(data.next)));
                f(Access::Write(Place::Var(data.next)));
            }
        }
        StmtKind::If { cond, .. } => f(Access::Eval(*cond)),
        StmtKind::Switch { on, .. } => f(Access::Eval(*on)),
        StmtKind::Atomic(_)
        | StmtKind::Labeled(..)
        | StmtKind::Loop(..)
        | StmtKind::Break(_)
        | StmtKind::Continue(_)
        | StmtKind::Return
        | StmtKind::Exit
        | StmtKind::Entry(_) => {}
        StmtKind::Apply { hit, action, .. } => {
            for var in [hit, action].into_iter().flatten() {
                f(Access::Write(Place::Var(*var)));
            }
        }
        StmtKind::IsCurrent { current, .. } => f(Access::Write(Place::Var(*current))),
        StmtKind::Call(_, args) => {
            for arg in args {
                match *arg {
                    Arg::In(expr) => f(Access::Eval(expr)),
                    Arg::Out(Some(p)) => write(p, f),
                    Arg::InOut(p) => {
                        f(Access::Read(p));
                        write(p, f);
                    }
                    Arg::Header(Some(h)) => {
                        header(h, f);
                        f(Access::ReadHeader(h));
                        f(Access::WriteHeader(h));
                    }
                    Arg::Out(None) | Arg::Header(None) => {}
                }
            }
        }
        StmtKind::Extern(call) => {
            for arg in &call.args {
                match arg {
                    ExternArg::In(values) => values.iter().for_each(|&e| f(Access::Eval(e))),
                    ExternArg::Out(places) => places.iter().for_each(|&p| write(p, f)),
                    ExternArg::InOut(places) => {
                        for &p in places {
                            f(Access::Read(p));
                            write(p, f);
                        }
                    }
                    ExternArg::HeaderIn(h) => {
                        header(*h, f);
                        f(Access::ReadHeader(*h));
                    }
                    ExternArg::HeaderOut(h) => {
                        header(*h, f);
                        f(Access::ReadHeader(*h));
                        f(Access::WriteHeader(*h));
                    }
                    ExternArg::String(_)
                    | ExternArg::Member(..)
                    | ExternArg::Object(_)
                    | ExternArg::Absent => {}
                }
            }
            call.result.iter().for_each(|&p| write(p, f));
        }
        StmtKind::Extract { header: h, varbit } => {
            header(*h, f);
            if let Some(size) = varbit {
                f(Access::Eval(*size));
            }
            f(Access::WriteHeader(*h));
        }
        StmtKind::Lookahead { place: p, .. } | StmtKind::PacketLength(p) => write(*p, f),
        StmtKind::Advance(by) => f(Access::Eval(*by)),
        StmtKind::Search { limit, passed, .. } => {
            limit.iter().for_each(|&e| f(Access::Eval(e)));
            passed.iter().for_each(|&v| f(Access::Write(Place::Var(v))));
        }
        StmtKind::Automaton {
            start,
            limit,
            end,
            passed,
            ..
        } => {
            f(Access::Eval(*start));
            limit.iter().for_each(|&e| f(Access::Eval(e)));
            let written = passed.iter().chain([end]);
            written.for_each(|&v| f(Access::Write(Place::Var(v))));
        }
        StmtKind::Fits { bits, fits } => {
            f(Access::Eval(*bits));
            f(Access::Write(Place::Var(*fits)));
        }
        StmtKind::SkipAhead { short, .. } => f(Access::Write(Place::Var(*short))),
        StmtKind::Verify { cond, error } => {
            f(Access::Eval(*cond));
            f(Access::Eval(*error));
        }
        StmtKind::Emit(h) => {
            header(*h, f);
            f(Access::ReadHeader(*h));
        }
    }
}

/// Returns true if a statement has no effect except its writes: it moves no cursor, rejects nothing, and runs no other
/// code.
pub fn only_writes(kind: &StmtKind) -> bool {
    match kind {
        StmtKind::Assign { .. }
        | StmtKind::CopyHeader { .. }
        | StmtKind::SetValid(_)
        | StmtKind::SetInvalid(_)
        | StmtKind::IsCurrent { .. }
        | StmtKind::Fits { .. }
        | StmtKind::PacketLength(_) => true,
        StmtKind::Extern(call) => call.effect == Effect::None,
        _ => false,
    }
}

/// Returns the block of a statement that does nothing but run this block once: an atomic block. Most analyses treat
/// such a statement as its block.
pub fn in_place(kind: &StmtKind) -> Option<&Block> {
    match kind {
        StmtKind::Atomic(block) => Some(block),
        _ => None,
    }
}

/// Returns the blocks directly inside a statement.
pub fn blocks(kind: &StmtKind) -> Vec<&Block> {
    match kind {
        StmtKind::If {
            then, otherwise, ..
        } => vec![then, otherwise],
        StmtKind::Switch { cases, default, .. } => {
            let mut list: Vec<_> = cases.iter().map(|(_, block)| block).collect();
            list.push(default);
            list
        }
        StmtKind::Atomic(block) | StmtKind::Labeled(_, block) | StmtKind::Loop(_, block) => {
            vec![block]
        }
        _ => Vec::new(),
    }
}

/// Returns the blocks directly inside a statement, mutable.
pub fn blocks_mut(kind: &mut StmtKind) -> Vec<&mut Block> {
    match kind {
        StmtKind::If {
            then, otherwise, ..
        } => vec![then, otherwise],
        StmtKind::Switch { cases, default, .. } => {
            let mut list: Vec<_> = cases.iter_mut().map(|(_, block)| block).collect();
            list.push(default);
            list
        }
        StmtKind::Atomic(block) | StmtKind::Labeled(_, block) | StmtKind::Loop(_, block) => {
            vec![block]
        }
        _ => Vec::new(),
    }
}

/// Calls `f` on every statement of a block, nested ones included, in order.
pub fn walk_block(block: &[Stmt], f: &mut impl FnMut(&Stmt)) {
    for stmt in block {
        f(stmt);
        for inner in blocks(&stmt.kind) {
            walk_block(inner, f);
        }
    }
}

/// Calls `f` on every statement of a block, nested ones included, outer ones first.
pub fn walk_block_mut(block: &mut Block, f: &mut impl FnMut(&mut Stmt)) {
    for stmt in block {
        f(stmt);
        for inner in blocks_mut(&mut stmt.kind) {
            walk_block_mut(inner, f);
        }
    }
}

/// Substitution for the expressions, headers and variables in statements.
pub trait Map {
    /// Replaces an expression. Indices in header references are left to [`Map::header`].
    fn expr(&mut self, expr: Expr) -> Expr;
    /// Replaces a header reference, including an index in it.
    fn header(&mut self, header: HeaderRef) -> HeaderRef;
    /// Replaces a variable that is written.
    fn var(&mut self, var: Var) -> Var;
    /// Replaces a stack whose elements are moved.
    fn stack(&mut self, stack: Stack) -> Stack;
}

/// Applies a substitution to an l-value.
pub fn map_place(place: &mut Place, m: &mut dyn Map) {
    match place {
        Place::Var(var) => *var = m.var(*var),
        Place::Field(header, _) => *header = m.header(*header),
    }
}

/// Applies a substitution to a statement, but not to the blocks inside.
pub fn map_stmt(kind: &mut StmtKind, m: &mut dyn Map) {
    match kind {
        StmtKind::Assign { dst, value } => {
            *value = m.expr(*value);
            map_place(dst, m);
        }
        StmtKind::CopyHeader { dst, src } => {
            *src = m.header(*src);
            *dst = m.header(*dst);
        }
        StmtKind::SetValid(h) | StmtKind::SetInvalid(h) | StmtKind::Emit(h) => *h = m.header(*h),
        StmtKind::If { cond: e, .. } | StmtKind::Switch { on: e, .. } => *e = m.expr(*e),
        StmtKind::PushFront(stacks, _) | StmtKind::PopFront(stacks, _) => {
            stacks.iter_mut().for_each(|s| *s = m.stack(*s));
        }
        StmtKind::Atomic(_)
        | StmtKind::Labeled(..)
        | StmtKind::Loop(..)
        | StmtKind::Break(_)
        | StmtKind::Continue(_)
        | StmtKind::Return
        | StmtKind::Exit
        | StmtKind::Entry(_) => {}
        StmtKind::Apply { hit, action, .. } => {
            for var in [hit, action].into_iter().flatten() {
                *var = m.var(*var);
            }
        }
        StmtKind::IsCurrent { current, .. } => *current = m.var(*current),
        StmtKind::Call(_, args) => args.iter_mut().for_each(|arg| map_arg(arg, m)),
        StmtKind::Extern(call) => {
            call.args.iter_mut().for_each(|arg| map_extern_arg(arg, m));
            call.result.iter_mut().for_each(|p| map_place(p, m));
        }
        StmtKind::Extract { header, varbit } => {
            *header = m.header(*header);
            if let Some(size) = varbit {
                *size = m.expr(*size);
            }
        }
        StmtKind::Lookahead { place: p, .. } | StmtKind::PacketLength(p) => map_place(p, m),
        StmtKind::Advance(by) => *by = m.expr(*by),
        StmtKind::Search { limit, passed, .. } => {
            limit.iter_mut().for_each(|e| *e = m.expr(*e));
            passed.iter_mut().for_each(|v| *v = m.var(*v));
        }
        StmtKind::Automaton {
            start,
            limit,
            end,
            passed,
            ..
        } => {
            *start = m.expr(*start);
            limit.iter_mut().for_each(|e| *e = m.expr(*e));
            *end = m.var(*end);
            passed.iter_mut().for_each(|v| *v = m.var(*v));
        }
        StmtKind::Fits { bits, fits } => {
            *bits = m.expr(*bits);
            *fits = m.var(*fits);
        }
        StmtKind::SkipAhead { short, .. } => *short = m.var(*short),
        StmtKind::Verify { cond, error } => {
            *cond = m.expr(*cond);
            *error = m.expr(*error);
        }
    }
}

fn map_arg(arg: &mut Arg, m: &mut dyn Map) {
    match arg {
        Arg::In(expr) => *expr = m.expr(*expr),
        Arg::Out(Some(p)) | Arg::InOut(p) => map_place(p, m),
        Arg::Header(Some(h)) => *h = m.header(*h),
        Arg::Out(None) | Arg::Header(None) => {}
    }
}

fn map_extern_arg(arg: &mut ExternArg, m: &mut dyn Map) {
    match arg {
        ExternArg::In(values) => values.iter_mut().for_each(|e| *e = m.expr(*e)),
        ExternArg::Out(places) | ExternArg::InOut(places) => {
            places.iter_mut().for_each(|p| map_place(p, m));
        }
        ExternArg::HeaderIn(h) | ExternArg::HeaderOut(h) => *h = m.header(*h),
        ExternArg::String(_) | ExternArg::Member(..) | ExternArg::Object(_) | ExternArg::Absent => {
        }
    }
}

/// Returns every body of code of a program: routines, actions, parser states.
pub fn bodies(program: &Program) -> impl Iterator<Item = &Block> {
    let routines = program.routines.values().map(|r| &r.body);
    let actions = program.actions.values().map(|a| &a.body);
    let states = program
        .parsers
        .values()
        .flat_map(|p| p.states.values().map(|s| &s.body));
    routines.chain(actions).chain(states)
}

/// Returns the keys of all selects in parsers.
pub fn selected(program: &Program) -> impl Iterator<Item = Expr> {
    let states = program.parsers.values().flat_map(|p| p.states.values());
    let keys = states.filter_map(|state| match &state.transition {
        Transition::Select { keys, .. } => Some(keys),
        Transition::To(_) => None,
    });
    keys.flatten().copied()
}

/// Returns the key expressions of all tables.
pub fn matched(program: &Program) -> impl Iterator<Item = Expr> {
    let keys = program.tables.values().flat_map(|table| &table.keys);
    keys.map(|key| key.expr)
}
