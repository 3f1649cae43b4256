//! What commands print, and how they end.
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

/// Why a command ends early.
#[derive(Debug)]
pub enum Stop {
    /// Something was refused or failed: exit status 1. The text has the reason and a remedy.
    Failed(String),
    /// Wrong usage, or a target that cannot run the program: exit status 2.
    Usage(String),
    /// As [`Stop::Failed`], and everything has been reported already.
    AlreadyReported(u8),
}

/// What a command comes to.
pub type Done = Result<ExitCode, Stop>;

/// Ends with status 1 and a text.
pub fn failed<T>(text: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Failed(text.into()))
}

/// Prints a diagnostic that is about no source text, and stops with status 1.
pub fn refused(diagnostic: Box<Diagnostic>) -> Stop {
    refused_in(diagnostic, &SourceMap::new())
}

/// Prints a diagnostic, and stops with status 1.
pub fn refused_in(diagnostic: Box<Diagnostic>, map: &SourceMap) -> Stop {
    print_diagnostics(&diagnostic.into(), map);
    Stop::AlreadyReported(1)
}

/// Whether to colour what is printed on a stream.
fn colour(stream: &impl IsTerminal) -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && stream.is_terminal()
}

/// Whether standard output shows bold letters.
pub(crate) fn bold() -> bool {
    colour(&std::io::stdout())
}

/// Prints on standard output, as `print!` does; what cannot be written is [`Unwritable`]'s business.
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

/// What unwinds, without being a bug, when standard output takes no more, such as on a full disk.
/// Everything that was set up is undone first; [`ending`] makes a status of it.
struct Unwritable(std::io::Error);

/// Whether standard output is still read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    /// As far as one can know.
    On,
    /// Its reader has gone away.
    Over,
}

/// Writes to standard output. A reader such as `head` that has read enough is no failure: the command
/// goes on in silence to its own end. Any other failure unwinds as [`Unwritable`].
pub(crate) fn write_out(text: Arguments<'_>) {
    write_watched(text);
}

/// As [`write_out`], and returns whether there is still a reader, for commands that have no end of their own.
pub(crate) fn write_watched(text: Arguments<'_>) -> Reading {
    write_to_reader(&shown_lines(&text.to_string()))
}

/// As [`write_watched`], of a text whose escapes are Onpath's own: what came from outside is [`shown_lines`] in it.
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

/// As [`write_err`], of a text whose escapes are Onpath's own.
pub(crate) fn write_styled_err(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Says what takes long, before it does.
pub(crate) fn notice(text: &str) {
    err_line!("note: {text}");
}

/// Runs a command, reports why it stopped, and gives its exit status.
pub fn ending(command: impl FnOnce() -> Done) -> ExitCode {
    let status = ended(command);
    // For people at a terminal only: programs that read the output expect nothing more.
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
    // Whatever the command was working on is gone when it has unwound.
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

/// For whom diagnostics are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// For people, on standard error.
    Text,
    /// For programs: an object with the array `diagnostics`, on standard output where it is what the command prints,
    /// and on standard error beside a result.
    Json,
    /// As [`Form::Json`], on one line, for commands that print an object a line.
    JsonLines,
}

/// How this process reports. It has one standard output and one command, so it is set once.
static FORM: OnceLock<Form> = OnceLock::new();
/// What is reported as JSON when the command has ended.
static COLLECTED: Mutex<Vec<Value>> = Mutex::new(Vec::new());

/// The code of the first error that was reported as text.
static FIRST_ERROR: OnceLock<Code> = OnceLock::new();

/// Has all diagnostics reported in a form. Only the first call counts.
pub fn report_as(form: Form) {
    let _ = FORM.set(form);
}

fn form() -> Form {
    FORM.get().copied().unwrap_or(Form::Text)
}

/// Reports diagnostics.
pub fn print_diagnostics(diagnostics: &Diagnostics, map: &SourceMap) {
    match form() {
        _ if diagnostics.is_empty() => {}
        Form::Text => {
            let colour = colour(&std::io::stderr());
            write_styled_err(&diag::render_text(diagnostics, map, colour));
            let mut errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
            if let Some(error) = errors.next() {
                let _ = FIRST_ERROR.set(error.code);
            }
        }
        Form::Json | Form::JsonLines => {
            if let Value::Array(list) = diag::to_json(diagnostics, map) {
                collect(list);
            }
        }
    }
}

/// Reports an error that is no diagnostic: it has neither a code nor a location.
pub fn report_text(text: &str) {
    match form() {
        Form::Text => err_line!("error: {}", shown(text)),
        Form::Json | Form::JsonLines => collect(vec![json!({
            "severity": "error", "code": null, "message": text, "help": null, "labels": [],
            "file": null, "line": null, "column": null, "end_line": null, "end_column": null,
        })]),
    }
}

/// Reports that the command line has not the form that it is to have, in the words of what reads it, which repeats parts of
/// it.
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

/// Writes what was collected, if anything was.
fn write_collected(write: fn(Arguments<'_>)) {
    let collected = COLLECTED.lock();
    let list = std::mem::take(&mut *collected.unwrap_or_else(PoisonError::into_inner));
    if list.is_empty() {
        return;
    }
    let object = json!({ "diagnostics": list });
    match form() {
        Form::JsonLines => write(format_args!("{object}\n")),
        Form::Json | Form::Text => write(format_args!("{object:#}\n")),
    }
}

/// Prints a value as JSON on standard output.
pub fn print_json(value: &serde_json::Value) {
    out_line!("{value:#}");
}
