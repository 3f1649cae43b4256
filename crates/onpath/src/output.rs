//! Output of commands, and their exit status.
//!
//! Everything that is printed goes through [`diag::shown_lines`] here, so that no name can change a terminal.

use diag::{
    Code, Diagnostic, Diagnostics, Severity, SourceMap, shown, shown_lines, system_message,
};
use serde_json::{Value, json};
use std::fmt::Arguments;
use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Reason why a command ends early.
#[derive(Debug)]
pub enum Stop {
    /// Something was refused or failed: exit status 1. The text has the reason and a remedy.
    Failed(String),
    /// Wrong usage, or a target that cannot run the program: exit status 2.
    Usage(String),
    /// A failure that has been reported already, with its exit status.
    AlreadyReported(u8),
}

/// Result of a command.
pub type Done = Result<ExitCode, Stop>;

/// Returns a failure with exit status 1 and this text.
pub fn failed<T>(text: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Failed(text.into()))
}

/// Prints a diagnostic without a source text. Returns a stop with status 1.
pub fn refused(diagnostic: Box<Diagnostic>) -> Stop {
    refused_in(diagnostic, &SourceMap::new())
}

/// Prints a diagnostic. Returns a stop with status 1.
pub fn refused_in(diagnostic: Box<Diagnostic>, map: &SourceMap) -> Stop {
    print_diagnostics(&diagnostic.into(), map);
    Stop::AlreadyReported(1)
}

/// Returns true if output to a stream is coloured: it is a terminal, and `NO_COLOR` is not set.
fn colour(stream: &impl IsTerminal) -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && stream.is_terminal()
}

/// Returns true if output to standard output may be bold.
pub(crate) fn bold() -> bool {
    colour(&std::io::stdout())
}

/// Prints on standard output, as `print!` does. A write error unwinds as [`Unwritable`].
macro_rules! out {
    ($($arg:tt)*) => { $crate::output::write_out(format_args!($($arg)*)) };
}

/// Prints a line on standard output, as `println!` does.
macro_rules! out_line {
    () => { $crate::output::write_out(format_args!("\n")) };
    ($($arg:tt)*) => { $crate::output::write_out(format_args!("{}\n", format_args!($($arg)*))) };
}

/// Prints on standard error, as `eprint!` does, but never fails.
macro_rules! err {
    ($($arg:tt)*) => { $crate::output::write_err(format_args!($($arg)*)) };
}

/// Prints a line on standard error, as `eprintln!` does, but never fails.
macro_rules! err_line {
    ($($arg:tt)*) => { $crate::output::write_err(format_args!("{}\n", format_args!($($arg)*))) };
}

pub(crate) use {err, err_line, out, out_line};

/// Payload of an unwind when standard output cannot be written, for example on a full disk. It is no bug: everything
/// that was set up is undone first, and [`ending`] turns it into an exit status.
struct Unwritable(std::io::Error);

/// State of the reader of standard output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    /// The output is still read, as far as is known.
    On,
    /// The reader has closed the output.
    Over,
}

/// Writes to standard output. If a reader such as `head` has closed it, that is no failure, and the command continues
/// in silence to its own end. Any other failure unwinds as [`Unwritable`].
pub(crate) fn write_out(text: Arguments<'_>) {
    write_watched(text);
}

/// Writes as [`write_out`] does, and returns the state of the reader, for commands that would never end by
/// themselves.
pub(crate) fn write_watched(text: Arguments<'_>) -> Reading {
    write_to_reader(&shown_lines(&text.to_string()))
}

/// Writes as [`write_watched`] does, but keeps escape sequences. Text from outside must have gone through
/// [`shown_lines`].
pub(crate) fn write_styled(text: &str) -> Reading {
    write_to_reader(text)
}

fn write_to_reader(text: &str) -> Reading {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Reading::On,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Reading::Over,
        Err(error) => {
            drop(out);
            std::panic::resume_unwind(Box::new(Unwritable(error)))
        }
    }
}

/// Writes to standard error. If that fails, the error is dropped.
pub(crate) fn write_err(text: Arguments<'_>) {
    write_styled_err(&shown_lines(&text.to_string()));
}

