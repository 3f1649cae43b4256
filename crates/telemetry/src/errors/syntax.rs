//! Diagnostics of a query's syntax.

use super::{did_you_mean, or_list, quoted, refuse};
use crate::MAX_QUERY;
use crate::lexer::UNITS;
use crate::query::FUNCTIONS;
use diag::{Diagnostic, Span};
use std::net::IpAddr;

/// Help: the syntax of a query.
const FORM: &str = "a query is AGGREGATES [by ATTRIBUTES] [where CONDITION] [order by AGGREGATE] [top N], such as `count by ip.src where tcp.dst_port == 443`";

/// A query that is too long.
pub(crate) fn too_long(length: usize) -> Box<Diagnostic> {
    Diagnostic::failure(
        "E1101",
        format!("the query has {length} bytes; it may have {MAX_QUERY}"),
        "`starts with`, `~` and prefixes such as 10.0.0.0/8 ask for many values at once",
    )
}

/// An empty query.
pub(crate) fn empty(at: Span) -> Box<Diagnostic> {
    refuse("E1102", at, "the query is empty", "", FORM)
}

/// A character that begins no token. `rest` is the text from there on.
pub(crate) fn unexpected(at: Span, rest: &str) -> Box<Diagnostic> {
    let found = rest.chars().next().unwrap_or(' ');
    let help = match found {
        '=' => "`==` compares",
        '&' => "write `and`",
        '|' => "write `or`",
        '!' => "write `not` in front of a condition, or `!=`",
        '\'' | '`' | '\u{201c}' | '\u{201d}' => "texts stand between double quotes: \"GET\"",
        '-' => "numbers are 0 or greater",
        '/' => "regular expressions stand between double quotes: ~ \"^/api\"",
        '{' | '}' => "sets stand between brackets: [80, 443]",
        '.' | '*' | '#' => "names begin with a letter: ip.src, tcp.dst_port",
        ';' => "one query at a time; `,` stands between aggregates",
        _ => FORM,
    };
    refuse(
        "E1103",
        at,
        format!("unexpected `{found}`"),
        "nothing begins so",
        help,
    )
}

/// A text without an end.
pub(crate) fn open_text(at: Span) -> Box<Diagnostic> {
    refuse(
        "E1104",
        at,
        "this text has no end",
        "it begins here",
        "end it with a double quote; a quote in it is `\\\"`",
    )
}

/// A backslash before a character that forms no escape.
pub(crate) fn escape(at: Span, written: &str) -> Box<Diagnostic> {
    let what = match written {
        "\\x" => "`\\x` needs two hexadecimal digits, as in `\\x0a`".to_string(),
        written => format!("there is no escape `{written}`"),
    };
    refuse(
        "E1105",
        at,
        what,
        "",
        "a text may have `\\\"`, `\\\\`, `\\n`, `\\r`, `\\t` and `\\xHH`; regular expressions, behind `~`, have their own",
    )
}

/// A word that begins like a value but is not one.
pub(crate) fn no_value(at: Span, word: &str) -> Box<Diagnostic> {
    let (what, help): (_, String) = if let Some((first, last)) = range(word) {
        (
            format!("`{word}` is no value: there are no ranges"),
            match first.parse::<IpAddr>() {
                Ok(_) => {
                    "ask for a prefix, `in 10.0.0.0/8`, or list the addresses, `in [10.0.0.1, 10.0.0.2]`"
                        .into()
                }
                Err(_) => format!("compare twice: `x >= {first} and x <= {last}`"),
            },
        )
    } else if is_mac(word, '-') {
        (
            format!("`{word}` is no address"),
            format!("write it with colons: {}", word.replace('-', ":")),
        )
    } else if let Some((_, length)) = word.split_once('/') {
        (
            format!("`{word}` is no prefix"),
            format!("a prefix has 0 to 32 bits, or 0 to 128 for IPv6; it cannot have `{length}`"),
        )
    } else if word.bytes().all(|b| b.is_ascii_digit()) {
        (
            format!("{word} is too large"),
            format!("numbers are at most {}", u64::MAX),
        )
    } else if word.contains(':') {
        (
            format!("`{word}` is no address"),
            "addresses are such as 2001:db8::1 and 02:00:00:00:00:01".into(),
        )
    } else if word.contains('.') {
        (
            format!("`{word}` is neither a number nor an address"),
            "addresses are such as 10.0.0.1, prefixes such as 10.0.0.0/8".into(),
        )
    } else if is_time(word) {
        (
            format!("{word} is too large"),
            format!("times are at most {}s", u64::MAX / 1_000_000_000),
        )
    } else {
        (
            format!("`{word}` is no number"),
            in_seconds(word).unwrap_or_else(|| {
                "numbers are such as 1500 or 0x5dc, times such as 250us, 1.5ms or 2s".into()
            }),
        )
    };
    refuse("E1106", at, what, "", help)
}

/// Splits a range: two addresses or two numbers with a hyphen between.
fn range(word: &str) -> Option<(&str, &str)> {
    let (first, last) = word.split_once('-')?;
    let both = |is: fn(&str) -> bool| is(first) && is(last);
    let is_range =
        both(|part| part.parse::<IpAddr>().is_ok()) || both(|part| part.parse::<u64>().is_ok());
    is_range.then_some((first, last))
}

/// Tests a word for six pairs of hexadecimal digits.
fn is_mac(word: &str, between: char) -> bool {
    let is_pair = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit());
    word.split(between).count() == 6 && word.split(between).all(is_pair)
}

