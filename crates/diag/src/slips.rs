//! Edit distance of names, and suggestions for a misspelt one.

use crate::quoted;

/// Most characters that are compared. Text may be absurdly long, and the time is quadratic in the length.
const COMPARED: usize = 64;

/// Returns the edit distance of two names: insertions, deletions and substitutions of a character, and transpositions
/// of two neighbours. For names that differ in more than 64 characters it is a lower bound.
pub fn slips(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    // Skip what both names have in common at the start and at the end: names of one table often differ in little else.
    let alike =
        |pairs: &mut dyn Iterator<Item = (&char, &char)>| pairs.take_while(|(a, b)| a == b).count();
    let before = alike(&mut one.iter().zip(&other));
    let (one, other) = (&one[before..], &other[before..]);
    let behind = alike(&mut one.iter().rev().zip(other.iter().rev()));
    let (one, other) = (&one[..one.len() - behind], &other[..other.len() - behind]);
    let start = |name: &[char]| name.iter().take(COMPARED).collect::<String>();
    strsim::osa_distance(&start(one), &start(other))
}

/// Returns the candidate nearest to `name`, if one is near enough to suggest.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = match name.chars().count() {
        0 => return None,
        // Another short name is rarely the one meant, unless it differs in case alone.
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

/// Returns advice on a name that is none of `all`: the nearest of them, or else all of them after `lead`.
pub fn instead_of(name: &str, all: &[&str], lead: &str) -> String {
    match nearest(name, all.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{lead} {}", quoted(all)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slip_counts_once() {
        let all = [
            ("route", "route", 0),
            ("route", "rotue", 1),
            ("route", "routes", 1),
            ("route", "roüte", 1),
            ("route", "table", 4),
            ("", "acl", 3),
        ];
        for (one, other, count) in all {
            assert_eq!(slips(one, other), count, "{one} {other}");
        }
        let long = "ingress.".repeat(20);
        assert_eq!(slips(&format!("{long}acl"), &format!("{long}route")), 5);
        assert_eq!(slips(&"ü".repeat(100_000), &"x".repeat(200_000)), 64);
    }
    #[test]
    fn finds_a_swap_and_refuses_strangers() {
        let near = |name: &str, all: &[&'static str]| nearest(name, all.iter().copied());
        assert_eq!(near("ethrenet", &["ipv4", "ethernet"]), Some("ethernet"));
        assert_eq!(near("lenght", &["length", "layout"]), Some("length"));
        assert_eq!(near("count", &["length", "layout"]), None);
        assert_eq!(near("x", &["hdr"]), None);
        assert_eq!(near("x", &["c"]), None);
        assert_eq!(near("m", &["M"]), Some("M"));
        assert_eq!(near("HDR", &["hdr"]), Some("hdr"));
    }

    #[test]
    fn where_nothing_is_near_all_are_named() {
        let all = ["name", "program"];
        assert_eq!(
            instead_of("porgram", &all, "there is"),
            "did you mean `program`?"
        );
        assert_eq!(
            instead_of("x", &all, "there is"),
            "there is `name`, `program`"
        );
    }
}
