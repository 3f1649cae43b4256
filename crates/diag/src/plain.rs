//! Plain text for people, beside diagnostics: numbers, lists of names, tables, errors of the system.

use crate::shown;
use std::borrow::Cow;
use std::fmt::Display;
use unicode_width::UnicodeWidthChar;

/// Formats a number of things, which are named in the singular: "1 entry", "2 entries".
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, singular: &str) -> String {
    if number == N::from(1) {
        return format!("{number} {singular}");
    }
    match singular.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{number} {stem}ies"),
        _ => format!("{number} {singular}s"),
    }
}

/// Formats a number in groups of three digits: "65,536".
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Lists names: "`a`, `b`".
pub fn quoted<S: AsRef<str>>(names: &[S]) -> String {
    let each = names.iter().map(|name| format!("`{}`", name.as_ref()));
    each.collect::<Vec<_>>().join(", ")
}

/// Returns an error's message as the system gives it, without the number of the error.
pub fn system_message(error: &std::io::Error) -> String {
    let mut text = error.to_string();
    if let Some(end) = text.find(" (os error") {
        text.truncate(end);
    }
    text
}

/// Returns the number of columns that a character takes on a terminal: two for those of East Asian scripts, for
/// example.
pub fn char_width(c: char) -> usize {
    UnicodeWidthChar::width(c).unwrap_or(0)
}

fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// Renders rows of cells with the columns aligned, two blanks between. Cells are escaped by [`shown`], so that one
/// cannot look like several.
pub fn columns(rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<Cow<'_, str>>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| shown(cell)).collect())
        .collect();
    let mut widths: Vec<usize> = Vec::new();
    for row in &rows {
        for (i, cell) in row.iter().enumerate() {
            let width = width(cell);
            match widths.get_mut(i) {
                Some(known) => *known = (*known).max(width),
                None => widths.push(width),
            }
        }
    }
    let line = |row: &Vec<Cow<'_, str>>| {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, &widest)| format!("{cell}{}", " ".repeat(widest - width(cell))))
            .collect();
        cells.join("  ").trim_end().to_string() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plural_is_for_all_numbers_but_one() {
        assert_eq!(counted(1usize, "entry"), "1 entry");
        assert_eq!(counted(0u64, "entry"), "0 entries");
        assert_eq!(counted(2u32, "key"), "2 keys");
        assert_eq!(counted(11u64, "byte"), "11 bytes");
    }

    #[test]
    fn large_numbers_are_grouped() {
        let all: Vec<String> = [0, 999, 1000, 65_536, 1_234_567]
            .into_iter()
            .map(grouped)
            .collect();
        assert_eq!(all, ["0", "999", "1,000", "65,536", "1,234,567"]);
    }

    #[test]
    fn what_the_system_says_has_no_number() {
        let error = std::io::Error::from_raw_os_error(2);
        assert_eq!(system_message(&error), "No such file or directory");
    }

    #[test]
    fn columns_align_and_lines_have_no_blanks_at_the_end() {
        let rows = vec![
            vec!["a".into(), "bb".into()],
            vec!["ccc".into(), "d".into()],
        ];
        assert_eq!(columns(&rows), "a    bb\nccc  d\n");
        let wide = vec![
            vec!["漢字".into(), "b".into()],
            vec!["a".into(), "c".into()],
        ];
        assert_eq!(columns(&[vec!["a\n\x1b[2J".into()]]), "a\\n\\u001b[2J\n");
        assert_eq!(columns(&wide), "漢字  b\na     c\n");
    }
}
