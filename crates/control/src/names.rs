//! Resolution of the names that people use for tables, actions, keys and counters: the whole control-plane name, or any
//! unique suffix of it. If there is none, a name from other compilers' tests is tried.

use diag::slips;

/// Reason why a name does not denote one thing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NameError {
    /// Nothing has the name.
    Unknown {
        /// Most similar names, three at most.
        similar: Vec<String>,
    },
    /// Several names have this suffix.
    Ambiguous {
        /// All of them.
        candidates: Vec<String>,
    },
}

/// Returns the index of the one name among `names` that is `wanted` or ends in `.wanted`. A whole name has precedence
/// over suffixes. A leading dot, as in P4's absolute names, is ignored.
///
/// Otherwise the name may be written as in tests for other targets: as in generated C, with `_` for each dot and before
/// a name of the top level (`pipe_acl`, `_NoAction`), or with `$0` for `[0]` and `$valid$` for `isValid()`.
pub fn resolve<'a, I>(names: I, wanted: &str) -> Result<usize, NameError>
where
    I: Iterator<Item = &'a str> + Clone,
{
    let wanted = wanted.strip_prefix('.').unwrap_or(wanted);
    if let Some(index) = names.clone().position(|name| name == wanted) {
        return Ok(index);
    }
    let ends_so = |name: &str| {
        name.strip_suffix(wanted)
            .is_some_and(|rest| rest.ends_with('.') && !wanted.is_empty())
    };
    if let Some(found) = only(names.clone(), ends_so) {
        return found;
    }
    if let Some(plain) = without_dollars(wanted) {
        return resolve(names, &plain);
    }
    let generated = wanted.strip_prefix('_').unwrap_or(wanted);
    only(names.clone(), |name| is_generated(name, generated)).unwrap_or_else(|| {
        Err(NameError::Unknown {
            similar: similar(names, wanted),
        })
    })
}

/// Returns the one name that satisfies `want`; `None` if there is none.
fn only<'a>(
    names: impl Iterator<Item = &'a str>,
    want: impl Fn(&str) -> bool,
) -> Option<Result<usize, NameError>> {
    let found: Vec<(usize, &str)> = names.enumerate().filter(|(_, name)| want(name)).collect();
    match found.as_slice() {
        [] => None,
        [(index, _)] => Some(Ok(*index)),
        _ => Some(Err(NameError::Ambiguous {
            candidates: found.iter().map(|(_, name)| name.to_string()).collect(),
        })),
    }
}

/// Returns true if a name, or a suffix of it after a dot, equals `wanted` with `_` for its dots.
fn is_generated(name: &str, wanted: &str) -> bool {
    let starts = name.match_indices('.').map(|(dot, _)| dot + 1);
    std::iter::once(0)
        .chain(starts)
        .map(|start| &name[start..])
        // A suffix without dots would have been found by itself.
        .any(|end| end.contains('.') && end.replace('.', "_") == wanted || end == wanted)
        && !wanted.is_empty()
}

/// Turns `a$0.b` into `a[0].b`, and `a.$valid$` into `a.isValid()`; `None` if it has neither.
fn without_dollars(wanted: &str) -> Option<String> {
    if !wanted.contains('$') {
        return None;
    }
    let parts = wanted.split('.').map(|part| match part.split_once('$') {
        Some(("", "valid$")) => "isValid()".to_string(),
        Some((stack, index)) if index.bytes().all(|b| b.is_ascii_digit()) && !index.is_empty() => {
            format!("{stack}[{index}]")
        }
        _ => part.to_string(),
    });
    let plain = parts.collect::<Vec<_>>().join(".");
    (!plain.contains('$')).then_some(plain)
}

/// Returns the names closest to `wanted`, three at most: by edit distance to the name or to its last part.
pub fn similar<'a>(names: impl Iterator<Item = &'a str>, wanted: &str) -> Vec<String> {
    let last = |name: &str| {
        name.rsplit('.')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase()
    };
    let short = last(wanted);
    let mut close: Vec<(usize, &str)> = names
        .map(|name| (slips(&last(name), &short).min(slips(name, wanted)), name))
        .filter(|&(d, name)| d <= name.len().min(wanted.len()).div_ceil(3).max(1))
        .collect();
    close.sort();
    let best = close.first().map_or(0, |&(d, _)| d);
    close.retain(|&(d, _)| d == best);
    close.truncate(3);
    close
        .into_iter()
        .map(|(_, name)| name.to_string())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["Ingress.acl", "Ingress.inner.acl", "Ingress.route", "acl2"];

    fn find(wanted: &str) -> Result<usize, NameError> {
        resolve(NAMES.into_iter(), wanted)
    }

    #[test]
    fn a_unique_ending_is_enough() {
        assert_eq!(find("route"), Ok(2));
        assert_eq!(find("inner.acl"), Ok(1));
        assert_eq!(find(".Ingress.acl"), Ok(0));
    }

    #[test]
    fn an_ending_of_two_names_is_ambiguous() {
        let candidates = vec!["Ingress.acl".to_string(), "Ingress.inner.acl".to_string()];
        assert_eq!(find("acl"), Err(NameError::Ambiguous { candidates }));
    }

    #[test]
    fn names_of_generated_c_lead_to_those_of_p4() {
        assert_eq!(find("Ingress_route"), Ok(2));
        assert_eq!(find("Ingress_inner_acl"), Ok(1));
        assert_eq!(find("inner_acl"), Ok(1));
        assert_eq!(find("_acl2"), Ok(3));
        // One of these belongs to another control; neither may be guessed.
        let names = ["a.b_c", "a_b.c"];
        let candidates = names.map(String::from).to_vec();
        assert_eq!(
            resolve(names.into_iter(), "a_b_c"),
            Err(NameError::Ambiguous { candidates })
        );
        assert!(find("Ingress_out").is_err());
    }

    #[test]
    fn elements_and_validity_may_have_dollars() {
        let names = ["hdr.extra[0].h", "hdr.extra[1].h", "hdr.ipv4.isValid()"];
        let find = |wanted: &str| resolve(names.into_iter(), wanted).ok();
        assert_eq!(find("extra$1.h"), Some(1));
        assert_eq!(find("hdr.extra$0.h"), Some(0));
        assert_eq!(find("hdr.ipv4.$valid$"), Some(2));
        assert_eq!(find("ipv4.$valid$"), Some(2));
        assert_eq!(find("extra$2.h"), None);
        assert_eq!(find("extra$.h"), None);
    }

    #[test]
    fn endings_are_whole_parts_and_typos_get_a_suggestion() {
        assert_eq!(
            find("oute"),
            Err(NameError::Unknown {
                similar: vec!["Ingress.route".into()]
            })
        );
        assert_eq!(find("zebra"), Err(NameError::Unknown { similar: vec![] }));
        assert_eq!(find(""), Err(NameError::Unknown { similar: vec![] }));
    }
}
