//! Checks that every program of the repository with a `main` becomes valid IR.

use crate::support::{Outcome, compile, programs, root};

fn all_become_ir(folder: &str) {
    let mut wrong = Vec::new();
    let found = programs(&root().join(folder));
    assert!(!found.is_empty(), "no programs in {folder}");
    for path in found {
        let name = path
            .strip_prefix(root())
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        match compile(&name, &text) {
            Outcome::Program(program, _) => {
                let text = program.to_string();
                match ir::text::parse(&text) {
                    Ok(again) if again.to_string() == text => {}
                    Ok(_) => wrong.push(format!("{name}: the text form doesn't round-trip")),
                    Err(error) => wrong.push(format!("{name}: {error}")),
                }
            }
            Outcome::Unchecked(why) | Outcome::Broken(why) | Outcome::Refused(_, why) => {
                wrong.push(format!("{name}:\n{why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn the_example_programs_become_ir() {
    all_become_ir("programs");
}

#[test]
fn the_programs_with_stf_tests_become_ir() {
    all_become_ir("tests/stf");
}
