//! `onpath check`

use super::source::input;
use crate::args::Check;
use crate::driver;
use crate::output::{Done, print_diagnostics, print_json, say_line};
use diag::Severity;
use std::process::ExitCode;

/// Checks a program: status 0 if it is accepted, 1 if it is refused.
pub fn run(args: Check) -> Done {
    let front = driver::check(&input(&args.source));
    if args.json {
        print_json(&diag::to_json(&front.diagnostics, &front.map));
    } else {
        print_diagnostics(&front.diagnostics, &front.map);
        let count = |severity| {
            front
                .diagnostics
                .iter()
                .filter(|d| d.severity == severity)
                .count()
        };
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        let file = args.source.file.display();
        match (errors, warnings) {
            (0, 0) => say_line!("{file}: accepted"),
            (0, n) => say_line!("{file}: accepted, {}", plural(n, "warning")),
            (n, 0) => say_line!("{file}: refused, {}", plural(n, "error")),
            (n, m) => say_line!(
                "{file}: refused, {}, {}",
                plural(n, "error"),
                plural(m, "warning")
            ),
        }
    }
    Ok(ExitCode::from(u8::from(front.diagnostics.has_errors())))
}

fn plural(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
