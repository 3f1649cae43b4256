//! Diagnostics of the firewall, one function each.

use diag::{Diagnostic, Span};

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

/// An expression of a list has no automaton; `column` is where its fault begins.
pub fn no_expression(list: &str, line: usize, column: usize, why: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1221",
        format!("{list}:{line}:{column}: no automaton finds the expression: {why}"),
        "an expression has neither look-around nor backreferences, and repeats little; write several expressions, or omit \
         `--strict` to skip such lines",
    )
}

/// The automata of a firewall's patterns are too large; `why` is the reason.
pub fn too_many_states(why: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1222",
        why,
        "leave expressions out that have `.*` or repeat much, or bind them by `^`: together they have a state for each combination",
    )
}

/// A running firewall has no room for patterns.
pub fn no_patterns(name: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1211",
        format!("`{name}` began without prefixes, words and expressions, and has no room for any"),
        format!("end it with `onpath unload {name}` and start it again"),
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

/// A flag takes the answers of servers, which are not seen.
pub fn one_direction(flag: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1212",
        format!("`{flag}` takes both directions of a connection"),
        "name the interfaces to the clients and to the servers: `--dev IF,IF`",
    )
}

/// Answers are asked for at traffic control.
pub fn reset_at_tc() -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1230",
        "`--mode reset` runs at XDP alone".to_owned(),
        "let the hook be `xdp`, the default, or use `--mode drop`",
    )
}

/// A firewall that answers nothing is to answer something.
pub fn no_answers(flag: &str) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1231",
        format!("`{flag}` is about answers, and without `--mode reset` a firewall sends none"),
        "add `--mode reset`",
    )
}

/// A response to blocked requests is none.
pub(crate) fn no_page(span: Span, text: &str, why: &str) -> Diagnostic {
    Diagnostic::refusal(
        "E1232",
        span,
        format!("`{text}` is no response to blocked requests: {why}"),
        "write `page = \"403\"`, or the address of a page such as `page = \"http://block.lan/\"`",
    )
}

/// A source of a group is none.
pub(crate) fn no_source(span: Span, text: &str) -> Diagnostic {
    Diagnostic::refusal(
        "E1217",
        span,
        format!("`{text}` is no address of IP or of the link layer, and no prefix"),
        "write a source such as `10.0.3.7`, `10.0.3.0/24`, `2001:db8::/64` or `02:00:00:00:00:01`; the bits behind a prefix \
         are 0",
    )
}

/// A time of a group is none.
pub(crate) fn no_time(span: Span, text: &str) -> Diagnostic {
    Diagnostic::refusal(
        "E1218",
        span,
        format!("`{text}` is no time of the week"),
        "write a time such as `mon-fri 08:00-16:00`, `sat 22:00-06:00` or `08:00-24:00`",
    )
}

/// Two groups have one name.
pub(crate) fn group_twice(span: Span, name: &str) -> Diagnostic {
    Diagnostic::refusal(
        "E1219",
        span,
        format!("there are two groups `{name}`"),
        "rename one of them",
    )
}

/// A source is there twice.
pub(crate) fn source_twice(span: Span, source: &str) -> Diagnostic {
    Diagnostic::refusal(
        "E1219",
        span,
        format!("`{source}` is a source twice"),
        "remove it from one of them, or make it longer: the longest prefix decides",
    )
}

/// There are more groups than a rule has bits for.
pub(crate) fn too_many_groups(span: Span, most: usize) -> Diagnostic {
    Diagnostic::refusal(
        "E1219",
        span,
        format!("a firewall has {most} groups at the most"),
        "sources that belong to no group have the lists at the top of the file",
    )
}

/// A group has the name of the sources that belong to none.
pub(crate) fn is_others(span: Span, name: &str) -> Diagnostic {
    Diagnostic::refusal(
        "E1219",
        span,
        format!("`{name}` means the sources that belong to no group"),
        "rename the group; lists at the top of the file are for the others",
    )
}

/// There is no group with this name.
pub fn no_group(name: &str, known: &[&str]) -> Box<Diagnostic> {
    let help = match known {
        [_] => "there are no groups: omit `--group`".to_owned(),
        known => format!("the groups: {}", known.join(", ")),
    };
    Diagnostic::failure("E1220", format!("there is no group `{name}`"), help)
}
