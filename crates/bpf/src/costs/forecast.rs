//! Lower bound of the instructions that the verifier has to process, computed from a program's IR. A program that is
//! certainly too large is refused before there is any C, over which clang alone would take minutes.
//!
//! The verifier processes every instruction at least once, so their number grows with the constructs of a program,
//! whatever paths lead to them. Each construct has a weight ([`super::weights`]). It is less than the cost in the
//! leanest of the measured programs, which were outlined into functions like all programs near the limit.
//! `crates/driver/tests/it/forecast.rs` measures them again: 1.4 times the forecast and more. Constructs that clang
//! may merge or compute itself have no weight: a thousand additions in a row may be one instruction.

use super::walk;
use super::weights::forecast::{
    self as weight, MOST, MOST_CASES, MOST_CASES_OF_COPIES, MOST_OF_ONE,
};
use super::weights::{kernel, length};
use crate::abi::Hook;
use crate::copies;
use crate::{Report, errors};
use diag::{Diagnostics, Span};
use ir::{Block, ExternInst, Parser, Program, Routine, StmtKind, Table, Transition, visit};
use smol_str::SmolStr;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// The forecast for a program.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// Numbers of instructions by construct.
    shares: Vec<Share>,
    /// Limit of the program's size.
    limit: Limit,
    /// Header stack that is larger than clang can make code for, if there is one.
    stack: Option<Stack>,
    /// Estimated number of instructions of the code.
    length: u64,
}

/// Cause of the limit of a program's size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The time that clang takes.
    Compiler,
    /// The verifier, which has to process the program as a whole.
    Verifier,
}

impl Limit {
    /// Returns the limit, in instructions.
    pub fn instructions(self) -> u64 {
        match self {
            Limit::Compiler => MOST,
            Limit::Verifier => MOST_OF_ONE,
        }
    }
}

/// Share of one construct in the instructions of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Share {
    /// The construct.
    pub construct: Construct,
    /// Least number of instructions.
    pub least: u64,
    /// Declaration of the construct; for tables, that of the table that takes most.
    pub span: Span,
}

/// A part of a program that a user can make smaller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Construct {
    /// A parser.
    Parser {
        /// Number of its states.
        states: usize,
        /// Number of cases of their `select`s.
        cases: usize,
    },
    /// The tables, with what their actions do.
    Tables {
        /// Number of tables.
        tables: usize,
        /// Number of statements that apply them.
        applied: usize,
        /// Number of their actions.
        actions: usize,
    },
    /// A control, without its tables.
    Control {
        /// Number of its conditions, and of the values of its `switch`es.
        conditions: usize,
        /// Number of its calls of counters, meters and registers.
        calls: usize,
    },
}

impl Forecast {
    /// Makes the forecast for a program as the passes leave it, by its constructs.
    pub fn of(program: &Program) -> Forecast {
        let mut applied = HashMap::new();
        let parsers = program.parsers.keys();
        let mut shares: Vec<Share> = parsers.map(|p| parser(program, p, &mut applied)).collect();
        let routines = program.routines.keys();
        shares.extend(routines.map(|r| routine(program, r, &mut applied)));
        shares.extend(tables(program, &applied));
        Forecast {
            shares,
            limit: match copies::differ(program) {
                true => Limit::Verifier,
                false => Limit::Compiler,
            },
            stack: stack_of_cases(program),
            length: length::OF_IR * walk::once(program),
        }
    }

    /// Returns the least number of instructions that the verifier has to process.
    pub fn least(&self) -> u64 {
        self.shares.iter().map(|share| share.least).sum()
    }

    /// Returns the construct that takes most of them.
    pub fn most(&self) -> Option<&Share> {
        self.shares.iter().max_by_key(|share| share.least)
    }

    /// Refuses a program that is too large to be compiled.
    pub fn check(&self, hook: Hook) -> Result<(), Diagnostics> {
        if let Some(stack) = &self.stack {
            return Err(Box::new(errors::stack_of_cases(hook, stack)).into());
        }
        match self.most() {
            Some(share) if self.least() > self.limit.instructions() => {
                let refused = errors::too_much(hook, self.least(), self.limit, share);
                Err(Box::new(refused).into())
            }
            _ => Ok(()),
        }
    }

