//! What differs from what is documented, for people: failures with the same message together.

use crate::expected::Difference;
use crate::results::Results;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The names that are listed of trials with the same message.
const EXAMPLES: usize = 3;

/// What kept a kernel's run from being complete, and what differs. Empty if all is as documented.
pub(crate) fn differences(results: &Results, differences: &[Difference]) -> String {
    let mut text = String::new();
    let kernel = &results.kernel;
    for trouble in &results.trouble {
        let _ = writeln!(text, "{kernel}: {trouble}");
    }
    let mut failures: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for difference in differences {
        match difference {
            Difference::Fails { trial, reason } => {
                failures.entry(essence(reason)).or_default().push(trial)
            }
            Difference::Passes { trial, reason } => {
                let _ = writeln!(
                    text,
                    "{kernel}: {trial} passes, and is documented not to: {reason}"
                );
            }
            Difference::Unknown { trial } => {
                let _ = writeln!(
                    text,
                    "{kernel}: there is no trial {trial}, which is documented not to pass"
                );
            }
            Difference::TooMany { refused, of } => {
                let _ = writeln!(
                    text,
                    "{kernel}: {refused} of {of} STF trials are documented not to pass: too many"
                );
            }
        }
    }
    let mut failures: Vec<_> = failures.into_iter().collect();
    failures.sort_by_key(|(_, trials)| std::cmp::Reverse(trials.len()));
    for (message, trials) in failures {
        let _ = writeln!(
            text,
            "{kernel}: {} failed: {message}",
            counted(trials.len())
        );
        for trial in trials.iter().take(EXAMPLES) {
            let _ = writeln!(text, "    {trial}");
        }
        if trials.len() > EXAMPLES {
            let _ = writeln!(text, "    ...");
        }
    }
    text
}

fn counted(trials: usize) -> String {
    match trials {
        1 => "1 trial".to_string(),
        n => format!("{n} trials"),
    }
}

/// The line of a failure that says what is wrong, with its numbers as `N`.
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

    fn fails(trial: &str, reason: &str) -> Difference {
        Difference::Fails {
            trial: trial.to_string(),
            reason: reason.to_string(),
        }
    }

    #[test]
    fn failures_with_the_same_message_are_listed_together() {
        let all = [
            fails("stf a", "error[E0774]: R4 off=128 size=0\n more"),
            fails("stf b", "\nthread 'x' panicked\nleft: 7"),
            fails("stf c", "x\nerror[E0774]: R4 off=5 size=12"),
        ];
        let expected = "\
6.1: 2 trials failed: error[E0774]: R4 off=N size=N
    stf a
    stf c
6.1: 1 trial failed: left: N
    stf b
";
        assert_eq!(differences(&Results::new("6.1"), &all), expected);
    }

    #[test]
    fn nothing_is_reported_where_all_is_as_documented() {
        assert_eq!(differences(&Results::new("6.1"), &[]), "");
        let mut results = Results::new("6.1");
        results.trouble.push("the guest is silent".to_string());
        assert_eq!(differences(&results, &[]), "6.1: the guest is silent\n");
    }
}
