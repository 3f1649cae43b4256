//! All pages, compiled into the program, which therefore needs no files beside it.

use crate::page::{Group, Page, is_code, read};
use std::sync::LazyLock;

/// Expands names to pairs: the name of a file in `pages/`, and its text.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../pages/", $name, ".md")))),*]
    };
}

/// Files of pages, by the prefix of their codes.
const FILES: &[(&str, &str)] = files![
    "E00", "E01", "E02", "E03", "E04", "E05", "E06", "E07", "E08", "E09", "E10", "E11", "E12", "W",
];

static GROUPS: LazyLock<Vec<Group<'static>>> = LazyLock::new(|| {
    let read = FILES.iter().map(|(name, text)| {
        // The test below has read them.
        read(text).unwrap_or_else(|faults| panic!("{name}.md: {}", faults.join("; ")))
    });
    read.collect()
});

/// Returns all groups of pages in the order of their codes, errors before warnings.
pub fn groups() -> &'static [Group<'static>] {
    &GROUPS
}

/// Finds a group by its name, ignoring case: `E02`, or `W` for all warnings.
pub fn group(word: &str) -> Option<&'static Group<'static>> {
    let mut groups = groups().iter();
    groups.find(|group| group.name.eq_ignore_ascii_case(word))
}

/// Error of looking up a word that is no code with a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// Code without a page.
    Code {
        /// The code as diagnostics write it.
        code: String,
        /// Nearest codes that have a page: one before it, and one after it.
        nearest: Vec<&'static str>,
    },
    /// Not a code.
    Word,
}

/// Returns the page of a code, and its group. A number without a letter is an error's: `E0207`, `e207`, `207`,
/// `[E0207]`.
///
/// # Errors
///
/// The word is a code without a page, or not a code.
pub fn page(word: &str) -> Result<(&'static Group<'static>, &'static Page<'static>), Unknown> {
    let code = code(word).ok_or(Unknown::Word)?;
    let all = || {
        let pages = |group: &'static Group<'static>| group.pages.iter().map(move |p| (group, p));
        groups().iter().flat_map(pages)
    };
    match all().find(|(_, page)| page.code == code) {
        Some(found) => Ok(found),
        None => {
            let codes = || all().map(|(_, page)| page.code);
            let of_kind = || codes().filter(|known| known[..1] == code[..1]);
            let before = of_kind().rfind(|known| **known < *code);
            let behind = of_kind().find(|known| **known > *code);
            let nearest = before.into_iter().chain(behind).collect();
            Err(Unknown::Code { code, nearest })
        }
    }
}

/// Returns the code that a word stands for, if it stands for one.
fn code(word: &str) -> Option<String> {
    let bare = word.trim_matches(['[', ']']).to_ascii_uppercase();
    let (letter, digits) = match bare.strip_prefix(['E', 'W']) {
        Some(digits) => (&bare[..1], digits),
        None => ("E", &bare[..]),
    };
    let code = format!("{letter}{digits:0>4}");
    (!digits.is_empty() && is_code(&code)).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_page_has_all_its_parts() {
        let mut wrong = Vec::new();
        for (name, text) in FILES {
            match read(text) {
                Ok(group) if group.name == *name => {}
                Ok(group) => wrong.push(format!("{name}.md: it says that it is {}", group.name)),
                Err(faults) => wrong.extend(faults.iter().map(|f| format!("{name}.md: {f}"))),
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn every_file_is_part_of_the_program() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("pages");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|name| !["README.md", "attributes.md", "words.md"].contains(&name.as_str()))
            .collect();
        there.sort();
        let files: Vec<String> = FILES.iter().map(|(name, _)| format!("{name}.md")).collect();
        assert_eq!(files, there);
    }

    #[test]
    fn a_code_may_be_written_in_short() {
        for word in ["E0001", "e0001", "e1", "1", "0001", "[E0001]", "001"] {
            assert_eq!(page(word).unwrap().1.code, "E0001", "{word}");
        }
        assert_eq!(page("w0001").unwrap().1.code, "W0001");
        for word in ["", "E", "E00001", "register", "Ü1", "E-1", "+1"] {
            assert_eq!(page(word), Err(Unknown::Word), "{word}");
        }
    }

    #[test]
    fn a_group_is_found_by_the_beginning_of_its_codes() {
        assert_eq!(group("e00").map(|group| group.name), Some("E00"));
        assert_eq!(group("w").map(|group| group.name), Some("W"));
        assert_eq!(group("E0"), None);
    }

    #[test]
    fn what_has_no_page_is_between_two_that_have() {
        let nearest = |word| match page(word) {
            Err(Unknown::Code { nearest, .. }) => nearest,
            other => panic!("{other:?}"),
        };
        assert_eq!(nearest("E0099"), ["E0023", "E0101"]);
        assert_eq!(nearest("E0000"), ["E0001"]);
        assert_eq!(nearest("W9999").len(), 1);
    }
}
