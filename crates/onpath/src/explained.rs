//! Names that `onpath explain` explains, besides the codes of diagnostics.

use driver::HEADERS;
use explain::{Header, words};
use telemetry::{Catalogue, Described, Schemas, describe};

/// Returns all names.
pub(crate) fn names() -> Vec<String> {
    let mut names = header_names();
    names.extend(attribute_names());
    names.extend(word_names());
    names.sort();
    names.dedup();
    names
}

/// Returns all built-in headers.
pub(crate) fn headers() -> impl Iterator<Item = Header<'static>> {
    // A test checks that all of them can be read.
    HEADERS
        .iter()
        .filter_map(|(name, text)| Header::read(name, text).ok())
}

/// Returns the names of headers and of their declarations.
fn header_names() -> Vec<String> {
    let of_header = |header: Header<'_>| {
        let items = header.items.into_iter().map(|item| item.name);
        let mut names: Vec<String> = items.collect();
        names.push(stem(header.name).to_string());
        names
    };
    let mut names: Vec<String> = headers().flat_map(of_header).collect();
    names.sort();
    names.dedup();
    names
}

/// Returns a header's name without its ending.
pub(crate) fn stem(header: &str) -> &str {
    header.strip_suffix(".p4").unwrap_or(header)
}

/// Returns all attributes.
pub(crate) fn attributes() -> Vec<Described> {
    describe(&Catalogue::new(&Schemas::builtin()))
}

/// Returns the names of attributes, and of the headers and messages that have them.
pub(crate) fn attribute_names() -> Vec<String> {
    let all = attributes();
    let mut names: Vec<String> = all.iter().map(|a| group(a).to_owned()).collect();
    names.dedup();
    names.extend(all.into_iter().map(|a| a.name));
    names
}

/// Returns the first part of a name, which is that of the header or message.
pub(crate) fn group(attribute: &Described) -> &str {
    attribute.name.split('.').next().unwrap_or_default()
}

/// Returns the words that are explained, with their synonyms.
fn word_names() -> impl Iterator<Item = String> {
    let names = words().iter();
    names.flat_map(|word| {
        let also = word.also.iter().copied();
        std::iter::once(word.name).chain(also).map(String::from)
    })
}
