//! Replaces rejections in parsers by edges to `accept`, if the architecture runs the blocks after the parser for
//! rejected packets, too ([`OnReject::Continue`]). The pass is for targets that end the processing of a rejected
//! packet.
//!
//! Guarantees for programs with [`OnReject::Continue`]: before every statement that may reject, there is a test of
//! whether it would. A packet that fails the test is accepted, with the error in the architecture's variable. The
//! parser itself no longer rejects, and the program has [`OnReject::Stop`]. The result of a [`StmtKind::Fits`] is read
//! only by the transition of its state, or by the statement after it. Other programs remain unchanged.

use crate::eval::constant;
use crate::*;
use diag::Span;
use smol_str::SmolStr;
use std::collections::HashMap;

/// Runs the pass. The variable `error` receives the parser's error. `None` means that no code reads it.
pub fn run(program: &mut Program, error: Option<Var>) {
    if program.on_reject == OnReject::Stop {
        return;
    }
    program.on_reject = OnReject::Stop;
    for parser in program.parsers.keys().collect::<Vec<_>>() {
        let mut lowering = Lowering {
            program,
            parser,
            error,
            failures: HashMap::new(),
        };
        lowering.run();
    }
}

struct Lowering<'a> {
    program: &'a mut Program,
    parser: Parser,
    /// Variable that receives the error.
    error: Option<Var>,
    /// States that store a constant error and accept, by the error's number.
    failures: HashMap<u32, State>,
}

/// Condition under which a statement does not reject the packet.
struct Test {
    /// Statements that compute the condition.
    before: Block,
    holds: Expr,
    /// Error if the condition is false; of type `error`.
    error: Expr,
}

