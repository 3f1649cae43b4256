//! Diagnostics about bundles, one function for each.

use super::ports::Clash;
use diag::{Diagnostic, Span, instead_of, quoted};

/// The file is the schema of a message.
pub fn is_message(span: Span, file: &str) -> Diagnostic {
    Diagnostic::refusal(
        "E0921",
        span,
        format!("`{file}` is the schema of a message, and no bundle of programs"),
        format!(
            "`onpath check {file}` checks it, and `onpath plan {file} --attribute NAME` plans how an attribute is found"
        ),
    )
}

/// An interface's name is empty.
pub fn no_name(span: Span) -> Diagnostic {
    Diagnostic::refusal(
        "E0904",
        span,
        "an interface has no name",
        "add `dev = \"eth0\"`",
    )
}

/// A key for P4 programs is given for an object.
pub fn is_compiled(span: Span, key: &str, object: &str) -> Diagnostic {
    Diagnostic::refusal(
        "E0920",
        span,
        format!("`{key}` is for a P4 program, and `{object}` is compiled already"),
        "give it when the object is built, and remove it here",
    )
}

/// A name has characters or a length that the BPF file system does not allow.
pub fn bad_name(span: Span, name: &str) -> Diagnostic {
    Diagnostic::refusal(
        "E0905",
        span,
        format!("`{name}` cannot be a name"),
        "use letters, digits, `-` and `_`, up to 64 of them; `name = \"...\"` gives one that is not the file's",
    )
}

/// Two programs with one name.
pub fn name_twice(span: Span, name: &str, first: Span) -> Diagnostic {
    Diagnostic::refusal(
        "E0906",
        span,
        format!("there are two programs `{name}`"),
        "give one of them another `name`",
    )
    .also(first, "the first is here")
}

/// There is no such target.
pub fn unknown_target(span: Span, name: &str, known: &[&str]) -> Diagnostic {
    let message = format!("there is no target `{name}`");
    let help = instead_of(name, known, "the targets are");
    Diagnostic::refusal("E0907", span, message, help)
}

/// Ports, interfaces or groups that clash. `first` is the location of the first of two equal ones.
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
    let refused = Diagnostic::refusal("E0908", span, clash.message(), help);
    match first {
        Some(first) => refused.also(first, "the first"),
        None => refused,
    }
}

/// A key of `ports` or `reach` that is no port.
pub fn bad_port(span: Span, text: &str) -> Diagnostic {
    let message = format!("`{text}` is no port");
    Diagnostic::refusal("E0909", span, message, "write a number from 0 on")
}

/// A key of `groups` that is no group.
pub fn bad_group(span: Span, text: &str) -> Diagnostic {
    let message = format!("`{text}` is no multicast group");
    Diagnostic::refusal("E0909", span, message, "write a number from 1 to 65535")
}

/// A part of a group that is no port.
pub fn bad_replica(span: Span, text: &str) -> Diagnostic {
    let message = format!("`{text}` is no port");
    let help = "write a number from 0 on, or `\"PORT:RID\"` with a replication id";
    Diagnostic::refusal("E0909", span, message, help)
}

/// Two programs at one XDP hook.
pub fn two_at_xdp(span: Span, interface: &str, first: &str, first_span: Span) -> Diagnostic {
    Diagnostic::refusal(
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
    Diagnostic::refusal(
        "E0911",
        span,
        format!("`{text}` is not a program's state"),
        format!("write PROGRAM.STATE, such as `\"{example}.flows\"`"),
    )
}

/// No program of this name.
pub fn unknown_program(span: Span, name: &str, programs: &[&str]) -> Diagnostic {
    let message = format!("the bundle has no program `{name}`");
    let help = instead_of(name, programs, "the bundle has");
    Diagnostic::refusal("E0912", span, message, help)
}

/// A share of fewer than two programs.
pub fn nothing_shared(span: Span, name: &str, programs: usize) -> Diagnostic {
    let by = match programs {
        0 => "no program",
        _ => "one program only",
    };
    Diagnostic::refusal(
        "E0913",
        span,
        format!("`{name}` is shared by {by}"),
        "name the state of two programs or more, or omit the line",
    )
}

/// A state that is in two shares, or twice in one.
pub fn shared_twice(span: Span, text: &str, first: Span) -> Diagnostic {
    Diagnostic::refusal(
        "E0914",
        span,
        format!("`{text}` is shared twice"),
        "put all that is one state in one list, each part once",
    )
    .also(first, "first here")
}

/// A state that is in two shares, or twice in one, under two names.
pub fn one_state(span: Span, text: &str, first: &str, first_span: Span) -> Diagnostic {
    Diagnostic::refusal(
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
            "`{program}` keeps no state of flows and no metrics; declare one: `flow_state<K, V>(1024) flows;`"
        )
    } else {
        format!("it has {}", quoted(present))
    };
    Diagnostic::refusal(
        "E0915",
        span,
        format!("`{program}` has no state `{state}` that could be shared"),
        help,
    )
}

/// More than one state of a program ends in this name.
pub fn ambiguous_state(span: Span, program: &str, state: &str, fitting: &[&str]) -> Diagnostic {
    Diagnostic::refusal(
        "E0916",
        span,
        format!("`{state}` may be several of `{program}`"),
        format!("write as much as is unique: {}", quoted(fitting)),
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
    Diagnostic::refusal(
        "E0917",
        span,
        format!("`{this}` and `{other}` cannot share one state: {how}"),
        "declare both with the same type and arguments: put the declaration in a file that both programs include",
    )
    .also(other_span, "differs from this")
}

/// No interface for a program.
pub fn no_interface(span: Span, program: &str) -> Diagnostic {
    Diagnostic::refusal(
        "E0918",
        span,
        format!("program `{program}` has no interface to run at"),
        "add `dev = \"eth0\"`, or give it on the command line: `--dev eth0`",
    )
}

/// A multicast group for a program that never sends to one. `package` names the program's architecture.
pub fn unused_group(span: Span, program: &str, group: u16, package: &str) -> Diagnostic {
    let field = arch::by_package(package).and_then(|arch| arch.group_field);
    let help = match field {
        Some(field) => format!("omit the group, or have the program assign it to `{field}`"),
        None => "omit the group: its architecture has no multicast groups".to_string(),
    };
    Diagnostic::refusal(
        "E0919",
        span,
        format!(
            "program `{program}` never sends to a multicast group, so group {group} means nothing to it"
        ),
        help,
    )
}
