//! Diagnostics of the firewall, one function each.

use diag::Diagnostic;

/// A list cannot be read; `why` is a sentence with the reason.
pub fn unreadable_list(why: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1201",
        why,
        "name a file with a domain name in each line; `-` is standard input",
    )
}

/// No list has a name that can be blocked.
pub fn no_names(lists: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1202",
        format!("no line of {lists} is a name to block"),
        "write a name such as `ads.example`, `||ads.example^` or `0.0.0.0 ads.example` in a line",
    )
}

/// A line cannot be blocked by, and `--strict` refuses that; `why` is the reason as a phrase.
pub fn wrong_line(list: &str, line: usize, why: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1203",
        format!("{list}:{line}: {why}"),
        "correct or remove the line, or omit `--strict` to skip such lines",
    )
}

/// A pass cannot have so many look-ups.
pub fn look_ups(number: u32, most: u32) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1204",
        format!("a pass has 1 to {most} look-ups, not {number}"),
        "with `--slice 2` or `--slice 4`, a look-up takes several bytes",
    )
}

/// There cannot be so many ids.
pub fn ids(number: u32, most: u32) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1205",
        format!("the number of ids is a power of two up to {most}, not {number}"),
        "give a power of two that is greater than the number of packets that pass at a time",
    )
}

/// Lists have more rules than a name set has room for.
pub fn too_many(rules: usize, most: u32) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1206",
        format!(
            "the lists have {rules} rules, and a name set has room for {most}, or for fewer with long names"
        ),
        "leave a list out",
    )
}

/// There are more lists than rules can come from.
pub fn too_many_lists(lists: usize, most: usize) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1207",
        format!("a firewall has {most} lists at the most, not {lists}"),
        "put several lists into one file: `cat` does it",
    )
}

/// A running program is none that `onpath firewall --dev` started.
pub fn no_firewall(name: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1208",
        format!("`{name}` was not started by `onpath firewall --dev`"),
        "`onpath ls` shows what runs; name the firewall after the command",
    )
}

/// A list of a running firewall was standard input or a pipe, which cannot be read again.
pub fn read_once(name: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1209",
        format!("a list of `{name}` came from standard input or a pipe"),
        "start the firewall with a file instead",
    )
}

/// Lists have more rules than a running firewall has room for.
pub fn no_room(name: &str, rules: usize, room: u64) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1211",
        format!("the lists have {rules} rules, and `{name}` has room for {room}"),
        format!(
            "end it with `onpath unload {name}` and start it again: it takes room for more rules than its lists have"
        ),
    )
}

/// A name to explain is none; `why` is the reason as a phrase.
pub fn no_name(text: &str, why: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1210",
        format!("`{text}` is no name of a site: {why}"),
        "write a name such as `www.ads.example`, or an address such as `https://www.ads.example/path`",
    )
}

/// Unknown connections are to be dropped, where the answers of servers are not seen.
pub fn one_direction() -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1212",
        "`--unknown drop` takes both directions of a connection".to_owned(),
        "name the interfaces to the clients and to the servers: `--dev IF,IF`",
    )
}
