//! Diagnostics about the C compiler: missing, too old, or refusing; and about C of extern functions that does not run
//! on this machine.

use crate::compiler::{CLANG_VARIABLE, Clang, LONG_JUMPS, OLDEST, SECONDS_VARIABLE};
use crate::source::PROGRAM;
use diag::{Diagnostic, counted, system_message};
use host::child::MOST_OUTPUT;
use host::errors::left_alone;
use host::safe_dir::Refused;
use nix::libc;
use nix::sys::signal::Signal;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Lack of a clang on this machine.
pub fn no_clang() -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0750",
        "no clang found; it is needed to build for the kernel",
        format!(
            "install one of version {OLDEST} or newer (`apt-get install clang-19`), or set {CLANG_VARIABLE} to its path; \
             `onpath test --target interp` and what `onpath build -o` wrote elsewhere need none"
        ),
    )
}

/// `ONPATH_CLANG` names something that is not a clang.
pub fn named_clang_unusable(path: &Path) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0751",
        format!(
            "{CLANG_VARIABLE} names `{}`, which does not answer `--version` as clang does",
            path.display()
        ),
        format!("set it to the path of a clang of version {OLDEST} or newer, or unset it"),
    )
}

/// The newest clang is older than the oldest one that is known to work.
pub fn clang_too_old(clang: &Clang) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0752",
        format!(
            "`{}` is clang {}, older than {OLDEST}",
            clang.path.display(),
            clang.version
        ),
        "install a newer one (`apt-get install clang-19`), or set ONPATH_CLANG to its path",
    )
}

/// The compiler could not be run.
pub fn clang_not_run(clang: &Clang, error: &io::Error) -> Box<Diagnostic> {
    let why = system_message(error);
    not_compiled(clang, &format!("could not be run: {why}"), INSTALLATION)
}

/// The compiler left no object.
pub fn clang_left_nothing(clang: &Clang, error: &io::Error) -> Box<Diagnostic> {
    let why = system_message(error);
    let what = format!("reported no error, but its object cannot be read: {why}");
    not_compiled(clang, &what, INSTALLATION)
}

/// A signal ended the compiler.
pub fn clang_ended(clang: &Clang, signal: i32) -> Box<Diagnostic> {
    let name = Signal::try_from(signal).map_or("a signal", Signal::as_str);
    let help = match signal {
        libc::SIGKILL => {
            "where memory runs out the kernel ends processes so (`dmesg` tells): free some, and build again"
        }
        libc::SIGXCPU => "raise the limit on processor time (`ulimit -t`), and build again",
        libc::SIGXFSZ => "raise the limit on the size of files (`ulimit -f`), and build again",
        libc::SIGINT | libc::SIGTERM | libc::SIGHUP => "somebody ended it: build again",
        _ => INSTALLATION,
    };
    not_compiled(clang, &format!("was ended by {name} ({signal})"), help)
}

/// The compiler ran out of memory.
pub fn clang_without_memory(clang: &Clang) -> Box<Diagnostic> {
    not_compiled(clang, "ran out of memory", NO_MEMORY)
}

const NO_MEMORY: &str = "free memory, or raise the limit that this process has (`ulimit -v`, its control group's), and build again";

/// The compiler had not ended after the time that it has.
pub fn clang_hangs(clang: &Clang, longest: Duration) -> Box<Diagnostic> {
    let message = format!(
        "`{}` had not compiled the program after {}, and was ended",
        clang.path.display(),
        counted(longest.as_secs(), "second")
    );
    Diagnostic::failure(
        "E0715",
        message,
        format!(
            "if the machine is slow or busy, give it more: {SECONDS_VARIABLE}=600; else the compiler may be at fault: `onpath doctor` names it"
        ),
    )
}

/// The compiler wrote more than a mebibyte of messages.
pub fn clang_floods(clang: &Clang) -> Box<Diagnostic> {
    let message = format!(
        "`{}` wrote more than {} MiB of messages, and was ended",
        clang.path.display(),
        MOST_OUTPUT >> 20
    );
    Diagnostic::failure(
        "E0715",
        message,
        "a C file given by `--extern` may give as many warnings: compile it alone; else the compiler may be at fault: `onpath doctor` names it",
    )
}

/// `ONPATH_CLANG_SECONDS` is not a number of seconds.
pub fn no_seconds(text: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0716",
        format!("{SECONDS_VARIABLE} is `{text}`, which is not a number of seconds"),
        "set it to a whole number above 0, such as 60, or unset it",
    )
}

const INSTALLATION: &str = "check the installation with `onpath doctor`";

fn not_compiled(clang: &Clang, what: &str, help: &str) -> Box<Diagnostic> {
    let message = format!("`{}` {what}", clang.path.display());
    Diagnostic::failure("E0753", message, help)
}

const TOO_MUCH_STACK: &str = "E0754";

/// A function in a user's C file needs more than the 512 bytes of stack that BPF has.
pub fn extern_stack_too_large(file: &str, line: u32) -> Box<Diagnostic> {
    Diagnostic::failure(
        TOO_MUCH_STACK,
        format!(
            "the function at line {line} of `{file}` needs more stack than the 512 bytes of a BPF program"
        ),
        "keep large arrays in a map, and fewer values at the same time",
    )
}

