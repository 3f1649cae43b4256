//! Output to a terminal.

use std::io::IsTerminal;

/// Returns the columns and lines of the terminal on standard output, if it can be drawn on.
pub(crate) fn size() -> Option<(usize, usize)> {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if dumb || !std::io::stdout().is_terminal() {
        return None;
    }
    let (width, height) = terminal_size::terminal_size()?;
    // The last line is left to the cursor.
    Some((width.0.into(), usize::from(height.0).saturating_sub(1)))
}

/// Returns a text with the escape sequences that replace the terminal's contents by it.
pub(crate) fn redrawn(text: &str) -> String {
    let shown = diag::shown_lines(text);
    let lines: String = shown
        .lines()
        .map(|line| format!("{line}\x1b[K\n"))
        .collect();
    format!("\x1b[H{lines}\x1b[J")
}

/// Truncates a text to the part that a terminal shows without scrolling or wrapping.
pub(crate) fn fit(text: &str, width: usize, height: usize) -> String {
    let text = diag::shown_lines(text);
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines.len().min(height);
    lines[..shown]
        .iter()
        .map(|line| {
            let mut columns = 0;
            let mut beyond = line.char_indices().skip_while(|(_, c)| {
                columns += diag::char_width(*c);
                columns <= width
            });
            beyond.next().map_or(*line, |(end, _)| &line[..end])
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_drawn_on_without_scrolling() {
        assert_eq!(redrawn("a\x1b[2J"), "\x1b[Ha\\u001b[2J\x1b[K\n\x1b[J");
        assert_eq!(redrawn("a\nb"), "\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J");
    }

    #[test]
    fn what_a_terminal_has_no_room_for_is_cut() {
        assert_eq!(fit("abc\ndéfg\nh\n", 3, 2), "abc\ndéf");
        assert_eq!(fit("abc\n", 80, 24), "abc");
        assert_eq!(fit("\x1b[2J", 4, 2), "\\u00");
        // A character of two columns would wrap with half of it, and so is left out.
        assert_eq!(fit("漢字x\n", 3, 2), "漢");
        assert_eq!(fit("e\u{301}字\n", 3, 2), "e\u{301}字");
    }
}
