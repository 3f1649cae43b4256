//! Limits of the kernel that a program is held against before clang works on it, which may take a minute for one that exceeds them.

use crate::abi::Hook;
use crate::features::{Feature, Features};
use crate::outer_maps::MOST_MAPS;
use crate::{Report, errors};
use diag::{Diagnostics, Span};
use ir::{Program, visit};

/// Functions that the kernel lets a program have (`BPF_MAX_SUBPROGS` of Linux).
const MOST_FUNCTIONS: usize = 256;

/// Instructions that a jump can pass over where the kernel lacks [`Feature::LongJumps`].
const FARTHEST: u32 = 32_767;

/// Instructions that a program may have (`BPF_COMPLEXITY_LIMIT_INSNS` of Linux).
const LONGEST: u32 = 1_000_000;

/// By how much a program may be shorter than estimated; 2.7 is the most that was seen.
const OVERESTIMATE: u32 = 3;

/// Of a function of more instructions clang does not describe where its variables are: that would take it longer than all
/// the rest, and as much more again each time the function doubles.
const LONG: u32 = 4_000;

/// Whether clang takes so long over a program that less of it is described for debuggers.
pub fn is_long(report: &Report) -> bool {
    report.longest_estimate > LONG
}

/// Refuses a program that exceeds a limit for certain.
pub(crate) fn check(
    program: &Program,
    hook: Hook,
    kernel: &Features,
    report: &Report,
) -> Result<(), Diagnostics> {
    let has_long_jumps = kernel.has(Feature::LongJumps);
    let most = if has_long_jumps { LONGEST } else { FARTHEST };
    let last_table = || {
        let tables = program.tables.values();
        tables.last().map_or(Span::NONE, |table| table.span)
    };
    let refused = if report.maps_used > MOST_MAPS {
        let tables = program.tables.len();
        errors::too_many_maps(hook, report.maps_used, tables, MOST_MAPS, last_table())
    } else if report.functions > MOST_FUNCTIONS {
        errors::too_many_functions(hook, report.functions, MOST_FUNCTIONS, last_table())
    } else if report.longest_estimate > OVERESTIMATE * most {
        let longest = report.longest_estimate;
        errors::too_long(hook, longest, most, has_long_jumps, longest_part(program))
    } else {
        return Ok(());
    };
    Err(Box::new(refused).into())
}

/// Whether jumps of a program are likely to pass over more than they can without [`Feature::LongJumps`].
pub fn needs_long_jumps(report: &Report) -> bool {
    report.longest_estimate > 2 * FARTHEST
}

/// The parser, the control or the other routine that has the most statements.
pub fn longest_part(program: &Program) -> Span {
    let parsers = program.parsers.values().map(|parser| {
        let states = parser.states.values();
        let statements: usize = states.map(|state| 1 + statements(&state.body)).sum();
        (statements, parser.span)
    });
    let routines = program.routines.values();
    let routines = routines.map(|routine| (statements(&routine.body), routine.span));
    let longest = parsers.chain(routines).max_by_key(|(size, _)| *size);
    longest.map_or(Span::NONE, |(_, span)| span)
}

fn statements(block: &[ir::Stmt]) -> usize {
    let mut count = 0;
    visit::walk_block(block, &mut |_| count += 1);
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Version;

    /// What a program is refused for whose compilation comes to this.
    fn refused(report: &Report, kernel: Version) -> Option<&'static str> {
        let text =
            "program test reject stop\nvar x: bit<8>\nroutine c block() {\n    x = 8w1;\n}\n";
        let program = ir::text::parse(text).expect("a program");
        let refused = check(&program, Hook::Xdp, &Features::of(kernel), report).err()?;
        refused.iter().next().map(|diagnostic| diagnostic.code.0)
    }

    #[test]
    fn what_exceeds_a_limit_is_refused_and_what_reaches_it_is_not() {
        let most = Report {
            maps_used: MOST_MAPS,
            functions: MOST_FUNCTIONS,
            longest_estimate: OVERESTIMATE * FARTHEST,
            ..Report::default()
        };
        let old = (6, 5);
        assert_eq!(refused(&most, old), None);
        let more = |change: fn(&mut Report)| {
            let mut report = most.clone();
            change(&mut report);
            refused(&report, old)
        };
        assert_eq!(more(|report| report.maps_used += 1), Some("E0734"));
        assert_eq!(more(|report| report.functions += 1), Some("E0744"));
        assert_eq!(more(|report| report.longest_estimate += 1), Some("E0745"));
        let new = (6, 6);
        let longest = |longest_estimate| Report {
            longest_estimate,
            ..most.clone()
        };
        assert_eq!(refused(&longest(OVERESTIMATE * LONGEST), new), None);
        let longer = OVERESTIMATE * LONGEST + 1;
        assert_eq!(refused(&longest(longer), new), Some("E0745"));
    }
}
