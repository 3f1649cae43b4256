//! Diagnostics of the planner, one function each.

use crate::builtin::ALL;
use crate::{Schema, Unasked};
use diag::{Diagnostic, nearest};

/// No message of this name, and no file that can be read; `why` reports what is wrong with the file.
pub fn unknown_message(name: &str, why: &str) -> Box<Diagnostic> {
    let message = format!("no message `{name}` is built in, and {why}");
    let help = match nearest(name, ALL.iter().map(|builtin| builtin.name)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`onpath plan --list` lists the messages that are built in".to_string(),
    };
    Diagnostic::failure("E1031", message, help)
}

/// The message has no such attribute.
pub fn unknown_attribute(schema: &Schema, name: &str) -> Box<Diagnostic> {
    let message = format!("`{}` has no attribute `{name}`", schema.name);
    let help = match schema.asked(name) {
        Err(Unasked::Unknown(Some(near))) => format!("did you mean `{near}`?"),
        Err(Unasked::Key { attribute, keys }) => {
            format!("in the place of the `*` of `{attribute}` stands {keys}")
        }
        _ => {
            let names = schema.names().into_iter().map(|name| format!("`{name}`"));
            format!("it has {}", names.collect::<Vec<_>>().join(", "))
        }
    };
    Diagnostic::failure("E1032", message, help)
}

/// No layout that can be reached from the root has the attribute.
pub fn unreachable_attribute(schema: &Schema, name: &str) -> Box<Diagnostic> {
    let message = format!(
        "nothing leads from the root of `{}` to `{name}`",
        schema.name
    );
    let help = "have a field of the root, or of a layout that it leads to, hold the layout of the attribute: `layout = \"NAME\"`, or a case of `select` or `starts`";
    Diagnostic::failure("E1033", message, help)
}
