//! Attributes of queries.

use super::{Objects, headed};
use crate::commands::query::list::{object, type_name};
use crate::explained::{attributes as all, group};
use diag::columns;
use explain::{Style, blocks, kinds};
use serde_json::{Value, json};
use telemetry::{Catalogue, Described, OnPath, Schemas};

/// Returns the attributes that a word may stand for, if they are few.
pub(super) fn meant(word: &str) -> Vec<String> {
    telemetry::meant(&Catalogue::new(&Schemas::builtin()), word)
}

/// Finds an attribute, or all attributes of a header or message. Returns them as text and as JSON.
pub(super) fn find(word: &str, style: Style) -> Option<(String, Value)> {
    let all = all();
    let word = word.to_ascii_lowercase();
    if let Some(one) = all.iter().find(|a| is_named(a, &word)) {
        return Some((show(one, style), object(one)));
    }
    let of: Vec<&Described> = all.iter().filter(|a| group(a) == word).collect();
    let first = of.first()?;
    let objects: Objects = of.iter().map(|a| object(a)).collect();
    let rows = of
        .iter()
        .map(|a| vec![format!("  {}", a.name), type_name(a), a.text.to_owned()]);
    let rows = columns(&rows.collect::<Vec<_>>());
    let kind = first.kind.as_deref();
    let about = kinds().iter().find(|known| Some(known.name) == kind);
    let about = about.map_or("", |about| about.text);
    let heading = match kind {
        Some(kind) => format!("{kind}: a kind of message"),
        None => format!("{word}: fields of headers"),
    };
    let text = match about {
        "" => format!("{}\n\n", style.strong(&heading)),
        about => headed(&heading, &blocks(about).unwrap_or_default(), style) + "\n",
    };
    let text = text + &rows + "\n`onpath explain NAME` explains one of them.\n";
    Some((
        text,
        json!({ "name": word, "text": about, "attributes": objects }),
    ))
}

/// Returns true if a name is that of an attribute, or fits one with a free name: `http.header.accept`.
fn is_named(attribute: &Described, name: &str) -> bool {
    let known = attribute.name.to_ascii_lowercase();
    let free = attribute.name.strip_suffix("NAME");
    let is_free = |before: &str| name.len() > before.len() && name.starts_with(before);
    known == *name || free.is_some_and(is_free)
}

fn show(attribute: &Described, style: Style) -> String {
    let (name, instance) = (&attribute.name, &attribute.instance);
    let of = match &attribute.kind {
        Some(kind) => format!("an attribute of messages of `{kind}`"),
        None => "a field of a header".to_owned(),
    };
    let several = match attribute.several {
        true => format!(
            " A message may have several values: a comparison holds if it holds for one of them, and `first({instance})` is the first."
        ),
        false => String::new(),
    };
    let on_path = match attribute.on_path {
        OnPath::Yes => "A query on the path of packets can read it, as can one off the path or of a file.".into(),
        OnPath::First => format!(
            "A query on the path of packets can read the first value of each message, `first({instance})`; off the path and of a file it can read all."
        ),
        OnPath::No => "A query can read it off the path (`--off-path`) and of a file (`--read`), but not on the path.".to_owned(),
    };
    let mut text = format!("{}.\n\n", capital(attribute.text));
    text += &format!(
        "It is {of}: {}.{several}\n\n{on_path}\n\n",
        type_name(attribute)
    );
    if !attribute.also.is_empty() {
        text += &format!("**Also.** {}\n\n", attribute.also.join(", "));
    }
    text += &format!("```console\n$ {}\n```\n", command(attribute));
    let heading = format!("{name}: {of}").replace('`', "");
    headed(&heading, &blocks(&text).unwrap_or_default(), style)
}

/// Returns a command that queries the attribute at an interface.
fn command(attribute: &Described) -> String {
    let off_path = match attribute.on_path {
        OnPath::Yes | OnPath::First => "",
        OnPath::No => " --off-path",
    };
    format!(
        "onpath query '{}' --dev eth0{off_path}",
        attribute.example()
    )
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use diag::SourceMap;

    /// Unless the command has `--off-path`, the query must also compile for the path.
    #[test]
    fn the_query_of_every_example_is_taken() {
        let schemas = Schemas::builtin();
        let catalogue = Catalogue::new(&schemas);
        for attribute in all() {
            let command = command(&attribute);
            let style = Style {
                width: 80,
                bold: false,
            };
            assert!(show(&attribute, style).contains(&command));
            let query = command.split('\'').nth(1).expect("in quotation marks");
            let compiled = telemetry::compile(query, &catalogue, &mut SourceMap::new());
            let Ok(compiled) = compiled else {
                panic!("{command}");
            };
            let made = telemetry::program(&compiled, query, catalogue.messages(), 1);
            assert_eq!(made.is_ok(), !command.contains("--off-path"), "{command}");
        }
    }
}
