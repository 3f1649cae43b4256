//! Descriptions of all attributes, for users who search for one.

use crate::catalogue::{Attribute, Catalogue, Type, describe_fields};
use crate::{compile, program};
use diag::SourceMap;

/// Description of an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Described {
    /// Name, with `NAME` in place of a name of the user's choice.
    pub name: String,
    /// Name, with an example in place of `NAME`.
    pub instance: String,
    /// Its type.
    pub ty: Type,
    /// Kind of message that has it; `None` for a field of a header.
    pub kind: Option<String>,
    /// True if a record may have several values of it.
    pub several: bool,
    /// Values that a program on the path reads.
    pub on_path: OnPath,
    /// Description in one line.
    pub text: &'static str,
    /// Synonyms.
    pub also: &'static [&'static str],
}

/// Values of an attribute that a program on the path reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnPath {
    /// All.
    Yes,
    /// The first one of a message, as `first(x)` selects.
    First,
    /// None.
    No,
}

impl OnPath {
    /// Returns the name for output.
    pub fn name(self) -> &'static str {
        match self {
            OnPath::Yes => "yes",
            OnPath::First => "first",
            OnPath::No => "no",
        }
    }
}

impl Described {
    /// Returns a query that reads the attribute: on the path, if a program there can.
    pub fn example(&self) -> String {
        match self.on_path {
            OnPath::First => reading(&format!("first({})", self.instance), self.ty),
            OnPath::Yes | OnPath::No => reading(&self.instance, self.ty),
        }
    }
}

/// Describes every attribute that a query may name.
pub fn describe(catalogue: &Catalogue) -> Vec<Described> {
    let names = catalogue.listed().into_iter();
    names.filter_map(|name| one(catalogue, name)).collect()
}

fn one(catalogue: &Catalogue, name: String) -> Option<Described> {
    // A header's name is a word, an extension's a number, and an attribute of XML has a path.
    let instances = ["x", "1", "x/@x"].map(|free| name.replace("NAME", free));
    let mut found = instances.into_iter().filter_map(|instance| {
        let found = catalogue.find(&instance, diag::Span::NONE)?;
        Some((instance, found))
    });
    let (instance, (Attribute { ty, several, .. }, kind)) = found.next()?;
    let about = ::explain::about(&name);
    let field = describe_fields().find(|(field, ..)| *field == name);
    let text = about.map_or("", |about| about.text);
    let is_read = |named: &str| runs(catalogue, named, ty);
    let on_path = match () {
        () if is_read(&instance) => OnPath::Yes,
        () if several && is_read(&format!("first({instance})")) => OnPath::First,
        () => OnPath::No,
    };
    Some(Described {
        name,
        instance,
        ty,
        kind: kind.map(|kind| catalogue.messages().kinds()[kind].clone()),
        several,
        on_path,
        text: field.map_or(text, |(_, _, text)| text),
        also: about.map_or(&[], |about| &about.also),
    })
}

/// Returns a query about an attribute.
fn reading(named: &str, ty: Type) -> String {
    match ty {
        Type::Time => format!("mean({named})"),
        _ => format!("count by {named}"),
    }
}

/// Returns true if a program on the path can read the attribute.
fn runs(catalogue: &Catalogue, named: &str, ty: Type) -> bool {
    let query = reading(named, ty);
    let compiled = compile(&query, catalogue, &mut SourceMap::new());
    compiled.is_ok_and(|compiled| program(&compiled, &query, catalogue.messages(), 1).is_ok())
}

/// Greatest number of suggestions: more are no help.
const MOST_MEANT: usize = 8;

/// Suggests attributes for a name. Each of its words must be part of an attribute's name or synonyms. In a known group
/// of attributes, only the rest of the name counts. Returns none if there are too many.
pub fn meant(catalogue: &Catalogue, wanted: &str) -> Vec<String> {
    let mut names = catalogue.listed();
    let (group, rest) = wanted.split_once('.').unwrap_or(("", wanted));
    let is_in_group = |name: &String| name.split('.').next() == Some(group);
    let wanted = match names.iter().any(is_in_group) {
        true => {
            names.retain(is_in_group);
            parts(rest)
        }
        false => parts(wanted),
    };
    names.retain(|name| {
        let about = ::explain::about(name);
        let also = about.into_iter().flat_map(|about| &about.also);
        let known: Vec<String> = also
            .flat_map(|also| parts(also))
            .chain(parts(name))
            .collect();
        !wanted.is_empty() && wanted.iter().all(|part| known.contains(part))
    });
    match names.len() {
        0..=MOST_MEANT => names,
        _ => Vec::new(),
    }
}

/// Splits a name or a text into words, in lower case.
fn parts(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty() && *word != "NAME");
    words.map(str::to_ascii_lowercase).collect()
}
