//! The parts of a Markdown text that are read differently: prose, table cells, and code.

/// A part of a text.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum TextPart<'a> {
    /// A paragraph or an item of a list, its lines joined.
    Prose(String),
    /// A cell of a table.
    Cell(&'a str),
    /// A line of a block that is indented.
    Indented(&'a str),
    /// A fenced block: its language, and its lines.
    Fenced(&'a str, Vec<&'a str>),
}

/// Takes a text apart, with the number of each part's first line.
pub(super) fn parts(text: &str) -> Vec<(usize, TextPart<'_>)> {
    let mut parts = Vec::new();
    let mut lines = text.lines().enumerate();
    let mut is_open = false;
    while let Some((number, line)) = lines.next() {
        let (number, plain) = (number + 1, line.trim());
        let begins_item = ["- ", "* ", "> ", "#"]
            .iter()
            .any(|sign| plain.starts_with(sign))
            || plain
                .split_once(". ")
                .is_some_and(|(n, _)| n.parse::<u8>().is_ok());
        if let Some(language) = plain.strip_prefix("```") {
            let block = lines.by_ref().map(|(_, line)| line);
            let block = block.take_while(|line| line.trim() != "```").collect();
            parts.push((number, TextPart::Fenced(language, block)));
            is_open = false;
        } else if plain.starts_with('|') {
            parts.extend(cells(plain).map(|cell| (number, TextPart::Cell(cell))));
            is_open = false;
        } else if plain.is_empty() {
            is_open = false;
        } else if line.starts_with("    ") && !is_open {
            parts.push((number, TextPart::Indented(plain)));
        } else if let (true, false, Some((_, TextPart::Prose(prose)))) =
            (is_open, begins_item, parts.last_mut())
        {
            prose.push(' ');
            prose.push_str(plain);
        } else {
            parts.push((number, TextPart::Prose(plain.to_string())));
            is_open = !plain.starts_with('#');
        }
    }
    parts
}

/// The cells of a row; `\|` belongs to a cell.
fn cells(row: &str) -> impl Iterator<Item = &str> {
    let mut before = ' ';
    let split = row.split(move |sign| {
        let ends = sign == '|' && before != '\\';
        before = sign;
        ends
    });
    split
        .map(str::trim)
        .filter(|cell| cell.chars().any(|sign| !"-:".contains(sign)))
}

/// The sentences of a paragraph: each ends at `.`, `!` or `?` before a blank and what may begin another.
pub(super) fn sentences(prose: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut begin = 0;
    for (at, _) in prose.match_indices(['.', '!', '?']) {
        let after = prose[at + 1..].trim_start_matches([')', '*', '"', '\u{201d}']);
        let next = after.trim_start();
        let ends = next.is_empty()
            || after.starts_with(' ')
                && next.starts_with(|c: char| c.is_uppercase() || "`*[(\"".contains(c));
        if ends {
            let end = prose.len() - after.len();
            found.push(prose[begin..end].trim());
            begin = end;
        }
    }
    found.push(prose[begin..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// The pieces of code within a line: what stands between backticks.
pub(super) fn code(prose: &str) -> impl Iterator<Item = &str> {
    prose.split('`').skip(1).step_by(2)
}

#[test]
fn a_text_is_taken_apart() {
    let text = "# A\n\nOne line\nand more.\n- an item\n  goes on\n\n    code\n\n| a \\| b | c |\n|---|--:|\n```p4\nx\n```\n";
    let prose = |text: &str| TextPart::Prose(text.to_string());
    assert_eq!(
        parts(text),
        [
            (1, prose("# A")),
            (3, prose("One line and more.")),
            (5, prose("- an item goes on")),
            (8, TextPart::Indented("code")),
            (10, TextPart::Cell("a \\| b")),
            (10, TextPart::Cell("c")),
            (12, TextPart::Fenced("p4", vec!["x"])),
        ]
    );
}

#[test]
fn a_sentence_ends_where_another_begins() {
    assert_eq!(
        sentences("P4-16 1.2.5 is it. `code` too (see a.p4). Third, e.g. this"),
        [
            "P4-16 1.2.5 is it.",
            "`code` too (see a.p4).",
            "Third, e.g. this"
        ]
    );
}
