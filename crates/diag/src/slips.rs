//! The distance of names, and what a misspelt one may have meant.

use crate::quoted;

/// Characters that are compared: text may be absurdly long, and the time goes by the square.
const COMPARED: usize = 64;

/// Slips that make one name of the other: a character more, less or another, or two neighbours that changed places. Of
/// names that differ in more than 64 characters it is no more than a bound from below.
pub fn slips(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    // Names of one table are alike but for their ends.
    let alike =
        |pairs: &mut dyn Iterator<Item = (&char, &char)>| pairs.take_while(|(a, b)| a == b).count();
    let before = alike(&mut one.iter().zip(&other));
    let (one, other) = (&one[before..], &other[before..]);
    let behind = alike(&mut one.iter().rev().zip(other.iter().rev()));
    let (one, other) = (&one[..one.len() - behind], &other[..other.len() - behind]);
    let start = |name: &[char]| name.iter().take(COMPARED).collect::<String>();
    strsim::osa_distance(&start(one), &start(other))
}

/// The candidate nearest to `name`, if one is near enough to suggest.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
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

/// Advice on a name that is none of `all`: the nearest of them, or else all, behind `lead`.
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
