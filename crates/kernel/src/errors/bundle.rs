//! Programs that run as one.

use diag::Diagnostic;

/// A map that a program is to share holds neither flow state nor metrics.
pub fn no_state(program: &str, map: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0790",
        format!(
            "map `{map}` of program `{program}` has no state of flows and no metrics, and cannot be shared"
        ),
        "share states that both programs use; one that is never used is not kept",
    )
}

/// Two programs define a shared state differently. Each argument is a program, its state, and the state's description.
pub fn states_differ(a: (&str, &str, &str), b: (&str, &str, &str)) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0791",
        format!(
            "`{}` of program `{}` and `{}` of program `{}` cannot share one state: the first has {}, the second {}",
            a.1, a.0, b.1, b.0, a.2, b.2
        ),
        "declare both with the same types, size and idle time, best in a file that both include",
    )
}

/// Several attachments as one instance need a mount, and this process may not mount.
pub fn needs_mount(missing: &[&str]) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0792",
        format!(
            "not permitted to attach several programs, or one at several interfaces, atomically: this process lacks {}",
            missing.join(", ")
        ),
        "run it as root, or grant that capability too; one program at one interface does not need it",
    )
}
