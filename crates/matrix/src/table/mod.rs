//! The results as tables: by suite, and by program, hook and kernel.

mod forms;
mod grid;

pub(crate) use grid::Grid;

use crate::expected::Expected;
use crate::results::Results;
use crate::suite::SUITES;
use crate::trial::{Feature, Outcome, Trial};
use std::collections::BTreeMap;

/// The suites whose trials are named `hook::program`.
const BY_PROGRAM: [&str; 2] = ["loads", "stf"];

/// All tables, each with a title.
pub(crate) fn tables(all: &[Results], expected: &Expected) -> Vec<(String, Grid)> {
    let mut tables = vec![
        ("Trials that passed".to_string(), by_suite(all, expected)),
        (
            "Features that not every kernel has".to_string(),
            features(all),
        ),
        ("Forms that programs take".to_string(), forms::forms(all)),
    ];
    for suite in BY_PROGRAM {
        let title = match suite {
            "loads" => "Instructions that the verifier processed".to_string(),
            _ => "STF tests, by program, hook and kernel".to_string(),
        };
        tables.push((title, by_program(suite, all, expected)));
    }
    tables.push((
        "Other trials that did not pass".to_string(),
        others(all, expected),
    ));
    tables.push(("Why trials are refused".to_string(), reasons(all, expected)));
    tables.retain(|(_, grid)| !grid.is_empty());
    tables
}

fn by_suite(all: &[Results], expected: &Expected) -> Grid {
    let kernels = all
        .iter()
        .map(|results| format!("{} ({})", results.kernel, results.release));
    let mut grid = Grid::new(std::iter::once("suite".to_string()).chain(kernels));
    for suite in SUITES {
        let cells = all.iter().map(|results| {
            let of: Vec<&Trial> = results
                .trials
                .iter()
                .filter(|t| t.suite == suite.name)
                .collect();
            let passed = of.iter().filter(|t| t.outcome == Outcome::Passed).count();
            let is_refused = |t: &&&Trial| cell(results, t, expected) == REFUSED;
            let refused = of.iter().filter(is_refused).count();
            match (of.len(), refused) {
                (0, _) => String::new(),
                (all, 0) => format!("{passed} of {all}"),
                (all, refused) => format!("{passed} of {all}, {refused} refused"),
            }
        });
        let cells: Vec<String> = cells.collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            grid.row(std::iter::once(suite.name.to_string()).chain(cells));
        }
    }
    grid
}

/// What some kernel lacks, and what is done there instead.
fn features(all: &[Results]) -> Grid {
    let kernels = all.iter().map(|results| results.kernel.clone());
    let head = std::iter::once("feature".to_string()).chain(kernels);
    let mut grid = Grid::new(head.chain(std::iter::once("instead".to_string())));
    let mut lacking: Vec<&Feature> = Vec::new();
    for feature in all.iter().flat_map(|results| &results.features) {
        if !feature.there && !lacking.iter().any(|known| known.name == feature.name) {
            lacking.push(feature);
        }
    }
    for lacked in lacking {
        let cells = all.iter().map(|results| {
            let found = results.features.iter().find(|f| f.name == lacked.name);
            found
                .map_or("", |f| if f.there { "yes" } else { "no" })
                .to_string()
        });
        let row = std::iter::once(lacked.name.clone()).chain(cells);
        grid.row(row.chain(std::iter::once(lacked.without.clone())));
    }
    grid
}

/// What is documented not to pass on these kernels.
fn reasons(all: &[Results], expected: &Expected) -> Grid {
    let head = ["kernel", "suite", "trial", "reason"];
    let mut grid = Grid::new(head.iter().map(ToString::to_string));
    for refused in &expected.refused {
        let is_asked = |kernel: &&String| all.iter().any(|results| results.kernel == **kernel);
        let kernels: Vec<&str> = refused
            .kernels
            .iter()
            .filter(is_asked)
            .map(String::as_str)
            .collect();
        if !kernels.is_empty() {
            let trials = refused.trials.join(", ");
            let cells = [
                &kernels.join(", "),
                &refused.suite,
                &trials,
                &refused.reason,
            ];
            grid.row(cells.into_iter().cloned());
        }
    }
    grid
}

/// Rows of programs; for each kernel a column a hook.
fn by_program(suite: &str, all: &[Results], expected: &Expected) -> Grid {
    let mut hooks: Vec<&str> = Vec::new();
    let mut rows: BTreeMap<&str, BTreeMap<(usize, &str), String>> = BTreeMap::new();
    for (kernel, results) in all.iter().enumerate() {
        for trial in results.trials.iter().filter(|trial| trial.suite == suite) {
            let Some((hook, program)) = trial.name.split_once("::") else {
                continue;
            };
            if !hooks.contains(&hook) {
                hooks.push(hook);
            }
            let cell = cell(results, trial, expected);
            rows.entry(program)
                .or_default()
                .insert((kernel, hook), cell);
        }
    }
    let columns: Vec<(usize, &str)> = (0..all.len())
        .flat_map(|kernel| hooks.iter().map(move |hook| (kernel, *hook)))
        .collect();
    let head = columns
        .iter()
        .map(|(kernel, hook)| format!("{} {hook}", all[*kernel].kernel));
    let mut grid = Grid::new(std::iter::once("program".to_string()).chain(head));
    for (program, cells) in rows {
        let cells = columns
            .iter()
            .map(|column| cells.get(column).cloned().unwrap_or_default());
        grid.row(std::iter::once(program.to_string()).chain(cells));
    }
    grid
}

