//! "Did you mean": the name nearest to a misspelt one.

/// The candidate nearest to `name`, if one is near enough to suggest.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = match name.chars().count() {
        0 => return None,
        // Another short name is rarely what is meant, unless it differs in case alone.
        1..=2 => 0,
        3 => 1,
        4..=7 => 2,
        _ => 3,
    };
    candidates
        .filter(|candidate| *candidate != name)
        .filter_map(|candidate| Some((distance(name, candidate, limit)?, candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The edits (insert, delete, replace, swap neighbours, case aside) between two names, if at most `limit`.
fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let a: Vec<char> = a.chars().take(64).flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().take(64).flat_map(char::to_lowercase).collect();
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().filter(|&d| d <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_swap_and_refuses_strangers() {
        assert_eq!(
            nearest("ethrenet", ["ipv4", "ethernet"].into_iter()),
            Some("ethernet")
        );
        assert_eq!(nearest("x", ["hdr"].into_iter()), None);
        assert_eq!(nearest("x", ["c"].into_iter()), None);
        assert_eq!(nearest("m", ["M"].into_iter()), Some("M"));
        assert_eq!(nearest("HDR", ["hdr"].into_iter()), Some("hdr"));
    }
}
