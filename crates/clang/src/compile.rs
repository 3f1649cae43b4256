//! Compilation of C to a BPF object, or to an object for this machine.

use crate::compiler::{Clang, SECONDS_VARIABLE};
use crate::errors;
use crate::object_cache::{self, ObjectCache};
use crate::source::{Effort, Jumps, LONG, NOWHERE, PROGRAM, Source, named_files};
use diag::Diagnostic;
use host::child::{self, Ended};
use host::files::{self, Streams};
use host::interrupt::Deferred;
use host::scratch::Scratch;
use nix::libc;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

/// Time that a compiler has if [`SECONDS_VARIABLE`] is not set. It is more than ten times clang's time for the longest
/// program that is not [`LONG`].
const LONGEST: Duration = Duration::from_secs(60);
/// Factor on that time for a [`LONG`] program.
const MORE_TIME: u32 = 10;

/// Returns the time that a compiler has for a program that is not [`LONG`].
fn longest() -> Result<Duration, Box<Diagnostic>> {
    match std::env::var_os(SECONDS_VARIABLE) {
        None => Ok(LONGEST),
        Some(text) => seconds(&text.to_string_lossy()),
    }
}

fn seconds(text: &str) -> Result<Duration, Box<Diagnostic>> {
    match text.parse::<u32>() {
        Ok(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds.into())),
        _ => Err(errors::no_seconds(text)),
    }
}

/// Product of the compilation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OutputKind {
    /// A BPF object.
    Bpf,
    /// A shared object for this machine.
    Shared,
    /// A program for this machine.
    Program,
}

/// Failure to make an object.
#[derive(Clone, Debug)]
pub struct NoObject {
    /// Report for users.
    pub diagnostic: Box<Diagnostic>,
    /// Cause, which another variant of the program may overcome.
    pub cause: Cause,
}

/// Cause of clang's failure to make an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The generated C needs more stack than BPF has.
    Stack,
    /// A function in the C of an extern needs more stack than BPF has. The diagnostic names it.
    StackOfExtern,
    /// A jump is too far, in the generated C or in that of an extern: clang does not report which.
    TooLong,
    /// Something else.
    Other,
}

impl From<Box<Diagnostic>> for NoObject {
    /// Converts a failure of any other cause.
    fn from(diagnostic: Box<Diagnostic>) -> NoObject {
        NoObject {
            diagnostic,
            cause: Cause::Other,
        }
    }
}

/// Compiles to the bytes of a BPF object, with BTF and line information. Paths in `#line` directives are relative to
/// the current folder, so that the lines' text gets into the object, unless the program is [`LONG`].
///
/// An object that is in the [cache](object_cache) is not compiled again.
pub fn compile(clang: &Clang, source: Source<'_>) -> Result<Vec<u8>, NoObject> {
    compile_as(OutputKind::Bpf, clang, source)
}

/// Compiles to the bytes of a shared object for this machine.
pub fn compile_shared(clang: &Clang, source: Source<'_>) -> Result<Vec<u8>, Box<Diagnostic>> {
    compile_as(OutputKind::Shared, clang, source).map_err(|refused| refused.diagnostic)
}

/// Compiles to the bytes of a program for this machine.
pub fn compile_program(clang: &Clang, source: Source<'_>) -> Result<Vec<u8>, Box<Diagnostic>> {
    compile_as(OutputKind::Program, clang, source).map_err(|refused| refused.diagnostic)
}

fn compile_as(form: OutputKind, clang: &Clang, source: Source<'_>) -> Result<Vec<u8>, NoObject> {
    let Some(cache) = ObjectCache::from_environment() else {
        return compile_anew(form, clang, source);
    };
    let Some(key) = object_cache::key(clang, &flags(form, source), source) else {
        return compile_anew(form, clang, source);
    };
    if let Some(object) = cache.get(&key) {
        return Ok(object);
    }
    let object = compile_anew(form, clang, source)?;
    cache.put(&key, &object);
    Ok(object)
}

