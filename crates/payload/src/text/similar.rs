//! The name that a misspelt one may have meant.

/// The name closest to `wanted`, if any is close: at most a third of its letters differ.
pub fn similar<'a>(names: impl Iterator<Item = &'a str>, wanted: &str) -> Option<&'a str> {
    let near = names.map(|name| (distance(name, wanted), name));
    let near = near.filter(|&(distance, name)| {
        distance <= name.len().min(wanted.len()).div_ceil(3).max(1) && distance < name.len()
    });
    near.min().map(|(_, name)| name)
}

/// Levenshtein distance; names are short.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &right) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let names = ["length", "layout", "until"];
        assert_eq!(similar(names.into_iter(), "lenght"), Some("length"));
        assert_eq!(similar(names.into_iter(), "count"), None);
        assert_eq!(similar(["x"].into_iter(), "y"), None);
    }
}
