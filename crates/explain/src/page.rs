//! Pages of diagnostics, read strictly: a page must have all its parts.

use crate::blocks::{Block, blocks};

/// Pages of a group of a hundred codes, or of all warnings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group<'a> {
    /// Prefix of its codes: `E02`, or `W` for all warnings.
    pub name: &'a str,
    /// Subject of the group, as a heading.
    pub about: &'a str,
    /// Subject of the group, as one or more sentences.
    pub summary: &'a str,
    /// The pages, in the order of their codes.
    pub pages: Vec<Page<'a>>,
}

/// Page that explains a diagnostic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page<'a> {
    /// The code, such as `E0207`.
    pub code: &'a str,
    /// Name of the fault, in a few words.
    pub title: &'a str,
    /// The whole page as Markdown, without its heading.
    pub text: &'a str,
    /// The page as blocks of Markdown.
    pub blocks: Vec<Block<'a>>,
    /// The files of its example.
    pub files: Vec<File<'a>>,
    /// Shell commands that give the diagnostic, run in the folder with these files. Empty if the example cannot be run.
    pub commands: Vec<String>,
    /// Reason why the example cannot be run everywhere.
    pub not_run: Option<&'a str>,
}

/// File of an example.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct File<'a> {
    /// Its name in the example's folder.
    pub name: &'a str,
    /// Contents of the file.
    pub text: &'a str,
}

/// Labels that a paragraph may begin with.
const LABELS: [&str; 4] = ["Remedy", "Not run", "Specification", "See"];

/// Reads a file of pages. Faults are reported with the page that has them.
pub(crate) fn read(text: &str) -> Result<Group<'_>, Vec<String>> {
    let (head, pages) = text.split_once("\n## ").unwrap_or((text, ""));
    let heading = head.strip_prefix("# ").and_then(|head| {
        let (heading, summary) = head.split_once('\n')?;
        let (name, about) = heading.split_once(": ")?;
        Some((name, about, summary.trim()))
    });
    let Some((name, about, summary)) = heading else {
        return Err(vec!["it must begin with `# E02: Subject`".to_string()]);
    };
    let mut wrong = Vec::new();
    if summary.is_empty() {
        wrong.push(format!("{name}: no sentence that says what it is about"));
    }
    let mut read = Vec::new();
    for page in pages.split("\n## ").filter(|page| !page.is_empty()) {
        match one(page) {
            Ok(page) => read.push(page),
            Err(faults) => wrong.extend(faults),
        }
    }
    for page in &read {
        if !page.code.starts_with(name) {
            wrong.push(format!("{}: not a code of {name}", page.code));
        }
    }
    for pair in read.windows(2) {
        if pair[0].code >= pair[1].code {
            wrong.push(format!("{}: not in order", pair[1].code));
        }
    }
    match wrong.is_empty() {
        true => Ok(Group {
            name,
            about,
            summary,
            pages: read,
        }),
        false => Err(wrong),
    }
}

/// Returns true if this is a code: a letter and four digits.
pub(crate) fn is_code(text: &str) -> bool {
    let digits = text.strip_prefix(['E', 'W']);
    digits.is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Reads a page. The text begins after the `## ` of its heading.
fn one(page: &str) -> Result<Page<'_>, Vec<String>> {
    let (heading, text) = page.split_once('\n').unwrap_or((page, ""));
    let (code, title) = heading.split_once(": ").unwrap_or((heading, ""));
    if !is_code(code) {
        return Err(vec![format!(
            "`## {heading}` must be a code and a title, as `## E0207: No such member`"
        )]);
    }
    let reported = |fault: String| format!("{code}: {fault}");
    let blocks = blocks(text).map_err(|fault| vec![reported(fault)])?;
    let mut wrong = Vec::new();
    if title.is_empty() || title.ends_with('.') {
        wrong.push("a title without a full stop is needed".to_string());
    }
    wrong.extend(misplaced(&blocks));
    let not_run = labelled(&blocks, "Not run");
    let (files, commands) = match example(&blocks, not_run.is_some()) {
        Ok(example) => example,
        Err(fault) => {
            wrong.push(fault);
            Default::default()
        }
    };
    if !wrong.is_empty() {
        return Err(wrong.into_iter().map(reported).collect());
    }
    Ok(Page {
        code,
        title,
        text: text.trim_matches('\n'),
        blocks,
        files,
        commands,
        not_run,
    })
}

/// Returns the label of a paragraph that has one: `**Remedy.** ...`.
fn label(paragraph: &str) -> Option<&str> {
    Some(paragraph.strip_prefix("**")?.split_once(".**")?.0)
}

/// Returns the text of the paragraph with this label.
fn labelled<'a>(blocks: &[Block<'a>], wanted: &str) -> Option<&'a str> {
    blocks.iter().find_map(|block| match block {
        Block::Paragraph(text) if label(text) == Some(wanted) => {
            Some(text.split_once(".**")?.1.trim_start())
        }
        _ => None,
    })
}

/// Reports the parts that a page lacks, has twice or should not have.
fn misplaced(blocks: &[Block<'_>]) -> Vec<String> {
    let mut wrong = Vec::new();
    if !matches!(blocks.first(), Some(Block::Paragraph(text)) if label(text).is_none()) {
        wrong.push("it must begin with what it means".to_string());
    }
    let labels: Vec<&str> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::Paragraph(text) => label(text),
            Block::Code { .. } => None,
        })
        .collect();
    for known in LABELS {
        if labels.iter().filter(|label| **label == known).count() > 1 {
            wrong.push(format!("more than one `**{known}.**`"));
        }
    }
    if labels.iter().any(|label| !LABELS.contains(label)) {
        let known = LABELS.map(|label| format!("`**{label}.**`")).join(", ");
        wrong.push(format!("the parts that have a name are {known}"));
    }
    if labelled(blocks, "Remedy").is_none_or(str::is_empty) {
        wrong.push("no remedy".to_string());
    }
    wrong
}