/// Flags of every BPF object.
const FLAGS: [&str; 15] = [
    "-g",
    "-target",
    "bpf",
    "-mcpu=v3",
    "-fno-ident",
    "-std=gnu11",
    "-Wall",
    "-Wno-unused",
    "-fno-stack-protector",
    "-fno-color-diagnostics",
    "-Wno-unknown-warning-option",
    "-Wno-pass-failed",
    "-Wno-address-of-packed-member",
    // Otherwise clang compiles once more after a crash, for a report to its authors.
    "-fno-crash-diagnostics",
    // Paths are relative to the current folder, in the object too, so that it is the same wherever it is made.
    "-fdebug-compilation-dir=.",
];

/// Flags that make an object for this machine a shared one.
const SHARED_FLAGS: [&str; 2] = ["-shared", "-fPIC"];

/// Flags of an object for this machine. Signed numbers wrap around, so that behaviour undefined in C is most likely
/// the same as in BPF.
const MACHINE_FLAGS: [&str; 7] = [
    "-fwrapv",
    "-std=gnu11",
    "-Wall",
    "-Wno-unused",
    "-fno-color-diagnostics",
    "-fno-crash-diagnostics",
    "-fdebug-compilation-dir=.",
];

/// Further flags of a [`LONG`] program. Its stores are not joined to a `memset` that is too long for BPF.
const LONG_FLAGS: [&str; 2] = ["-fdebug-compilation-dir=/dev/null", "-fno-builtin-memset"];

fn flags(form: OutputKind, source: Source<'_>) -> Vec<&'static str> {
    let is_long = source.defines.contains(&LONG);
    let long = is_long.then_some(LONG_FLAGS).into_iter().flatten();
    let (shared, own): (&[&str], &[&str]) = match form {
        OutputKind::Bpf => (&[], &FLAGS),
        OutputKind::Shared => (&SHARED_FLAGS, &MACHINE_FLAGS),
        OutputKind::Program => (&[], &MACHINE_FLAGS),
    };
    shared.iter().chain(own).copied().chain(long).collect()
}

fn compile_anew(form: OutputKind, clang: &Clang, source: Source<'_>) -> Result<Vec<u8>, NoObject> {
    // Held until the folder is removed: an interrupt would leave it behind.
    let interrupts = Deferred::begin().map_err(|e| errors::clang_not_run(clang, &e))?;
    let no_space = |e| errors::no_scratch_space(&std::env::temp_dir(), &e);
    let dir = Scratch::new().map_err(no_space)?;
    write_source(dir.path(), source).map_err(no_space)?;
    let object = dir.path().join("prog.o");
    // The same text gives the same object, wherever the scratch space was.
    let mut prefix_map = OsString::from("-ffile-prefix-map=");
    prefix_map.push(dir.path());
    prefix_map.push("=onpath");
    let mut command = Command::new(&clang.path);
    command
        .arg(match source.effort {
            Effort::Full => "-O2",
            Effort::Reduced => "-O1",
        })
        .args(flags(form, source))
        .args((source.jumps == Jumps::Long).then_some("-mcpu=v4"));
    if source.defines.contains(&LONG) {
        for file in named_files(source.text) {
            if file.starts_with('/') {
                command.arg(format!("-ffile-prefix-map={file}={NOWHERE}{file}"));
            }
        }
    }
    command.arg(prefix_map).arg("-I").arg(dir.path());
    for include in source.include_dirs {
        command.arg("-I").arg(include);
    }
    for define in source.defines {
        command.arg(format!("-D{define}=1"));
    }
    command
        .args((form == OutputKind::Bpf).then_some("-c"))
        .arg(dir.path().join(PROGRAM))
        .arg("-o")
        .arg(&object);
    let longest = match source.defines.contains(&LONG) {
        true => longest()? * MORE_TIME,
        false => longest()?,
    };
    let run = |command: &mut Command| -> Result<(ExitStatus, String), Box<Diagnostic>> {
        match child::run(command, &interrupts, longest) {
            Ok(Ended::ByItself(status, output)) => {
                Ok((status, String::from_utf8_lossy(&output).into_owned()))
            }
            Ok(Ended::TookTooLong) => Err(errors::clang_hangs(clang, longest)),
            Ok(Ended::WroteTooMuch) => Err(errors::clang_floods(clang)),
            Err(error) => Err(errors::clang_not_run(clang, &error)),
        }
    };
    let (mut status, mut output) = run(&mut command)?;
    if joins_stores(&output) {
        (status, output) = run(command.arg("-fno-builtin-memset"))?;
    }
    if let Some(signal) = status.signal() {
        let ended = match NO_MEMORY.iter().any(|words| output.contains(words)) {
            true => errors::clang_without_memory(clang),
            false => errors::clang_ended(clang, signal),
        };
        return Err(ended.into());
    }
    if !status.success() {
        return Err(match form {
            OutputKind::Bpf => explain(clang, &output),
            OutputKind::Shared | OutputKind::Program => {
                errors::refused_for_machine(clang, &output).into()
            }
        });
    }
    files::read(&object, Streams::Refused).map_err(|e| errors::clang_left_nothing(clang, &e).into())
}

fn write_source(dir: &Path, source: Source<'_>) -> io::Result<()> {
    for (name, text) in source.headers {
        let path = dir.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)?;
    }
    fs::write(dir.join(PROGRAM), source.text)
}

