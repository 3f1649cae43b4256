//! Table of the variants of generated code: for constructs that can be lowered in several ways, the variant on each
//! kernel.

use super::{Grid, kernels, row};
use crate::results::Results;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Variants of a construct on each kernel, and the programs that use it.
#[derive(Default)]
struct Row<'a> {
    construct: &'a str,
    variants: BTreeMap<usize, BTreeSet<&'a str>>,
    programs: BTreeSet<String>,
}

/// Returns a row for each construct, in the order of first occurrence, with the variant on each kernel.
pub(super) fn variants(all: &[Results]) -> Grid {
    let mut found: Vec<Row> = Vec::new();
    for (kernel, results) in all.iter().enumerate() {
        for (trial, variant) in results
            .trials
            .iter()
            .flat_map(|t| t.variants.iter().map(move |f| (t, f)))
        {
            let known = found
                .iter()
                .position(|row| row.construct == variant.construct);
            let at = known.unwrap_or(found.len());
            if known.is_none() {
                let construct = &variant.construct;
                found.push(Row {
                    construct,
                    ..Row::default()
                });
            }
            found[at]
                .variants
                .entry(kernel)
                .or_default()
                .insert(&variant.name);
            found[at].programs.insert(short(&trial.name));
        }
    }
    let mut rows = vec![row("what programs do", kernels(all), Some("programs"))];
    for Row {
        construct,
        variants,
        programs,
    } in &found
    {
        let cells = (0..all.len()).map(|kernel| listed(variants.get(&kernel)));
        rows.push(row(construct, cells, Some(&listed(Some(programs)))));
    }
    Grid(rows)
}

fn listed<S: AsRef<str>>(names: Option<&BTreeSet<S>>) -> String {
    let names: Vec<&str> = names.into_iter().flatten().map(S::as_ref).collect();
    names.join(", ")
}

/// Returns the program of a trial `hook::programs/FOLDER/NAME.p4`: its name, and the folder if that has another name.
fn short(trial: &str) -> String {
    let path = Path::new(trial.split_once("::").map_or(trial, |(_, path)| path));
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let folder = path.parent().and_then(Path::file_name);
    match folder.map(|folder| folder.to_string_lossy()) {
        Some(folder) if folder != name => format!("{folder}/{name}"),
        _ => name.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{CodeVariant, Outcome, Trial};

    fn trial(name: &str, variants: &[(&str, &str)]) -> Trial {
        let variant = |(construct, name): &(&str, &str)| CodeVariant {
            construct: (*construct).to_string(),
            name: (*name).to_string(),
        };
        Trial {
            variants: variants.iter().map(variant).collect(),
            ..Trial::new("loads", name, Outcome::Passed, "")
        }
    }

    #[test]
    fn every_kernel_has_the_variant_that_was_taken_there() {
        let mut old = Results::new("6.1");
        old.trials = vec![
            trial(
                "xdp::b.p4",
                &[("loops", "counted iterations"), ("keys", "bpf_loop")],
            ),
            trial("tc::programs/pdm/a.p4", &[("loops", "counted iterations")]),
        ];
        let mut new = Results::new("6.12");
        new.trials = vec![
            trial(
                "xdp::programs/b/b.p4",
                &[("loops", "may_goto"), ("keys", "may_goto")],
            ),
            trial("xdp::c.p4", &[("MTU", "bpf_check_mtu")]),
        ];
        assert_eq!(
            variants(&[old, new]).text(),
            "what programs do  6.1                 6.12           programs\n\
             loops             counted iterations  may_goto       b, pdm/a\n\
             keys              bpf_loop            may_goto       b\n\
             MTU                                   bpf_check_mtu  c\n"
        );
    }
}
