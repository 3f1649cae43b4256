//! Diagnostics of a query's meaning.

use super::{did_you_mean, or_list, quoted, refuse};
use crate::catalogue::{Catalogue, Type};
use crate::described::meant;
use crate::query::FUNCTIONS;
use diag::{Diagnostic, Span};
use payload::PATTERN_LIMIT;

/// An attribute that does not exist.
pub(crate) fn unknown_attribute(at: Span, name: &str, catalogue: &Catalogue) -> Box<Diagnostic> {
    let names = catalogue.names();
    let group = name.split('.').next().unwrap_or_default();
    let groups = catalogue.groups();
    let of_group = catalogue.names_in(group);
    let is_aggregate = FUNCTIONS.iter().any(|(known, _)| *known == name);
    // A correct component of the name is better evidence than a small difference from another name.
    let candidates: &[String] = if of_group.is_empty() {
        &names
    } else {
        &of_group
    };
    let in_small_letters = catalogue.in_small_letters(name);
    let help = match name {
        _ if is_aggregate => Some("aggregates stand in front of `by` and `where`".to_string()),
        "ip.version" => Some(
            "`eth.type` is 0x0800 of IPv4 and 0x86dd of IPv6; `ip.src` has addresses of both"
                .into(),
        ),
        _ if group == "ipv4" => {
            let meant = name.replacen("ipv4", "ip", 1);
            let is_one = names.contains(&meant);
            Some(match is_one {
                true => format!("did you mean `{meant}`?"),
                false => "the attributes of IPv4 are those of `ip`".to_string(),
            })
        }
        _ if in_small_letters.is_some() => {
            in_small_letters.map(|known| format!("did you mean `{known}`?"))
        }
        // An attribute of this name in another group belongs to another protocol.
        _ if of_group.is_empty() && name.contains('.') => by_meaning(catalogue, name),
        _ => catalogue
            .named_wrongly(name)
            .or_else(|| by_meaning(catalogue, name))
            .or_else(|| with_part(candidates, name))
            .or_else(|| did_you_mean(candidates.iter().map(String::as_str), name)),
    };
    let help = help.unwrap_or_else(|| {
        if of_group.is_empty() {
            let near = did_you_mean(groups.iter().copied(), group);
            near.filter(|_| name.contains('.'))
                .unwrap_or_else(|| format!("attributes begin with {}", or_list(&quoted(&groups))))
        } else {
            format!("there are {}", of_group.join(", "))
        }
    });
    refuse(
        "E1120",
        at,
        format!("there is no attribute `{name}`"),
        "no such attribute",
        help,
    )
}

/// Suggests attributes whose descriptions match a name.
fn by_meaning(catalogue: &Catalogue, wanted: &str) -> Option<String> {
    let found = meant(catalogue, wanted);
    (!found.is_empty()).then(|| format!("did you mean {}?", or_list(&quoted(&found))))
}

/// Suggests attributes whose last component contains that of the name, if there are few.
fn with_part(names: &[String], wanted: &str) -> Option<String> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_string();
    let wanted = Some(last(wanted)).filter(|part| part.len() > 2)?;
    let found: Vec<&String> = names.iter().filter(|n| last(n).contains(&wanted)).collect();
    (1..=4)
        .contains(&found.len())
        .then(|| format!("did you mean {}?", or_list(&quoted(&found))))
}

/// An order by something other than the query's aggregates and keys.
pub(crate) fn order_by_other(at: Span, written: &str, known: &[String]) -> Box<Diagnostic> {
    refuse(
        "E0977",
        at,
        format!("`order by {written}` names no aggregate and no key of the query"),
        "",
        format!("order by {}", or_list(&quoted(known))),
    )
}

/// `order by` or `top` without `by`.
pub(crate) fn one_group(at: Span, word: &str) -> Box<Diagnostic> {
    refuse(
        "E0978",
        at,
        format!("`{word}` in a query that has one group"),
        "",
        "name keys: `count by ip.src top 5`; the most frequent values of an attribute are `top(5, ip.src)`",
    )
}