fn others(all: &[Results], expected: &Expected) -> Grid {
    let mut rows: BTreeMap<String, BTreeMap<usize, String>> = BTreeMap::new();
    for (kernel, results) in all.iter().enumerate() {
        let of = results
            .trials
            .iter()
            .filter(|trial| !BY_PROGRAM.contains(&trial.suite.as_str()));
        for trial in of {
            let name = format!("{} {}", trial.suite, trial.name);
            rows.entry(name)
                .or_default()
                .insert(kernel, cell(results, trial, expected));
        }
    }
    rows.retain(|_, cells| cells.values().any(|cell| cell != PASSED));
    let kernels = all.iter().map(|results| results.kernel.clone());
    let mut grid = Grid::new(std::iter::once("trial".to_string()).chain(kernels));
    for (name, cells) in rows {
        let cells = (0..all.len()).map(|kernel| cells.get(&kernel).cloned().unwrap_or_default());
        grid.row(std::iter::once(name).chain(cells));
    }
    grid
}

const PASSED: &str = "ok";
const REFUSED: &str = "refused";

/// A trial in a word.
fn cell(results: &Results, trial: &Trial, expected: &Expected) -> String {
    let documented = expected.of(&results.kernel, &trial.suite, &trial.name);
    match (trial.outcome, trial.verified, documented) {
        (Outcome::Passed, Some(verified), _) => verified.to_string(),
        (Outcome::Passed, None, _) => PASSED.to_string(),
        (_, _, Some(refused)) if trial.reason.contains(&refused.message) => REFUSED.to_string(),
        (Outcome::Failed, _, _) => "FAILED".to_string(),
        (Outcome::Hung, _, _) => "HUNG".to_string(),
        (Outcome::Crashed, _, _) => "CRASHED".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expected::Refused;

    fn trial(suite: &str, name: &str, outcome: Outcome, verified: Option<u64>) -> Trial {
        Trial {
            suite: suite.to_string(),
            name: name.to_string(),
            outcome,
            reason: "why".to_string(),
            verified,
            forms: Vec::new(),
        }
    }

    #[test]
    fn programs_hooks_and_kernels_make_a_table() {
        let mut old = Results::new("6.1");
        old.trials = vec![
            trial("loads", "xdp::a.p4", Outcome::Passed, Some(7)),
            trial("stf", "xdp::a.p4", Outcome::Passed, None),
            trial("stf", "tc::a.p4", Outcome::Failed, None),
            trial("attach", "pins", Outcome::Hung, None),
        ];
        let lacked = |there, without: &str| Feature {
            name: "tcx".to_string(),
            there,
            without: without.to_string(),
        };
        let everywhere = Feature {
            name: "bpf_loop".to_string(),
            ..lacked(true, "")
        };
        old.features = vec![everywhere.clone(), lacked(false, "filters")];
        let mut new = Results::new("6.12");
        new.features = vec![everywhere, lacked(true, "")];
        new.trials = vec![
            trial("stf", "tc::a.p4", Outcome::Passed, None),
            trial("stf", "tc::b.p4", Outcome::Crashed, None),
            trial("attach", "pins", Outcome::Passed, None),
        ];
        let refused = Refused {
            kernels: ["5.15", "6.1"].map(String::from).to_vec(),
            suite: "kernel".to_string(),
            trials: ["x", "y*"].map(String::from).to_vec(),
            message: "m".to_string(),
            reason: "it is old".to_string(),
        };
        let expected = Expected {
            refused: vec![refused],
        };
        let tables = tables(&[old, new], &expected);
        let text: Vec<String> = tables.iter().map(|(_, grid)| grid.text()).collect();
        assert_eq!(
            text,
            [
                "suite   6.1 ()  6.12 ()\nloads   1 of 1\nattach  0 of 1  1 of 1\nstf     1 of 2  1 of 2\n",
                "feature  6.1  6.12  instead\ntcx      no   yes   filters\n",
                "program  6.1 xdp  6.12 xdp\na.p4     7\n",
                "program  6.1 xdp  6.1 tc  6.12 xdp  6.12 tc\n\
                 a.p4     ok       FAILED            ok\n\
                 b.p4                                CRASHED\n",
                "trial        6.1   6.12\nattach pins  HUNG  ok\n",
                "kernel  suite   trial  reason\n6.1     kernel  x, y*  it is old\n",
            ]
        );
    }
}
