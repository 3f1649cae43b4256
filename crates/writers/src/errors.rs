//! The system's errors as a store reports them.

use control::StoreError;
use diag::system_message;
use std::io;

/// Turns the system's error into a store's error.
pub(crate) fn refused(what: &'static str) -> impl Fn(io::Error) -> StoreError {
    move |error| match error.kind() {
        io::ErrorKind::AlreadyExists => StoreError::Duplicate,
        io::ErrorKind::NotFound => StoreError::Missing,
        // The capacity that the user was promised is filled in by the caller.
        io::ErrorKind::ArgumentListTooLong | io::ErrorKind::StorageFull => {
            StoreError::Full { capacity: 0 }
        }
        _ => system(what)(error),
    }
}

/// A map that cannot be opened. Where it is gone, so is the program.
pub fn unopened(error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::NotFound => StoreError::Unloaded,
        _ => system("open a map")(error),
    }
}

/// The same where no entry is to blame.
pub fn system(what: &'static str) -> impl Fn(io::Error) -> StoreError {
    move |error| StoreError::System {
        what: format!("could not {what}: {}", system_message(&error)),
    }
}

pub(crate) fn unsupported(what: &str) -> StoreError {
    StoreError::Unsupported { what: what.into() }
}

/// Reports how many entries a full table was to hold.
pub(crate) fn with_capacity(error: StoreError, capacity: u64) -> StoreError {
    match error {
        StoreError::Full { .. } => StoreError::Full { capacity },
        other => other,
    }
}