/// Files and commands of an example.
type Example<'a> = (Vec<File<'a>>, Vec<String>);

fn example<'a>(blocks: &[Block<'a>], not_run: bool) -> Result<Example<'a>, String> {
    let mut files: Vec<File<'a>> = Vec::new();
    let mut commands = Vec::new();
    for block in blocks {
        let Block::Code { info, text } = *block else {
            continue;
        };
        if info == "console" {
            for line in text.lines() {
                let command = line.strip_prefix("$ ");
                let command = command.ok_or_else(|| format!("`{line}` is no command, `$ ...`"))?;
                commands.push(command.to_string());
            }
        } else if let Some((_, name)) = info.split_once(' ') {
            let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
            if !name.chars().all(plain) || name.starts_with('/') || name.contains("..") {
                return Err(format!("`{name}` is no name of a file in a folder"));
            }
            if files.iter().any(|file| file.name == name) {
                return Err(format!("two files `{name}`"));
            }
            files.push(File { name, text });
        }
    }
    match (&files[..], commands.is_empty(), not_run) {
        (_, false, true) => Err("commands, and a reason why they are not run".to_string()),
        (_, true, true) | (_, false, false) => Ok((files, commands)),
        (&[file], true, false) => Ok((files, vec![format!("onpath check {}", file.name)])),
        (_, true, false) => Err("no example that can be run".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &str = "# E02: Names\n\nWhat names stand for.\n\n## E0201: Twice\n\nA name\nis declared twice.\n\n\
        ```p4 wrong.p4\nint a;\n```\n\n**Remedy.** Rename one.\n\n**Specification.** P4-16, \"Name visibility\".\n";

    #[test]
    fn a_page_has_its_parts() {
        let group = read(RIGHT).unwrap();
        assert_eq!((group.name, group.about), ("E02", "Names"));
        assert_eq!(group.summary, "What names stand for.");
        let page = &group.pages[0];
        assert_eq!((page.code, page.title), ("E0201", "Twice"));
        let file = File {
            name: "wrong.p4",
            text: "int a;\n",
        };
        assert_eq!(page.files, [file]);
        assert_eq!(page.commands, ["onpath check wrong.p4"]);
        assert_eq!(page.not_run, None);
        assert!(page.text.starts_with("A name\n"));
        assert!(page.text.ends_with("visibility\"."));
    }

    #[test]
    fn an_example_may_have_commands_instead_or_a_reason_to_have_none() {
        let code = "```p4 wrong.p4\nint a;\n```";
        let shell = "```console\n$ ip link add a type dummy\n$ onpath run none.o --dev a\n```";
        let run = RIGHT.replace(code, shell);
        let group = read(&run).unwrap();
        assert_eq!(group.pages[0].files, []);
        assert_eq!(
            group.pages[0].commands,
            ["ip link add a type dummy", "onpath run none.o --dev a"]
        );
        let not = RIGHT.replace(code, "**Not run.** It takes\na card.");
        let group = read(&not).unwrap();
        assert_eq!(group.pages[0].not_run, Some("It takes\na card."));
        assert!(group.pages[0].commands.is_empty());
    }

    /// Returns the errors for the page above with one of its parts replaced.
    fn fault(part: &str, instead: &str) -> String {
        assert!(RIGHT.contains(part), "{part}");
        read(&RIGHT.replace(part, instead)).unwrap_err().join("; ")
    }

    #[test]
    fn what_lacks_a_part_is_refused() {
        assert_eq!(fault("**Remedy.** Rename one.\n", ""), "E0201: no remedy");
        assert_eq!(fault(" Rename one.", ""), "E0201: no remedy");
        let code = "```p4 wrong.p4\nint a;\n```\n";
        assert_eq!(fault(code, ""), "E0201: no example that can be run");
        assert_eq!(
            fault("p4 wrong.p4", "p4"),
            "E0201: no example that can be run"
        );
        assert_eq!(
            fault("A name\nis declared twice.\n\n", ""),
            "E0201: it must begin with what it means"
        );
        let title = "E0201: a title without a full stop is needed";
        assert_eq!(fault("Twice", "Twice."), title);
        assert_eq!(fault(": Twice", ""), title);
    }

    #[test]
    fn what_has_something_else_is_refused() {
        assert_eq!(fault("E0201", "E0301"), "E0301: not a code of E02");
        assert!(fault("E0201", "E201").contains("must be a code"));
        assert!(fault("# E02: Names", "# Names").contains("must begin with"));
        assert!(fault("What names stand for.", "").contains("no sentence"));
        assert!(fault("Specification", "Standard").contains("the parts that have a name"));
        assert!(fault("**Specification.**", "**Remedy.**").contains("more than one"));
        assert!(fault("wrong.p4\n", "../wrong.p4\n").contains("no name of a file"));
        assert!(fault("int a;\n```", "int a;").contains("no end of the code"));
        let twice = "```p4 wrong.p4\n```\n\n```p4 wrong.p4";
        assert!(fault("```p4 wrong.p4", twice).contains("two files"));
        let shell = "```console\nonpath check wrong.p4\n```\n\n**Remedy.**";
        assert!(fault("**Remedy.**", shell).contains("is no command"));
        let both = "```console\n$ onpath ls\n```\n\n**Not run.** No.\n\n**Remedy.**";
        assert!(fault("**Remedy.**", both).contains("why they are not run"));
        let page = RIGHT.split_once("\n## ").unwrap().1;
        let twice = format!("{RIGHT}\n## {page}");
        assert_eq!(read(&twice).unwrap_err(), ["E0201: not in order"]);
    }
}
