//! Choice of the tests of a program that run on a target, and their directions.

use crate::args::{Source, Test};
use crate::commands::source::input;
use arch::tc::Direction;
use bpf::abi::Hook;
use diag::{Diagnostic, Diagnostics, SourceMap, Span};
use driver::bpf_target::Reach;
use driver::declared::{Need, Unknown, declared};
use driver::stf::{Case, Prepared, StfTarget};
use std::path::PathBuf;
use std::rc::Rc;

/// A program, which is prepared for a direction when a test first needs it.
pub(super) struct Runs {
    source: Source,
    externs: Vec<PathBuf>,
    target: StfTarget,
    /// Direction that the flags set, if they do.
    direction: Option<Direction>,
    prepared: [Option<Prepared>; 2],
}

/// Plan for a test.
pub(super) enum TestPlan {
    /// Run once for each of these directions.
    Run(Vec<Direction>),
    /// Skip it on this target, for this reason.
    Skip(&'static str),
}

/// Diagnostics about a program or script, with their texts and the exit status.
pub(super) struct Refused {
    pub(super) map: Rc<SourceMap>,
    pub(super) diagnostics: Diagnostics,
    pub(super) status: u8,
}

impl Runs {
    pub(super) fn new(
        args: &Test,
        source: Source,
        externs: Vec<PathBuf>,
        target: StfTarget,
    ) -> Runs {
        let by_flag = args.egress
            || matches!(
                target,
                StfTarget::Kernel {
                    hook: Hook::TcEgress,
                    ..
                }
            );
        Runs {
            source,
            externs,
            target,
            direction: by_flag.then_some(Direction::Egress),
            prepared: [None, None],
        }
    }

    /// Plans a test on this target by the declarations in its first lines. Fails if one of them is unknown.
    pub(super) fn plan(&self, case: &Case) -> Result<TestPlan, Box<Refused>> {
        let declared =
            declared(&case.text).map_err(|unknown| Box::new(undeclared(case, unknown)))?;
        let (hook, reach) = match self.target {
            StfTarget::Interp { .. } => (None, Reach::TestRun),
            StfTarget::Kernel { hook, reach, .. } => (Some(hook), reach),
        };
        let mut directions = match self.direction {
            Some(direction) => vec![direction],
            None => declared.directions.to_vec(),
        };
        if hook == Some(Hook::Xdp) {
            directions.retain(|direction| *direction == Direction::Ingress);
        }
        Ok(match (declared.need, hook, reach) {
            (Some(Need::Interpreter), Some(_), _) => {
                TestPlan::Skip("its packets are too short for a network device")
            }
            (Some(Need::VirtualTime), Some(_), Reach::Veth) => {
                TestPlan::Skip("it chooses times and random numbers, as `--fast` lets it")
            }
            (Some(Need::OneProcessor), Some(_), Reach::Veth) => {
                TestPlan::Skip("its packets must be on one processor, as with `--fast`")
            }
            _ if directions.is_empty() => {
                TestPlan::Skip("its packets go out, and XDP sees those that come in")
            }
            _ => TestPlan::Run(directions),
        })
    }

    /// Returns the direction to mention with a test: a declared one, but ingress if a flag set it.
    pub(super) fn declared(&self, direction: Direction) -> Direction {
        match self.direction {
            Some(_) => Direction::Ingress,
            None => direction,
        }
    }

    /// Returns the program for one direction, and prepares it if needed. `warn` receives the warnings the first time.
    pub(super) fn prepared(
        &mut self,
        direction: Direction,
        warn: impl FnOnce(&Diagnostics, &SourceMap),
    ) -> Result<&mut Prepared, Box<Refused>> {
        let first = self.prepared.iter().all(Option::is_none);
        let slot = &mut self.prepared[usize::from(direction == Direction::Egress)];
        if let Some(prepared) = slot {
            return Ok(prepared);
        }
        let elaborated = driver::elaborate(&input(&self.source)).map_err(|refused| {
            Box::new(Refused {
                status: if refused.right_elsewhere.is_some() {
                    2
                } else {
                    1
                },
                map: Rc::new(refused.map),
                diagnostics: refused.diagnostics,
            })
        })?;
        if first {
            warn(&elaborated.diagnostics, &elaborated.map);
        }
        let target = towards(self.target, direction);
        let prepared = Prepared::new(elaborated, target, &self.externs).map_err(|unfit| {
            Box::new(Refused {
                map: unfit.map,
                diagnostics: unfit.diagnostics,
                status: 2,
            })
        })?;
        Ok(slot.insert(prepared))
    }
}

/// Returns the target for packets of a direction.
fn towards(target: StfTarget, direction: Direction) -> StfTarget {
    match target {
        StfTarget::Interp { seed, .. } => StfTarget::Interp { seed, direction },
        StfTarget::Kernel {
            hook: Hook::TcIngress | Hook::TcEgress,
            reach,
            kernel,
            parse_record,
            layout,
            outline,
        } => StfTarget::Kernel {
            hook: match direction {
                Direction::Ingress => Hook::TcIngress,
                Direction::Egress => Hook::TcEgress,
            },
            reach,
            kernel,
            parse_record,
            layout,
            outline,
        },
        xdp => xdp,
    }
}

/// Returns the error for a declaration with an unknown value.
fn undeclared(case: &Case, unknown: Unknown<'_>) -> Refused {
    let mut map = SourceMap::new();
    let span = map
        .add(&*case.name, &*case.text)
        .map_or(Span::NONE, |file| map.span(file, unknown.at));
    let known: Vec<String> = unknown.known.iter().map(|k| format!("`{k}`")).collect();
    let message = format!("`{}` is none of {}", unknown.value, known.join(", "));
    let error = Diagnostic::error("E0822", span, message).help(format!(
        "write one of them, or a comment that does not begin with `{}:`",
        unknown.word
    ));
    Refused {
        map: Rc::new(map),
        diagnostics: Box::new(error).into(),
        status: 2,
    }
}
