//! Lowers parser loops that only look for a value to searches.
//!
//! Such a loop compares the next bits with a constant. It is left on a match, otherwise it moves forward by one byte,
//! so it needs an iteration for each byte. [`StmtKind::Search`] replaces all these iterations, and targets have faster
//! methods than a comparison at each byte. The statement precedes the loop and rejects nothing. It ends before the
//! iteration that leaves the loop: the value is found, a counter has reached its limit, or the packet is too short.
//! That iteration runs unchanged, so errors, counters and the cursor are the same as before.
//!
//! Guarantee: this statement replaces every loop of a parser ([`crate::analysis::parser_loops`]) with a single path
//! that moves forward by one byte and does nothing else but
//!
//! - compare the next bits with one constant;
//! - test whether bits are left;
//! - add constants to counters, and compare these with loop invariants.

mod limit;
mod turn;

use crate::analysis::dataflow::targets;
use crate::analysis::liveness::Liveness;
use crate::analysis::parser_loops::{self, PathStep};
use crate::passes::dce::targets_mut;
use crate::*;
use diag::Span;
use turn::SearchIteration;

/// Runs the pass.
pub fn run(program: &mut Program) {
    for parser in program.parsers.keys().collect::<Vec<_>>() {
        for found in parser_loops::find(&program.parsers[parser], 1) {
            if let [steps] = &found.iterations[..]
                && let Some(iteration) = turn::of(program, parser, steps)
                && forgets(program, found.head, &iteration)
            {
                rewrite(program, parser, steps, iteration);
            }
        }
    }
}

/// Returns true if the writes of the skipped iterations are dead, counters excepted.
fn forgets(program: &Program, head: State, iteration: &SearchIteration) -> bool {
    let live = Liveness::new(program);
    let is_read = |&header: &Header| {
        let fields = &program.header_types[program.headers[header].ty].fields;
        live.valid_in_state(head, header)
            || (0..fields.len()).any(|field| live.field_in_state(head, header, field as u32))
    };
    !iteration
        .vars
        .iter()
        .any(|&var| live.var_in_state(head, var))
        && !iteration.headers.iter().any(is_read)
}

/// Inserts the search before the loop, which no longer repeats.
fn rewrite(program: &mut Program, parser: Parser, steps: &[PathStep], iteration: SearchIteration) {
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
        return;
    };
    let span = iteration.span;
    let passed = (!iteration.counters.is_empty()).then(|| {
        program.vars.push(VarData {
            name: "passed".into(),
            ty: Type::bit(32),
            span,
        })
    });
    let limits = iteration.limits.into_iter();
    let limit = limits.reduce(|a, b| least(program, a, b, span));
    let search = StmtKind::Search {
        pattern: iteration.pattern,
        limit,
        passed,
    };
    let mut body = vec![Stmt::new(search, span)];
    for (counter, step) in iteration.counters {
        body.extend(passed.map(|passed| count(program, counter, &step, passed, span)));
    }
    let states = &mut program.parsers[parser].states;
    body.append(&mut states[first.state].body);
    states[first.state].body = body;
    // Never taken: the iteration after a search leaves the loop.
    let mut leads = targets_mut(&mut states[last.state].transition);
    if let Some(back) = leads.get_mut(last.target) {
        **back = TransitionTarget::Reject;
    }
    let test = &mut states[iteration.found.state].transition;
    if iteration.is_last_test
        && let Some(&target) = targets(test).get(iteration.found.target)
    {
        *test = Transition::To(target);
    }
}

/// Returns the minimum of two numbers of iterations.
pub(super) fn least(program: &mut Program, a: Expr, b: Expr, span: Span) -> Expr {
    let less = ExprKind::Binary(BinaryOp::Lt, a, b);
    let less = build::make(program, less, Type::Bool, span);
    build::make(program, ExprKind::Mux(less, a, b), Type::bit(32), span)
}

/// Returns the assignment that updates a counter for a number of iterations.
pub(super) fn count(
    program: &mut Program,
    counter: Var,
    step: &Bits,
    iterations: Var,
    span: Span,
) -> Stmt {
    let ty = program.vars[counter].ty;
    let iterations = build::var(program, iterations, span);
    let iterations = match ty == Type::bit(32) {
        true => iterations,
        false => build::make(program, ExprKind::Cast(iterations), ty, span),
    };
    let before = build::var(program, counter, span);
    let down = Bits::from_int(step.width(), &-step.to_signed());
    let (op, by) = match down.value() < step.value() {
        true => (BinaryOp::Sub, down),
        false => (BinaryOp::Add, step.clone()),
    };
    let by = build::make(program, ExprKind::Const(by), ty, span);
    let product = ExprKind::Binary(BinaryOp::Mul, iterations, by);
    let all = build::make(program, product, ty, span);
    let after = build::make(program, ExprKind::Binary(op, before, all), ty, span);
    let kind = StmtKind::Assign {
        dst: Place::Var(counter),
        value: after,
    };
    Stmt::new(kind, span)
}
