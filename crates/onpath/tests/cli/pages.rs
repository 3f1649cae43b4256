//! Tests of the pages of diagnostics: the output of each example has its page's code, and no other.

use crate::session::{Environment, SessionPart, run};
use explain::{File, Page, groups};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Maximum time of an example, in seconds, also on a busy machine.
const LONGEST: u32 = 120;

/// Returns a trial for each page that has an example, and one that shows that wrong examples are found.
pub(crate) fn trials() -> Vec<Trial> {
    let pages = groups().iter().flat_map(|group| &group.pages);
    let with_example = pages.filter(|page| page.not_run.is_none());
    let mut trials: Vec<Trial> = with_example
        .map(|page| Trial::test(format!("explain::{}", page.code), || Ok(check(page)?)))
        .collect();
    let wrong = || wrong_examples_are_found().map_err(Failed::from);
    trials.push(Trial::test("explain::wrong_examples_are_found", wrong));
    trials
}

/// Runs a page's example in a folder, network and BPF file system of its own.
fn check(page: &Page<'_>) -> Result<(), String> {
    if !crate::is_root() {
        return Err("examples may run programs in the kernel, which needs root".into());
    }
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    for file in &page.files {
        write(&folder.path().join(file.name), file.text)
            .map_err(|e| format!("{}: {e}", file.name))?;
    }
    let bin = PathBuf::from(env!("CARGO_BIN_EXE_onpath"));
    let environment = Environment {
        folder: folder.path(),
        bin: bin.parent().ok_or("the binary has no folder")?,
        in_kernel: true,
        // Programs that were compiled before come from the tests' cache. An example of a failure with clang needs a
        // program that no other example has.
        first_try: false,
        longest: LONGEST,
    };
    let commands: Vec<SessionPart> = page.commands.iter().map(|line| command(line)).collect();
    let printed: Vec<String> = run(&commands, &environment)?
        .into_iter()
        .map(|part| match part {
            SessionPart::Command { line, shown, .. } => format!("$ {line}\n{shown}"),
            SessionPart::Prose(text) => text,
        })
        .collect();
    let printed = printed.concat();
    let codes = codes(&printed);
    match codes.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [code] if code == page.code => Ok(()),
        [] => Err(format!(
            "the example of {} gives no code:\n{printed}",
            page.code
        )),
        ref others => Err(format!(
            "the example of {} gives {}:\n{printed}",
            page.code,
            others.join(", ")
        )),
    }
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}

fn command(line: &str) -> SessionPart {
    SessionPart::Command {
        line: line.to_string(),
        shown: String::new(),
        older: Vec::new(),
    }
}

/// Returns the codes of the diagnostics in the output of commands: `error[E0207]`.
fn codes(printed: &str) -> BTreeSet<String> {
    let behind = printed.split('[').skip(1);
    behind
        .filter_map(|text| Some(text.split_once(']')?.0))
        .filter(|code| matches!(code.as_bytes(), [b'E' | b'W', digits @ ..] if digits.len() == 4 && digits.iter().all(u8::is_ascii_digit)))
        .map(String::from)
        .collect()
}

/// Returns a page for `check`.
fn example<'a>(code: &'a str, text: &'a str, command: &str) -> Page<'a> {
    let name = "p.p4";
    Page {
        code,
        title: "",
        text: "",
        blocks: Vec::new(),
        files: vec![File { name, text }],
        commands: vec![command.to_string()],
        not_run: None,
    }
}

/// Checks that wrong examples make the trials fail.
fn wrong_examples_are_found() -> Result<(), String> {
    let check_it = "onpath check p.p4";
    let unknown = "const bit<8> TTL = LIMIT;\n";
    check(&example("E0201", unknown, check_it))?;
    let wrong = [
        (example("E0202", unknown, check_it), "gives E0201"),
        (
            example("E0201", "const bit<8> TTL = 64;\n", "cat p.p4"),
            "gives no code",
        ),
        (
            example(
                "E0201",
                "#warning old\nconst bit<8> TTL = LIMIT;\n",
                check_it,
            ),
            "gives E0201, W0001",
        ),
        (
            example("E0201", unknown, "onpath check missing.p4"),
            "gives E0021",
        ),
        (
            example("E0201", unknown, "exit 3"),
            "the shell ended before",
        ),
    ];
    for (page, why) in wrong {
        match check(&page) {
            Err(fault) if fault.contains(why) => {}
            other => return Err(format!("not `{why}`: {other:?}")),
        }
    }
    Ok(())
}
