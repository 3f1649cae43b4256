//! Declarations that nothing uses, in the program's own file.

use crate::checker::Checker;
use crate::errors::warnings;
use diag::FileId;

pub(super) fn run(checker: &mut Checker<'_>) {
    for declared in std::mem::take(&mut checker.declared) {
        let own = checker
            .map
            .locate(declared.span)
            .is_some_and(|(file, _)| file == FileId(0));
        // Functions and actions of a library are meant for other programs.
        let for_others =
            checker.module.main.is_none() && matches!(declared.what, "function" | "action");
        if own && !for_others && !checker.used.contains(&declared.span) {
            checker.report(warnings::unused(
                declared.span,
                declared.what,
                &declared.name,
            ));
        }
    }
}