    /// Returns a report if the program is certainly too long for one function. Then none has to be emitted to find
    /// that out.
    pub fn long(&self) -> Option<Report> {
        let length = u32::try_from(self.length).unwrap_or(u32::MAX);
        let report = Report {
            instruction_estimate: length,
            longest_estimate: length,
            ..Report::default()
        };
        (length / 2 > length::CERTAINLY * kernel::FARTHEST).then_some(report)
    }
}

/// A header stack with more elements than a target takes.
#[derive(Clone, Debug)]
pub struct Stack {
    /// Name of the stack.
    pub name: SmolStr,
    /// Number of its elements.
    pub elements: usize,
    /// Largest number of elements that it may have.
    pub most: usize,
    /// Declaration of the stack.
    pub span: Span,
}

/// Returns the largest stack that does not stay rolled, if it has too many elements.
fn stack_of_cases(program: &Program) -> Option<Stack> {
    let most = match copies::differ(program) {
        true => MOST_CASES_OF_COPIES,
        false => MOST_CASES,
    };
    let unrolled = program.stacks.values().filter(|stack| !stack.rolled);
    let largest = unrolled.max_by_key(|stack| stack.elems.len())?;
    let elements = largest.elems.len();
    (elements > most).then_some(Stack {
        name: largest.name.clone(),
        elements,
        most,
        span: program.headers[*largest.elems.first()?].span,
    })
}

/// Number of statements that apply each table.
type Applied = HashMap<Table, usize>;

fn parser(program: &Program, of: Parser, applied: &mut Applied) -> Share {
    let data = &program.parsers[of];
    let mut within = Counts::default();
    let (mut cases, mut ways) = (0, 0);
    for state in data.states.values() {
        within.block(program, &state.body, applied);
        if let Transition::Select { cases: own, .. } = &state.transition {
            cases += own.len();
            ways += own
                .iter()
                .map(|case| case.target)
                .collect::<HashSet<_>>()
                .len();
        }
    }
    let states = data.states.len();
    Share {
        construct: Construct::Parser { states, cases },
        least: states as u64 * weight::STATE + ways as u64 * weight::CASE + within.least(),
        span: data.span,
    }
}

fn routine(program: &Program, of: Routine, applied: &mut Applied) -> Share {
    let data = &program.routines[of];
    let mut within = Counts::default();
    within.block(program, &data.body, applied);
    Share {
        construct: Construct::Control {
            conditions: within.conditions,
            calls: within.calls,
        },
        least: within.least(),
        span: data.span,
    }
}

/// Returns the share of tables with keys; those that are compiled to comparisons count for nothing.
fn tables(program: &Program, applied: &Applied) -> Option<Share> {
    let (mut tables, mut uses, mut actions, mut least) = (0, 0, 0, 0);
    let mut largest = (0, Reverse(Span::NONE.lo), Span::NONE);
    for (&of, &count) in applied {
        let data = &program.tables[of];
        if data.keys.is_empty() || data.const_entries {
            continue;
        }
        let own: HashSet<_> = data.actions.iter().map(|a| a.action).collect();
        let mut within = Counts::default();
        for action in &own {
            let body = &program.actions[*action].body;
            within.block(program, body, &mut Applied::new());
        }
        let takes =
            count as u64 * weight::LOOK_UP + own.len() as u64 * weight::ACTION + within.least();
        tables += 1;
        uses += count;
        actions += own.len();
        least += takes;
        largest = largest.max((takes, Reverse(data.span.lo), data.span));
    }
    let construct = Construct::Tables {
        tables,
        applied: uses,
        actions,
    };
    (tables > 0).then_some(Share {
        construct,
        least,
        span: largest.2,
    })
}

/// Numbers of statements that have a weight.
#[derive(Default)]
struct Counts {
    conditions: usize,
    calls: usize,
}

/// Returns true if each call of an object looks up the element that it changes in a map.
fn keeps(program: &Program, object: ExternInst) -> bool {
    ["CounterArray", "counter", "meter", "register"].contains(&program.externs[object].ty.as_str())
}

impl Counts {
    fn block(&mut self, program: &Program, block: &Block, applied: &mut Applied) {
        visit::walk_block(block, &mut |stmt| match &stmt.kind {
            StmtKind::If { .. } => self.conditions += 1,
            StmtKind::Switch { cases, .. } => {
                let values = cases.iter().map(|(values, _)| values.len());
                self.conditions += values.sum::<usize>();
            }
            StmtKind::Apply { table, .. } => *applied.entry(*table).or_default() += 1,
            StmtKind::Extern(call) if call.object.is_some_and(|o| keeps(program, o)) => {
                self.calls += 1;
            }
            _ => {}
        });
    }

