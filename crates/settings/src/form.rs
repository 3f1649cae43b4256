//! Forms of files, as data.

use crate::Kind;

/// A kind of file.
#[derive(Debug)]
pub struct Form {
    /// The codes of its errors.
    pub codes: Codes,
    /// The lines that such a file has, as a clause, for a file that is no TOML.
    pub lines: &'static str,
    /// The keys at its top.
    pub keys: &'static Keys,
}

/// The codes of the errors that every kind of file can have.
#[derive(Debug)]
pub struct Codes {
    /// The text is no TOML.
    pub syntax: &'static str,
    /// A key that has no meaning.
    pub unknown: &'static str,
    /// A value that its key cannot have.
    pub kind: &'static str,
    /// A key that must be there is not.
    pub missing: &'static str,
}

/// The keys of a kind of table.
#[derive(Debug)]
pub struct Keys {
    /// The table, with its article, for messages.
    pub of: &'static str,
    /// Each key.
    pub all: &'static [Key],
}

/// A key.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub kind: Kind,
    /// Set if it must be there.
    pub is_required: bool,
    /// A line with it.
    pub example: &'static str,
    /// Its meaning, as a clause.
    pub meaning: &'static str,
}

impl Keys {
    /// The key of a name.
    pub(crate) fn named(&self, name: &str) -> Option<&'static Key> {
        self.all.iter().find(|key| key.name == name)
    }

    /// All names.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.all.iter().map(|key| key.name).collect()
    }
}

/// Writes tables of keys down, a key a line: `required` or `optional`, the name, the kind, a line with the key, and the
/// meaning as a clause.
#[macro_export]
macro_rules! keys {
    (@is_required required) => { true };
    (@is_required optional) => { false };
    ($(#[doc = $doc:literal] $visibility:vis $table:ident: $of:literal {
        $($need:ident $name:literal: $kind:expr, $example:literal, $meaning:literal;)*
    })*) => {$(
        #[doc = $doc]
        $visibility static $table: $crate::Keys = $crate::Keys {
            of: $of,
            all: &[$($crate::Key {
                name: $name,
                kind: $kind,
                is_required: $crate::keys!(@is_required $need),
                example: $example,
                meaning: $meaning,
            }),*],
        };
    )*};
}
