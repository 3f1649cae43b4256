//! Conversion of system errors to errors of a store.

use control::StoreError;
use diag::system_message;
use std::io;

/// Converts a system error to a store's error, where an entry may be to blame.
pub(crate) fn refused(what: &'static str) -> impl Fn(io::Error) -> StoreError {
    move |error| match error.kind() {
        io::ErrorKind::AlreadyExists => StoreError::Duplicate,
        io::ErrorKind::NotFound => StoreError::Missing,
        // The caller fills in the capacity that the user was promised.
        io::ErrorKind::ArgumentListTooLong | io::ErrorKind::StorageFull => {
            StoreError::Full { capacity: 0 }
        }
        _ => system(what)(error),
    }
}

/// Converts the error of opening a map. A map that is gone means that the program was unloaded.
pub fn unopened(error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::NotFound => StoreError::Unloaded,
        _ => system("open a map")(error),
    }
}

/// Converts a system error that no entry is to blame for.
pub fn system(what: &'static str) -> impl Fn(io::Error) -> StoreError {
    move |error| StoreError::System {
        what: format!("could not {what}: {}", system_message(&error)),
    }
}

pub(crate) fn unsupported(what: &str) -> StoreError {
    StoreError::Unsupported { what: what.into() }
}

/// Sets the capacity in an error that reports a full table.
pub(crate) fn with_capacity(error: StoreError, capacity: u64) -> StoreError {
    match error {
        StoreError::Full { .. } => StoreError::Full { capacity },
        other => other,
    }
}
