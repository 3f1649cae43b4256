//! Checks P4 files and prints what is wrong with them: `check FILE...`.

#[path = "../tests/common/mod.rs"]
mod common;

use diag::Severity;

fn main() {
    for path in std::env::args().skip(1) {
        let (map, module, diagnostics) = common::check(&common::Files::new(), &path);
        for d in diagnostics.iter() {
            let at = map.line_col(d.primary.span);
            let place = at.map_or(String::new(), |(f, lc)| {
                format!("{}:{}:{}", map.file(f).name, lc.line, lc.column)
            });
            let kind = if d.severity == Severity::Error {
                "error"
            } else {
                "warning"
            };
            println!(
                "{place}: {kind}[{}]: {} ({})",
                d.code.0, d.message, d.primary.text
            );
            if let Some(help) = &d.help {
                println!("    help: {help}");
            }
        }
        println!(
            "{path}: {}",
            if module.is_some() {
                "accepted"
            } else {
                "refused"
            }
        );
    }
}
