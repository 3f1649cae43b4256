//! Strict reader of Prometheus' text format, version 0.0.4. It refuses pages that violate the format's description or
//! its conventions.

use std::collections::{BTreeMap, BTreeSet};

/// A metric with all its lines.
#[derive(Debug)]
pub(crate) struct Family {
    /// `counter`, `gauge`, `histogram`, `summary` or `untyped`.
    pub kind: String,
    /// Lines of the metric, in order.
    pub samples: Vec<Sample>,
}

/// A line with a value.
#[derive(Debug)]
pub(crate) struct Sample {
    /// Name in the line, with suffixes such as `_bucket`.
    pub name: String,
    /// Labels, by name.
    pub labels: BTreeMap<String, String>,
    /// The value.
    pub value: f64,
}

/// Reads all metrics of a page by name, or returns the first error.
pub(crate) fn parse(page: &str) -> Result<BTreeMap<String, Family>, String> {
    if !page.ends_with('\n') {
        return Err("the last line has no end".into());
    }
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut series = BTreeSet::new();
    // The current metric, and true if its type has been given.
    let mut open: Option<(String, bool)> = None;
    for (number, line) in (1..).zip(page.lines()) {
        let wrong = |what: &str| Err(format!("line {number}: {what}: {line}"));
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap_or((rest, ""));
            if !is_name(name) || help.is_empty() || unescape(help, false).is_none() {
                return wrong("no help");
            }
            if families.contains_key(name) || open.as_ref().is_some_and(|(n, _)| n == name) {
                return wrong("reported twice");
            }
            if open.as_ref().is_some_and(|(_, typed)| !typed) {
                return wrong("the quantity before has no type");
            }
            open = Some((name.to_string(), false));
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let Some((name, kind)) = rest.split_once(' ') else {
                return wrong("no type");
            };
            if !["counter", "gauge", "histogram", "summary", "untyped"].contains(&kind) {
                return wrong("no such type");
            }
            match &mut open {
                Some((reported, typed)) if reported == name && !*typed => *typed = true,
                _ => return wrong("a type without help before it"),
            }
            let family = Family {
                kind: kind.to_string(),
                samples: Vec::new(),
            };
            families.insert(name.to_string(), family);
        } else if line.is_empty() || line.starts_with('#') {
            return wrong("neither a line of a quantity nor about one");
        } else {
            let sample = sample(line).map_err(|what| format!("line {number}: {what}: {line}"))?;
            let Some((name, true)) = &open else {
                return wrong("of no quantity");
            };
            let Some(family) = families.get_mut(name) else {
                return wrong("of no quantity");
            };
            let suffix = sample.name.strip_prefix(name.as_str());
            let fits = match family.kind.as_str() {
                "histogram" => matches!(suffix, Some("_bucket" | "_sum" | "_count")),
                _ => suffix == Some(""),
            };
            if !fits {
                return wrong(&format!("among the lines of {name}"));
            }
            if !series.insert((sample.name.clone(), sample.labels.clone())) {
                return wrong("twice");
            }
            family.samples.push(sample);
        }
    }
    for (name, family) in &families {
        check(name, family)?;
    }
    Ok(families)
}

/// Checks the rules for a metric's kind.
fn check(name: &str, family: &Family) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("{name}: {what}"));
    if (family.kind == "counter") != name.ends_with("_total") {
        return wrong("counters end in _total, and nothing else does");
    }
    if family.kind == "counter" && family.samples.iter().any(|s| s.value < 0.0) {
        return wrong("a counter below zero");
    }
    if family.kind != "histogram" {
        return Ok(());
    }
    let mut sets: BTreeMap<BTreeMap<String, String>, Vec<&Sample>> = BTreeMap::new();
    for sample in &family.samples {
        let mut labels = sample.labels.clone();
        labels.remove("le");
        sets.entry(labels).or_default().push(sample);
    }
    for lines in sets.values() {
        let one = |suffix: &str| -> Result<f64, String> {
            let wanted = format!("{name}{suffix}");
            match lines
                .iter()
                .filter(|s| s.name == wanted)
                .collect::<Vec<_>>()[..]
            {
                [only] => Ok(only.value),
                _ => Err(format!("{wanted}: not once")),
            }
        };
        let count = one("_count")?;
        one("_sum")?;
        let mut last = (f64::NEG_INFINITY, 0.0);
        for bucket in lines.iter().filter(|s| s.name.ends_with("_bucket")) {
            let Some(bound) = bucket.labels.get("le").and_then(|le| value(le)) else {
                return wrong("a bucket without a bound");
            };
            if bound <= last.0 || bucket.value < last.1 {
                return wrong("buckets that do not rise");
            }
            last = (bound, bucket.value);
        }
        if last != (f64::INFINITY, count) {
            return wrong("the last bucket is not all");
        }
    }
    Ok(())
}

