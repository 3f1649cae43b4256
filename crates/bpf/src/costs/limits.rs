//! Checks of a program's estimated costs against the kernel's limits, before clang compiles it. For a program that
//! exceeds the limits, clang may take a minute.

use super::weights::clang::{A_SECOND, LONG, SLOW};
use super::weights::kernel::{FARTHEST, LONGEST, MOST_FUNCTIONS, MOST_MAPS};
use super::weights::length::{LONGEST_OF_COPIES, NEEDS_LONG_JUMPS, OVERESTIMATE};
use super::weights::outline::{
    MOST_PROGRAMS, ONE_IN, ONE_IN_OF_SEVERAL, PLACES, PROGRAM, SIZE, STATEMENT,
};
use super::weights::walk::RISKY;
use crate::abi::Hook;
use crate::copies;
use crate::features::{Feature, Features};
use crate::{Outlining, Report, errors};
use diag::{Diagnostic, Diagnostics, Span};
use ir::{Program, visit};

/// Returns true if clang would take too long with full debug information. The program is then compiled with less.
pub fn is_long(report: &Report) -> bool {
    report.longest_estimate > LONG || report.outlined > 0
}

/// Estimates the seconds that clang takes. Returns `None` if they are few.
pub fn seconds(report: &Report) -> Option<u32> {
    let instructions = report.instruction_estimate;
    (instructions > SLOW).then(|| instructions.div_ceil(A_SECOND))
}

/// Returns the number of statements between positions at which a function may be cut, for outlined functions of `most`
/// instructions.
pub(crate) fn between_cuts(most: u32) -> u32 {
    most.div_ceil(PLACES * STATEMENT)
}

/// Length of the longest function, compared with the limits of clang and the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// The length is no problem.
    Fits,
    /// The function is likely to have more instructions than a short jump can span. Clang takes many seconds, and the
    /// verifier may find too many jumps in sequence.
    Long,
    /// The function certainly has more instructions than jumps can span, or so many that clang takes minutes over it
    /// before the verifier refuses it.
    Excessive,
}

/// Compares the longest function with the limits.
pub fn length(kernel: &Features, report: &Report) -> Length {
    let short = !kernel.has(Feature::LongJumps);
    match report.longest_estimate {
        longest if longest > LONGEST => Length::Excessive,
        longest if short && longest > OVERESTIMATE * FARTHEST => Length::Excessive,
        _ if needs_long_jumps(report) => Length::Long,
        _ => Length::Fits,
    }
}

/// Reports a program whose longest function is too long and cannot be outlined.
pub fn too_long(program: &Program, hook: Hook, kernel: &Features, report: &Report) -> Diagnostic {
    let has_long_jumps = kernel.has(Feature::LongJumps);
    let most = if has_long_jumps { LONGEST } else { FARTHEST };
    let longest = report.longest_estimate;
    errors::too_long(hook, longest, most, has_long_jumps, longest_part(program))
}

/// Decides how functions are outlined. The outlined functions are short, for clang and the verifier, but not too many.
/// The number of programs chained by tail calls is `times` the number that the verifier is likely to need. If copies
/// of packets differ, all functions are in one program: the loop over the copies cannot be split, since no program
/// leads back to an earlier one.
pub fn outlining(program: &Program, report: &Report, times: usize) -> Outlining {
    let instructions = report.instruction_estimate;
    let programs = times * instructions.div_ceil(PROGRAM) as usize;
    let most = match copies::differ(program) {
        true => 1,
        false => MOST_PROGRAMS,
    };
    let programs = programs.clamp(1, most);
    // Not every chained program has this many functions.
    let functions = match programs {
        1 => MOST_FUNCTIONS / ONE_IN,
        _ => programs * MOST_FUNCTIONS / ONE_IN_OF_SEVERAL,
    };
    Outlining {
        size: SIZE.max(instructions / functions as u32),
        programs,
    }
}

/// Returns the largest estimate, in instructions, of a program that may still be within the kernel's limit.
fn longest(program: &Program, report: &Report) -> u64 {
    match copies::differ(program) {
        true => LONGEST_OF_COPIES,
        false => u64::from(OVERESTIMATE * LONGEST) * report.programs.max(1) as u64,
    }
}

/// Refuses a program that certainly exceeds a limit.
pub(crate) fn check(program: &Program, hook: Hook, report: &Report) -> Result<(), Diagnostics> {
    let last_table = || {
        let tables = program.tables.values();
        tables.last().map_or(Span::NONE, |table| table.span)
    };
    let refused = if report.maps_used > MOST_MAPS {
        let (tables, objects) = (program.tables.len(), program.externs.len());
        let last_object = || {
            let mut objects = program.externs.values();
            objects.next_back().map_or(Span::NONE, |object| object.span)
        };
        let (what, at) = match tables >= objects {
            true => ((tables, "tables"), last_table()),
            false => (
                (objects, "counters, flow states and the like"),
                last_object(),
            ),
        };
        errors::too_many_maps(hook, report.maps_used, what, MOST_MAPS, at)
    } else if report.functions > MOST_FUNCTIONS {
        errors::too_many_functions(hook, report.functions, MOST_FUNCTIONS, last_table())
    } else if u64::from(report.instruction_estimate) > longest(program, report) {
        let longest = report.instruction_estimate;
        errors::too_long(hook, longest, LONGEST, true, longest_part(program))
    } else {
        return Ok(());
    };
    Err(Box::new(refused).into())
}