/// A query that shows no group.
pub(crate) fn no_groups(at: Span) -> Box<Diagnostic> {
    refuse(
        "E0979",
        at,
        "`top 0` shows no group",
        "",
        "write how many groups are shown: `top 10`, or omit it for all",
    )
}

/// A value of another type than the attribute's.
pub(crate) fn other_type(at: Span, name: &str, ty: Type, found: &str) -> Box<Diagnostic> {
    let help = match (ty, found) {
        (Type::Ipv4, "an IPv6 address" | "an IPv6 prefix") => {
            format!("compare `{}`", name.replacen("ipv4", "ipv6", 1))
        }
        (Type::Ipv6, "an IPv4 address" | "an IPv4 prefix") => {
            let (six, four) = match name.starts_with("ipv6.") {
                true => ("ipv6.", "ip."),
                false => ("ipv6", "ipv4"),
            };
            format!("compare `{}`", name.replacen(six, four, 1))
        }
        (Type::Ipv4, "a text") => "write the address without quotes, such as 10.0.0.1".into(),
        (Type::Ipv6, "a text") => "write the address without quotes, such as 2001:db8::1".into(),
        (Type::Address, "a text") => {
            "write the address without quotes, such as 10.0.0.1 or 2001:db8::1".into()
        }
        (Type::Mac, "a text") => {
            "write the address without quotes, such as 02:00:00:00:00:01".into()
        }
        (Type::Number(_), "a time") => "write the number without a unit".into(),
        (Type::Time, "a number") => format!("write it with a unit: {TIMES}"),
        (Type::Time, _) => format!("compare it with a time: {TIMES}"),
        (Type::Number(_), "a text") => "write the number without quotes".into(),
        (Type::Text, _) => "texts stand between double quotes".into(),
        (Type::Number(_), _) => "compare it with a number, such as 443 or 0x1bb".into(),
        (Type::Ipv4, _) => "compare it with an address, such as 10.0.0.1".into(),
        (Type::Ipv6, _) => "compare it with an address, such as 2001:db8::1".into(),
        (Type::Address, _) => "compare it with an address, such as 10.0.0.1 or 2001:db8::1".into(),
        (Type::Mac, _) => "compare it with an address, such as 02:00:00:00:00:01".into(),
        (Type::Flow, _) => NO_FLOWS.into(),
    };
    refuse(
        "E1121",
        at,
        format!("`{name}` is {}, and this is {found}", ty.name()),
        "",
        help,
    )
}

/// A name in place of a value. `is_attribute` is true if another attribute has it.
pub(crate) fn name_for_value(
    at: Span,
    word: &str,
    name: &str,
    ty: Type,
    is_attribute: bool,
) -> Box<Diagnostic> {
    let is_port = name.ends_with("_port");
    let number = match word.to_ascii_lowercase().as_str() {
        "ssh" if is_port => Some("SSH has port 22"),
        "dns" | "domain" if is_port => Some("DNS has port 53"),
        "http" if is_port => Some("HTTP has port 80"),
        "https" if is_port => Some("HTTPS has port 443"),
        _ if is_port || !matches!(ty, Type::Number(_)) => None,
        "icmp" => Some("ICMP is protocol 1"),
        "tcp" => Some("TCP is protocol 6"),
        "udp" => Some("UDP is protocol 17"),
        _ => None,
    };
    let help = match (number, ty) {
        (Some(number), _) => number.to_string(),
        _ if is_attribute => {
            "an attribute is compared with a value, not with another attribute".to_string()
        }
        (None, Type::Text) => format!("texts stand between double quotes: \"{word}\""),
        (None, Type::Number(_)) => {
            format!("`{name}` is a number: write it in digits, such as 443 or 0x1bb")
        }
        (None, Type::Time) => format!("`{name}` is a time: {TIMES}"),
        (None, Type::Ipv4 | Type::Address) => {
            "names are not looked up: write an address, such as 10.0.0.1".into()
        }
        (None, Type::Ipv6) => {
            "names are not looked up: write an address, such as 2001:db8::1".into()
        }
        (None, Type::Mac) => {
            "names are not looked up: write an address, such as 02:00:00:00:00:01".into()
        }
        (None, Type::Flow) => NO_FLOWS.into(),
    };
    refuse(
        "E1113",
        at,
        format!("expected a value, found the name `{word}`"),
        "",
        help,
    )
}

