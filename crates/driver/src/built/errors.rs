//! Diagnostics about programs that were compiled earlier, one function for each.

use bpf::abi::Hook;
use bpf::features::{FLOOR, Feature, Version};
use diag::{Diagnostic, Span, system_message};
use std::io;
use std::path::{Path, PathBuf};

/// Help text: the command that rebuilds an object and its description.
const AGAIN: &str = "build it again: `onpath build PROGRAM.p4 -o DIR`";

/// The object, or the folder, cannot be read.
pub fn unreadable(file: &Path, error: &io::Error) -> Box<Diagnostic> {
    let help = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "run it as a user who may read the file, and enter the folders above it"
        }
        _ => "name an object that `onpath build -o` wrote, or its folder",
    };
    Diagnostic::failure(
        "E0930",
        format!(
            "`{}` cannot be read: {}",
            file.display(),
            system_message(error)
        ),
        help,
    )
}

/// There is no readable description beside the object.
pub fn no_description(object: &Path, described: &Path, why: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0931",
        format!(
            "`{}` has no description: `{}` cannot be read: {why}",
            object.display(),
            described.display()
        ),
        "`onpath build -o` writes both; keep them in one folder, under one name",
    )
}

/// The description has a form that no version of Onpath writes.
pub fn no_such_form(described: &Path, why: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0932",
        format!(
            "`{}` is not the description of an object, or it is damaged: {why}",
            described.display()
        ),
        AGAIN,
    )
}

/// The object and the description are from different builds.
pub fn differ(object: &Path, described: &Path) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0933",
        format!(
            "`{}` and `{}` do not belong together: one of them is damaged, or they are of different builds",
            object.display(),
            described.display()
        ),
        "copy both again from where they were built",
    )
}

/// Adds the file's name to the refusal of an object.
pub fn of_object(object: &Path, mut refused: Box<Diagnostic>) -> Box<Diagnostic> {
    refused.message = format!("`{}` is not loaded: {}", object.display(), refused.message);
    refused
}

/// The files were written by an Onpath with another format.
pub fn other_version(object: &Path, onpath: &str) -> Box<Diagnostic> {
    let own = env!("CARGO_PKG_VERSION");
    let by = if onpath == own {
        format!(
            "another build of Onpath {own}, whose objects have another form than those of this one"
        )
    } else {
        format!("Onpath {onpath}, whose objects this one ({own}) cannot load")
    };
    Diagnostic::failure(
        "E0934",
        format!("`{}` was built by {by}", object.display()),
        "build it again with the Onpath that is to run it",
    )
}

/// The object is for another hook than the one asked for, which is named at `at`.
pub fn other_hook(object: &Path, built: Hook, wanted: Hook, at: Span) -> Box<Diagnostic> {
    let mut diagnostic = Diagnostic::failure(
        "E0935",
        format!(
            "`{}` was built for {}, and cannot run at {}",
            object.display(),
            built.name(),
            wanted.name()
        ),
        format!("build it with `--target {}`", wanted.name()),
    );
    diagnostic.primary.span = at;
    diagnostic
}

/// The object uses what a kernel lacks.
pub fn newer_kernel(object: &Path, lacks: Feature, kernel: Version) -> Box<Diagnostic> {
    let (major, minor) = lacks.since();
    Diagnostic::failure(
        "E0936",
        format!(
            "`{}` needs Linux {major}.{minor} or newer: it uses {}, which Linux {}.{} lacks",
            object.display(),
            lacks.name(),
            kernel.0,
            kernel.1
        ),
        for_kernel(kernel),
    )
}

/// Help text: the command that builds an object for an older kernel.
pub fn for_kernel(kernel: Version) -> String {
    let (major, minor) = kernel.max(FLOOR);
    format!("build it for this kernel: `onpath build PROGRAM.p4 --kernel {major}.{minor} -o DIR`")
}

/// A folder has several `of` a kind.
pub fn several(folder: &Path, of: &str, names: &[&PathBuf]) -> Box<Diagnostic> {
    let names: Vec<String> = names.iter().map(|n| format!("`{}`", n.display())).collect();
    Diagnostic::failure(
        "E0937",
        format!("`{}` has several {of}", folder.display()),
        format!("name one: {}", names.join(", ")),
    )
}

/// A folder has neither a bundle nor an object.
pub fn nothing(folder: &Path) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0938",
        format!("`{}` has neither a bundle nor an object", folder.display()),
        "name a folder that `onpath build -o` wrote, a P4 program or a bundle",
    )
}