/// Writes as [`write_err`] does, but keeps escape sequences.
pub(crate) fn write_styled_err(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Reports work in advance that will take long.
pub(crate) fn notice(text: &str) {
    err_line!("note: {text}");
}

/// Runs a command, reports why it stopped, and returns its exit status.
pub fn ending(command: impl FnOnce() -> Done) -> ExitCode {
    let status = ended(command);
    // This is for terminals only, as programs that read the output do not expect it.
    if let Some(Code(code)) = FIRST_ERROR
        .get()
        .filter(|_| std::io::stderr().is_terminal())
    {
        err_line!("More about this kind of error: `onpath explain {code}`");
    }
    status
}

fn ended(command: impl FnOnce() -> Done) -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        err_line!("onpath has a bug: {panic}");
        err_line!("Please report it with the program and the command that brought it about.");
    }));
    // Unwinding is safe here, as it drops all state of the command.
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(command));
    let (text, status) = match done {
        Ok(Ok(status)) => {
            write_collected(write_err);
            return status;
        }
        Ok(Err(Stop::AlreadyReported(status))) => {
            write_collected(write_out);
            return ExitCode::from(status);
        }
        Ok(Err(Stop::Failed(text))) => (text, 1),
        Ok(Err(Stop::Usage(text))) => (text, 2),
        Err(payload) => match payload.downcast::<Unwritable>() {
            Ok(full) => {
                let why = system_message(&full.0);
                report_text(&format!("standard output cannot be written: {why}"));
                write_collected(write_err);
                return ExitCode::from(1);
            }
            Err(bug) => std::panic::resume_unwind(bug),
        },
    };
    report_text(&text);
    write_collected(write_out);
    ExitCode::from(status)
}

/// Format of diagnostics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiagnosticFormat {
    /// Text, on standard error.
    Text,
    /// JSON: an object with the array `diagnostics`. It is written to standard output, or to standard error if the
    /// command also prints a result.
    Json,
    /// As [`DiagnosticFormat::Json`], but on one line, for commands that print an object on each line.
    JsonLines,
}

/// Format of this process's diagnostics. It is set once, as a process runs one command.
static FORM: OnceLock<DiagnosticFormat> = OnceLock::new();
/// Diagnostics as JSON, which are written when the command has ended.
static COLLECTED: Mutex<Vec<Value>> = Mutex::new(Vec::new());

/// Code of the first error that was reported as text.
static FIRST_ERROR: OnceLock<Code> = OnceLock::new();

/// Sets the format of all diagnostics. Only the first call has an effect.
pub fn report_as(form: DiagnosticFormat) {
    let _ = FORM.set(form);
}

fn form() -> DiagnosticFormat {
    FORM.get().copied().unwrap_or(DiagnosticFormat::Text)
}

/// Reports diagnostics.
pub fn print_diagnostics(diagnostics: &Diagnostics, map: &SourceMap) {
    match form() {
        _ if diagnostics.is_empty() => {}
        DiagnosticFormat::Text => {
            let colour = colour(&std::io::stderr());
            write_styled_err(&diag::render_text(diagnostics, map, colour));
            let mut errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
            if let Some(error) = errors.next() {
                let _ = FIRST_ERROR.set(error.code);
            }
        }
        DiagnosticFormat::Json | DiagnosticFormat::JsonLines => {
            if let Value::Array(list) = diag::to_json(diagnostics, map) {
                collect(list);
            }
        }
    }
}

/// Reports an error that is no diagnostic: it has neither a code nor a location.
pub fn report_text(text: &str) {
    match form() {
        DiagnosticFormat::Text => err_line!("error: {}", shown(text)),
        DiagnosticFormat::Json | DiagnosticFormat::JsonLines => collect(vec![json!({
            "severity": "error", "code": null, "message": text, "help": null, "labels": [],
            "file": null, "line": null, "column": null, "end_line": null, "end_column": null,
        })]),
    }
}

/// Reports wrong usage in clap's own words, which repeat parts of the command line.
pub fn wrong_usage(error: &clap::Error) -> ExitCode {
    err!("{}", error.render());
    ExitCode::from(2)
}

fn collect(list: Vec<Value>) {
    let collected = COLLECTED.lock();
    collected
        .unwrap_or_else(PoisonError::into_inner)
        .extend(list);
}

/// Prints the diagnostics that were collected so far, for a command that goes on.
pub fn report_now() {
    write_collected(write_out);
}

/// Writes the collected diagnostics, if there are any.
fn write_collected(write: fn(Arguments<'_>)) {
    let collected = COLLECTED.lock();
    let list = std::mem::take(&mut *collected.unwrap_or_else(PoisonError::into_inner));
    if list.is_empty() {
        return;
    }
    let object = json!({ "diagnostics": list });
    match form() {
        DiagnosticFormat::JsonLines => write(format_args!("{object}\n")),
        DiagnosticFormat::Json | DiagnosticFormat::Text => write(format_args!("{object:#}\n")),
    }
}

/// Prints a value as JSON on standard output.
pub fn print_json(value: &serde_json::Value) {
    out_line!("{value:#}");
}