/// Returns true if a word is a time, even one that is too large.
fn is_time(word: &str) -> bool {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_digits && UNITS.iter().any(|(unit, _)| *unit == &word[digits.len()..])
}

/// Suggests how to write a time with a larger unit.
fn in_seconds(word: &str) -> Option<String> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match &word[digits.len()..] {
        "sec" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return None,
    };
    let time = digits.parse::<u64>().ok()?.checked_mul(seconds)?;
    Some(format!(
        "the units of time are ns, us, ms and s: write {time}s"
    ))
}

/// A token other than the expected ones.
pub(crate) fn expected(at: Span, what: &[&str], found: &str) -> Box<Diagnostic> {
    let words = what.iter().map(|word| word.trim_matches('`'));
    let words = words.filter(|word| word.bytes().all(|b| b.is_ascii_lowercase()));
    let near = did_you_mean(words, found).filter(|_| found.len() > 1);
    let is_address = found.parse::<IpAddr>().is_ok();
    let found = match found {
        "" => "the end".to_string(),
        found => format!("`{found}`"),
    };
    let help = match (what, found.as_str()) {
        _ if near.is_some() => near.unwrap_or_default(),
        (["`[`", ..], found) if is_address => {
            format!("write `== {0}`, or `in [{0}]`", found.trim_matches('`'))
        }
        (["an attribute"], "`(`") => {
            "an attribute's name stands here: `not` and parentheses go around whole comparisons"
                .into()
        }
        (["an attribute"], _) => {
            "attributes are such as ip.src, tcp.dst_port and packet.length".into()
        }
        (["a value"], _) => {
            "values are such as 443, \"GET\", 10.0.0.1, 2001:db8::1 and 02:00:00:00:00:01".into()
        }
        (["an aggregate"], _) => aggregates(),
        (["a regular expression in double quotes"], found) if found != "the end" => {
            format!("write `~ \"{}\"`", found.trim_matches('`'))
        }
        ([.., "the end"], "`count`" | "`bytes`" | "`rate`") => {
            "`,` stands between aggregates".into()
        }
        (["`==`", ..], "`contains`" | "`like`" | "`matches`") => {
            "`~ \"...\"` looks for a regular expression anywhere in a text".into()
        }
        (["`==`", ..], "`is`" | "`equals`") => "`==` compares".into(),
        (["`==`", ..], _) => {
            "a comparison is an attribute, an operator and a value: tcp.dst_port == 443".into()
        }
        _ => FORM.to_string(),
    };
    refuse(
        "E1107",
        at,
        format!("expected {}, found {found}", or_list(what)),
        "",
        help,
    )
}

fn aggregates() -> String {
    let names: Vec<&str> = FUNCTIONS.into_iter().map(|(name, _)| name).collect();
    format!("the aggregates are {}", super::quoted(&names).join(", "))
}

/// An aggregate that does not exist.
pub(crate) fn unknown_aggregate(at: Span, word: &str) -> Box<Diagnostic> {
    let names = FUNCTIONS.into_iter().map(|(name, _)| name);
    let lower = word.to_ascii_lowercase();
    let meant = match lower.as_str() {
        "avg" | "average" => Some("mean"),
        "unique" | "uniq" | "cardinality" => Some("distinct"),
        "topk" => Some("top"),
        "packets" => Some("count"),
        "quantile" | "percentile" | "median" => Some("histogram"),
        _ => None,
    };
    let help = match meant {
        _ if ["where", "by"].contains(&lower.as_str()) => {
            Some(format!("an aggregate comes first: `count {lower} ...`"))
        }
        Some(name) => Some(format!("did you mean {}?", or_list(&quoted(&[name])))),
        None => did_you_mean(names, word),
    };
    refuse(
        "E1108",
        at,
        format!("there is no aggregate `{word}`"),
        "",
        help.unwrap_or_else(aggregates),
    )
}

/// An aggregate with empty or superfluous parentheses.
pub(crate) fn takes_nothing(at: Span, function: &str) -> Box<Diagnostic> {
    let help = match function {
        "count" => {
            "it counts records: write `count`, and what to count behind `where`; `distinct(x)` counts values"
        }
        _ => "it sums the lengths of packets: write `bytes`, or `sum(x)` for an attribute",
    };
    refuse(
        "E1109",
        at,
        format!("`{function}` takes no argument"),
        "",
        help,
    )
}

/// An aggregate without its argument.
pub(crate) fn needs_argument(at: Span, function: &str) -> Box<Diagnostic> {
    let (what, example) = match function {
        "top" => ("a number and an attribute", "top(10, ip.src)".to_string()),
        "distinct" => ("an attribute", "distinct(ip.src)".to_string()),
        other => ("an attribute", format!("{other}(packet.length)")),
    };
    refuse(
        "E1110",
        at,
        format!("`{function}` needs {what}"),
        "",
        format!("write `{example}`, for example"),
    )
}

/// Clauses in the wrong order.
pub(crate) fn by_after_where(at: Span) -> Box<Diagnostic> {
    refuse(
        "E1111",
        at,
        "`by` stands in front of `where`",
        "",
        "write `count by ip.src where tcp.dst_port == 443`",
    )
}

/// A condition that is nested too deep.
pub(crate) fn too_deep(at: Span, most: usize) -> Box<Diagnostic> {
    refuse(
        "E1112",
        at,
        format!("conditions are nested more than {most} deep"),
        "",
        "`and` and `or` take any number of conditions without parentheses",
    )
}
