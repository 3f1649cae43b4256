//! Notes in the programs under `tests/language`: the diagnostics that each line has.

/// A diagnostic that a program says it has: `//~ E0301 fragment` of its own line, `//~^ E0301 fragment` of the line above, and
/// so on with each further caret.
#[derive(Debug)]
pub struct Note {
    /// The line that it is of, counted from 1.
    pub line: u32,
    /// Its code, such as `E0301`.
    pub code: String,
    /// A part of its message.
    pub fragment: String,
}

/// The notes in a program.
pub fn notes(text: &str) -> Vec<Note> {
    let lines = text.lines().enumerate();
    let noted = lines.filter_map(|(i, line)| Some((i, line.split_once("//~")?.1)));
    let notes = noted.map(|(i, note)| {
        let carets = note.chars().take_while(|c| *c == '^').count();
        let note = note[carets..].trim();
        let (code, fragment) = note.split_once(' ').unwrap_or((note, ""));
        Note {
            line: (i + 1 - carets) as u32,
            code: code.to_owned(),
            fragment: fragment.trim().to_owned(),
        }
    });
    notes.collect()
}