/// Returns true if a program is likely to need longer jumps than there are without [`Feature::LongJumps`].
pub fn needs_long_jumps(report: &Report) -> bool {
    report.longest_estimate > NEEDS_LONG_JUMPS * FARTHEST
}

/// Returns true if nothing is outlined and the verifier is likely to follow too many branches. The estimate assumes
/// that the program keeps everything in variables.
pub fn is_risky(report: &Report) -> bool {
    report.outlined == 0 && report.verifier_estimate > RISKY
}

/// Returns true if no jump of a program's own C is too far: its longest function has no more instructions than a jump
/// can span. The estimate of the length tends to be too high.
pub fn is_short(report: &Report) -> bool {
    report.longest_estimate <= FARTHEST
}

/// Returns the location of the parser or routine (such as a control) with the most statements.
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

    fn program() -> Program {
        let text =
            "program test reject stop\nvar x: bit<8>\nroutine c block() {\n    x = 8w1;\n}\n";
        ir::text::parse(text).expect("a program")
    }

    /// Returns the diagnostic code if [`check`] refuses a program with this report.
    fn refused(report: &Report, differ: bool) -> Option<&'static str> {
        let mut program = program();
        program.slots.extend(differ.then(copies::requests));
        let refused = check(&program, Hook::Xdp, report).err()?;
        refused.iter().next().map(|diagnostic| diagnostic.code.0)
    }

    #[test]
    fn what_exceeds_a_limit_is_refused_and_what_reaches_it_is_not() {
        let most = Report {
            maps_used: MOST_MAPS,
            functions: MOST_FUNCTIONS,
            instruction_estimate: OVERESTIMATE * LONGEST,
            ..Report::default()
        };
        assert_eq!(refused(&most, false), None);
        assert_eq!(refused(&most, true), Some("E0745"));
        let more = |change: fn(&mut Report)| {
            let mut report = most.clone();
            change(&mut report);
            refused(&report, false)
        };
        assert_eq!(more(|report| report.maps_used += 1), Some("E0734"));
        assert_eq!(more(|report| report.functions += 1), Some("E0744"));
        let longer = more(|report| report.instruction_estimate += 1);
        assert_eq!(longer, Some("E0745"));
    }

    #[test]
    fn where_most_maps_are_those_of_objects_the_last_of_them_is_marked() {
        let text = "program test reject stop\nextern a: counter {\n}\nextern b: counter {\n}\n";
        let mut program = ir::text::parse(text).expect("a program");
        for (lo, object) in (3..).zip(program.externs.values_mut()) {
            object.span = Span { lo, hi: lo + 1 };
        }
        let report = Report {
            maps_used: MOST_MAPS + 1,
            ..Report::default()
        };
        let refused = check(&program, Hook::Xdp, &report).expect_err("too many");
        let refused = &refused.iter().next().expect("one").primary;
        assert_eq!(refused.span, Span { lo: 4, hi: 5 });
        assert_eq!(
            refused.text,
            "the last of 2 counters, flow states and the like"
        );
    }

    #[test]
    fn what_jumps_cannot_pass_over_is_excessive_and_so_is_what_no_kernel_allows() {
        let of = |longest_estimate, kernel: Version| {
            let report = Report {
                longest_estimate,
                ..Report::default()
            };
            length(&Features::of(kernel), &report)
        };
        let (old, new) = ((6, 5), (6, 6));
        assert_eq!(of(2 * FARTHEST, old), Length::Fits);
        assert_eq!(of(2 * FARTHEST + 1, new), Length::Long);
        assert_eq!(of(OVERESTIMATE * FARTHEST, old), Length::Long);
        assert_eq!(of(OVERESTIMATE * FARTHEST + 1, old), Length::Excessive);
        assert_eq!(of(LONGEST, new), Length::Long);
        assert_eq!(of(LONGEST + 1, new), Length::Excessive);
    }

    #[test]
    fn one_function_that_is_large_by_estimate_is_risky_and_several_are_not() {
        let of = |verifier_estimate, outlined| {
            is_risky(&Report {
                verifier_estimate,
                outlined,
                ..Report::default()
            })
        };
        assert!(!of(RISKY, 0));
        assert!(of(RISKY + 1, 0));
        assert!(!of(RISKY + 1, 2));
    }

    #[test]
    fn outlined_functions_are_no_more_than_the_kernel_allows_functions() {
        let of = |instruction_estimate| {
            let report = Report {
                instruction_estimate,
                ..Report::default()
            };
            outlining(&program(), &report, 1)
        };
        assert_eq!(of(100_000), Outlining::of(SIZE));
        for instructions in [1_000_000, 3_000_000, 40_000_000] {
            let outlining = of(instructions);
            let functions = outlining.programs as u32 * (MOST_FUNCTIONS as u32);
            assert!(outlining.size * functions >= 2 * instructions - functions);
            assert!(outlining.programs > 1 && outlining.programs <= MOST_PROGRAMS);
        }
    }
}
