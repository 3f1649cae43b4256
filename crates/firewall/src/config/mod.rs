//! Settings of a firewall, from a TOML file.

mod source;
mod times;

pub use source::Source;
pub use times::{Window, windows};

use crate::errors;
use crate::page::Page;
use crate::rules::MOST_GROUPS;
use diag::{Diagnostics, FileId, SourceMap};
use settings::ValueKind::{Flag, List, Tables, Text, Texts, Word};
use settings::{Codes, Document, FileFormat, Table};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use times::Span;

/// Form of the file.
static FORM: FileFormat = FileFormat {
    codes: Codes {
        syntax: "E1213",
        unknown: "E1214",
        kind: "E1215",
        missing: "E1216",
    },
    lines: "the settings of a firewall have lines such as `block = \"ads.txt\"`",
    keys: &FIREWALL,
};

/// Name of the sources that belong to no group.
pub const OTHERS: &str = "others";

const DROP: &str = "drop";
const COUNT: &str = "count";
const PASS: &str = "pass";
const RESET: &str = "reset";
const READ: &str = "read";
const REFUSE: &str = "refuse";
const STRIP: &str = "strip";

settings::keys! {
    /// The file.
    FIREWALL: "a firewall" {
        optional "block": Texts, r#"block = "ads.txt""#, "a list of names to block, or several";
        optional "allow": Texts, r#"allow = "good.txt""#, "a list of exceptions, or several";
        optional "dev": Texts, r#"dev = ["eth0", "eth1"]"#, "the interfaces to the clients and to the servers";
        optional "mode": Word(&[DROP, RESET, COUNT]), r#"mode = "reset""#, "treatment of packets with a blocked name";
        optional "unknown": Word(&[PASS, DROP]), r#"unknown = "drop""#, "treatment of connections that cannot be followed or read";
        optional "quic": Word(&[COUNT, READ, REFUSE]), r#"quic = "read""#, "treatment of QUIC";
        optional "aliases": Flag, "aliases = true", "judge the names too to which responses of DNS lead";
        optional "ech": Word(&[PASS, STRIP]), r#"ech = "strip""#, "treatment of HTTPS records in DNS";
        optional "page": Text, r#"page = "403""#, "response to blocked requests of HTTP: 403, or an address";
        optional "hook": Word(&["xdp", "tc-ingress", "tc-egress"]), r#"hook = "tc-ingress""#, "the place where it is to run";
        optional "group": Tables(&GROUP), "[[group]]", "each group has this line and below it, at least, `name` and `sources`";
    }

    /// A group of sources.
    GROUP: "a group" {
        required "name": Text, r#"name = "pupils""#, "what it is called in statistics and commands";
        required "sources": List(&Text), r#"sources = ["10.0.3.0/24", "02:00:00:00:00:01"]"#, "addresses of IP or of the link layer, and prefixes";
        optional "times": List(&Text), r#"times = ["mon-fri 08:00-16:00"]"#, "when its lists hold; at other times its sources count as those of no group";
        optional "block": Texts, r#"block = ["ads.txt", "games.txt"]"#, "a list of names to block, or several";
        optional "allow": Texts, r#"allow = "good.txt""#, "a list of exceptions, or several";
        optional "mode": Word(&[DROP, COUNT]), r#"mode = "count""#, "treatment of packets with a blocked name";
    }
}

/// Settings from a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// Lists for sources that belong to no group.
    pub block: Vec<PathBuf>,
    /// Exceptions for these.
    pub allow: Vec<PathBuf>,
    /// Groups.
    pub groups: Vec<Group>,
    /// Flags of the command, as far as the file has them.
    pub flags: Flags,
}

/// Flags of the command that runs a firewall, as they are written there.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Flags {
    /// Interfaces.
    pub dev: Vec<String>,
    /// `--mode`
    pub mode: Option<String>,
    /// `--unknown`
    pub unknown: Option<String>,
    /// `--quic`
    pub quic: Option<String>,
    /// `--aliases`
    pub aliases: bool,
    /// `--ech`
    pub ech: Option<String>,
    /// `--page`
    pub page: Option<Page>,
    /// `--hook`
    pub hook: Option<String>,
}

/// Sources with rules of their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Its name, which no other group has.
    pub name: String,
    /// Its sources.
    pub sources: Vec<Source>,
    /// Times at which its lists hold; always if there is none.
    pub times: Vec<Span>,
    /// Lists that block.
    pub block: Vec<PathBuf>,
    /// Lists that allow.
    pub allow: Vec<PathBuf>,
    /// True if what is blocked is counted, and passes.
    pub is_counted_only: bool,
}

/// Reads settings. Lists are relative to the file's folder.
///
/// # Errors
///
/// All errors in the file.
pub fn read(map: &SourceMap, file: FileId) -> Result<Config, Diagnostics> {
    let name = &map.file(file).name;
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    Document::parse(map, file).read(&FORM, |table, wrong| {
        let (block, allow) = (lists(folder, table, "block"), lists(folder, table, "allow"));
        let groups = groups(folder, table, wrong);
        let word = |key: &str| table.text(key).map(|text| text.value);
        let dev = table.texts("dev").into_iter();
        let page = table.text("page").and_then(|text| {
            let page = Page::parse(&text.value);
            let report = |why: &String| wrong.push(errors::no_page(text.span, &text.value, why));
            page.inspect_err(report).ok()
        });
        let flags = Flags {
            dev: dev.map(|text| text.value).collect(),
            mode: word("mode"),
            unknown: word("unknown"),
            quic: word("quic"),
            aliases: table.flag("aliases"),
            ech: word("ech"),
            page,
            hook: word("hook"),
        };
        Some(Config {
            block,
            allow,
            groups,
            flags,
        })
    })
}

fn lists(folder: &Path, table: &Table<'_>, key: &str) -> Vec<PathBuf> {
    let names = table.texts(key).into_iter();
    names.map(|at| folder.join(at.value)).collect()
}

fn groups(folder: &Path, table: &Table<'_>, wrong: &mut Diagnostics) -> Vec<Group> {
    let mut names = BTreeSet::new();
    let mut sources = BTreeSet::new();
    let mut groups = Vec::new();
    for table in table.tables("group") {
        let Some(name) = table.text("name") else {
            continue;
        };
        if name.value == OTHERS {
            wrong.push(errors::is_others(name.span, OTHERS));
        } else if !names.insert(name.value.clone()) {
            wrong.push(errors::group_twice(name.span, &name.value));
        }
        if groups.len() + 1 == MOST_GROUPS {
            wrong.push(errors::too_many_groups(name.span, MOST_GROUPS - 1));
        }
        let mut own = Vec::new();
        for text in table.texts("sources") {
            match text.value.parse::<Source>() {
                Ok(source) if !sources.insert(source.mapped()) => {
                    wrong.push(errors::source_twice(text.span, &text.value));
                }
                Ok(source) => own.push(source),
                Err(source::NoSource) => wrong.push(errors::no_source(text.span, &text.value)),
            }
        }
        let mut times = Vec::new();
        for text in table.texts("times") {
            match text.value.parse() {
                Ok(span) => times.push(span),
                Err(times::NoSpan) => wrong.push(errors::no_time(text.span, &text.value)),
            }
        }
        groups.push(Group {
            name: name.value,
            sources: own,
            times,
            block: lists(folder, &table, "block"),
            allow: lists(folder, &table, "allow"),
            is_counted_only: table.text("mode").is_some_and(|mode| mode.value == COUNT),
        });
    }
    groups
}

#[cfg(test)]
mod tests;