/// Clang's report of a jump that is too far.
const FAR_JUMP: &str = "Branch target out of insn range";

/// Returns true if clang made a `memset` of more stores than it can expand: BPF has no such function. A program that
/// is too long anyway does not become shorter without it.
fn joins_stores(output: &str) -> bool {
    if output.contains(FAR_JUMP) {
        return false;
    }
    output.contains("built-in function 'memset'") || output.contains("built-in function: memset")
}

/// Clang's reports of a lack of memory.
const NO_MEMORY: [&str; 2] = ["out of memory", "Cannot allocate memory"];
/// Clang's message for a lack of disk space for its object.
const NO_SPACE: &str = "No space left on device";

/// Explains a compiler error in terms of P4.
fn explain(clang: &Clang, output: &str) -> NoObject {
    let (cause, diagnostic) = if is_stack(output) {
        match function_of_extern(output) {
            Some((file, line)) => (
                Cause::StackOfExtern,
                errors::extern_stack_too_large(file, line),
            ),
            None => (Cause::Stack, errors::stack_too_large(output)),
        }
    } else if output.contains("No available targets are compatible")
        || output.contains("unknown target")
    {
        (Cause::Other, errors::no_bpf_target(clang))
    } else if output.contains(FAR_JUMP) {
        (Cause::TooLong, errors::too_long())
    } else if NO_MEMORY.iter().any(|words| output.contains(words)) {
        (Cause::Other, errors::clang_without_memory(clang))
    } else if output.contains(NO_SPACE) {
        let error = io::Error::from_raw_os_error(libc::ENOSPC);
        let folder = std::env::temp_dir();
        (Cause::Other, errors::no_scratch_space(&folder, &error))
    } else {
        (Cause::Other, errors::clang_refused(clang, output))
    };
    NoObject { diagnostic, cause }
}

/// Returns true if clang reports that a function needs too much stack.
fn is_stack(output: &str) -> bool {
    output.contains("stack limit") || output.contains("BPF stack")
}