impl Lowering<'_> {
    fn run(&mut self) {
        for state in self.states() {
            let data = &mut self.program.parsers[self.parser].states[state];
            let body = std::mem::take(&mut data.body);
            self.state(state, body);
        }
        // This includes the new states; failure states need no change.
        for state in self.states() {
            self.transition(state);
        }
    }

    fn states(&self) -> Vec<State> {
        self.program.parsers[self.parser].states.keys().collect()
    }

    /// Stores a body in a state. The code after each test goes to a new state.
    fn state(&mut self, mut state: State, body: Block) {
        let mut done = Block::new();
        for stmt in body {
            if has_nested(&stmt) {
                let failed = self.bool_var("failed", stmt.span);
                self.set(failed, false, stmt.span, &mut done);
                let label = self.program.make_label();
                let block = self.nested(vec![stmt.clone()], label, failed);
                done.push(Stmt::new(StmtKind::Labeled(label, block), stmt.span));
                let failed = build::var(self.program, failed, stmt.span);
                let goes_on = build::not(self.program, failed);
                state = self.branch(
                    state,
                    &mut done,
                    goes_on,
                    TransitionTarget::Accept,
                    stmt.span,
                );
                continue;
            }
            for test in self.tests(&stmt) {
                done.extend(test.before);
                let otherwise = self.failure(test.error, stmt.span);
                state = self.branch(state, &mut done, test.holds, otherwise, stmt.span);
            }
            if !matches!(stmt.kind, StmtKind::Verify { .. }) {
                done.push(stmt);
            }
        }
        self.program.parsers[self.parser].states[state].body = done;
    }

    /// Ends a state with a branch to `otherwise` if the condition is false. Returns the state for a true condition,
    /// which has the original transition.
    fn branch(
        &mut self,
        state: State,
        body: &mut Block,
        holds: Expr,
        otherwise: TransitionTarget,
        span: Span,
    ) -> State {
        match constant(self.program, holds) {
            Some(Value::Bool(true)) => return state,
            Some(_) => {
                // The rest is unreachable, but must be in some state.
                let rest = self.split(state, body, Transition::To(otherwise));
                return rest;
            }
            None => {}
        }
        let next = State::from_u32(self.program.parsers[self.parser].states.len() as u32);
        let case = |keyset, target| SelectCase {
            keysets: vec![keyset],
            target,
            span,
        };
        let transition = Transition::Select {
            keys: vec![holds],
            cases: vec![
                case(
                    Keyset::Value(Bits::new(1, 1u32)),
                    TransitionTarget::State(next),
                ),
                case(Keyset::Any, otherwise),
            ],
        };
        self.split(state, body, transition)
    }

    /// Ends a state with a transition. Returns a new state, which has the original one.
    fn split(&mut self, state: State, body: &mut Block, transition: Transition) -> State {
        let states = &mut self.program.parsers[self.parser].states;
        let data = &mut states[state];
        data.body = std::mem::take(body);
        let rest = StateData {
            name: data.name.clone(),
            body: Block::new(),
            transition: std::mem::replace(&mut data.transition, transition),
            rare: false,
            span: data.span,
        };
        states.push(rest)
    }

    /// Adds a default case, for the error `NoMatch`, to a select without one. Redirects edges from `reject` to
    /// `accept`.
    fn transition(&mut self, state: State) {
        let data = &self.program.parsers[self.parser].states[state];
        let (mut transition, span) = (data.transition.clone(), data.span);
        match &mut transition {
            Transition::To(target) => accept(target),
            Transition::Select { keys, cases } => {
                cases.iter_mut().for_each(|case| accept(&mut case.target));
                let any = |case: &SelectCase| case.keysets.iter().all(|k| *k == Keyset::Any);
                if !cases.iter().any(any) {
                    let error = self.named("NoMatch", span);
                    cases.push(SelectCase {
                        keysets: vec![Keyset::Any; keys.len()],
                        target: self.failure(error, span),
                        span,
                    });
                }
            }
        }
        self.program.parsers[self.parser].states[state].transition = transition;
    }

    /// Returns the target for packets that fail with an error.
    fn failure(&mut self, error: Expr, span: Span) -> TransitionTarget {
        let Some(var) = self.error else {
            return TransitionTarget::Accept;
        };
        let number = match constant(self.program, error) {
            Some(Value::Member(number)) => Some(number),
            _ => None,
        };
        if let Some(known) = number.and_then(|number| self.failures.get(&number)) {
            return TransitionTarget::State(*known);
        }
        let name = number.and_then(|number| self.program.errors.get(number as usize));
        let state = StateData {
            name: name.map_or("failed".into(), |name| format!("failed_{name}").into()),
            body: vec![assign(var, error, span)],
            transition: Transition::To(TransitionTarget::Accept),
            rare: false,
            span,
        };
        let state = self.program.parsers[self.parser].states.push(state);
        if let Some(number) = number {
            self.failures.insert(number, state);
        }
        TransitionTarget::State(state)
    }

    /// Rewrites a nested block. A failing test sets `failed`, stores the error and breaks to the label.
    fn nested(&mut self, block: Block, label: Label, failed: Var) -> Block {
        let mut out = Block::new();
        for mut stmt in block {
            let span = stmt.span;
            if has_nested(&stmt) {
                for inner in visit::blocks_mut(&mut stmt.kind) {
                    *inner = self.nested(std::mem::take(inner), label, failed);
                }
            }
            for test in self.tests(&stmt) {
                out.extend(test.before);
                let mut then = Block::new();
                self.set(failed, true, span, &mut then);
                then.extend(self.error.map(|var| assign(var, test.error, span)));
                then.push(Stmt::new(StmtKind::Break(label), span));
                let kind = StmtKind::If {
                    cond: build::not(self.program, test.holds),
                    then,
                    otherwise: Block::new(),
                };
                out.push(Stmt::new(kind, span));
            }
            if !matches!(stmt.kind, StmtKind::Verify { .. }) {
                out.push(stmt);
            }
        }
        out
    }

    /// Returns the tests for the conditions under which a statement rejects, in the interpreter's order.
    fn tests(&mut self, stmt: &Stmt) -> Vec<Test> {
        let span = stmt.span;
        match stmt.kind {
            StmtKind::Verify { cond, error } => vec![Test {
                before: Block::new(),
                holds: cond,
                error,
            }],
            StmtKind::Lookahead { place, skip } => {
                let width = self.program.place_type(place).map_or(0, Type::width);
                let bits = build::u32(self.program, skip.saturating_add(width), span);
                vec![self.fits(bits, span)]
            }
            StmtKind::Advance(by) => {
                let aligned = self.aligned(by, span);
                vec![aligned, self.fits(by, span)]
            }
            StmtKind::Extract { header, varbit } => self.extract_tests(header, varbit, span),
            _ => Vec::new(),
        }
    }

    fn extract_tests(&mut self, header: HeaderRef, varbit: Option<Expr>, span: Span) -> Vec<Test> {
        let mut tests = Vec::new();
        if let HeaderRef::Element(stack, index) = header {
            let size = self.program.stacks[stack].elems.len() as u32;
            let holds = self.compare(BinaryOp::Lt, index, size, span);
            let error = self.named("StackOutOfBounds", span);
            tests.push(self.test(holds, error));
        }
        let Some(layout) = self.program.header_layout(header) else {
            return tests;
        };
        let fixed = layout.fixed_width();
        let most = layout
            .varbit()
            .map(|at| layout.fields[at as usize].ty.width());
        let Some(size) = varbit else {
            let bits = build::u32(self.program, fixed, span);
            tests.push(self.fits(bits, span));
            return tests;
        };
        tests.push(self.aligned(size, span));
        // A size for which the sum overflows exceeds any packet, and fails here.
        let sum_limit = u32::MAX - fixed;
        let holds = self.compare(BinaryOp::Le, size, sum_limit, span);
        let error = self.named("PacketTooShort", span);
        tests.push(self.test(holds, error));
        let fixed = build::u32(self.program, fixed, span);
        let kind = ExprKind::Binary(BinaryOp::Add, fixed, size);
        let bits = build::make(self.program, kind, Type::bit(32), span);
        tests.push(self.fits(bits, span));
        let holds = self.compare(BinaryOp::Le, size, most.unwrap_or(0), span);
        let error = self.named("HeaderTooShort", span);
        tests.push(self.test(holds, error));
        tests
    }

    fn test(&self, holds: Expr, error: Expr) -> Test {
        Test {
            before: Block::new(),
            holds,
            error,
        }
    }

    /// Returns the test that this number of bits is left in the packet.
    fn fits(&mut self, bits: Expr, span: Span) -> Test {
        let fits = self.bool_var("fits", span);
        Test {
            before: vec![Stmt::new(StmtKind::Fits { bits, fits }, span)],
            holds: build::var(self.program, fits, span),
            error: self.named("PacketTooShort", span),
        }
    }

    /// Returns the test that a number of bits is a multiple of 8.
    fn aligned(&mut self, bits: Expr, span: Span) -> Test {
        let slice = ExprKind::Slice {
            base: bits,
            hi: 2,
            lo: 0,
        };
        let low = build::make(self.program, slice, Type::bit(3), span);
        let zero = ExprKind::Const(Bits::zero(3));
        let zero = build::make(self.program, zero, Type::bit(3), span);
        let kind = ExprKind::Binary(BinaryOp::Eq, low, zero);
        let holds = build::make(self.program, kind, Type::Bool, span);
        let error = self.named("ParserInvalidArgument", span);
        self.test(holds, error)
    }

    fn compare(&mut self, op: BinaryOp, value: Expr, with: u32, span: Span) -> Expr {
        let with = build::u32(self.program, with, span);
        build::make(
            self.program,
            ExprKind::Binary(op, value, with),
            Type::Bool,
            span,
        )
    }

    /// Returns an error by name; `NoError` if the program does not declare it.
    fn named(&mut self, name: &str, span: Span) -> Expr {
        let number = self.program.errors.iter().position(|error| error == name);
        let kind = ExprKind::Member(number.unwrap_or(0) as u32);
        build::make(self.program, kind, Type::Error, span)
    }

    fn bool_var(&mut self, name: &str, span: Span) -> Var {
        self.program.vars.push(VarData {
            name: SmolStr::from(name),
            ty: Type::Bool,
            span,
        })
    }

    fn set(&mut self, var: Var, to: bool, span: Span, out: &mut Block) {
        let value = build::value(self.program, &Value::Bool(to), Type::Bool, span);
        out.extend(value.map(|value| assign(var, value, span)));
    }
}

fn assign(var: Var, value: Expr, span: Span) -> Stmt {
    let dst = Place::Var(var);
    Stmt::new(StmtKind::Assign { dst, value }, span)
}

/// Redirects an explicit transition to `reject` to `accept`. Such a packet has no error.
fn accept(target: &mut TransitionTarget) {
    if *target == TransitionTarget::Reject {
        *target = TransitionTarget::Accept;
    }
}

/// Returns true if a block inside the statement contains a statement that may reject.
fn has_nested(stmt: &Stmt) -> bool {
    let mut found = false;
    for inner in visit::blocks(&stmt.kind) {
        visit::walk_block(inner, &mut |stmt| {
            found |= matches!(
                stmt.kind,
                StmtKind::Verify { .. }
                    | StmtKind::Lookahead { .. }
                    | StmtKind::Advance(_)
                    | StmtKind::Extract { .. }
            );
        });
    }
    found
}
