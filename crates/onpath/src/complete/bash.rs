//! Completion in bash, which splits `7=eth0` into three words.

use clap_complete::engine;
use clap_complete::env::{self, EnvCompleter};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;

/// Completer that acts as [`env::Bash`], but also completes words with `=` in them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        env::Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        env::Bash.is(name)
    }

    fn write_registration(
        &self,
        variable: &str,
        name: &str,
        bin: &str,
        completer: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        env::Bash.write_registration(variable, name, bin, completer, out)
    }

    fn write_complete(
        &self,
        command: &mut clap::Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let variable = |name| std::env::var(name).ok();
        let at = variable("_CLAP_COMPLETE_INDEX").and_then(|at| at.parse().ok());
        let separator = variable("_CLAP_IFS").unwrap_or_else(|| "\n".to_string());
        let (words, at, typed) = joined(words, at.unwrap_or(0));
        let found = engine::complete(command, words, at, folder)?;
        let values = found
            .iter()
            .map(|found| found.get_value().to_string_lossy());
        // bash replaces only the part after the `=`.
        let behind = |value: &str| value.strip_prefix(&typed).unwrap_or(value).to_owned();
        let values: Vec<String> = values.map(|value| behind(&value)).collect();
        out.write_all(values.join(&separator).as_bytes())
    }
}

/// Joins the words that bash split at `=`. Returns the words, the index of the one to complete, and its beginning up
/// to the last `=`.
fn joined(words: Vec<OsString>, at: usize) -> (Vec<OsString>, usize, String) {
    let mut all: Vec<OsString> = Vec::new();
    let mut completed = 0;
    let mut typed = String::new();
    let mut is_open = false;
    for (number, word) in words.into_iter().enumerate() {
        let is_equals = word == OsStr::new("=");
        match all.last_mut().filter(|_| is_equals || is_open) {
            Some(last) => {
                if number == at && !is_equals {
                    typed = last.to_string_lossy().into_owned();
                }
                last.push(&word);
            }
            None => all.push(word),
        }
        is_open = is_equals;
        if number == at {
            completed = all.len() - 1;
        }
    }
    (all, completed, typed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined_text(words: &str, at: usize) -> (String, usize, String) {
        let words = words.split(' ').map(OsString::from).collect();
        let (words, at, typed) = joined(words, at);
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        (words.join(" "), at, typed)
    }

    #[test]
    fn what_an_equals_sign_joins_is_one_word() {
        let text = "onpath run a.p4 --reach 7 = e";
        let joined = "onpath run a.p4 --reach 7=e";
        assert_eq!(joined_text(text, 6), (joined.into(), 4, "7=".into()));
        let text = "onpath run --reach 7 = e --name x";
        let joined = "onpath run --reach 7=e --name x";
        assert_eq!(joined_text(text, 7), (joined.into(), 5, String::new()));
        assert_eq!(
            joined_text("onpath ls", 1),
            ("onpath ls".into(), 1, String::new())
        );
    }
}
