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
        && is_too_deep(refusal)
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

/// Whether the verifier may take other C, or another object of the same C, for a program that it refused with this
/// log: [`object`] finds out what.
pub fn is_curable(log: &str) -> bool {
    verifier_log::read(log).is_some_and(|refusal| is_too_deep(&refusal) || is_outwitted(&refusal))
}

/// Why the verifier refuses an object, if it does.
fn refusal(object: &[u8]) -> Option<Refusal> {
    let failure = load_object(object, &[]).err()?;
    verifier_log::read(&failure.log)
}

/// Whether functions that call each other need more stack together than there is.
fn is_too_deep(refusal: &Refusal) -> bool {
    refusal.reason.contains("combined stack size")
}

/// Whether the verifier refuses because it lost track of a pointer.
fn is_outwitted(refusal: &Refusal) -> bool {
    let reason = &refusal.reason;
    reason.contains("invalid access to packet")
        || reason.contains("pointer") && reason.contains("prohibited")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_other_code_may_cure_is_told_from_what_it_may_not() {
        let log = |reason: &str| format!("0: R1=ctx() R10=fp0\n0: (b7) r0 = 0\n{reason}\n");
        assert!(is_curable(&log(
            "invalid access to packet, off=14 size=4, R1(id=0,off=14,r=0)"
        )));
        assert!(is_curable(&log(
            "combined stack size of 2 calls is 544. Too large"
        )));
        assert!(!is_curable(&log("R0 !read_ok")));
        assert!(!is_curable(""));
    }
}
