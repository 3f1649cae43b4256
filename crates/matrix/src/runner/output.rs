//! Parser for the output of test binaries: `libtest`'s text, which `libtest-mimic` imitates.

use std::collections::BTreeMap;

/// Result of a test, by its line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TestStatus {
    /// `ok`
    Ok,
    /// `FAILED`
    Failed,
    /// `ignored`
    Ignored,
}

/// Returns the test whose end a line reports, with its result.
pub(super) fn verdict(line: &str) -> Option<(&str, TestStatus)> {
    let (name, verdict) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let name = name.trim_end();
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    let verdict = match verdict.trim() {
        "ok" => TestStatus::Ok,
        "FAILED" => TestStatus::Failed,
        other if other.starts_with("ignored") => TestStatus::Ignored,
        _ => return None,
    };
    Some((name, verdict))
}

/// Returns the output of each failed test, from the sections at the end of the output.
pub(super) fn reasons(output: &str, failed: &[String]) -> BTreeMap<String, String> {
    let mut sections = BTreeMap::new();
    let mut open: Option<(String, String)> = None;
    for line in output.lines() {
        let begins = line
            .strip_prefix("---- ")
            .and_then(|rest| rest.strip_suffix(" ----"))
            .map(|name| name.strip_suffix(" stdout").unwrap_or(name))
            .filter(|name| failed.iter().any(|f| f == name));
        let ends = line == "failures:" || line.starts_with("test result: ");
        if begins.is_some() || ends {
            sections.extend(open.take());
        }
        match (begins, &mut open) {
            (Some(name), _) => open = Some((name.to_string(), String::new())),
            (None, Some((_, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    sections.extend(open);
    sections
        .values_mut()
        .for_each(|text| *text = text.trim().to_string());
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_harnesses_are_verdicts() {
        assert_eq!(verdict("test a::b ... ok"), Some(("a::b", TestStatus::Ok)));
        assert_eq!(
            verdict("test xdp::x.p4      ... FAILED"),
            Some(("xdp::x.p4", TestStatus::Failed))
        );
        assert_eq!(
            verdict("test a - should panic ... ok"),
            Some(("a", TestStatus::Ok))
        );
        assert_eq!(
            verdict("test a ... ignored, why"),
            Some(("a", TestStatus::Ignored))
        );
        assert_eq!(verdict("test result: ok. 3 passed"), None);
        assert_eq!(verdict("test a has been running for over 60 seconds"), None);
    }

    #[test]
    fn a_failure_has_its_section() {
        let output = "\
running 3 tests
test a ... FAILED
test b ... FAILED
test c ... ok

failures:

---- a stdout ----
first
---- other ----
second

---- b ----
error: x

failures:
    a
    b

test result: FAILED. 1 passed; 2 failed
";
        let failed = ["a".to_string(), "b".to_string()];
        let reasons = reasons(output, &failed);
        assert_eq!(reasons["a"], "first\n---- other ----\nsecond");
        assert_eq!(reasons["b"], "error: x");
        assert_eq!(reasons.len(), 2);
    }
}