/// Returns the user's C file with a function that needs too much stack, and a line of the function. If the function is
/// inlined, clang also reports the function of the generated C, with a line that no user wrote.
fn function_of_extern(output: &str) -> Option<(&str, u32)> {
    let mut faults = output.lines().filter(|line| is_stack(line));
    faults.find_map(|line| {
        let (path, rest) = line.split_once(':')?;
        let file = path.rsplit('/').next()?;
        let line = rest.split(':').next()?.parse().ok()?;
        (file.ends_with(".c") && file != PROGRAM).then_some((file, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::find;

    #[test]
    fn the_time_that_a_compiler_has_is_a_number_of_seconds() {
        assert_eq!(seconds("5").ok(), Some(Duration::from_secs(5)));
        for wrong in ["", "0", "-1", "1m", "1.5", "99999999999"] {
            let refused = seconds(wrong).expect_err("refused");
            assert_eq!(refused.code.0, "E0716", "{wrong}");
        }
    }

    #[test]
    fn what_the_machine_lacks_is_no_fault_of_the_text() {
        let clang = Clang {
            path: "/usr/bin/clang".into(),
            version: 19,
        };
        let code = |output| explain(&clang, output).diagnostic.code.0;
        assert_eq!(
            code("LLVM ERROR: out of memory\nAllocation failed\n"),
            "E0753"
        );
        let full = "error: unable to open output file 'prog.o': 'No space left on device'";
        assert_eq!(code(full), "E0757");
        assert_eq!(code("prog.c:1:1: error: unknown type name"), "E0755");
    }

    #[test]
    fn headers_are_found_and_line_directives_survive() {
        let clang = find().expect("these tests need clang");
        let object = compile(
            &clang,
            Source {
                text: "#include \"one.h\"\n__attribute__((section(\"xdp\"), used)) int f(void *c) { return ONE; }\n",
                headers: &[("one.h", "#define ONE 1\n")],
                include_dirs: &[],
                defines: &[],
                effort: Effort::Full,
                jumps: Jumps::Short,
            },
        )
        .expect("compiles");
        assert_eq!(&object[..4], b"\x7fELF");
    }

    #[test]
    fn an_error_in_the_text_is_shown_with_the_compilers_words() {
        let clang = find().expect("these tests need clang");
        let error = compile(
            &clang,
            Source {
                text: "int f( {\n",
                headers: &[],
                include_dirs: &[],
                defines: &[],
                effort: Effort::Full,
                jumps: Jumps::Short,
            },
        )
        .expect_err("refused");
        let refused = error.diagnostic;
        assert_eq!((refused.code.0, error.cause), ("E0755", Cause::Other));
        assert!(
            refused.message.contains("expected parameter declarator"),
            "{}",
            refused.message
        );
    }

    #[test]
    fn a_jump_that_is_too_far_is_recognised() {
        let clang = find().expect("these tests need clang");
        // As many stores, each of another number: for that much inline assembly clang would take minutes.
        let stores: String = (0..34_000).map(|n| format!("v={n};")).collect();
        let text = format!(
            "__attribute__((section(\"xdp\"), used)) int f(int *a) {{ volatile long v; if (*a) {{ {stores} }} return 1; }}\n"
        );
        let source = Source {
            text: &text,
            headers: &[],
            include_dirs: &[],
            defines: &[],
            effort: Effort::Full,
            jumps: Jumps::Short,
        };
        let error = compile_anew(OutputKind::Bpf, &clang, source).expect_err("refused");
        assert_eq!(
            (error.diagnostic.code.0, error.cause),
            ("E0759", Cause::TooLong)
        );
        let source = Source {
            jumps: Jumps::Long,
            ..source
        };
        assert!(compile_anew(OutputKind::Bpf, &clang, source).is_ok());
    }

    #[test]
    fn too_much_stack_is_recognised() {
        let clang = find().expect("these tests need clang");
        let error = compile(
            &clang,
            Source {
                text: "void g(char*);\n__attribute__((section(\"xdp\"), used)) int f(void *c) { volatile char a[600]; for (int i = 0; i < 600; i++) a[i] = i; return a[*(int*)c]; }\n",
                headers: &[],
                include_dirs: &[],
                defines: &[],
                effort: Effort::Full,
                jumps: Jumps::Short,
            },
        )
        .expect_err("refused");
        assert_eq!(
            (error.diagnostic.code.0, error.cause),
            ("E0754", Cause::Stack)
        );
    }

    #[test]
    fn a_function_of_an_extern_that_needs_too_much_stack_is_named() {
        let clang = find().expect("these tests need clang");
        let dir = tempfile::tempdir().expect("a folder");
        let function = "int seen(int x)\n{\n    volatile char a[600];\n    a[x % 600] = 1;\n    return a[x / 7 % 600];\n}\n";
        fs::write(dir.path().join("seen.c"), function).expect("room");
        let source = Source {
            text: "#include \"seen.c\"\n__attribute__((section(\"xdp\"), used)) int f(int *c) { return seen(*c); }\n",
            headers: &[],
            include_dirs: &[dir.path().to_owned()],
            defines: &[],
            effort: Effort::Full,
            jumps: Jumps::Short,
        };
        let error = compile_anew(OutputKind::Bpf, &clang, source).expect_err("refused");
        assert_eq!(error.cause, Cause::StackOfExtern);
        let message = &error.diagnostic.message;
        assert!(message.contains(" of `seen.c`"), "{message}");
    }
}
