//! Errors in entries, names and test scripts. One function a diagnostic.

use crate::names::{self, NameError};
use crate::values::ValueError;
use crate::{Change, StoreError};
use diag::{Diagnostic, Span};
use schema::{Schema, Table};

/// Error of this crate. It is boxed, since a diagnostic is large beside the results that functions return on success.
pub type Refusal = Box<Diagnostic>;

fn refuse(
    code: &'static str,
    span: Span,
    message: impl Into<String>,
    help: impl Into<String>,
) -> Refusal {
    Box::new(Diagnostic::refusal(code, span, message, help))
}

/// Formats `no keys`, `1 key`, `2 keys`.
fn count(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// Formats `none is`, `1 value is`, `2 values are`; with an empty word, only the number.
fn given(number: usize, what: &str) -> String {
    match (number, what) {
        (0, "") => "none is".to_string(),
        (1, "") => "1 is".to_string(),
        (_, "") => format!("{number} are"),
        (0, _) => format!("no {what} is"),
        (1, _) => format!("1 {what} is"),
        _ => format!("{} are", count(number, what)),
    }
}

/// A register's value with more or fewer parts than the register's type has.
pub fn register_width(span: Span, expected: usize, found: usize) -> Refusal {
    let what = format!(
        "an element of this register is {}, but {} given",
        count(expected, "value"),
        given(found, "")
    );
    malformed(span, &what, "one value a field, in order")
}

/// A value that cannot be read or does not fit.
pub fn bad_value(span: Span, what: &str, error: ValueError) -> Refusal {
    refuse(
        "E0801",
        span,
        format!("{what}: {}", error.message),
        error.help,
    )
}

/// A name that denotes nothing, or several things. `kind` is `table`, `action`, `key`, …
pub fn bad_name(span: Span, kind: &str, wanted: &str, known: &[&str], error: NameError) -> Refusal {
    match error {
        NameError::Unknown { similar } => {
            let help = if !similar.is_empty() {
                format!("did you mean {}?", or_list(&similar))
            } else if known.is_empty() {
                format!("the program has no {kind} at all")
            } else {
                let more = if known.len() > 10 { ", …" } else { "" };
                format!(
                    "there are: {}{more}",
                    known[..known.len().min(10)].join(", ")
                )
            };
            refuse(
                "E0802",
                span,
                format!("there is no {kind} `{wanted}`"),
                help,
            )
        }
        NameError::Ambiguous { candidates } => refuse(
            "E0803",
            span,
            format!("`{wanted}` is the end of more than one {kind}'s name"),
            format!("write more of it: {}", or_list(&candidates)),
        ),
    }
}

fn or_list(names: &[String]) -> String {
    names
        .iter()
        .map(|n| format!("`{n}`"))
        .collect::<Vec<_>>()
        .join(" or ")
}

/// An entry or a default that names no action. `forms` are the calls that are possible.
pub fn no_action(span: Span, table: &str, forms: &[String]) -> Refusal {
    let help = match forms.len() {
        0 => "the table has none that may stand here".to_owned(),
        many => {
            let more = if many > 5 { " …" } else { "" };
            format!("end it with {}{more}", or_list(&forms[..many.min(5)]))
        }
    };
    refuse(
        "E0804",
        span,
        format!("no action is named for `{table}`"),
        help,
    )
}

/// More or fewer keys than the table has.
pub fn key_count(span: Span, table: &str, expected: &[&str], found: usize) -> Refusal {
    let key = if expected.is_empty() {
        "empty".to_string()
    } else {
        expected.join(", ")
    };
    refuse(
        "E0805",
        span,
        format!(
            "`{table}` has {}, but {} given",
            count(expected.len(), "key field"),
            given(found, "value")
        ),
        format!("its key is: {key}"),
    )
}

/// Keys that are wrong because the words of an action without parentheses were taken for keys. `form` is the action as
/// it is to be written.
pub fn loose_arguments(mut refusal: Refusal, form: &str) -> Refusal {
    refusal.help = Some(format!(
        "an action's arguments stand in parentheses: `{form}`"
    ));
    refusal
}

/// A required key is missing.
pub fn key_missing(span: Span, table: &str, key: &str) -> Refusal {
    let help = format!("an exact key cannot be left out: write `{key}:VALUE`");
    refuse(
        "E0805",
        span,
        format!("the key `{key}` of `{table}` has no value"),
        help,
    )
}

/// A match of several values, or of all, in place of a packet's value.
pub fn no_value(span: Span, key: &str) -> Refusal {
    refuse(
        "E0805",
        span,
        format!("a packet has one value of the key `{key}`"),
        format!("give it as `{key}:VALUE`, such as an address without a prefix length"),
    )
}

/// The same key or argument twice.
pub fn given_twice(span: Span, what: &str) -> Refusal {
    refuse(
        "E0806",
        span,
        format!("`{what}` is given twice"),
        "keep one of the two",
    )
}

/// More or fewer arguments than the action has parameters.
pub fn argument_count(span: Span, action: &str, expected: &[&str], found: usize) -> Refusal {
    refuse(
        "E0807",
        span,
        format!(
            "`{action}` takes {}, but {} given",
            count(expected.len(), "argument"),
            given(found, "")
        ),
        format!("call it as `{action}({})`", expected.join(", ")),
    )
}

/// A test's entry that gives no arguments to an action that takes some.
pub fn arguments_omitted(span: Span, action: &str, expected: &[&str]) -> Diagnostic {
    let message = format!(
        "`{action}` takes {}, and none is given: zero is taken for each",
        count(expected.len(), "argument")
    );
    Diagnostic::warning("W0824", span, message)
        .help(format!("write them: `{action}({})`", expected.join(", ")))
}

/// An entry in a table whose entries can overlap has no priority.
pub fn priority_missing(span: Span, table: &str) -> Refusal {
    let help = "write a number after the table's name; the largest wins";
    refuse(
        "E0808",
        span,
        format!("entries of `{table}` can overlap, so they need a priority"),
        help,
    )
}

/// A priority in a table that does not need one.
pub fn priority_unused(span: Span, table: &str) -> Refusal {
    let message = format!("entries of `{table}` cannot overlap, so a priority has no meaning");
    refuse("E0808", span, message, "omit the number")
}

/// A `@tableonly` action as default, or a `@defaultonly` one in an entry. `only` says where it is allowed.
pub fn action_not_allowed(span: Span, action: &str, only: &str) -> Refusal {
    let help = "choose another of the table's actions";
    refuse(
        "E0809",
        span,
        format!("`{action}` is allowed {only} only"),
        help,
    )
}

/// An action in a statement that only looks for an entry.
pub fn action_unused(span: Span, table: &str, action: &str) -> Refusal {
    let message = format!("an entry of `{table}` is found by its key, so an action has no meaning");
    refuse("E0809", span, message, format!("leave `{action}` out"))
}

/// Describes the change that has not been made because it was refused.
pub fn not_done(schema: &Schema, change: &Change) -> String {
    let table = |table: &Table| &schema.tables[*table].name;
    match change {
        Change::Insert(t, _) => format!("no entry was added to `{}`", table(t)),
        Change::Modify(t, _) => format!("no entry of `{}` was changed", table(t)),
        Change::Remove(t, _) => format!("no entry was removed from `{}`", table(t)),
        Change::SetDefault(t, _) => {
            format!("the default action of `{}` was not changed", table(t))
        }
        Change::Clear(t) | Change::Replace(t) => {
            format!("the entries of `{}` were not removed", table(t))
        }
        Change::InsertMember(..) | Change::RemoveMember(..) => {
            "the value set was not changed".to_string()
        }
        Change::InsertName(..) | Change::RemoveName(..) | Change::ClearNames(..) => {
            "the name set was not changed".to_string()
        }
        Change::Group(..) => "the multicast group was not changed".to_string(),
        Change::Session(..) => "the clone session was not changed".to_string(),
        Change::Member(..) => "the member was not changed".to_string(),
        Change::MemberGroup(..) => "the group was not changed".to_string(),
        Change::Meter(..) => "the meter was not changed".to_string(),
    }
}

/// The target refused; nothing was changed.
pub fn store(span: Span, what: &str, error: &StoreError) -> Refusal {
    let help = match error {
        StoreError::Duplicate => {
            "give an entry that is there another action by `onpath table modify` or `add --or-modify`, or give this one another \
             match or priority"
        }
        StoreError::Missing => "`onpath table dump` shows the entries there are",
        StoreError::Full { .. } => "remove some, or raise the size in the program",
        StoreError::OutOfRange { .. } => "indexes begin at 0",
        StoreError::Reference { .. } => {
            "make what is referred to first, and remove it last; `onpath profile list` shows what there is"
        }
        StoreError::Name { .. } => {
            "`onpath names list` shows the rules there are; a set with a larger size in the program has room for more"
        }
        StoreError::NoInterface { .. } => "`onpath port add PORT IF --reach` gives it one",
        StoreError::Const => "change the program's source",
        StoreError::Invalid { .. } => "choose other numbers",
        StoreError::Unsupported { .. } => "use a target or a program that has it",
        StoreError::Unloaded => "`onpath ls` lists the programs that are running",
        StoreError::Endless { .. } => {
            "look for a loop without an end; `onpath test --trace` shows where the packet is"
        }
        StoreError::System { .. } => "`onpath doctor` shows what this machine allows",
    };
    refuse("E0810", span, format!("{what}: {error}"), help)
}

/// A statement that the test language does not have. `known` are those it has.
pub fn unknown_statement(span: Span, word: &str, known: &[&str]) -> Refusal {
    let similar = names::similar(known.iter().copied(), word);
    let help = if similar.is_empty() {
        format!("statements are: {}", known.join(", "))
    } else {
        format!("did you mean {}?", or_list(&similar))
    };
    refuse(
        "E0820",
        span,
        format!("there is no statement `{word}`"),
        help,
    )
}

/// A statement that is incomplete or has surplus words.
pub fn malformed(span: Span, what: &str, form: &str) -> Refusal {
    refuse("E0821", span, what, format!("write it as: {form}"))
}

/// A file that looks like a runtime file but is not a valid one.
pub fn runtime_file(span: Span, why: &str) -> Diagnostic {
    Diagnostic::refusal(
        "E0813",
        span,
        format!("this runtime file cannot be read: {why}"),
        "it is an object with `table_entries`, `multicast_group_entries` and `clone_session_entries`; a file of `add` lines is read too",
    )
}

/// A check of bytes or packets that the counter does not count.
pub fn counts_no(span: Span, counter: &str, wanted: &str, counted: &str) -> Refusal {
    refuse(
        "E0811",
        span,
        format!("the counter `{counter}` counts no {wanted}"),
        format!("compare its {counted}, or declare a counter that counts {wanted}"),
    )
}

/// A table whose entries have no meters.
pub fn no_meter(span: Span, table: &str) -> Refusal {
    refuse(
        "E0812",
        span,
        format!("the entries of `{table}` have no meters"),
        "name a meter with its index, or a table whose `meters` property names a direct_meter",
    )
}

/// A counter with an index, named without an index.
pub fn index_missing(span: Span, counter: &str) -> Refusal {
    let what = format!("`{counter}` is a counter with an index, and none is given");
    malformed(span, &what, &format!("{counter}[INDEX]"))
}
