//! Subset of Markdown that pages are written in, as blocks: paragraphs and fenced code.

/// Block of Markdown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Block<'a> {
    /// Lines of text, with their original line breaks.
    Paragraph(&'a str),
    /// Code between fences.
    Code {
        /// Info string of the first fence: a language, and possibly the name of a file.
        info: &'a str,
        /// The lines, each with its line break.
        text: &'a str,
    },
}

/// Fence: ends code, and begins it before the name of the language.
const FENCE: &str = "```";

/// Splits a text into its blocks.
///
/// # Errors
///
/// A fence has no end, or has something after it.
pub fn blocks(text: &str) -> Result<Vec<Block<'_>>, String> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches('\n');
        if rest.is_empty() {
            return Ok(found);
        }
        if let Some(code) = rest.strip_prefix(FENCE) {
            let (info, code) = code.split_once('\n').unwrap_or((code, ""));
            let end = code_end(code).ok_or_else(|| format!("no end of the code `{info}`"))?;
            let text = &code[..end];
            found.push(Block::Code { info, text });
            rest = &code[end + FENCE.len()..];
            if !rest.is_empty() && !rest.starts_with('\n') {
                return Err(format!("something behind the end of the code `{info}`"));
            }
            continue;
        }
        let blank = rest.find("\n\n").unwrap_or(rest.len());
        let code = rest.find("\n```").unwrap_or(rest.len());
        let (paragraph, behind) = rest.split_at(blank.min(code));
        found.push(Block::Paragraph(paragraph.trim_end_matches('\n')));
        rest = behind;
    }
}

/// Returns the offset of the fence that ends code.
fn code_end(code: &str) -> Option<usize> {
    match code.starts_with(FENCE) {
        true => Some(0),
        false => code.find("\n```").map(|at| at + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_end_at_empty_lines_and_code() {
        let found = blocks("\na\nb\n\nc\n```p4 x.p4\ny\n\nz\n```\n\nd\n").unwrap();
        let code = Block::Code {
            info: "p4 x.p4",
            text: "y\n\nz\n",
        };
        let text = Block::Paragraph;
        assert_eq!(found, [text("a\nb"), text("c"), code, text("d")]);
        assert_eq!(blocks("\n\n"), Ok(vec![]));
    }

    #[test]
    fn code_must_end() {
        assert!(blocks("```p4\nx\n").is_err());
        assert!(blocks("```p4\nx\n```y\n").is_err());
        assert_eq!(blocks("```\n```").unwrap().len(), 1);
    }
}
