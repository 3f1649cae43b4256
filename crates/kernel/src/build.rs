//! Generated C to an object that the kernel takes.

use crate::clang::{self, Clang, Effort, Source};
use crate::sys::load_object;
use crate::verifier_log;
use diag::Diagnostic;

/// Compiles, and where this process may, tries whether the kernel's verifier takes the object.
///
/// clang may merge the conditions under which two headers are valid in a way that the verifier, which
/// follows values but not what they say of each other, cannot see through. It does so less when it
/// optimises less: then the smaller effort's object is taken, if that one loads.
pub fn object(clang: &Clang, source: Source<'_>) -> Result<Vec<u8>, Box<Diagnostic>> {
    let object = clang::compile(clang, source)?;
    if !loses_bounds(&object) {
        return Ok(object);
    }
    let gentle = Source {
        effort: Effort::Gentle,
        ..source
    };
    match clang::compile(clang, gentle) {
        Ok(other) if load_object(&other, &[]).is_ok() => Ok(other),
        _ => Ok(object),
    }
}

/// Whether the verifier refuses an object because it cannot prove that an access stays in bounds.
fn loses_bounds(object: &[u8]) -> bool {
    let Err(failure) = load_object(object, &[]) else {
        return false;
    };
    verifier_log::read(&failure.log)
        .is_some_and(|refusal| refusal.reason.contains("invalid access to packet"))
}
