//! Tables of the results: by suite, and by program, hook and kernel.

mod grid;
mod variants;

pub(crate) use grid::Grid;

use crate::expected::Expected;
use crate::results::Results;
use crate::suite::SUITES;
use crate::trial::{Feature, Outcome, Trial};
use std::collections::BTreeMap;

/// Suites whose trials are named `hook::program`.
const BY_PROGRAM: [&str; 2] = ["loads", "stf"];

/// Returns all tables that have rows, each with a title.
pub(crate) fn tables(all: &[Results], expected: &Expected) -> Vec<(&'static str, Grid)> {
    let mut tables = vec![
        ("Trials that passed", by_suite(all, expected)),
        ("Features that not every kernel has", features(all)),
        ("Variants that programs take", variants::variants(all)),
        (
            "Instructions that the verifier processed",
            by_program("loads", all, expected),
        ),
        (
            "STF tests, by program, hook and kernel",
            by_program("stf", all, expected),
        ),
        ("Other trials that did not pass", others(all, expected)),
        ("Why trials are refused", reasons(all, expected)),
    ];
    tables.retain(|(_, grid)| grid.0.len() > 1);
    tables
}

/// Makes a row: a name, a cell for each kernel, and an optional last cell.
fn row(name: &str, cells: impl Iterator<Item = String>, last: Option<&str>) -> Vec<String> {
    let name = std::iter::once(name.to_string());
    name.chain(cells).chain(last.map(String::from)).collect()
}

/// Returns the names of the kernels.
fn kernels(all: &[Results]) -> impl Iterator<Item = String> {
    all.iter().map(|results| results.kernel.clone())
}

fn by_suite(all: &[Results], expected: &Expected) -> Grid {
    let kernels = all
        .iter()
        .map(|results| format!("{} ({})", results.kernel, results.release));
    let mut rows = vec![row("suite", kernels, None)];
    for suite in SUITES {
        let cells = all.iter().map(|results| {
            let of = || results.trials.iter().filter(|t| t.suite == suite.name);
            let passed = of().filter(|t| t.outcome == Outcome::Passed).count();
            let refused = of()
                .filter(|t| cell(results, t, expected) == REFUSED)
                .count();
            match (of().count(), refused) {
                (0, _) => String::new(),
                (all, 0) => format!("{passed} of {all}"),
                (all, refused) => format!("{passed} of {all}, {refused} refused"),
            }
        });
        rows.push(row(suite.name, cells, None));
    }
    rows.retain(|row| row[1..].iter().any(|cell| !cell.is_empty()));
    Grid(rows)
}

/// Returns the table of features that some kernel lacks, with their replacements.
fn features(all: &[Results]) -> Grid {
    let mut rows = vec![row("feature", kernels(all), Some("instead"))];
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
        rows.push(row(&lacked.name, cells, Some(&lacked.without)));
    }
    Grid(rows)
}

/// Returns the table of documented failures on these kernels.
fn reasons(all: &[Results], expected: &Expected) -> Grid {
    let mut rows = vec![
        ["kernel", "suite", "trial", "reason"]
            .map(String::from)
            .to_vec(),
    ];
    for refused in &expected.refused {
        let mut kernels = refused.kernels.clone();
        kernels.retain(|kernel| all.iter().any(|results| results.kernel == *kernel));
        if !kernels.is_empty() {
            let trials = refused.trials.join(", ");
            let (suite, reason) = (refused.suite.clone(), refused.reason.clone());
            rows.push(vec![kernels.join(", "), suite, trials, reason]);
        }
    }
    Grid(rows)
}

/// Returns a table with a row for each name, and for each kernel a column for each hook. `place` returns a trial's hook
/// and name, or `None` to leave it out.
fn by_name<'a>(
    first: &str,
    all: &'a [Results],
    expected: &Expected,
    place: impl Fn(&'a Trial) -> Option<(&'a str, String)>,
) -> Grid {
    let mut hooks: Vec<&str> = Vec::new();
    let mut cells: BTreeMap<String, BTreeMap<(usize, &str), String>> = BTreeMap::new();
    for (kernel, results) in all.iter().enumerate() {
        for trial in &results.trials {
            let Some((hook, name)) = place(trial) else {
                continue;
            };
            if !hooks.contains(&hook) {
                hooks.push(hook);
            }
            let of_name = cells.entry(name).or_default();
            of_name.insert((kernel, hook), cell(results, trial, expected));
        }
    }
    let of_kernel = |kernel| hooks.iter().map(move |hook| (kernel, *hook));
    let columns: Vec<(usize, &str)> = (0..all.len()).flat_map(of_kernel).collect();
    let head = columns
        .iter()
        .map(|(kernel, hook)| format!("{} {hook}", all[*kernel].kernel));
    let mut rows = vec![row(
        first,
        head.map(|text| text.trim_end().to_string()),
        None,
    )];
    for (name, of_name) in cells {
        let cells = columns.iter().map(|column| of_name.get(column).cloned());
        rows.push(row(&name, cells.map(Option::unwrap_or_default), None));
    }
    Grid(rows)
}

/// Returns the table of programs for a suite of [`BY_PROGRAM`].
fn by_program(suite: &str, all: &[Results], expected: &Expected) -> Grid {
    by_name("program", all, expected, |trial| {
        let (hook, program) = trial.name.split_once("::")?;
        (trial.suite == suite).then(|| (hook, program.to_string()))
    })
}

/// Returns the table of trials of other suites that fail on some kernel.
fn others(all: &[Results], expected: &Expected) -> Grid {
    let mut grid = by_name("trial", all, expected, |trial| {
        let is_other = !BY_PROGRAM.contains(&trial.suite.as_str());
        is_other.then(|| ("", trial.full_name()))
    });
    let passed = |cell: &String| cell.is_empty() || cell == PASSED;
    grid.0.retain(|row| !row[1..].iter().all(passed));
    grid
}

const PASSED: &str = "ok";
const REFUSED: &str = "refused";

/// Returns a trial's result in a word, or the number of its instructions.
fn cell(results: &Results, trial: &Trial, expected: &Expected) -> String {
    let documented = expected.of(&results.kernel, &trial.suite, &trial.name);
    match (trial.outcome, documented) {
        (Outcome::Passed, _) => trial.verified.map_or(PASSED.to_string(), |n| n.to_string()),
        (_, Some(refused)) if trial.reason.contains(&refused.message) => REFUSED.to_string(),
        (Outcome::Failed, _) => "FAILED".to_string(),
        (Outcome::Hung, _) => "HUNG".to_string(),
        (Outcome::Crashed, _) => "CRASHED".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expected::Refused;

    fn trial(suite: &str, name: &str, outcome: Outcome, verified: Option<u64>) -> Trial {
        Trial {
            verified,
            ..Trial::new(suite, name, outcome, "why")
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
