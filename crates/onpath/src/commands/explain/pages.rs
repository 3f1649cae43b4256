//! Pages of diagnostics.

use super::{Objects, headed, print_rows};
use diag::columns;
use explain::{Block, Group, Page, Style, blocks, groups};
use serde_json::{Value, json};

/// Prints all codes, by group.
pub(super) fn list(style: Style) {
    for group in groups() {
        print_rows(&heading(group), &rows(group), style);
    }
}

fn heading(group: &Group<'_>) -> String {
    format!("{}: {}", group.name, group.about)
}

/// Returns the codes of a group with their titles.
fn rows(group: &Group<'_>) -> Vec<Vec<String>> {
    let rows = group.pages.iter();
    rows.map(|page| vec![format!("  {}", page.code), page.title.to_string()])
        .collect()
}

/// Returns a group as text.
pub(super) fn group_text(group: &Group<'_>, style: Style) -> String {
    let summary = blocks(group.summary).unwrap_or_default();
    headed(&heading(group), &summary, style) + "\n" + &columns(&rows(group))
}

/// Returns a group as JSON.
pub(super) fn group_described(group: &Group<'_>) -> Value {
    let pages = group.pages.iter().map(|page| brief(group, page));
    json!({
        "group": group.name,
        "about": group.about,
        "text": group.summary,
        "diagnostics": pages.collect::<Objects>(),
    })
}

/// Returns a page as text.
pub(super) fn text(page: &Page<'_>, style: Style) -> String {
    let commands: String = page.commands.iter().map(|c| format!("$ {c}\n")).collect();
    let is_written = |block: &Block<'_>| {
        matches!(
            block,
            Block::Code {
                info: "console",
                ..
            }
        )
    };
    let mut blocks = page.blocks.clone();
    if !page.commands.is_empty() && !blocks.iter().any(is_written) {
        // The page leaves the command out; the terminal shows it.
        let is_file = |block: &Block<'_>| matches!(block, Block::Code { .. });
        let behind = blocks
            .iter()
            .position(is_file)
            .map_or(blocks.len(), |at| at + 1);
        let command = Block::Code {
            info: "console",
            text: &commands,
        };
        blocks.insert(behind, command);
    }
    headed(&format!("{}: {}", page.code, page.title), &blocks, style)
}

/// Returns all pages as JSON, without their texts.
pub(super) fn listed() -> Objects {
    let of_group =
        |group: &'static Group<'static>| group.pages.iter().map(move |page| brief(group, page));
    groups().iter().flat_map(of_group).collect()
}

fn brief(group: &Group<'_>, page: &Page<'_>) -> Value {
    let severity = match page.code.starts_with('W') {
        true => "warning",
        false => "error",
    };
    json!({
        "code": page.code,
        "severity": severity,
        "title": page.title,
        "group": group.name,
        "about": group.about,
    })
}

/// Returns a page as JSON. Its text is Markdown.
pub(super) fn described(group: &Group<'_>, page: &Page<'_>) -> Value {
    let mut object = brief(group, page);
    let files = page.files.iter();
    let files = files.map(|file| json!({ "name": file.name, "text": file.text }));
    object["text"] = json!(page.text);
    object["files"] = files.collect();
    object["commands"] = json!(page.commands);
    object["not_run"] = json!(page.not_run);
    object
}
