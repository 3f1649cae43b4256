//! Splits a header into declarations and the comments before them, by lines, braces and parentheses.

/// Declaration as text.
#[derive(Debug)]
pub(crate) struct Piece<'a> {
    /// Lines of the comment before it, without the slashes.
    pub doc: Vec<&'a str>,
    /// Its text, without common indentation. For an extern object, the text before the brace.
    pub text: String,
    /// The declaration on one line, without comments, directives and annotations.
    pub code: String,
    /// Members in the braces of an extern object.
    pub members: Vec<Piece<'a>>,
}

/// Prefix of a comment that documents the declaration below it.
const DOC: &str = "///";

/// Returns the declarations in these lines, or the fault in them.
pub(crate) fn scan<'a>(lines: &[&'a str]) -> Result<Vec<Piece<'a>>, String> {
    let mut pieces = Vec::new();
    let mut doc: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at).map(|line| line.trim()) {
        if let Some(text) = line.strip_prefix(DOC) {
            doc.push(text);
            at += 1;
            continue;
        }
        let is_plain = line.is_empty() || line.starts_with("//");
        if let Some(first) = doc.first().filter(|_| is_plain) {
            return Err(format!("documentation of nothing: `{}`", first.trim()));
        }
        if is_plain || (line.starts_with('#') && doc.is_empty()) {
            at += 1;
            continue;
        }
        let end = end_of(&lines[at..]).ok_or_else(|| format!("`{line}` does not end"))?;
        pieces.push(piece(std::mem::take(&mut doc), &lines[at..at + end])?);
        at += end;
    }
    match doc.first() {
        Some(first) => Err(format!("documentation of nothing: `{}`", first.trim())),
        None => Ok(pieces),
    }
}

/// Returns a line without its comment.
fn code_of(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// Returns the number of lines of a declaration. It ends with a `;` or `}` outside of parentheses and braces, once all
/// conditionals that began in it have ended.
fn end_of(lines: &[&str]) -> Option<usize> {
    let (mut depth, mut conditionals, mut ended) = (0, 0, false);
    let mut quoted = false;
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim();
        match line.strip_prefix('#') {
            Some(directive) if directive.starts_with("if") => conditionals += 1,
            Some("endif") => conditionals -= 1,
            Some(_) => {}
            None => {
                for c in code_of(line).chars() {
                    match c {
                        '"' => quoted = !quoted,
                        _ if quoted => {}
                        '{' | '(' => depth += 1,
                        '}' | ')' => depth -= 1,
                        _ => {}
                    }
                    ended |= !quoted && depth == 0 && matches!(c, ';' | '}');
                }
            }
        }
        if ended && conditionals == 0 {
            return Some(at + 1);
        }
    }
    None
}

fn piece<'a>(doc: Vec<&'a str>, lines: &[&'a str]) -> Result<Piece<'a>, String> {
    let code = without_annotations(&flat(lines));
    let brace = lines.iter().position(|line| code_of(line).contains('{'));
    let is_object = code.starts_with("extern ") && code.contains('{');
    let (head, members) = match brace.filter(|_| is_object) {
        Some(brace) => {
            let body = &lines[brace + 1..lines.len() - 1];
            (&lines[..=brace], scan(body)?)
        }
        None => (lines, Vec::new()),
    };
    let text = match is_object {
        true => dedented(head)
            .trim_end_matches(['{', ' ', '\n'])
            .to_string(),
        false => dedented(head),
    };
    let code = match is_object {
        true => code
            .split('{')
            .next()
            .unwrap_or_default()
            .trim_end()
            .to_string(),
        false => code,
    };
    Ok(Piece {
        doc,
        text,
        code,
        members,
    })
}

/// Joins code to one line, without directives and comments.
fn flat(lines: &[&str]) -> String {
    let code = lines
        .iter()
        .filter(|line| !line.trim_start().starts_with('#'));
    let words = code.flat_map(|line| code_of(line).split_whitespace());
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the code after its annotations.
fn without_annotations(code: &str) -> String {
    let mut rest = code;
    while let Some(annotation) = rest.strip_prefix('@') {
        let name = annotation.find(|c: char| !c.is_ascii_alphanumeric());
        rest = &annotation[name.unwrap_or(annotation.len())..];
        if rest.starts_with('(') {
            rest = &rest[closing(rest)..];
        }
        rest = rest.trim_start();
    }
    rest.to_string()
}

/// Returns the offset after the parenthesis that closes the one at the beginning of the text.
fn closing(text: &str) -> usize {
    let (mut depth, mut quoted) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// Removes the indentation that all lines but directives have in common.
fn dedented(lines: &[&str]) -> String {
    let code = lines
        .iter()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let indents = code.map(|line| line.len() - line.trim_start().len());
    let indent = indents.min().unwrap_or(0);
    let lines = lines.iter().map(|line| {
        let blanks = line.len() - line.trim_start().len();
        line[blanks.min(indent)..].trim_end()
    });
    lines.collect::<Vec<_>>().join("\n")
}
