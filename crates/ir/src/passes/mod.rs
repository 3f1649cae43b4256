//! Program to program, without changing what it does: the bytes that leave, the verdict, parser
//! errors, which table is looked up with which key, what externs are called with, all stay. Calls without an effect
//! ([`Effect::None`]) may go.
//!
//! A pass is a file with `pub fn run(&mut Program)`; the statements it makes or copies get ids when it has ended.
//! [`PASSES`] defines the order in which they run.

pub mod atomic;
pub mod automaton;
pub mod compact;
pub mod dce;
pub mod fast_path;
pub mod fold;
pub mod inline;
pub mod lookahead;
pub mod propagate;
pub mod rejects;
pub mod search;
pub mod select;
pub mod skip_ahead;
pub mod specialize;
pub mod split;
pub mod stacks;
pub mod thread;
pub mod unroll;

use crate::*;

/// A pass by name.
#[derive(Clone, Copy)]
pub struct Pass {
    /// What to call it.
    pub name: &'static str,
    /// From which level on it runs.
    pub level: Level,
    /// Runs it.
    pub run: fn(&mut Program, &Options),
}

/// Options of the passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How much to do.
    pub level: Level,
    /// How many parameters a function may have, results aside, that the target can call; calls of others are
    /// inlined.
    pub function_params: usize,
    /// What becomes of packets that a parser rejects and that go on all the same.
    pub rejects: Rejects,
    /// The target follows each turn of a loop, so that a loop inside another one costs it the product of their turns.
    pub follows_turns: bool,
}

/// What becomes of packets that a parser rejects, where the architecture lets them go on ([`OnReject::Continue`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rejects {
    /// It stays as it is.
    #[default]
    Stay,
    /// Edges of the parser ([`rejects`]). The variable takes the error.
    Edges(Option<Var>),
}

/// How much to do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Level {
    /// Only what targets cannot do without: no calls.
    Lower,
    /// Everything.
    #[default]
    Optimize,
}

/// The passes in order.
pub const PASSES: &[Pass] = &[
    pass("inline", Level::Lower, |p, options| {
        inline::run(p, options.function_params)
    }),
    pass("atomic", Level::Lower, |p, _| atomic::run(p)),
    pass("fold", Level::Optimize, |p, _| fold::run(p)),
    pass("unroll", Level::Optimize, |p, _| unroll::run(p)),
    pass("propagate", Level::Optimize, |p, _| propagate::run(p)),
    pass("stacks", Level::Optimize, |p, _| stacks::run(p)),
    // Once more with elements and moved stacks as plain headers.
    pass("propagate", Level::Optimize, |p, _| propagate::run(p)),
    pass("fold", Level::Optimize, |p, _| fold::run(p)),
    // Before what may reject becomes branches of its own.
    pass("select", Level::Optimize, |p, _| select::run(p)),
    pass("skip_ahead", Level::Optimize, |p, _| skip_ahead::run(p)),
    pass("rejects", Level::Lower, |p, options| {
        if let Rejects::Edges(error) = options.rejects {
            rejects::run(p, error);
        }
    }),
    pass("select", Level::Optimize, |p, _| select::run(p)),
    pass("dce", Level::Optimize, |p, _| dce::run(p)),
    pass("fold", Level::Optimize, |p, _| fold::run(p)),
    pass("dce", Level::Optimize, |p, _| dce::run(p)),
    pass("compact", Level::Optimize, |p, _| compact::run(p)),
    // What is read of a look-ahead is known when nothing else is left.
    pass("lookahead", Level::Optimize, |p, _| lookahead::run(p)),
    pass("compact", Level::Optimize, |p, _| compact::run(p)),
    // Before states are copied: one search is enough.
    pass("search", Level::Optimize, |p, _| search::run(p)),
    // What is no search may be more than one state of it.
    pass("automaton", Level::Optimize, |p, options| {
        automaton::run(p, options.follows_turns)
    }),
    // Where paths lead to copies of their own, fewer states are joined.
    pass("split", Level::Optimize, |p, _| split::run(p)),
    pass("select", Level::Optimize, |p, _| select::run(p)),
    pass("dce", Level::Optimize, |p, _| dce::run(p)),
    // Last: no other pass has to keep entries.
    pass(THREAD, Level::Optimize, |p, _| thread::run(p)),
];

/// The last pass.
const THREAD: &str = "thread";

const fn pass(name: &'static str, level: Level, run: fn(&mut Program, &Options)) -> Pass {
    Pass { name, level, run }
}

impl Pass {
    /// Runs the pass, and numbers the statements that it left.
    pub fn apply(self, program: &mut Program, options: &Options) {
        (self.run)(program, options);
        program.number_stmts();
    }
}

/// Runs all passes of the requested level.
///
/// # Panics
/// In debug builds, if a pass breaks a rule of the verifier: a compiler bug.
pub fn pipeline(program: &mut Program, options: &Options) {
    run(program, options, |_| true);
}

/// All passes but [`thread`]: the parser enters a control where it begins, so that a target can make functions of its parts.
pub fn without_entries(program: &mut Program, options: &Options) {
    run(program, options, |pass| pass.name != THREAD);
}

/// The pass that [`without_entries`] left out, so that both come to [`pipeline`].
pub fn entries(program: &mut Program, options: &Options) {
    run(program, options, |pass| pass.name == THREAD);
}

fn run(program: &mut Program, options: &Options, runs: impl Fn(&Pass) -> bool) {
    for pass in PASSES {
        if pass.level <= options.level && runs(pass) {
            pass.apply(program, options);
            if cfg!(debug_assertions)
                && let Err(errors) = verify(program)
            {
                let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
                panic!("after pass {}: {}", pass.name, errors.join("; "));
            }
        }
    }
}

/// Which body of code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Body {
    Routine(Routine),
    Action(Action),
    State(Parser, State),
}

/// Calls `f` on every body of code, which the program lacks meanwhile.
fn for_each_body(program: &mut Program, mut f: impl FnMut(&mut Program, &mut Block, Body)) {
    for id in all_bodies(program) {
        let mut block = std::mem::take(body_mut(program, id));
        f(program, &mut block, id);
        *body_mut(program, id) = block;
    }
}

fn all_bodies(program: &Program) -> Vec<Body> {
    let routines = program.routines.keys().map(Body::Routine);
    let actions = program.actions.keys().map(Body::Action);
    let states = program
        .parsers
        .iter()
        .flat_map(|(parser, data)| data.states.keys().map(move |s| Body::State(parser, s)));
    routines.chain(actions).chain(states).collect()
}

fn body_mut(program: &mut Program, body: Body) -> &mut Block {
    match body {
        Body::Routine(id) => &mut program.routines[id].body,
        Body::Action(id) => &mut program.actions[id].body,
        Body::State(parser, state) => &mut program.parsers[parser].states[state].body,
    }
}

#[cfg(test)]
mod tests;
