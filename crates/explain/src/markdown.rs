//! Markdown as text for a terminal: paragraphs fill its width, code is indented.

use crate::blocks::Block;
use diag::char_width;

/// Style in which text is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Columns of a line of text. Lines of code keep their length.
    pub width: usize,
    /// True if the terminal shows bold letters.
    pub bold: bool,
}

impl Style {
    /// Returns the text in bold if the terminal shows that.
    pub fn strong(self, text: &str) -> String {
        match self.bold {
            true => format!("\x1b[1m{text}\x1b[0m"),
            false => text.to_string(),
        }
    }
}

/// Indentation of code.
const INDENT: &str = "    ";

/// Renders blocks of Markdown, with an empty line between two.
pub fn render(blocks: &[Block<'_>], style: Style) -> String {
    let texts: Vec<String> = blocks.iter().map(|block| one(block, style)).collect();
    texts.join("\n")
}

fn one(block: &Block<'_>, style: Style) -> String {
    match block {
        Block::Paragraph(text) => paragraph(text, style),
        Block::Code { info, text } => {
            let file = info.split_once(' ').map(|(_, name)| format!("{name}:\n"));
            let lines = text.lines().map(|line| match line {
                "" => "\n".to_string(),
                line => format!("{INDENT}{line}\n"),
            });
            file.into_iter().chain(lines).collect()
        }
    }
}

/// Renders a paragraph, or a list whose items each begin a line.
fn paragraph(text: &str, style: Style) -> String {
    let mut items: Vec<Vec<&str>> = vec![Vec::new()];
    for line in text.lines() {
        let begins_item = line.starts_with("- ");
        match items.last_mut() {
            Some(words) if words.is_empty() || !begins_item => {
                words.extend(line.split_whitespace())
            }
            _ => items.push(line.split_whitespace().collect()),
        }
    }
    items.iter().map(|words| filled(words, style)).collect()
}

/// Fills lines up to the width with words. Continuation lines of a list's item are indented.
fn filled(words: &[&str], style: Style) -> String {
    let indent = match words.first() {
        Some(&"-") => "  ",
        _ => "",
    };
    let mut text = String::new();
    let mut used = 0;
    let mut strong = false;
    for word in words {
        // Bold text is marked at the beginning of a word and at the end of one.
        let begins = word.starts_with("**");
        let plain = word.strip_prefix("**").unwrap_or(word);
        let (plain, ends) = match plain.strip_suffix("**") {
            Some(plain) => (plain, true),
            None => (plain, false),
        };
        let columns: usize = plain.chars().map(char_width).sum();
        if used > 0 && used + 1 + columns > style.width {
            text += "\n";
            text += indent;
            used = indent.len();
        } else if used > 0 {
            text += " ";
            used += 1;
        }
        strong |= begins;
        match strong {
            true => text += &style.strong(plain),
            false => text += plain,
        }
        strong &= !ends;
        used += columns;
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style {
        width: 12,
        bold: false,
    };

    #[test]
    fn text_fills_lines_and_code_is_left_as_it_is() {
        let blocks = [
            Block::Paragraph("one two\nthree four"),
            Block::Code {
                info: "p4 a.p4",
                text: "control c() {\n\n}\n",
            },
            Block::Paragraph("- first of two\n- second"),
        ];
        assert_eq!(
            render(&blocks, PLAIN),
            "one two\nthree four\n\na.p4:\n    control c() {\n\n    }\n\n- first of\n  two\n- second\n"
        );
    }

    #[test]
    fn what_is_strong_is_bold_where_it_can_be() {
        let text = [Block::Paragraph("**Not run.** It is `**`.")];
        let bold = Style {
            bold: true,
            width: 40,
        };
        assert_eq!(
            render(&text, bold),
            "\x1b[1mNot\x1b[0m \x1b[1mrun.\x1b[0m It is `**`.\n"
        );
        assert_eq!(render(&text, PLAIN), "Not run. It\nis `**`.\n");
    }
}
