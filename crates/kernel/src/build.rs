//! Generated C to an object that the kernel takes.

use crate::clang::{self, Clang, Effort, Source};
use crate::sys::load_object;
use crate::verifier_log::{self, Refusal};
use diag::Diagnostic;

/// An object, and what the kernel said when it was tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Built {
    /// The object.
    pub object: Vec<u8>,
    /// The verifier refuses it for what clang made of the C, not for what the C asks: each access is
    /// behind its check, but clang took the checks apart. Other C for the same program may load.
    pub outwitted: bool,
}

/// Compiles, and where this process may, tries whether the kernel's verifier takes the object.
///
/// clang may merge the conditions under which two headers are valid, or two entries found, in a way
/// that the verifier, which follows values but not what they say of each other, cannot see through.
/// It does so less when it optimises less: then the smaller effort's object is taken, if that one
/// loads.
pub fn object(clang: &Clang, source: Source<'_>) -> Result<Built, Box<Diagnostic>> {
    let object = clang::compile(clang, source)?;
    let refusal = refusal(&object);
    if let Some(refusal) = &refusal
        && refusal.reason.contains("combined stack size")
    {
        // The functions have room each, but not one in the other: clang cannot know.
        return Err(crate::errors::clang::stack_too_large(&refusal.reason));
    }
    if !refusal.is_some_and(|refusal| is_outwitted(&refusal)) {
        return Ok(Built {
            object,
            outwitted: false,
        });
    }
    let gentle = Source {
        effort: Effort::Gentle,
        ..source
    };
    match clang::compile(clang, gentle) {
        Ok(other) if load_object(&other, &[]).is_ok() => Ok(Built {
            object: other,
            outwitted: false,
        }),
        _ => Ok(Built {
            object,
            outwitted: true,
        }),
    }
}

/// Why the verifier refuses an object, if it does.
fn refusal(object: &[u8]) -> Option<Refusal> {
    let failure = load_object(object, &[]).err()?;
    verifier_log::read(&failure.log)
}

/// Whether the verifier refuses because it lost track of a pointer.
fn is_outwitted(refusal: &Refusal) -> bool {
    let reason = &refusal.reason;
    reason.contains("invalid access to packet")
        || reason.contains("pointer") && reason.contains("prohibited")
}
