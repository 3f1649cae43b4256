//! TOML files, strictly read: bundles and message schemas.
//!
//! A [`Form`] says as data which keys a file has, and of which [`Kind`] the value of each is; [`keys!`] writes it down.
//! [`Document::read`] reports what does not follow it: text that is no TOML, unknown keys, values of another kind, missing
//! keys. The reader of a kind of file takes the values from a [`Table`], and adds what else is wrong with them. All errors
//! are reported at once, in the file's order. [`json_schema`] is the same form for editors.

mod document;
mod errors;
mod form;
mod json_schema;
mod kind;
mod table;

pub use document::Document;
pub use form::{Codes, Form, Key, Keys};
pub use json_schema::json_schema;
pub use kind::Kind;
pub use table::{At, Table, Value};

#[cfg(test)]
mod tests;
