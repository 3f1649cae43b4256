//! Programs of queries, at least one for each built-in message. `onpath query --p4` prints them, and they are loaded on
//! every kernel.

use crate::error::{Error, output_of};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Folder of their texts, from the repository's root. Guests see it at the same path.
const FOLDER: &str = "target/queries";

/// Queries on each message, with everything that is costly for the verifier: several attributes, texts as keys,
/// expressions, response times. Each has a name before a colon, which begins with the message's name.
const QUERIES: &str = include_str!("queries.txt");

/// Returns each query after its name.
fn queries() -> impl Iterator<Item = (&'static str, &'static str)> {
    QUERIES.lines().filter_map(|line| line.split_once(": "))
}

/// Writes the programs, and returns their paths from the root.
pub(crate) fn prepare(root: &Path, onpath: &Path) -> Result<Vec<String>, Error> {
    let folder = root.join(FOLDER);
    fs::create_dir_all(&folder).map_err(Error::file("make", &folder))?;
    let mut paths = Vec::new();
    for (name, query) in queries() {
        let text = output_of(Command::new(onpath).args(["query", query, "--p4"]))?;
        let path = format!("{FOLDER}/{name}.p4");
        let file = root.join(&path);
        fs::write(&file, text).map_err(Error::file("write", &file))?;
        paths.push(path);
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_has_a_query() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let messages = fs::read_dir(root.join("messages")).expect("the folder");
        let mut messages: Vec<String> = messages
            .filter_map(|entry| {
                let name = entry.expect("an entry").file_name();
                let name = name.to_string_lossy();
                name.strip_suffix(".toml").map(String::from)
            })
            .collect();
        messages.sort();
        let message = |(name, _): (&str, _)| name.split('.').next().map(String::from);
        let mut queried: Vec<String> = queries().filter_map(message).collect();
        queried.sort();
        queried.dedup();
        assert_eq!(queried, messages);
    }
}