const TIMES: &str = "250us, 1.5ms or 2s, for example";

const NO_FLOWS: &str =
    "compare the parts of a flow: ip.src, ip.dst, ip.proto, tcp.src_port, tcp.dst_port";

/// A flow in a condition.
pub(crate) fn flow_compared(at: Span) -> Box<Diagnostic> {
    refuse("E1122", at, "`flow` cannot be compared", "", NO_FLOWS)
}

/// A number outside the attribute's range.
pub(crate) fn out_of_range(at: Span, name: &str, ty: Type, value: u64) -> Box<Diagnostic> {
    let bits = match ty {
        Type::Number(bits) => bits,
        _ => 64,
    };
    refuse(
        "E1123",
        at,
        format!(
            "`{name}` has {}; it is never {value}",
            diag::counted(u64::from(bits), "bit")
        ),
        "",
        format!("it is 0 to {}", ty.greatest()),
    )
}

/// An operator that the type lacks.
pub(crate) fn other_operator(at: Span, operator: &str, name: &str, ty: Type) -> Box<Diagnostic> {
    let help = match ty {
        Type::Text => "a text has `==`, `!=`, `in`, `starts with` and `~`",
        Type::Time => "a time has `==`, `!=`, `<`, `<=`, `>`, `>=` and `in`",
        Type::Number(_) => "a number has `==`, `!=`, `<`, `<=`, `>`, `>=` and `in`",
        Type::Ipv4 | Type::Ipv6 | Type::Address => {
            "an address has `==`, `!=` and `in`, which also takes prefixes: ip.src in 10.0.0.0/8"
        }
        Type::Mac => "a link-layer address has `==`, `!=` and `in`",
        Type::Flow => NO_FLOWS,
    };
    refuse(
        "E1124",
        at,
        format!("`{operator}` is not for `{name}`, which is {}", ty.name()),
        "",
        help,
    )
}

/// A prefix after `==` or `!=`.
pub(crate) fn prefix_compared(at: Span, name: &str, written: &str, equal: bool) -> Box<Diagnostic> {
    let not = if equal { "" } else { "not " };
    refuse(
        "E1125",
        at,
        "an address does not equal a prefix",
        "",
        format!("write `{not}{name} in {written}`"),
    )
}

/// A prefix with bits set after its length.
pub(crate) fn prefix_bits(at: Span, written: &str, right: &str) -> Box<Diagnostic> {
    refuse(
        "E1126",
        at,
        format!("`{written}` has bits behind the prefix"),
        "",
        format!("write {right}"),
    )
}

/// A syntax error in a regular expression.
pub(crate) fn pattern_syntax(at: Span, what: &str) -> Box<Diagnostic> {
    let help = if what.contains("look-around") || what.contains("backreference") {
        "an automaton reads each byte once: it has neither look-around nor backreferences"
    } else {
        "a backslash takes the meaning from a character: \\. \\( \\[; the syntax is that of https://docs.rs/regex, without Unicode classes"
    };
    refuse(
        "E1127",
        at,
        format!("in this regular expression: {what}"),
        "",
        help,
    )
}

/// A regular expression whose automaton is too large.
pub(crate) fn pattern_too_large(at: Span) -> Box<Diagnostic> {
    refuse(
        "E1128",
        at,
        format!(
            "the automaton of this regular expression takes more than {} KB",
            PATTERN_LIMIT >> 10
        ),
        "",
        "an expression may match anywhere, so that each place where it may have begun is a state: begin it with `^`, or repeat a class without its first character, `a[^a]{20}b`; repetitions such as {1000} make it large too",
    )
}

