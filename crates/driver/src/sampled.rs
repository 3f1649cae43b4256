//! What excerpts of a very long program take, found out side by side.

use bpf::forecast::sample::Sample;
use ir::Program;
use kernel::interrupt::Deferred;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Bytes of stack of a thread that compiles: as many as a process begins with.
const STACK: usize = 8 << 20;

/// What a program takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Instructions of its code, each of which the verifier processes once at least.
    pub(crate) code: u32,
    /// Those that it processed, if it was asked.
    pub(crate) processed: Option<u32>,
}

/// Finds what an excerpt takes; `None` if it cannot be compiled.
type FindCost<'a> = dyn Fn(&Program) -> Option<Cost> + Sync + 'a;

/// Instructions that the verifier has to process at the least of the program that a sample is of. `None` if an excerpt cannot be compiled.
pub(crate) fn least(sample: &Sample, cost: &FindCost<'_>) -> Option<u64> {
    let excerpts = sample.excerpts.iter().map(|excerpt| &excerpt.program);
    let programs: Vec<&Program> = std::iter::once(&sample.base).chain(excerpts).collect();
    let costs = in_parallel(&programs, cost)?;
    let code: Vec<u64> = costs.iter().map(|cost| cost.code.into()).collect();
    let processed = costs.iter().map(|cost| cost.processed.map(u64::from));
    let processed: Option<Vec<u64>> = processed.collect();
    let least = |all: &[u64]| {
        all.split_first()
            .map(|(&base, rest)| sample.least(base, rest))
    };
    least(&code).max(processed.and_then(|processed| least(&processed)))
}

/// The results for all, in order; `None` if there is none for one of them.
fn in_parallel(programs: &[&Program], cost: &FindCost<'_>) -> Option<Vec<Cost>> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let work = || -> Vec<(usize, Option<Cost>)> {
        let claim = || next.fetch_add(1, Ordering::Relaxed);
        std::iter::repeat_with(claim)
            .map_while(|at| Some((at, cost(programs.get(at)?))))
            .collect()
    };
    // An interrupt waits until the folders are gone in which clang works.
    let _interrupts = Deferred::begin().ok()?;
    let mut costs = thread::scope(|scope| {
        let worker = |_| {
            thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, work)
        };
        let workers: Vec<_> = (0..threads).map(worker).collect();
        let done = workers.into_iter().map(|worker| worker.ok()?.join().ok());
        done.collect::<Option<Vec<_>>>()
    })?
    .concat();
    costs.sort_by_key(|(at, _)| *at);
    costs.into_iter().map(|(_, cost)| cost).collect()
}
