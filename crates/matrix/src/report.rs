//! Report of differences from the documentation; failures with the same message are grouped.

use crate::expected::Differences;
use crate::results::Results;
use crate::trial::Trial;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Number of trials that are listed for one message.
const EXAMPLES: usize = 3;

/// Returns the trouble of a kernel's run and its differences from the documentation. Empty if everything is as
/// documented.
pub(crate) fn report(results: &Results, differences: &Differences<'_>) -> String {
    let kernel = &results.kernel;
    let lines = results.trouble.iter().chain(&differences.others);
    let mut text: String = lines.map(|line| format!("{kernel}: {line}\n")).collect();
    let mut failures: BTreeMap<String, Vec<&Trial>> = BTreeMap::new();
    for trial in &differences.failures {
        failures
            .entry(essence(&trial.reason))
            .or_default()
            .push(trial);
    }
    let mut failures: Vec<_> = failures.into_iter().collect();
    failures.sort_by_key(|(_, trials)| Reverse(trials.len()));
    for (message, trials) in failures {
        let count = trials.len();
        let plural = if count == 1 { "" } else { "s" };
        text += &format!("{kernel}: {count} trial{plural} failed: {message}\n");
        for trial in trials.iter().take(EXAMPLES) {
            text += &format!("    {}\n", trial.full_name());
        }
        if count > EXAMPLES {
            text += "    ...\n";
        }
    }
    text
}

/// Returns the line of a failure that names the fault, with its numbers replaced by `N`.
fn essence(reason: &str) -> String {
    let is_noise = |line: &&str| {
        let line = line.trim();
        line.is_empty() || line.starts_with("thread '") || line.starts_with("note:")
    };
    let errors = reason.lines().find(|line| line.starts_with("error"));
    let line = errors.or_else(|| reason.lines().find(|line| !is_noise(line)));
    let mut text = String::new();
    for c in line.unwrap_or("no message").trim().chars() {
        // `R4` and `e5` are names.
        let is_in_name = text.ends_with(|before: char| before.is_alphanumeric() && before != 'N');
        match c.is_ascii_digit() && !is_in_name {
            true if text.ends_with('N') => {}
            true => text.push('N'),
            false => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Outcome;

    #[test]
    fn failures_with_the_same_message_are_listed_together() {
        let fails = |name, reason| Trial::new("stf", name, Outcome::Failed, reason);
        let all = [
            fails("a", "error[E0774]: R4 off=128 size=0\n more"),
            fails("b", "\nthread 'x' panicked\nleft: 7"),
            fails("c", "x\nerror[E0774]: R4 off=5 size=12"),
        ];
        let all = Differences {
            failures: all.iter().collect(),
            others: Vec::new(),
        };
        let expected = "\
6.1: 2 trials failed: error[E0774]: R4 off=N size=N
    stf a
    stf c
6.1: 1 trial failed: left: N
    stf b
";
        assert_eq!(report(&Results::new("6.1"), &all), expected);
    }

    #[test]
    fn nothing_is_reported_where_all_is_as_documented() {
        assert_eq!(report(&Results::new("6.1"), &Differences::default()), "");
        let mut results = Results::new("6.1");
        results.trouble.push("the guest is silent".to_string());
        let others = vec!["there is no trial x".to_string()];
        let differences = Differences {
            others,
            ..Differences::default()
        };
        assert_eq!(
            report(&results, &differences),
            "6.1: the guest is silent\n6.1: there is no trial x\n"
        );
    }
}
