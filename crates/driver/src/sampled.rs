//! What excerpts of a very long program take, found out side by side.

use bpf::forecast::sample::Sample;
use ir::Program;
use kernel::interrupt::Deferred;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Bytes of stack of a thread that compiles: as many as a process begins with.
const STACK: usize = 8 << 20;

/// Excerpts that are compiled before it is seen whether they show enough: as many on every machine, so that a refusal has one text.
const AT_ONCE: usize = 2;

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

/// Instructions that the verifier has to process at the least of the program that a sample is of. Excerpts are compiled until they show
/// enough. `None` if one of them cannot be compiled.
pub(crate) fn least(
    sample: &Sample,
    is_enough: &dyn Fn(u64) -> bool,
    cost: &FindCost<'_>,
) -> Option<u64> {
    let excerpts: Vec<&Program> = sample.excerpts.iter().map(|e| &e.program).collect();
    let mut costs = Vec::new();
    let mut least = 0;
    for some in excerpts.chunks(AT_ONCE) {
        let base = costs.is_empty().then_some(&sample.base);
        let programs: Vec<&Program> = base.into_iter().chain(some.iter().copied()).collect();
        costs.extend(in_parallel(&programs, cost)?);
        least = shown(sample, &costs);
        if is_enough(least) {
            break;
        }
    }
    Some(least)
}

/// What the base and the first excerpts show, by what these take.
fn shown(sample: &Sample, costs: &[Cost]) -> u64 {
    let least = |all: Vec<u64>| match all.split_first() {
        Some((&base, excerpts)) => sample.least(base, excerpts),
        None => 0,
    };
    let code = costs.iter().map(|cost| cost.code.into()).collect();
    let processed = costs.iter().map(|cost| cost.processed.map(u64::from));
    least(code).max(processed.collect::<Option<_>>().map_or(0, least))
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
