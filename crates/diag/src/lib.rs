//! Source positions, diagnostics and their renderers.
//!
//! A [`Diagnostic`] is data: a stable code, a severity, a message, labelled locations in the source, and advice on the
//! remedy. The phases of the compiler build them; only the renderers here turn them into text or JSON. This crate knows
//! nothing of P4.

mod diagnostic;
mod json;
mod plain;
mod shown;
mod slips;
mod source;
mod text;

pub use diagnostic::{Code, Diagnostic, Diagnostics, Label, Severity};
pub use json::to_json;
pub use plain::{char_width, columns, counted, grouped, quoted, system_message};
pub use shown::{is_seen, shown, shown_lines};
pub use slips::{instead_of, nearest, slips};
pub use source::{FileId, LineCol, SourceFile, SourceMap, Span};
pub use text::{render_plain, render_text};
