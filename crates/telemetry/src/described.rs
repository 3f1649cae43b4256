//! All attributes with what is said about them: for those who look for one.

use crate::catalogue::{Attribute, Catalogue, Type, describe_fields};
use crate::{compile, program};
use diag::SourceMap;

/// An attribute, described.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Described {
    /// Its name, with `NAME` in the place of a name of the user's choice.
    pub name: String,
    /// The same with an example in place of `NAME`.
    pub instance: String,
    /// Its type.
    pub ty: Type,
    /// The kind of message that has it; none of a header's field.
    pub kind: Option<String>,
    /// True if a record may have several values of it.
    pub several: bool,
    /// The values that a program on the path reads of it.
    pub on_path: OnPath,
    /// A line about it.
    pub text: &'static str,
    /// Other words for it.
    pub also: &'static [&'static str],
}

/// The values of an attribute that a program on the path reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnPath {
    /// All.
    Yes,
    /// The first one of a message, as `first(x)`.
    First,
    /// None.
    No,
}

impl OnPath {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            OnPath::Yes => "yes",
            OnPath::First => "first",
            OnPath::No => "no",
        }
    }
}

impl Described {
    /// A query that reads it: on the path, if a program there can.
    pub fn example(&self) -> String {
        match self.on_path {
            OnPath::First => reading(&format!("first({})", self.instance), self.ty),
            OnPath::Yes | OnPath::No => reading(&self.instance, self.ty),
        }
    }
}

/// Every attribute that a query may name.
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
    let said = about.map_or("", |about| about.text);
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
        text: field.map_or(said, |(_, _, text)| text),
        also: about.map_or(&[], |about| &about.also),
    })
}

/// A query about an attribute.
fn reading(named: &str, ty: Type) -> String {
    match ty {
        Type::Time => format!("mean({named})"),
        _ => format!("count by {named}"),
    }
}

/// True if a program can be made that reads an attribute.
fn runs(catalogue: &Catalogue, named: &str, ty: Type) -> bool {
    let query = reading(named, ty);
    let compiled = compile(&query, catalogue, &mut SourceMap::new());
    compiled.is_ok_and(|compiled| program(&compiled, &query, catalogue.messages(), 1).is_ok())
}

/// More attributes than these are no help.
const MOST_MEANT: usize = 8;

/// The attributes that a name may stand for: each of its parts is a part of their names, or of other words for them. In a group of
/// attributes, what counts is the rest of the name. None if they are many.
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

/// The words in a name or a text, in small letters.
fn parts(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty() && *word != "NAME");
    words.map(str::to_ascii_lowercase).collect()
}