fn sample(line: &str) -> Result<Sample, &'static str> {
    let end = line.find(['{', ' ']).ok_or("no value")?;
    let (name, mut rest) = line.split_at(end);
    if !is_name(name) {
        return Err("no name");
    }
    let mut labels = BTreeMap::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            let (label, after) = rest.split_once("=\"").ok_or("no label")?;
            if !is_name(label) || label.contains(':') {
                return Err("no label's name");
            }
            let end = closing_quote(after).ok_or("a label without end")?;
            let text = unescape(&after[..end], true).ok_or("no such escape")?;
            if labels.insert(label.to_string(), text).is_some() {
                return Err("a label twice");
            }
            rest = &after[end + 1..];
            match rest.strip_prefix(',') {
                Some(more) => rest = more,
                None => break,
            }
        }
        rest = rest.strip_prefix('}').ok_or("labels without end")?;
    }
    let value = rest.strip_prefix(' ').and_then(value).ok_or("no number")?;
    Ok(Sample {
        name: name.to_string(),
        labels,
        value,
    })
}

fn value(text: &str) -> Option<f64> {
    match text {
        "+Inf" => Some(f64::INFINITY),
        "-Inf" => Some(f64::NEG_INFINITY),
        "NaN" => Some(f64::NAN),
        _ if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => text.parse().ok(),
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    text.starts_with(|c: char| fits(c) && !c.is_ascii_digit()) && text.chars().all(fits)
}

fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}

/// Unescapes a label's value or a help text. Quotation marks are escaped in labels only.
fn unescape(text: &str, quote: bool) -> Option<String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next()? {
                '\\' => '\\',
                'n' => '\n',
                '"' if quote => '"',
                _ => return None,
            },
            c => c,
        });
    }
    Some(out)
}

#[test]
fn pages_that_are_not_well_made_are_refused() {
    let good = "# HELP a_total Help.\n# TYPE a_total counter\na_total{x=\"1\\\"\\\\\\n\"} 1\na_total 2.5\n\
                # HELP h Help.\n# TYPE h histogram\nh_bucket{le=\"0.5\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n";
    let families = parse(good).expect("well made");
    let label = &families["a_total"].samples[0].labels["x"];
    assert_eq!(label, "1\"\\\n");
    for (from, to) in [
        ("# HELP a_total Help.\n", ""),
        ("# TYPE a_total counter\n", ""),
        ("a_total counter", "a_total number"),
        ("a_total", "a"),
        ("a_total 2.5\n", "a_total{x=\"1\\\"\\\\\\n\"} 3\n"),
        ("a_total 2.5\n", "a_total 2.5\nh_sum 1\n"),
        ("a_total 2.5\n", "a_total 2.5\n\n"),
        ("a_total 2.5\n", "a_total much\n"),
        ("a_total 2.5\n", "a_total\n"),
        ("x=\"1", "x=\"\\t"),
        ("x=\"1\\\"", "x=\"1\""),
        ("x=", "1x="),
        ("le=\"0.5\"} 1", "le=\"0.5\"} 3"),
        ("le=\"0.5\"", "le=\"half\""),
        ("h_bucket{le=\"+Inf\"} 2\n", ""),
        ("h_count 2", "h_count 3"),
        ("h_sum 3\n", ""),
        ("h_count 2\n", "h_count 2"),
    ] {
        let bad = good.replacen(from, to, if from == "a_total" { 9 } else { 1 });
        assert_ne!(bad, good, "{from}");
        assert!(parse(&bad).is_err(), "{bad}");
    }
}
