//! The table as Markdown.

use super::constructs;
use super::data::{Chapter, Construct};
use super::limits::{self, Where};
use bpf::abi::Hook;

/// Returns the table as a Markdown document.
pub(crate) fn of(chapters: &[Chapter]) -> String {
    let all: Vec<&Construct> = constructs(chapters).collect();
    let count = |is: &dyn Fn(&&&Construct) -> bool| all.iter().filter(|c| is(c)).count();
    let sections: usize = chapters.iter().map(|chapter| chapter.sections.len()).sum();
    let mut text = format!(
        "# The language, construct by construct\n\n\
         The constructs of P4-16, version 1.2.5, by chapter and section of its specification, each with the tests that show \
         it. [language.toml](language.toml) lists them; `cargo test -p driver --test it language` checks that every test has what \
         its construct is about, and makes this page (`ONPATH_BLESS=1`).\n\n\
         - **Checked**: programs that the checker takes, with exactly the warnings that they name.\n\
         - **Run**: programs that packets run through, on the interpreter and in the kernel, at every hook that has their architecture.\n\
         - **Not supported**: the code with which the construct, or the part of it that the linked program shows, is refused. \
         What is refused everywhere has no meaning on the interpreter either, some of it because the specification says so; otherwise \
         the hooks are named that refuse it, which may be all that there are.\n\n\
         Of {} constructs in {sections} sections, {} are run, {} more are checked, and {} are refused; of {} others some hook, or every one, refuses a part.\n",
        all.len(),
        count(&|c| !c.runs.is_empty()),
        count(&|c| c.runs.is_empty() && c.is_shown()),
        count(&|c| !c.is_shown()),
        count(&|c| !c.limits.is_empty() && c.is_shown()),
    );
    for chapter in chapters {
        text += &format!(
            "\n## {}\n\n| section | construct | since | checked | run | not supported |\n|---|---|---|---|---|---|\n",
            chapter.title
        );
        for section in &chapter.sections {
            let mut title = section.title.as_str();
            for construct in &section.constructs {
                text += &row(title, construct);
                // Once a section.
                title = "";
            }
        }
    }
    text
}

fn row(section: &str, construct: &Construct) -> String {
    let accepted = construct.accepted.iter();
    let checked = accepted.map(|name| format!("[{name}](language/accept/{name}.p4)"));
    let run = construct.runs.iter().map(|path| {
        let name = path.strip_prefix("stf/").unwrap_or(path);
        format!("[{name}]({path}.p4)")
    });
    let refused = construct.refused.iter();
    let refused = refused.map(|(code, name)| {
        let path = format!("language/refuse/{name}.p4");
        refusal(code, &path, &Where::Everywhere)
    });
    let limits = construct.limits.iter().flat_map(|name| {
        let path = format!("language/limits/{name}.p4");
        let codes = limits::of(name).unwrap_or_else(|why| panic!("{why}"));
        let refusals = codes
            .iter()
            .map(|(code, place)| refusal(code, &path, place));
        refusals.collect::<Vec<_>>()
    });
    format!(
        "| {section} | {} | {} | {} | {} | {} |\n",
        // A bar ends a cell, in code too.
        construct.what.replace('|', "\\|"),
        if construct.is_shown() {
            construct.since.to_string()
        } else {
            String::new()
        },
        list(checked),
        list(run),
        list(refused.chain(limits)),
    )
}

fn refusal(code: &str, path: &str, place: &Where) -> String {
    let place = match place {
        Where::Everywhere => "everywhere".to_owned(),
        Where::Hooks(hooks) if hooks.len() == Hook::ALL.len() => "every hook".to_owned(),
        Where::Hooks(hooks) => hooks.join(" and "),
    };
    format!("[{code}]({path}) {place}")
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}
