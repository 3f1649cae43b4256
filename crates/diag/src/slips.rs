//! The distance of names.

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
}
