//! Meanings of the words that users meet: a page each.

use crate::blocks::{Block, blocks};
use std::sync::LazyLock;

/// Text of all pages.
const TEXT: &str = include_str!("../pages/words.md");

/// Word with its meaning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word<'a> {
    /// The word as it is written.
    pub name: &'a str,
    /// Synonyms under which it is found.
    pub also: Vec<&'a str>,
    /// Its page as Markdown, without the heading.
    pub text: &'a str,
    /// The page as blocks of Markdown.
    pub blocks: Vec<Block<'a>>,
}

static WORDS: LazyLock<Vec<Word<'static>>> = LazyLock::new(|| {
    // The test below has read them.
    read(TEXT).unwrap_or_else(|fault| panic!("words.md: {fault}"))
});

/// Returns all words that are explained, by name.
pub fn words() -> &'static [Word<'static>] {
    &WORDS
}

/// Finds a word by its name or a synonym, ignoring case. A plural is found too.
pub fn word(name: &str) -> Option<&'static Word<'static>> {
    let find = |name: &str| {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        let mut all = words().iter();
        all.find(|word| is(word.name))
            .or_else(|| words().iter().find(|word| word.also.iter().any(|a| is(a))))
    };
    find(name).or_else(|| find(name.strip_suffix('s')?))
}

fn read(text: &str) -> Result<Vec<Word<'_>>, String> {
    let pages = text.split("\n## ").skip(1);
    pages.map(one).collect()
}

fn one(page: &str) -> Result<Word<'_>, String> {
    let (name, text) = page.split_once('\n').unwrap_or((page, ""));
    let reported = |fault: String| format!("{name}: {fault}");
    let blocks = blocks(text).map_err(reported)?;
    if blocks.is_empty() {
        return Err(reported("nothing is said".into()));
    }
    let also = blocks.iter().find_map(|block| match block {
        Block::Paragraph(text) => text.strip_prefix("**Also.** "),
        Block::Code { .. } => None,
    });
    Ok(Word {
        name,
        also: also.map_or(Vec::new(), |also| also.trim().split(", ").collect()),
        text: text.trim_matches('\n'),
        blocks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words that messages, tables and documents use.
    const MET: &str = "verifier veth offload XDP tc tcx clsact BTF hook port ternary lpm exact range table entry action map pin \
                       bundle digest meter register mirror clone bpffs GSO GRO capability namespace object AF_PACKET flow \
                       attribute message egress ingress tc-ingress tc-egress link verdict priority parser STF conntrack";

    #[test]
    fn every_word_that_users_meet_is_found() {
        for met in MET.split_whitespace() {
            let found = word(met).unwrap_or_else(|| panic!("{met}"));
            assert_eq!(word(&met.to_uppercase()), Some(found), "{met}");
        }
        assert_eq!(word("hooks"), word("hook"));
        assert_eq!(word("no such word"), None);
    }

    #[test]
    fn words_are_in_order_and_each_name_leads_to_one() {
        let mut names: Vec<String> = words().iter().map(|w| w.name.to_lowercase()).collect();
        assert!(names.is_sorted(), "{names:?}");
        let also = words().iter().flat_map(|word| &word.also);
        names.extend(also.map(|name| name.to_lowercase()));
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
