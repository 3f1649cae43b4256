//! Documents in Markdown that are generated from pages and headers.

use crate::header::{Doc, ExecutionTarget, Header, Item};
use crate::pages::{groups, page};
use std::fmt::Write;

/// Returns the documentation of a declaration, without a heading. `code` formats the code of an error.
pub fn about_item(item: &Item, code: &dyn Fn(&str) -> String) -> String {
    let mut text = declared(&item.declaration, &item.doc);
    for (targets, note) in &item.doc.targets {
        let _ = write!(text, "\n**{}.** {note}\n", on(targets));
    }
    for member in &item.members {
        text += "\n";
        text += &declared(&member.declaration, &member.doc);
        for (targets, note) in &member.doc.targets {
            let _ = write!(text, "\n**{}.** {note}\n", on(targets));
        }
    }
    let members = item.members.iter().map(|member| &member.doc);
    let docs = std::iter::once(&item.doc).chain(members);
    let mut errors: Vec<&String> = docs.flat_map(|doc| &doc.errors).collect();
    errors.sort();
    errors.dedup();
    if !errors.is_empty() {
        text += "\n**Errors.**\n\n";
    }
    for error in errors {
        let title = page(error).map_or("", |(_, page)| page.title);
        let _ = writeln!(text, "- {}: {title}", code(error));
    }
    text
}

/// Returns a declaration with its description.
fn declared(declaration: &str, doc: &Doc) -> String {
    format!("```p4\n{declaration}\n```\n\n{}\n", doc.text)
}

/// Returns the names of targets, as the label of a paragraph.
fn on(targets: &[ExecutionTarget]) -> String {
    let names: Vec<&str> = targets.iter().map(|target| target.name()).collect();
    let names = names.join(", ");
    match names.strip_prefix("interpreter") {
        Some(rest) => format!("Interpreter{rest}"),
        None => names,
    }
}

/// Comment that marks a generated document.
const MADE: &str =
    "<!-- Made by a test, which also writes it: see CONTRIBUTING.md on ONPATH_BLESS. -->\n";

/// Returns the document on all headers.
pub fn reference(headers: &[Header<'_>]) -> String {
    let mut text = format!(
        "# The interface headers\n\n{MADE}\nWhat a program may include, declaration by declaration: it is made of the comments in the headers. `onpath explain v1model` and \
         `onpath explain register` print parts of it. What is said of XDP and tc is about the kernel's hooks; the interpreter is what `onpath test` runs by default.\n\n"
    );
    for header in headers {
        let _ = writeln!(text, "- [{0}](#{1})", header.name, anchor(header.name));
    }
    let link = |code: &str| match page(code) {
        Ok((group, page)) => format!(
            "[{code}](../crates/explain/pages/{})",
            place(group.name, page.code, page.title)
        ),
        Err(_) => code.to_string(),
    };
    for header in headers {
        let _ = write!(text, "\n## {}\n\n{}\n", header.name, header.text);
        for item in &header.items {
            let (name, kind) = (&item.name, item.kind.name());
            let heading = match name == kind {
                true => format!("`{name}`"),
                false => format!("`{name}`: {kind}"),
            };
            let _ = write!(text, "\n### {heading}\n\n{}", about_item(item, &link));
        }
    }
    text
}

/// Returns the document that lists all pages.
pub fn index() -> String {
    let mut text = format!(
        "# Diagnostics\n\n{MADE}\nA page for each code: what it means, an example that gives it, and what to do about it. `onpath explain E0207` prints one, `onpath explain` this list.\n"
    );
    for group in groups() {
        let _ = write!(text, "\n## [{0}]({0}.md): {1}\n\n", group.name, group.about);
        for page in &group.pages {
            let at = place(group.name, page.code, page.title);
            let _ = writeln!(text, "- [{}]({at}): {}", page.code, page.title);
        }
    }
    text
}

/// Returns the link target of a page, relative to the folder of pages.
fn place(group: &str, code: &str, title: &str) -> String {
    format!("{group}.md#{}", anchor(&format!("{code}: {title}")))
}

/// Returns the anchor of a heading, as web views of Markdown make it.
fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase)
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_has_the_name_that_it_has_on_the_web() {
        assert_eq!(
            anchor("W0006: Unknown directive"),
            "w0006-unknown-directive"
        );
        assert_eq!(
            anchor("E0017: Misplaced `#` or `##` in a macro"),
            "e0017-misplaced--or--in-a-macro"
        );
        assert_eq!(anchor("v1model.p4"), "v1modelp4");
    }

    #[test]
    fn a_declaration_is_shown_with_its_notes_on_targets() {
        let source = "//! A.\n/// Cells.\n/// @on interpreter: One.\n/// @on xdp, tc: Two.\n/// @errors E0001\nextern cells {\n    /// So many.\n    /// @errors E0002\n    cells(bit<32> size);\n}\n";
        let header = Header::read("a.p4", source).unwrap();
        let text = about_item(&header.items[0], &|code| format!("<{code}>"));
        assert_eq!(
            text,
            "```p4\nextern cells\n```\n\nCells.\n\n**Interpreter.** One.\n\n**XDP, tc.** Two.\n\n\
             ```p4\ncells(bit<32> size);\n```\n\nSo many.\n\n**Errors.**\n\n\
             - <E0001>: No such include file\n- <E0002>: Include file cannot be read\n"
        );
        let all = reference(&[header]);
        assert!(all.contains("### `cells`: extern\n\n```p4\n"), "{all}");
        assert!(
            all.contains("[E0001](../crates/explain/pages/E00.md#e0001-no-such-include-file)"),
            "{all}"
        );
        assert!(
            index()
                .contains("- [E0001](E00.md#e0001-no-such-include-file): No such include file\n")
        );
    }
}
