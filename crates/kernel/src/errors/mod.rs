//! What can go wrong between the generated C and a running program, one function a kind.

pub mod bundle;
pub mod clang;
pub mod device;
pub mod load;
pub mod verifier;

/// What the system said, without its number.
fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}