/// The program needs more than the 512 bytes of stack that BPF has. `output` is the compiler's or the verifier's
/// reason.
pub fn stack_too_large(output: &str) -> Box<Diagnostic> {
    let calls = output
        .split_once("combined stack size of ")
        .and_then(|(_, rest)| {
            let (calls, bytes) = rest.split_once(" calls is ")?;
            let bytes = bytes.split('.').next()?;
            Some(format!(
                " ({calls} functions that call each other take {bytes})"
            ))
        });
    let calls = calls.unwrap_or_default();
    Diagnostic::failure(
        TOO_MUCH_STACK,
        format!("the program needs more stack than the 512 bytes of a BPF program{calls}"),
        "keep fewer values at the same time: compute one where it is used, use narrower types, or split a long function \
         or control",
    )
}

const WRONG_C: &str = "E0755";

/// Tests whether a diagnostic is [`clang_refused`].
pub fn is_wrong_c(diagnostic: &Diagnostic) -> bool {
    diagnostic.code.0 == WRONG_C
}

/// The compiler refused the generated C, or the user's C file for an extern.
pub fn clang_refused(clang: &Clang, output: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        WRONG_C,
        format!(
            "clang {} refused the generated C: {}",
            clang.version,
            first_error(output)
        ),
        "if it is in a C file given by `--extern`, correct that file; else this is a bug in Onpath: \
         `onpath build --emit c` shows the text",
    )
}

const TOO_FAR: &str = "E0759";

/// A jump in one of these C files of a user would be farther than BPF's jumps can be.
pub fn extern_too_long(files: &[String]) -> Box<Diagnostic> {
    let named: Vec<String> = files.iter().map(|file| format!("`{file}`")).collect();
    Diagnostic::failure(
        TOO_FAR,
        format!(
            "the C in {} is too long: a jump in it would pass over more than the 32767 instructions that one of BPF can",
            named.join(" or ")
        ),
        format!(
            "shorten what its conditions and loops contain; Linux 6.6 and clang {LONG_JUMPS} have longer jumps, but for those out of loops"
        ),
    )
}

/// A jump of the program would be farther than BPF's jumps can be.
pub fn too_long() -> Box<Diagnostic> {
    Diagnostic::failure(
        TOO_FAR,
        "the program is too long: a jump in it would pass over more than the 32767 instructions that one of BPF can",
        format!(
            "let the parser have fewer states and headers, move what several actions do to one place, or split the program and run \
         its parts as a bundle; Linux 6.6 and clang {LONG_JUMPS} have longer jumps, but for those out of loops"
        ),
    )
}

/// This clang was built without BPF.
pub fn no_bpf_target(clang: &Clang) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0756",
        format!(
            "`{}` was built without the BPF target",
            clang.path.display()
        ),
        "install the distribution's clang (`apt-get install clang-19`)",
    )
}

/// Lack of space for temporary files in their folder.
pub fn no_scratch_space(folder: &Path, error: &io::Error) -> Box<Diagnostic> {
    if let Some(refused) = Refused::of(error) {
        return left_alone(refused);
    }
    Diagnostic::failure(
        "E0757",
        format!(
            "no temporary files for the compiler in `{}`: {}",
            folder.display(),
            system_message(error)
        ),
        "free space there, or set TMPDIR to another folder",
    )
}

/// Returns the first error in a compiler's output, with its location but without the temporary folder.
fn first_error(output: &str) -> String {
    let line = output
        .lines()
        .find(|l| l.contains("error:") || l.contains("stack"))
        .or_else(|| output.lines().next())
        .unwrap_or("it gave no reason");
    let (path, rest) = line.split_once(':').unwrap_or(("", line));
    match path.rsplit_once('/') {
        Some((_, PROGRAM)) => format!("line {rest}"),
        Some((_, file)) => format!("{file}:{rest}"),
        None => line.to_owned(),
    }
}

/// A C file for an extern that is not there or cannot be read.
pub fn no_extern_file(file: &Path, error: &io::Error) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0758",
        format!(
            "cannot read the C file `{}`: {}",
            file.display(),
            system_message(error)
        ),
        "name a file that supplies the program's extern functions after `--extern`",
    )
}

/// The compiler refused the user's C of extern functions for this machine, or the code that calls it.
pub fn refused_for_machine(clang: &Clang, output: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0824",
        format!(
            "clang {} refused the C of the extern functions for the interpreter: {}",
            clang.version,
            first_error(output)
        ),
        "the interpreter runs this C on the machine itself, without the kernel's helpers and maps: correct the file, or run the \
         test in the kernel (`--target xdp`)",
    )
}

/// The object with the extern functions cannot be loaded, most likely because a function is missing.
pub fn not_loaded(why: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E0825",
        format!("the C of the extern functions cannot be loaded: {why}"),
        "define each extern function that the program calls in a file given by `--extern`, with the name that it has in P4",
    )
}

#[cfg(test)]
mod tests;