/// A regular expression that no automaton supports.
pub(crate) fn pattern_without_automaton(at: Span, what: &str) -> Box<Diagnostic> {
    refuse(
        "E1129",
        at,
        format!(
            "this regular expression has no automaton: {}",
            what.split(';').next().unwrap_or(what)
        ),
        "",
        "classes and word boundaries are those of ASCII: write them without `(?u)`",
    )
}

/// Attributes of two kinds of messages.
pub(crate) fn two_kinds(at: Span, name: &str, other: (&str, Span)) -> Box<Diagnostic> {
    let kind = |name: &str| name.split('.').next().unwrap_or_default().to_string();
    let (other, other_at) = other;
    let mut diagnostic = refuse(
        "E1130",
        at,
        format!(
            "a query reads messages of one kind: `{other}` is of {}, `{name}` of {}",
            kind(other),
            kind(name)
        ),
        format!("of {}", kind(name)),
        "make two queries; the fields of headers go with any message",
    );
    *diagnostic = diagnostic.also(other_at, format!("of {}", kind(other)));
    diagnostic
}

/// Too many aggregates or keys.
pub(crate) fn too_many(at: Span, what: &str, most: usize, help: &str) -> Box<Diagnostic> {
    refuse(
        "E1131",
        at,
        format!("a query has at most {most} {what}"),
        "one too many",
        help,
    )
}

/// A duplicate key or aggregate.
pub(crate) fn twice(at: Span, written: &str, first: Span) -> Box<Diagnostic> {
    let mut diagnostic = refuse(
        "E1132",
        at,
        format!("`{written}` stands here twice"),
        "again",
        "leave one of them out",
    );
    *diagnostic = diagnostic.also(first, "first here");
    diagnostic
}

/// An aggregate of numbers on an attribute of another type.
pub(crate) fn not_a_number(at: Span, function: &str, name: &str, ty: Type) -> Box<Diagnostic> {
    refuse(
        "E1133",
        at,
        format!("`{function}` is of numbers, and `{name}` is {}", ty.name()),
        "",
        format!(
            "`distinct({name})` counts its values, `top(10, {name})` finds the most frequent ones"
        ),
    )
}

/// A number of `top` that is out of range.
pub(crate) fn top_number(at: Span, most: usize) -> Box<Diagnostic> {
    refuse(
        "E1134",
        at,
        format!("`top` finds 1 to {most} values"),
        "",
        "write `top(10, ip.src)`, for example; `count by ip.src` has all groups",
    )
}

/// A time where its distinct values would have to be counted.
pub(crate) fn time_as_key(at: Span, name: &str) -> Box<Diagnostic> {
    refuse(
        "E1139",
        at,
        format!("`{name}` is a time, of which hardly two are the same"),
        "",
        format!("`histogram({name})` shows how they are distributed"),
    )
}

/// A response time of messages without requests and responses.
///
/// `own` are the attributes of this kind, `others` the response times of other kinds.
///
/// `own` are the attributes of this kind, `others` the response times of other kinds.
pub(crate) fn no_exchange(
    at: Span,
    name: &str,
    kind: &str,
    own: &[String],
    others: &[String],
) -> Box<Diagnostic> {
    refuse(
        "E1144",
        at,
        format!(
            "there is no attribute `{name}`: {kind} does not distinguish requests from responses"
        ),
        "no such attribute",
        format!(
            "of {kind} there are {}; response times are {}",
            own.join(", "),
            others.join(", ")
        ),
    )
}

/// Two keys, of each of which a message may have several values.
pub(crate) fn two_several(span: Span, name: &str, (other, at): (&str, Span)) -> Box<Diagnostic> {
    let what = format!("a message may have several values of `{other}` and of `{name}`");
    let help = format!(
        "nothing says which of them belong together: write `first({name})`, or group by one of them"
    );
    Box::new(refuse("E0971", span, what, "also has several", help).also(at, "has several"))
}
