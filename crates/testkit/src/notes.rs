//! Notes in the programs under `tests/language`: the expected diagnostics of each line.

/// Diagnostic that a program expects. `//~ E0301 fragment` expects it on its own line, `//~^ E0301 fragment` on the
/// line above, and each further caret one line higher.
#[derive(Debug)]
pub struct Note {
    /// Line of the diagnostic, counted from 1.
    pub line: u32,
    /// Code, such as `E0301`.
    pub code: String,
    /// Part of its message.
    pub fragment: String,
}

/// Returns the notes in a program.
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