    fn least(&self) -> u64 {
        self.conditions as u64 * weight::CONDITION + self.calls as u64 * weight::CALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diag::Diagnostic;
    use std::fmt::Write as _;

    /// Makes a program with this number of parser states, each with two cases, and these declarations and statements.
    fn program(states: u64, declared: &str, done: &str) -> Program {
        let mut text = format!(
            "program test reject stop\nheader_type t {{\n    a: bit<8>;\n}}\nvar x: bit<8>\nheader h: t\n{declared}"
        );
        let _ = write!(
            text,
            "routine c block() {{\n{done}}}\nparser p start s0 {{\n"
        );
        for i in 0..states {
            let next = i + 1;
            let _ = write!(
                text,
                "    state s{i} {{\n        select (x) {{\n            (8w1) -> s{next};\n            (_) -> accept;\n        }}\n    }}\n"
            );
        }
        let _ = write!(
            text,
            "    state s{states} {{\n        goto accept;\n    }}\n}}\n"
        );
        ir::text::parse(&text).expect("a program")
    }

    fn diagnostic(program: &Program) -> Option<Diagnostic> {
        let refused = Forecast::of(program).check(Hook::Xdp).err()?;
        refused.iter().next().cloned()
    }

    /// Returns the label and the help of the refusal of a program that is too long.
    fn refused(program: &Program) -> Option<(String, String)> {
        let diagnostic = diagnostic(program)?;
        assert_eq!(diagnostic.code.0, "E0745");
        Some((
            diagnostic.primary.text.to_string(),
            diagnostic.help.expect("a help"),
        ))
    }

    #[test]
    fn states_and_cases_add_up_to_a_refusal_by_the_parser() {
        let each = weight::STATE + 2 * weight::CASE;
        let fits = program(MOST / each - 1, "", "");
        assert_eq!(refused(&fits), None);
        let (label, help) = refused(&program(MOST / each + 1, "", "")).expect("one");
        assert!(label.contains("states of this parser"), "{label}");
        assert!(help.contains("fewer states"), "{help}");
    }

    #[test]
    fn what_may_be_merged_or_computed_has_no_weight() {
        let least = |done: &str| Forecast::of(&program(1, "", done)).least();
        let nothing = least("");
        assert_eq!(least(&"    x = x + 8w1;\n".repeat(1000)), nothing);
        let condition = "    if x == 8w1 {\n        x = 8w2;\n    }\n";
        assert_eq!(
            least(&condition.repeat(10)),
            nothing + 10 * weight::CONDITION
        );
    }

    #[test]
    fn a_stack_that_is_not_rolled_has_so_many_elements_at_the_most() {
        let with = |elements: usize| {
            let mut program = program(
                1,
                "header other: t\nvar next: bit<32>\nstack s next next { h, other }\n",
                "",
            );
            for stack in program.stacks.values_mut() {
                stack.elems = stack.elems.iter().copied().cycle().take(elements).collect();
            }
            program
        };
        let code = |program: &Program| diagnostic(program).map(|refused| refused.code.0);
        assert_eq!(code(&with(MOST_CASES)), None);
        assert_eq!(code(&with(MOST_CASES + 1)), Some("E0719"));
        let mut copied = with(MOST_CASES_OF_COPIES + 1);
        assert_eq!(code(&copied), None);
        copied.slots.push(copies::requests());
        assert_eq!(code(&copied), Some("E0719"));
        let mut rolled = with(MOST_CASES + 1);
        rolled
            .stacks
            .values_mut()
            .for_each(|stack| stack.rolled = true);
        assert_eq!(code(&rolled), None);
    }

    #[test]
    fn a_program_that_copies_packets_is_one_and_has_a_limit_of_its_own() {
        let each = weight::STATE + 2 * weight::CASE;
        let mut larger = program(MOST_OF_ONE / each + 1, "", "");
        assert_eq!(refused(&larger), None);
        larger.slots.push(copies::requests());
        let refusal = Forecast::of(&larger).check(Hook::TcIngress);
        let refusal = refusal.expect_err("a refusal");
        let message = &refusal.iter().next().expect("one").message;
        assert!(message.contains("as one of up to 350000"), "{message}");
        let mut fits = program(MOST_OF_ONE / each - 1, "", "");
        fits.slots.push(copies::requests());
        assert_eq!(refused(&fits), None);
    }
}
