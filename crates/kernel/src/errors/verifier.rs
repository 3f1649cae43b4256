//! Refusals of the kernel's verifier, explained in terms of P4.

use crate::verifier_log::{Location, Refusal};
use diag::{Diagnostic, Span};

/// Group of refusals with the same remedy: phrases of the verifier's reason, their meaning, and the help.
struct RefusalKind {
    phrases: &'static [&'static str],
    code: &'static str,
    means: &'static str,
    help: &'static str,
}

const TOO_MUCH: &str = "E0771";

const KINDS: &[RefusalKind] = &[
    RefusalKind {
        phrases: &["program is too large", "too complex", "too many states"],
        code: TOO_MUCH,
        means: "the program has too many paths for the kernel to check",
        help: "parse fewer stack elements or options, replace nested `if`s by a table, or shorten \
               loops; `onpath build --report` shows what each part costs",
    },
    RefusalKind {
        phrases: &["stack size", "stack of", "invalid stack", "stack limit"],
        code: "E0772",
        means: "the program needs more than the 512 bytes of stack of a BPF program",
        help: "shrink large local variables and headers, or let fewer live at the same time",
    },
    RefusalKind {
        phrases: &["back-edge", "infinite loop"],
        code: "E0773",
        means: "the kernel cannot see that a loop ends",
        help: "bound the loop by a constant; in a parser, by the size of a header stack",
    },
    RefusalKind {
        phrases: &[
            "invalid access to packet",
            "outside of the packet",
            "invalid access to map value",
            "outside of the allowed memory range",
            "invalid mem access",
        ],
        code: "E0774",
        means: "the kernel cannot prove that an access stays in bounds",
        help: "this is a bug in Onpath, or in a C file given by `--extern`; `onpath run --verbose` \
               shows the full log to report with it",
    },
    RefusalKind {
        phrases: &[
            "unknown func",
            "invalid func",
            "calling kernel function",
            "cannot call GPL",
            "unknown opcode",
            "helper is not allowed",
            "program of this type cannot use",
        ],
        code: "E0775",
        means: "this kernel has no such helper for programs of this kind",
        help: "`onpath doctor` reports what this kernel supports; a newer kernel may be needed",
    },
];

/// The group of a refusal, by the verifier's words.
fn kind(refusal: &Refusal) -> Option<&'static RefusalKind> {
    let words = std::iter::once(&refusal.reason).chain(&refusal.detail);
    KINDS.iter().find(|k| {
        words
            .clone()
            .any(|w| k.phrases.iter().any(|s| w.contains(s)))
    })
}

/// Returns true if the verifier gave up because there is too much to check, not because of an instruction.
pub fn is_too_much(refusal: &Refusal) -> bool {
    kind(refusal).is_some_and(|kind| kind.code == TOO_MUCH)
}

/// The verifier refused the program. The message holds its own words; the group decides the remedy.
pub fn refused(refusal: &Refusal, place: Location) -> Box<Diagnostic> {
    let kind = kind(refusal);
    let means = kind.map_or("the kernel's verifier refused the program", |k| k.means);
    let help = kind.map_or(
        "`onpath run --verbose` shows the verifier's full log; if the program asks for nothing unusual, this \
         is a bug in Onpath",
        |k| k.help,
    );
    let code = kind.map_or("E0770", |k| k.code);
    let (span, label) = match place {
        Location::Stopped(span) => (span, "the verifier stopped here"),
        Location::Busiest(span) => (span, "the verifier spent the most instructions here"),
        Location::Unknown => (Span::NONE, ""),
    };
    let mut diagnostic = Diagnostic::error(code, span, format!("{means}: {}", refusal.reason));
    if !span.is_none() {
        diagnostic = diagnostic.label(label);
    } else if let Some((file, line)) = &refusal.location {
        diagnostic.message.push_str(&format!(" (at {file}:{line})"));
    }
    Box::new(match &refusal.suggestion {
        Some(suggestion) => diagnostic.help(format!("{help}; the kernel suggests: {suggestion}")),
        None => diagnostic.help(help),
    })
}
