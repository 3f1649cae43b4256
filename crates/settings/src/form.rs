//! Forms of files, as data.

use crate::ValueKind;

/// A kind of file.
#[derive(Debug)]
pub struct FileFormat {
    /// The codes of its errors.
    pub codes: Codes,
    /// Description of the lines that such a file has, as a clause, for a file that is not TOML.
    pub lines: &'static str,
    /// The keys at its top.
    pub keys: &'static Keys,
}

/// Codes of the errors that every kind of file can have.
#[derive(Debug)]
pub struct Codes {
    /// Code for text that is not TOML.
    pub syntax: &'static str,
    /// Code for a key that has no meaning.
    pub unknown: &'static str,
    /// Code for a value that its key cannot have.
    pub kind: &'static str,
    /// Code for a missing key that is required.
    pub missing: &'static str,
}

/// The keys of a kind of table.
#[derive(Debug)]
pub struct Keys {
    /// Name of the table, with its article, for messages.
    pub of: &'static str,
    /// All keys of the table.
    pub all: &'static [Key],
}

/// A key of a table.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Kind of its value.
    pub kind: ValueKind,
    /// True if the key is required.
    pub is_required: bool,
    /// Example: a line with the key.
    pub example: &'static str,
    /// Its meaning, as a clause.
    pub meaning: &'static str,
}

impl Keys {
    /// Returns the key with a name.
    pub(crate) fn named(&self, name: &str) -> Option<&'static Key> {
        self.all.iter().find(|key| key.name == name)
    }

    /// Returns the names of all keys.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.all.iter().map(|key| key.name).collect()
    }
}

/// Defines tables of keys, a key a line: `required` or `optional`, the name, the kind, a line with the key, and the
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
