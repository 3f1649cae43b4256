//! Diagnostics about files and folders of others at paths that Onpath has chosen.

use crate::safe_dir::{Refused, Why};
use diag::Diagnostic;

/// Reports that something at a path of Onpath's choice belongs to another user, or was not made by Onpath. It is left
/// alone.
pub fn left_alone(refused: &Refused) -> Box<Diagnostic> {
    let code = match refused.why {
        Why::Owner(_) | Why::Writable(_) => "E0717",
        Why::Link | Why::Mount | Why::Replaced | Why::Unknown => "E0718",
    };
    let help = match refused.why {
        Why::Owner(user) => format!(
            "a folder is used by its owner alone: run the command as user {user}, or have that user `unload` what runs \
             and remove the folder"
        ),
        Why::Writable(_) => format!(
            "look at what is there, and take that permission from the others: `chmod go-w {}`",
            refused.shown()
        ),
        Why::Mount => format!("`umount {}` if nobody needs it", refused.shown()),
        Why::Link | Why::Replaced | Why::Unknown => {
            "move or remove it by hand: Onpath changes nothing that it has not made".to_owned()
        }
    };
    let message = format!("{refused}; nothing of it was changed");
    Diagnostic::failure(code, message, help)
}
