//! Descriptions of the attributes of queries: one line an attribute, by kind of message.

use std::sync::LazyLock;

/// Page with all descriptions.
const TEXT: &str = include_str!("../pages/attributes.md");

/// Kind of message, or the packet headers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageKind<'a> {
    /// Its name; [`HEADERS`] for the packet headers.
    pub name: &'a str,
    /// Its description, as Markdown.
    pub text: &'a str,
    /// Its attributes.
    pub attributes: Vec<About<'a>>,
}

/// Description of an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct About<'a> {
    /// Its name in its kind, such as `header.NAME`. For a field of a header, the whole name.
    pub name: &'a str,
    /// Its description, in one line. Empty for a field, which is described where it is defined.
    pub text: &'a str,
    /// Synonyms.
    pub also: Vec<&'a str>,
}

/// Name of the kind that stands for fields of packet headers.
pub const HEADERS: &str = "Headers";

static KINDS: LazyLock<Vec<MessageKind<'static>>> =
    LazyLock::new(|| TEXT.split("\n## ").skip(1).map(kind).collect());

/// Returns all kinds.
pub fn kinds() -> &'static [MessageKind<'static>] {
    &KINDS
}

/// Finds the description of an attribute by its whole name. A variable part of the name is written `NAME`.
pub fn about(name: &str) -> Option<&'static About<'static>> {
    let of = |kind: &str, name: &str| {
        let kind = kinds().iter().find(|known| known.name == kind)?;
        kind.attributes.iter().find(|about| about.name == name)
    };
    let inside = name.split_once('.');
    of(HEADERS, name).or_else(|| inside.and_then(|(kind, name)| of(kind, name)))
}

fn kind(section: &str) -> MessageKind<'_> {
    let (name, text) = section.split_once('\n').unwrap_or((section, ""));
    let (text, table) = text.split_once("\n| ").unwrap_or((text, ""));
    let lines = table.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split(" |").map(str::trim);
        let name = cells.next()?.strip_suffix('`')?;
        let (text, also) = (cells.next()?, cells.next()?);
        let also = also.split(", ").filter(|word| !word.is_empty());
        Some(About {
            name,
            text,
            also: also.collect(),
        })
    });
    MessageKind {
        name,
        text: text.trim(),
        attributes: lines.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_tables_is_read() {
        let lines = TEXT.lines().filter(|line| line.starts_with("| `")).count();
        let read: usize = kinds().iter().map(|kind| kind.attributes.len()).sum();
        assert_eq!(read, lines);
        for kind in kinds() {
            let is_headers = kind.name == HEADERS;
            assert_eq!(kind.text.is_empty(), is_headers, "{}", kind.name);
            for about in &kind.attributes {
                let is_plain = !about.text.contains('|') && !about.text.ends_with('.');
                assert!(is_plain, "{}.{}", kind.name, about.name);
                assert_eq!(about.text.is_empty(), is_headers, "{}", about.name);
            }
        }
    }

    #[test]
    fn an_attribute_is_found_by_its_whole_name() {
        assert_eq!(
            about("http.header.NAME").map(|a| a.name),
            Some("header.NAME")
        );
        assert_eq!(about("flow").map(|a| a.also[0]), Some("connection"));
        assert_eq!(about("ip.host"), None);
    }
}
