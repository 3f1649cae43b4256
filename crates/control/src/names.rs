//! Finding tables, actions, keys and counters by the names people use: the whole control-plane name,
//! or as much of its end as is unique.

/// Why a name does not lead to one thing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NameError {
    /// Nothing is called that; names that look like it.
    Unknown {
        /// The most similar names, three at most.
        similar: Vec<String>,
    },
    /// More than one name ends like that.
    Ambiguous {
        /// All of them.
        candidates: Vec<String>,
    },
}

/// The position of the one name among `names` that is `wanted` or ends in `.wanted`. A whole name
/// goes before endings. A leading dot, as in P4's absolute names, is ignored.
pub fn resolve<'a, I>(names: I, wanted: &str) -> Result<usize, NameError>
where
    I: Iterator<Item = &'a str> + Clone,
{
    let wanted = wanted.strip_prefix('.').unwrap_or(wanted);
    if let Some(index) = names.clone().position(|name| name == wanted) {
        return Ok(index);
    }
    let ends: Vec<(usize, &str)> = names
        .clone()
        .enumerate()
        .filter(|(_, name)| {
            name.strip_suffix(wanted)
                .is_some_and(|rest| rest.ends_with('.') && !wanted.is_empty())
        })
        .collect();
    match ends.as_slice() {
        [(index, _)] => Ok(*index),
        [] => Err(NameError::Unknown {
            similar: similar(names, wanted),
        }),
        _ => Err(NameError::Ambiguous {
            candidates: ends.iter().map(|(_, name)| name.to_string()).collect(),
        }),
    }
}

/// The names closest to `wanted`, three at most: by edit distance to the name or to its last part.
pub fn similar<'a>(names: impl Iterator<Item = &'a str>, wanted: &str) -> Vec<String> {
    let last = |name: &str| {
        name.rsplit('.')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase()
    };
    let short = last(wanted);
    let mut close: Vec<(usize, &str)> = names
        .map(|name| {
            (
                distance(&last(name), &short).min(distance(name, wanted)),
                name,
            )
        })
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

/// Levenshtein distance; names are short.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let best = (diagonal + usize::from(x != y))
                .min(row[j] + 1)
                .min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    row[b.len()]
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
