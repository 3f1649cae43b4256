//! Refusals to touch a file or folder at a path that Onpath has chosen.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Reason of a refusal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// It belongs to another user, with this id.
    Owner(u32),
    /// Others than its owner may write to it. Holds its permissions.
    Writable(u32),
    /// It is a symbolic link.
    Link,
    /// Another file system is mounted there.
    Mount,
    /// Another folder has taken its name.
    Replaced,
    /// It is nothing that Onpath makes there.
    Unknown,
}

/// File or folder that Onpath leaves alone. It travels in an [`io::Error`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    path: PathBuf,
    /// The reason.
    pub why: Why,
}

impl Refused {
    /// Makes a refusal of the file or folder at this path.
    pub fn new(path: PathBuf, why: Why) -> Refused {
        Refused { path, why }
    }

    /// Returns the refusal in an error, if there is one.
    pub fn of(error: &io::Error) -> Option<&Refused> {
        error.get_ref()?.downcast_ref()
    }

    /// Its path, without the control characters that a name can hold.
    pub fn shown(&self) -> String {
        let path = self.path.to_string_lossy();
        let visible = |c: char| if c.is_control() { '\u{fffd}' } else { c };
        path.chars().map(visible).collect()
    }

    /// Turns an error of `openat2` into a refusal, if it means one.
    pub(super) fn explain(error: io::Error, path: &Path) -> io::Error {
        match error.raw_os_error() {
            Some(libc::ELOOP) => Refused::new(path.to_owned(), Why::Link).into(),
            Some(libc::EXDEV) => Refused::new(path.to_owned(), Why::Mount).into(),
            _ => error,
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.shown();
        match self.why {
            Why::Owner(user) => write!(f, "`{path}` belongs to user {user}"),
            Why::Writable(mode) => {
                write!(
                    f,
                    "others than its owner may write to `{path}` (mode {mode:04o})"
                )
            }
            Why::Link => write!(f, "`{path}` is a symbolic link"),
            Why::Mount => write!(f, "another file system is mounted on `{path}`"),
            Why::Replaced => write!(f, "another folder has taken the name `{path}`"),
            Why::Unknown => write!(f, "`{path}` is nothing that Onpath makes"),
        }
    }
}

impl Error for Refused {}

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> io::Error {
        io::Error::new(io::ErrorKind::PermissionDenied, refused)
    }
}
