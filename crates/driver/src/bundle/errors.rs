//! What can be wrong with a bundle. One function a diagnostic.

use super::ports::Clash;
use diag::{Code, Diagnostic, Span};

fn refuse(
    code: &'static str,
    span: Span,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Diagnostic {
    Diagnostic::error(Code(code), span, message).help(help)
}

fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The text is no TOML. `marked` is the text at `span`.
pub fn syntax(span: Span, what: &str, marked: &str) -> Diagnostic {
    if what == "duplicate key" {
        let message = format!("`{marked}` is given twice");
        return refuse("E0901", span, message, "remove one of them");
    }
    refuse(
        "E0901",
        span,
        format!("this is not TOML: {what}"),
        "a bundle has lines such as `source = \"count.p4\"` below `[[program]]`; see https://toml.io",
    )
}

/// The file is the schema of a message.
pub fn is_message(span: Span, file: &str) -> Diagnostic {
    refuse(
        "E0921",
        span,
        format!("`{file}` is the schema of a message, and no bundle of programs"),
        format!(
            "`onpath check {file}` checks it, and `onpath plan {file} --attribute NAME` plans how an attribute is found"
        ),
    )
}

/// A key that means nothing here.
pub fn unknown_key(
    span: Span,
    key: &str,
    owner: &str,
    known: &[&str],
    similar: &[String],
) -> Diagnostic {
    let help = match similar {
        [near, ..] => format!("did you mean `{near}`?"),
        [] => format!("it may have {}", listed(known.iter().copied())),
    };
    refuse(
        "E0902",
        span,
        format!("unknown key `{key}` in {owner}"),
        help,
    )
}

/// A value of another type than the key's.
pub fn wrong_type(span: Span, key: &str, found: &str, wanted: &str, example: &str) -> Diagnostic {
    let article = match found.chars().next() {
        Some('a' | 'e' | 'i' | 'o' | 'u') => "an",
        _ => "a",
    };
    refuse(
        "E0903",
        span,
        format!("`{key}` is {wanted}, not {article} {found}"),
        format!("write it like `{example}`"),
    )
}

/// Something that must be there is not.
pub fn missing(span: Span, what: &str, example: &str) -> Diagnostic {
    refuse("E0904", span, what, format!("add `{example}`"))
}

/// A key that is about a program's text, where an object is named.
pub fn is_compiled(span: Span, key: &str, object: &str) -> Diagnostic {
    refuse(
        "E0920",
        span,
        format!("`{key}` is for a P4 program, and `{object}` is compiled already"),
        "give it when the object is built, and remove it here",
    )
}

/// A name that the BPF file system could not hold, or that names could not be distinguished by.
pub fn bad_name(span: Span, name: &str) -> Diagnostic {
    refuse(
        "E0905",
        span,
        format!("`{name}` cannot be a name"),
        "use letters, digits, `-` and `_`, up to 64 of them; `name = \"...\"` gives one that is not the file's",
    )
}

/// More errors than anyone reads.
pub fn too_many(span: Span, limit: usize) -> Diagnostic {
    refuse(
        "E0124",
        span,
        format!("more than {limit} errors: Onpath skips the rest of the bundle"),
        "fix the first errors; later ones often follow from them",
    )
}

/// Two programs with one name.
pub fn name_twice(span: Span, name: &str, first: Span) -> Diagnostic {
    refuse(
        "E0906",
        span,
        format!("there are two programs `{name}`"),
        "give one of them another `name`",
    )
    .also(first, "the first is here")
}

/// There is no such target.
pub fn unknown_target(span: Span, name: &str, known: &[&str], similar: &[String]) -> Diagnostic {
    let help = match similar {
        [near, ..] => format!("did you mean `{near}`?"),
        [] => format!("the targets are {}", listed(known.iter().copied())),
    };
    refuse("E0907", span, format!("there is no target `{name}`"), help)
}

/// Ports, interfaces or groups that do not go together. `first` is where the first of two is that are one too many.
pub fn clash(span: Span, clash: &Clash, first: Option<Span>) -> Diagnostic {
    let help = match clash {
        Clash::Port(_) => "`dev` gives its interfaces the ports 0, 1, …; give each port once",
        Clash::Interface(_) => "give each interface once",
        Clash::Group(_) => "put all ports of a group in one list",
        Clash::NotAPort { .. } => {
            "name the port's interface by `dev`, `ports` or, where the program is not to run, `reach`"
        }
        Clash::TooMany { .. } => "send to two groups, or to fewer ports",
    };
    let refused = refuse("E0908", span, clash.message(), help);
    match first {
        Some(first) => refused.also(first, "the first"),
        None => refused,
    }
}

/// A key of `ports`, `reach` or `groups` that is no number of the kind.
pub fn bad_number(span: Span, text: &str, what: &str, range: &str) -> Diagnostic {
    refuse(
        "E0909",
        span,
        format!("`{text}` is no {what}"),
        format!("write a number {range}"),
    )
}

/// Two programs at one XDP hook.
pub fn two_at_xdp(span: Span, interface: &str, first: &str, first_span: Span) -> Diagnostic {
    refuse(
        "E0910",
        span,
        format!("`{first}` runs at the xdp hook of {interface} already"),
        "an interface runs one program by XDP; the hooks `tc-ingress` and `tc-egress` run several in order",
    )
    .also(first_span, "that program is here")
}

/// A part of a share that is not `PROGRAM.STATE`.
pub fn bad_part(span: Span, text: &str, programs: &[&str]) -> Diagnostic {
    let example = programs.first().copied().unwrap_or("count");
    refuse(
        "E0911",
        span,
        format!("`{text}` is not a program's state"),
        format!("write PROGRAM.STATE, such as `\"{example}.flows\"`"),
    )
}

/// No program of this name.
pub fn unknown_program(
    span: Span,
    name: &str,
    programs: &[&str],
    similar: &[String],
) -> Diagnostic {
    let help = match similar {
        [near, ..] => format!("did you mean `{near}`?"),
        [] => format!("the bundle has {}", listed(programs.iter().copied())),
    };
    refuse(
        "E0912",
        span,
        format!("the bundle has no program `{name}`"),
        help,
    )
}

/// A share of so many `programs`, one or none.
pub fn nothing_shared(span: Span, name: &str, programs: usize) -> Diagnostic {
    let by = match programs {
        0 => "no program",
        _ => "one program only",
    };
    refuse(
        "E0913",
        span,
        format!("`{name}` is shared by {by}"),
        "name the state of two programs or more, or omit the line",
    )
}

/// A state that is in two shares, or twice in one.
pub fn shared_twice(span: Span, text: &str, first: Span) -> Diagnostic {
    refuse(
        "E0914",
        span,
        format!("`{text}` is shared twice"),
        "put all that is one state in one list, each part once",
    )
    .also(first, "first here")
}

/// A state that is in two shares, or twice in one, under two names.
pub fn one_state(span: Span, text: &str, first: &str, first_span: Span) -> Diagnostic {
    refuse(
        "E0914",
        span,
        format!("`{text}` and `{first}` are one state, which is shared twice"),
        "put all that is one state in one list, each part once",
    )
    .also(first_span, "first here")
}

/// A program has no state of this name.
pub fn unknown_state(span: Span, program: &str, state: &str, present: &[&str]) -> Diagnostic {
    let help = if present.is_empty() {
        format!(
            "`{program}` keeps no state of flows and no figures; declare one: `flow_state<K, V>(1024) flows;`"
        )
    } else {
        format!("it has {}", listed(present.iter().copied()))
    };
    refuse(
        "E0915",
        span,
        format!("`{program}` has no state `{state}` that could be shared"),
        help,
    )
}

/// More than one state of a program ends in this name.
pub fn ambiguous_state(span: Span, program: &str, state: &str, fitting: &[&str]) -> Diagnostic {
    refuse(
        "E0916",
        span,
        format!("`{state}` may be several of `{program}`"),
        format!(
            "write as much as is unique: {}",
            listed(fitting.iter().copied())
        ),
    )
}

/// Two states that are to be one differ.
pub fn states_differ(
    span: Span,
    this: &str,
    other: &str,
    other_span: Span,
    how: &str,
) -> Diagnostic {
    refuse(
        "E0917",
        span,
        format!("`{this}` and `{other}` cannot share one state: {how}"),
        "declare both with the same type and arguments: put the declaration in a file that both programs include",
    )
    .also(other_span, "differs from this")
}

/// No interface for a program.
pub fn no_interface(span: Span, program: &str) -> Diagnostic {
    refuse(
        "E0918",
        span,
        format!("program `{program}` has no interface to run at"),
        "add `dev = \"eth0\"`, or give it on the command line: `--dev eth0`",
    )
}

/// A multicast group for a program of this architecture that sends to none.
pub fn unused_group(span: Span, program: &str, group: u16, arch: &str) -> Diagnostic {
    let help = match arch {
        "v1model" => "omit the group, or have the program assign it to `mcast_grp`",
        "tc" => "omit the group, or have the program assign it to `multicast_group`",
        _ => "omit the group: its architecture has no multicast groups",
    };
    refuse(
        "E0919",
        span,
        format!(
            "program `{program}` never sends to a multicast group, so group {group} means nothing to it"
        ),
        help,
    )
}
