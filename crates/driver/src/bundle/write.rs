//! Writes the text of a bundle's file.

use super::{Bundle, BundledProgram, Entries, PortSpec, SharedBy};
use control::Replica;
use control::name_set::NamedRules;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::path::Path;

/// Pairs of a TOML table, in order.
type Pairs<K, V> = Vec<(K, V)>;

fn table<K: Serialize, V: Serialize, S: Serializer>(
    pairs: &[(K, V)],
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

#[derive(Serialize)]
struct File<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    program: Vec<Program<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "table")]
    share: Pairs<&'a str, Vec<String>>,
}

#[derive(Serialize)]
struct Program<'a> {
    name: &'a str,
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dev: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "table")]
    ports: Pairs<String, &'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "table")]
    reach: Pairs<String, &'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "table")]
    groups: Pairs<String, Vec<GroupCopy>>,
}

/// A copy of a multicast group: its port, with a replication id or without.
#[derive(Serialize)]
#[serde(untagged)]
enum GroupCopy {
    Port(u32),
    WithId(String),
}

impl GroupCopy {
    fn of(replica: &Replica) -> GroupCopy {
        match replica.rid {
            0 => GroupCopy::Port(replica.port),
            _ => GroupCopy::WithId(replica.to_string()),
        }
    }
}

/// Entries in a bundle: the name of their file, or their lines.
#[derive(Serialize)]
#[serde(untagged)]
enum Text<'a> {
    File(String),
    Lines(Vec<Cow<'a, str>>),
}

/// Returns the text of a file that reads as this bundle. The programs are objects, so include folders, macros and C
/// files are left out.
pub fn write(bundle: &Bundle) -> String {
    let file = File {
        name: bundle.name.as_ref().map(|name| name.value.as_str()),
        program: bundle.programs.iter().map(program).collect(),
        share: bundle
            .shares
            .iter()
            .map(|share| {
                let part = |part: &SharedBy| {
                    format!(
                        "{}.{}",
                        bundle.programs[part.program].name.value, part.state
                    )
                };
                (
                    share.name.value.as_str(),
                    share.of.iter().map(part).collect(),
                )
            })
            .collect(),
    };
    toml::to_string(&file).unwrap_or_default()
}

fn program(member: &BundledProgram) -> Program<'_> {
    let text = |path: &Path| path.display().to_string();
    let ports = &member.ports;
    Program {
        name: &member.name.value,
        source: text(&member.source.value),
        target: member.hook.as_ref().map(|hook| hook.value.name()),
        dev: ports.dev.iter().map(String::as_str).collect(),
        entries: member.entries.as_ref().map(|entries| match entries {
            Entries::File(file) => Text::File(text(&file.value)),
            Entries::Lines(lines) => {
                Text::Lines(lines.iter().map(|l| l.value.as_str().into()).collect())
            }
            Entries::Made(made) => {
                let rules = made.rules.iter().flat_map(NamedRules::lines);
                let others = made.text.lines().map(Cow::Borrowed);
                Text::Lines(rules.map(Cow::Owned).chain(others).collect())
            }
        }),
        ports: numbered(&ports.numbered),
        reach: numbered(&ports.reach),
        groups: ports
            .groups
            .iter()
            .map(|(group, copies)| {
                (
                    group.to_string(),
                    copies.iter().map(GroupCopy::of).collect(),
                )
            })
            .collect(),
    }
}

fn numbered(ports: &[PortSpec]) -> Pairs<String, &str> {
    ports
        .iter()
        .map(|port| (port.port.to_string(), port.interface.as_str()))
        .collect()
}
