//! STF tests on the interpreter, on IR as elaboration makes it.

use crate::support::{Outcome, compile, programs, root};
use control::{Store, stf};
use diag::SourceMap;
use std::sync::Arc;

fn run(folder: &str) {
    let mut wrong = Vec::new();
    let (mut ok, mut count) = (0, 0);
    for path in programs(&root().join(folder)) {
        let name = path
            .strip_prefix(root())
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let program = match compile(&name, &text) {
            Outcome::Program(program, _) => Arc::new(*program),
            Outcome::Unchecked(why) | Outcome::Broken(why) | Outcome::Refused(_, why) => {
                wrong.push(format!("{name}:\n{why}"));
                continue;
            }
        };
        let stem = path.with_extension("");
        let alone = programs(path.parent().unwrap()).len() == 1;
        let mut scripts: Vec<_> = std::fs::read_dir(path.parent().unwrap())
            .unwrap()
            .map(|e| e.unwrap().path())
            .filter(|p| p.extension().is_some_and(|e| e == "stf"))
            .filter(|p| {
                alone
                    || p.to_string_lossy()
                        .strip_prefix(&*stem.to_string_lossy())
                        .is_some_and(|rest| rest.starts_with('.'))
            })
            .collect();
        scripts.sort();
        if scripts.is_empty() {
            wrong.push(format!("{name}: no scripts"));
        }
        for script in scripts {
            count += 1;
            let mut map = SourceMap::new();
            let label = script
                .strip_prefix(root())
                .unwrap()
                .to_string_lossy()
                .into_owned();
            let text = std::fs::read_to_string(&script).unwrap();
            let options = interp::Options {
                direction: match text.lines().next() {
                    Some("# direction: egress") => arch::tc::Direction::Egress,
                    _ => arch::tc::Direction::Ingress,
                },
                ..Default::default()
            };
            let file = map.add(label.clone(), text).unwrap();
            let (parsed, diagnostics) = stf::parse(&map, file);
            if diagnostics.has_errors() {
                wrong.push(crate::support::show(&diagnostics, &map));
                continue;
            }
            let mut device = match interp::Interpreter::new(program.clone(), options) {
                Ok(d) => d,
                Err(d) => {
                    wrong.push(format!("{label}: {}", crate::support::show(&d, &map)));
                    continue;
                }
            };
            let bound = match stf::bind(&parsed, device.schema()) {
                Ok(bound) => bound,
                Err(d) => {
                    wrong.push(format!("{label}: {}", crate::support::show(&d, &map)));
                    continue;
                }
            };
            match stf::run(&bound, &mut device, &|_| Vec::new()) {
                Ok(outcome) if outcome.failures.is_empty() => ok += 1,
                Ok(outcome) => {
                    for f in outcome.failures {
                        let at = map.line_col(f.span).map_or(0, |(_, a)| a.line);
                        wrong.push(format!("{label}:{at}: {}", f.text));
                    }
                }
                Err(d) => {
                    let at = map.line_col(d.primary.span).map_or(0, |(_, a)| a.line);
                    wrong.push(format!("{label}:{at}: {} {}", d.code.0, d.message));
                }
            }
        }
    }
    println!("{ok} of {count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn examples() {
    run("programs");
}

#[test]
fn suite() {
    run("tests/stf");
}

#[test]
fn realistic_programs() {
    run("tests/scale");
}
