//! Words of Onpath's messages.

use super::{Objects, headed, print_rows};
use explain::{Style, word, words};
use serde_json::{Value, json};

/// Finds a word, and returns its explanation as text and as JSON.
pub(super) fn find(name: &str, style: Style) -> Option<(String, Value)> {
    let word = word(name)?;
    let object = json!({ "word": word.name, "also": word.also, "text": word.text });
    Some((headed(word.name, &word.blocks, style), object))
}

/// Prints all words.
pub(super) fn list(style: Style) {
    let rows = words().iter().map(|word| {
        let text = word.text.replace('\n', " ");
        let sentence = text.split_once(". ").map_or(&*text, |(first, _)| first);
        let sentence = sentence.trim_end_matches('.').to_owned();
        vec![format!("  {}", word.name), sentence]
    });
    print_rows("Words", &rows.collect::<Vec<_>>(), style);
}

/// Returns all words as JSON.
pub(super) fn listed() -> Objects {
    let all = words().iter();
    all.map(|word| json!({ "word": word.name, "also": word.also, "text": word.text }))
        .collect()
}
