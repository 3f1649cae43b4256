//! Golden tests of elaboration, by construct. A file in `tests/golden` is P4 text, a line of dashes and the
//! warnings and the IR's text form (or why it is refused). `ONPATH_BLESS=1 cargo test -p elab --test it golden`
//! writes the part after the dashes; read the difference before you commit it.
//!
//! The text is completed to a program for `xdp_model` by the headers below. A parser `p`, a control `c` and a
//! deparser `d` are added unless it has its own. Only items of the text itself are shown.

use crate::support::{Outcome, compile, complete};
use testkit::golden;

/// Returns the items of a program that come from its own text, not from the completion.
fn shown(program: &ir::Program, text: &str) -> String {
    let all = program.to_string();
    let mut kept: Vec<&str> = Vec::new();
    let mut keep = false;
    for line in all.lines() {
        if !line.starts_with([' ', '}']) {
            let word = line.split(' ').next().unwrap_or("");
            keep = match word {
                "action" | "table" | "extern" | "value_set" => true,
                "routine" => {
                    let own = |name: &str| {
                        text.contains(&format!("control {name}("))
                            || !line.starts_with(&format!("routine {name} block"))
                    };
                    own("c") && own("d")
                }
                "parser" => text.contains("parser p("),
                _ => false,
            };
        }
        if keep {
            kept.push(line);
        }
    }
    kept.join("\n")
}

#[test]
fn constructs_become_the_ir_beside_them() {
    golden::check("crates/elab/tests/golden", |text| {
        match compile("test.p4", &complete(text)) {
            Outcome::Program(program, warnings) => {
                let warnings = warnings
                    .iter()
                    .map(|w| format!("{} {}\n", w.code.0, w.message));
                Ok(warnings.collect::<String>() + &shown(&program, text))
            }
            Outcome::Refused(_, why) => Ok(why),
            Outcome::Unchecked(why) | Outcome::Broken(why) => Err(why),
        }
    });
}
