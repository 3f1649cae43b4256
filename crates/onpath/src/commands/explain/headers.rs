//! Interface headers as documentation.

use super::{Objects, headed, print_rows};
use crate::explained::{headers, stem};
use explain::{Doc, ExecutionTarget, Header, Item, Style, about_item, blocks};
use serde_json::{Value, json};

/// Returns the first sentence of a text.
fn first_sentence(text: &str) -> String {
    let text = text
        .split("\n\n")
        .next()
        .unwrap_or_default()
        .replace('\n', " ");
    match text.find(". ") {
        Some(end) => text[..end].to_string(),
        None => text.trim_end_matches(['.', ':']).to_string(),
    }
}

/// Prints all headers.
pub(super) fn list(style: Style) {
    let rows =
        headers().map(|header| vec![format!("  {}", header.name), first_sentence(&header.text)]);
    print_rows("Interface headers", &rows.collect::<Vec<_>>(), style);
}

/// Returns all headers as JSON, each with the names that it declares.
pub(super) fn listed() -> Objects {
    let names = |header: &Header<'_>| -> Vec<String> {
        header.items.iter().map(|item| item.name.clone()).collect()
    };
    headers()
        .map(|header| json!({ "name": header.name, "text": header.text, "declares": names(&header) }))
        .collect()
}

/// Finds a header, or the declarations of a name in all headers. Returns it as text and as JSON. A method is shown
/// with its extern.
pub(super) fn find(word: &str, style: Style) -> Option<(String, Value)> {
    let bare = word.trim_matches(['<', '>', '"']);
    if let Some(header) = headers().find(|header| header.name == bare) {
        return Some((overview(&header, style), describe(&header)));
    }
    declarations(bare, style).or_else(|| {
        let header = headers().find(|header| stem(header.name) == bare)?;
        Some((overview(&header, style), describe(&header)))
    })
}

fn declarations(word: &str, style: Style) -> Option<(String, Value)> {
    let name = word.trim_end_matches("()");
    let name = name.split('.').next().unwrap_or(name);
    let all: Vec<Header<'_>> = headers().collect();
    let items = || {
        all.iter()
            .flat_map(|header| header.items.iter().map(move |item| (header, item)))
    };
    let of_name: Vec<_> = items().filter(|(_, item)| item.name == name).collect();
    let has = |item: &Item| item.members.iter().any(|member| member.name == name);
    let found = match of_name.is_empty() {
        true => items().filter(|(_, item)| has(item)).collect(),
        false => of_name,
    };
    if found.is_empty() {
        return None;
    }
    let texts: Vec<String> = found
        .iter()
        .map(|(header, item)| show(header, item, style))
        .collect();
    let objects = found.iter().map(|(header, item)| described(header, item));
    Some((
        texts.join("\n"),
        json!({ "declarations": objects.collect::<Objects>() }),
    ))
}

/// Returns the text of a header, with a line for each declaration.
fn overview(header: &Header<'_>, style: Style) -> String {
    let about = blocks(&header.text).unwrap_or_default();
    let mut text = headed(header.name, &about, style);
    let rows = header
        .items
        .iter()
        .map(|item| vec![format!("  {}", item.name), first_sentence(&item.doc.text)]);
    text += "\n";
    text += &diag::columns(&rows.collect::<Vec<_>>());
    text + "\n`onpath explain NAME` shows one of them.\n"
}

fn show(header: &Header<'_>, item: &Item, style: Style) -> String {
    let text = about_item(item, &str::to_string);
    let heading = format!("{}: {} of {}", item.name, item.kind.name(), header.name);
    let blocks = blocks(&text).unwrap_or_default();
    headed(&heading, &blocks, style)
}

/// Returns a header as JSON.
fn describe(header: &Header<'_>) -> Value {
    let items = header.items.iter().map(|item| described(header, item));
    json!({ "name": header.name, "text": header.text, "declarations": items.collect::<Objects>() })
}

fn described(header: &Header<'_>, item: &Item) -> Value {
    let members = item.members.iter().map(|member| {
        let mut object = documented(&member.doc);
        object["name"] = json!(member.name);
        object["declaration"] = json!(member.declaration);
        object
    });
    let mut object = documented(&item.doc);
    object["name"] = json!(item.name);
    object["kind"] = json!(item.kind.name());
    object["header"] = json!(header.name);
    object["declaration"] = json!(item.declaration);
    object["members"] = members.collect();
    object
}

/// Returns documentation as JSON. The texts are Markdown.
fn documented(doc: &Doc) -> Value {
    let on = |target: ExecutionTarget| {
        let mut notes = doc.targets.iter().filter(|(on, _)| on.contains(&target));
        notes.next().map(|(_, note)| note)
    };
    json!({
        "text": doc.text,
        "targets": {
            "interpreter": on(ExecutionTarget::Interpreter),
            "xdp": on(ExecutionTarget::Xdp),
            "tc": on(ExecutionTarget::Tc),
        },
        "errors": doc.errors,
    })
}
