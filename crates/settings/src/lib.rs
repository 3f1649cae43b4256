//! TOML files, strictly read: bundles and message schemas.
//!
//! A [`FileFormat`] is data: the keys of a file and the [`ValueKind`] of each value; [`keys!`] defines it.
//! [`Document::read`] reports violations of the form: text that is not TOML, unknown keys, values of another kind,
//! missing keys. The reader of a kind of file takes the values from a [`Table`], and adds its own errors. All errors
//! are reported at once, in the file's order. [`json_schema`] gives the same form to editors.

mod document;
mod errors;
mod form;
mod json_schema;
mod kind;
mod table;

pub use document::Document;
pub use form::{Codes, FileFormat, Key, Keys};
pub use json_schema::json_schema;
pub use kind::ValueKind;
pub use table::{At, Table, Value};

#[cfg(test)]
mod tests;
