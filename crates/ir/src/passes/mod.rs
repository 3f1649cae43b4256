//! Passes: transformations of programs that preserve their behaviour. The bytes that leave, the verdict, parser errors,
//! table look-ups with their keys, and extern calls with their arguments remain the same. Calls without an effect
//! ([`Effect::None`]) may be removed.
//!
//! A pass is a file with `pub fn run(&mut Program)`. The statements that it creates or copies receive ids when it has
//! ended. [`PASSES`] defines the order in which they run.

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

/// A pass with its name and level.
#[derive(Clone, Copy)]
pub struct Pass {
    /// Name.
    pub name: &'static str,
    /// Lowest level at which it runs.
    pub level: Level,
    /// Function that runs it.
    pub run: fn(&mut Program, &Options),
}

/// Options of the passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Optimisation level.
    pub level: Level,
    /// Greatest number of parameters, without results, of a function that the target can call. Calls of other functions
    /// are inlined.
    pub function_params: usize,
    /// Treatment of rejected packets that continue.
    pub rejects: Rejects,
    /// True if the target follows each iteration of a loop, so that a loop inside another one costs the product of
    /// their iterations.
    pub follows_iterations: bool,
}

/// Treatment of packets that a parser rejects, if the architecture lets them continue ([`OnReject::Continue`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rejects {
    /// Rejections remain as they are.
    #[default]
    Stay,
    /// Rejections become edges of the parser ([`rejects`]). The variable receives the error.
    Edges(Option<Var>),
}

/// Optimisation level.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Level {
    /// Only the passes that targets need: no calls remain.
    Lower,
    /// Everything.
    #[default]
    Optimize,
}

/// All passes, in order.
pub const PASSES: &[Pass] = &[
    pass("inline", Level::Lower, |p, options| {
        inline::run(p, options.function_params)
    }),
    pass("atomic", Level::Lower, |p, _| atomic::run(p)),
    pass("fold", Level::Optimize, |p, _| fold::run(p)),
    pass("unroll", Level::Optimize, |p, _| unroll::run(p)),
    pass("propagate", Level::Optimize, |p, _| propagate::run(p)),
    pass("stacks", Level::Optimize, |p, _| stacks::run(p)),
    // Once more, now that elements and moved stacks are plain headers.
    pass("propagate", Level::Optimize, |p, _| propagate::run(p)),
    pass("fold", Level::Optimize, |p, _| fold::run(p)),
    // Before statements that may reject become branches.
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
    // At this point only the parts of a look-ahead that matter are still read.
    pass("lookahead", Level::Optimize, |p, _| lookahead::run(p)),
    pass("compact", Level::Optimize, |p, _| compact::run(p)),
    // Before states are copied: one search is enough.
    pass("search", Level::Optimize, |p, _| search::run(p)),
    // States that are not a search may form an automaton.
    pass("automaton", Level::Optimize, |p, options| {
        automaton::run(p, options.follows_iterations)
    }),
    // Fewer states are joined if paths lead to their own copies.
    pass("split", Level::Optimize, |p, _| split::run(p)),
    pass("select", Level::Optimize, |p, _| select::run(p)),
    pass("dce", Level::Optimize, |p, _| dce::run(p)),
    // Last: no other pass preserves entry points.
    pass(THREAD, Level::Optimize, |p, _| thread::run(p)),
];

/// The last pass.
const THREAD: &str = "thread";

const fn pass(name: &'static str, level: Level, run: fn(&mut Program, &Options)) -> Pass {
    Pass { name, level, run }
}

impl Pass {
    /// Runs the pass and renumbers the statements.
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

/// Runs all passes except [`thread`]: the parser enters a control at its start, so that a target can outline functions.
pub fn without_entries(program: &mut Program, options: &Options) {
    run(program, options, |pass| pass.name != THREAD);
}

/// Runs the pass that [`without_entries`] omits. Both together are equivalent to [`pipeline`].
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

/// Identity of a body of code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Body {
    Routine(Routine),
    Action(Action),
    State(Parser, State),
}

/// Calls `f` on every body of code. The program does not have the body during the call.
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
