//! The name that a misspelt one may have meant.

use diag::slips;

/// The name closest to `wanted`, if any is close: at most a third of its letters differ.
pub fn similar<'a>(names: impl Iterator<Item = &'a str>, wanted: &str) -> Option<&'a str> {
    let near = names.map(|name| (slips(name, wanted), name));
    let near = near.filter(|&(distance, name)| {
        distance <= name.len().min(wanted.len()).div_ceil(3).max(1) && distance < name.len()
    });
    near.min().map(|(_, name)| name)
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
