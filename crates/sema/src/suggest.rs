//! "Did you mean": the name nearest to a misspelt one.

use diag::slips;

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
    let wanted = name.to_lowercase();
    candidates
        .filter(|candidate| *candidate != name)
        .map(|candidate| (slips(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(slips, _)| *slips <= limit)
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, candidate)| candidate)
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
