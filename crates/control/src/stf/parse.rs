//! Parser of scripts.

use super::groups::Groups;
use super::script::*;
use super::sessions;
use crate::errors;
use crate::numbers::number;
use crate::piece::Piece;
use crate::replication::text::port;
use crate::{digest, meter, profile};
use diag::{Diagnostic, Diagnostics, FileId, SourceMap, Span};

/// Parses a whole file. Statements with errors are left out.
pub fn parse(map: &SourceMap, file: FileId) -> (Script, Diagnostics) {
    let text = map.file(file).text.clone();
    let start = map.span(file, 0..0).lo;
    let mut script = Script::default();
    let mut diagnostics = Diagnostics::new();
    let mut groups = Groups::default();
    let mut offset = 0;
    for raw in text.split_inclusive('\n') {
        let line = Piece::new(raw, start + offset as u32);
        offset += raw.len();
        let code = match line.split_once(|c| c == '#') {
            Some((before, _)) => before.trim(),
            None => line.trim(),
        };
        if code.text.is_empty() {
            continue;
        }
        match statement(code, &mut groups) {
            Ok(kind) => script.statements.push(Statement {
                kind,
                span: code.span(),
            }),
            Err(refusal) => diagnostics.push(*refusal),
        }
    }
    (script, diagnostics)
}

pub(super) type Parsed<T> = Result<T, Box<Diagnostic>>;

pub(super) fn malformed<T>(span: Span, what: &str, form: &str) -> Parsed<T> {
    Err(errors::malformed(span, what, form))
}

fn text(piece: Piece) -> Text {
    Text {
        text: piece.text.to_string(),
        span: piece.span(),
    }
}

/// All statements of the language.
const STATEMENTS: [&str; 34] = [
    "packet",
    "expect",
    "no_packet",
    "expect_digest",
    "no_digest",
    "wait",
    "add",
    "setdefault",
    "remove",
    "check_counter",
    "check_metric",
    "register_read",
    "register_write",
    "register_reset",
    "meter_set",
    "meter_reset",
    "action_member",
    "action_group",
    "value_set_add",
    "value_set_remove",
    "name_add",
    "name_remove",
    "name_clear",
    "multicast_group",
    "mc_mgrp_create",
    "mc_node_create",
    "mc_node_associate",
    "mc_node_dissociate",
    "mc_mgrp_destroy",
    "clone_session",
    "mirroring_add",
    "mirroring_add_mc",
    "mirroring_delete",
    "mirroring_get",
];

fn statement(line: Piece, groups: &mut Groups) -> Parsed<StatementKind> {
    let (word, rest) = line.first_word();
    match word.text {
        "packet" => packet(line, rest),
        "expect" => expect(line, rest),
        "no_packet" => no_packet(rest),
        "add" => some_text(
            line,
            rest,
            "add TABLE [PRIORITY] KEY:MATCH ... ACTION(ARGS)",
        )
        .map(StatementKind::Add),
        "setdefault" => {
            some_text(line, rest, "setdefault TABLE ACTION(ARGS)").map(StatementKind::SetDefault)
        }
        "remove" => remove(line, rest),
        "check_counter" => check_counter(line, rest),
        "check_metric" => check_metric(line, rest),
        "register_read" => register_read(line, rest),
        "register_write" => register_write(line, rest),
        "register_reset" => {
            some_text(line, rest, "register_reset NAME").map(StatementKind::RegisterReset)
        }
        "meter_set" => some_text(line, rest, meter::SET).map(StatementKind::MeterSet),
        "meter_reset" => some_text(line, rest, meter::RESET).map(StatementKind::MeterReset),
        "action_member" => some_text(line, rest, profile::MEMBER).map(StatementKind::ActionMember),
        "action_group" => {
            some_text(line, rest, profile::MEMBER_GROUP).map(StatementKind::ActionGroup)
        }
        "value_set_add" => {
            some_text(line, rest, "value_set_add NAME MATCH ...").map(StatementKind::ValueSetAdd)
        }
        "value_set_remove" => some_text(line, rest, "value_set_remove NAME MATCH ...")
            .map(StatementKind::ValueSetRemove),
        "name_add" | "name_remove" | "name_clear" => Ok(StatementKind::NameSet(text(line))),
        "expect_digest" => some_text(line, rest, digest::EXPECTED).map(StatementKind::ExpectDigest),
        "no_digest" => Ok(StatementKind::NoDigest(
            (!rest.text.is_empty()).then(|| text(rest)),
        )),
        "wait" => wait(rest),
        _ => copies(line, groups).unwrap_or_else(|| {
            let (span, word, known) = (word.span(), word.text, &STATEMENTS);
            Err(errors::unknown_statement(span, word, known))
        }),
    }
}

/// Parses a statement about multicast groups or clone sessions, in one line or as in BMv2; `None` for any other
/// statement.
pub(crate) fn copies(line: Piece, groups: &mut Groups) -> Option<Parsed<StatementKind>> {
    let (word, rest) = line.first_word();
    Some(match word.text {
        "multicast_group" => groups.group(line, rest),
        "mc_mgrp_create" => groups.create(line, rest),
        "mc_mgrp_destroy" => groups.destroy(line, rest),
        "mc_node_create" => groups.node(line, rest),
        "mc_node_associate" => groups.associate(line, rest),
        "mc_node_dissociate" => groups.dissociate(line, rest),
        "clone_session" => sessions::session(line, rest),
        "mirroring_add" => sessions::to_port(line, rest),
        "mirroring_add_mc" => sessions::to_group(line, rest),
        "mirroring_delete" => sessions::delete(line, rest),
        // It only prints the session.
        "mirroring_get" => sessions::get(line, rest),
        _ => return None,
    })
}

fn some_text(line: Piece, rest: Piece, form: &str) -> Parsed<Text> {
    if rest.text.is_empty() {
        return malformed(line.span(), "the statement is not complete", form);
    }
    Ok(text(rest))
}

const PACKET: &str = "packet PORT HEX...";
const EXPECT: &str = "expect PORT [HEX...], with * for any nibble and a final $ for the end";

fn packet(line: Piece, rest: Piece) -> Parsed<StatementKind> {
    let (word, data) = rest.first_word();
    let port = port(line, word, PACKET)?;
    let pattern = pattern(data, PACKET)?;
    if pattern.strict {
        return malformed(
            data.span(),
            "`$` has no meaning in a packet that is sent",
            PACKET,
        );
    }
    let nibbles: Option<Vec<u8>> = pattern.nibbles.into_iter().collect();
    let Some(nibbles) = nibbles else {
        return malformed(
            data.span(),
            "`*` has no meaning in a packet that is sent",
            PACKET,
        );
    };
    if nibbles.is_empty() {
        return malformed(line.span(), "the packet has no bytes", PACKET);
    }
    let bytes = nibbles
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect();
    Ok(StatementKind::Packet { port, bytes })
}

fn expect(line: Piece, rest: Piece) -> Parsed<StatementKind> {
    let (word, data) = rest.first_word();
    let port = port(line, word, EXPECT)?;
    let pattern = if data.text.is_empty() {
        None
    } else {
        Some(pattern(data, EXPECT)?)
    };
    Ok(StatementKind::Expect { port, pattern })
}

/// Parses hex digits, `*`, blanks between, and a `$` at the end.
fn pattern(data: Piece, form: &str) -> Parsed<Pattern> {
    let mut nibbles = Vec::new();
    let mut strict = false;
    let body = data
        .text
        .strip_prefix("0x")
        .map_or(data, |_| data.part(2, data.text.len()));
    for (at, c) in body.text.char_indices() {
        let here = || body.part(at, at + c.len_utf8()).span();
        if strict && !c.is_whitespace() {
            return malformed(here(), "bytes after the `$` that ends the packet", form);
        }
        match c {
            '*' => nibbles.push(None),
            '$' => strict = true,
            c if c.is_whitespace() => {}
            c => match c.to_digit(16) {
                Some(digit) => nibbles.push(Some(digit as u8)),
                None => return malformed(here(), "this is not a hexadecimal digit", form),
            },
        }
    }
    if nibbles.len() % 2 != 0 {
        return malformed(data.span(), "the last byte has only one digit", form);
    }
    Ok(Pattern { nibbles, strict })
}

fn wait(rest: Piece) -> Parsed<StatementKind> {
    const FORM: &str = "wait, or wait TIME with a unit: 50ms, 20us, 3s";
    if rest.text.is_empty() {
        return Ok(StatementKind::Wait(0));
    }
    let digits = rest
        .text
        .trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match rest.text[digits.len()..].trim_start() {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return malformed(rest.span(), "this is not a time", FORM),
    };
    match number(digits.trim_end()).and_then(|n| n.checked_mul(unit)) {
        Some(time) => Ok(StatementKind::Wait(time)),
        None => malformed(rest.span(), "this is not a time", FORM),
    }
}

fn no_packet(rest: Piece) -> Parsed<StatementKind> {
    if rest.text.is_empty() {
        return Ok(StatementKind::NoPacket { port: None });
    }
    let port = port(rest, rest, "no_packet [PORT]")?;
    Ok(StatementKind::NoPacket { port: Some(port) })
}

fn remove(line: Piece, rest: Piece) -> Parsed<StatementKind> {
    let (word, table) = rest.first_word();
    if word.text == "all" {
        let table = (!table.text.is_empty()).then(|| text(table));
        return Ok(StatementKind::RemoveAll(table));
    }
    some_text(
        line,
        rest,
        "remove TABLE [PRIORITY] KEY:MATCH ..., or remove all [TABLE]",
    )
    .map(StatementKind::Remove)
}

const CHECK_COUNTER: &str = "check_counter NAME[INDEX] [packets|bytes] == N, \
    or check_counter TABLE KEY:MATCH ... [packets|bytes] == N; for == also !=, <, <=, > or >=";

/// Returns true if a word can only be meant as a comparison operator, even a wrong one.
fn reads_as_operator(word: &str) -> bool {
    word.chars().all(|c| matches!(c, '=' | '!' | '<' | '>'))
}

/// Takes the number to compare with off the end of a statement, and the comparison before it, if there is one.
fn comparison(
    line: Piece,
    words: &mut Vec<Piece>,
    form: &str,
) -> Parsed<(Option<Comparison>, u64)> {
    let value = words.pop().and_then(|w| number(w.text));
    let Some(value) = value else {
        return malformed(line.span(), "the number to compare with is missing", form);
    };
    let op = match words.last().map(|w| w.text) {
        Some("==" | "=") => Some(Comparison::Eq),
        Some("!=") => Some(Comparison::Ne),
        Some("<") => Some(Comparison::Lt),
        Some("<=") => Some(Comparison::Le),
        Some(">") => Some(Comparison::Gt),
        Some(">=") => Some(Comparison::Ge),
        _ => None,
    };
    if op.is_some() {
        words.pop();
    }
    Ok((op, value))
}

fn check_metric(line: Piece, rest: Piece) -> Parsed<StatementKind> {
    const FORM: &str = "check_metric NAME FIELD:VALUE ... MEASURE == N, or check_metric NAME lost == N; \
        for == also !=, <, <=, > or >=";
    let mut words = rest.words();
    let (op, value) = comparison(line, &mut words, FORM)?;
    if let Some(word) = words.iter().find(|w| reads_as_operator(w.text)) {
        let what = format!("`{}` is not a comparison, or is misplaced", word.text);
        return malformed(word.span(), &what, FORM);
    }
    let Some(last) = words.last() else {
        return malformed(line.span(), "the statement is not complete", FORM);
    };
    let to = (last.span().hi - rest.span().lo) as usize;
    Ok(StatementKind::CheckMetric {
        asked: text(rest.part(0, to)),
        op: op.unwrap_or(Comparison::Eq),
        value,
    })
}

fn check_counter(line: Piece, rest: Piece) -> Parsed<StatementKind> {
    let (name, tail) = name_and_index(line, rest, CHECK_COUNTER)?;
    let mut words = tail.1.words();
    let (op, value) = comparison(line, &mut words, CHECK_COUNTER)?;
    let bytes = match words.last().map(|w| w.text) {
        Some("packets") => Some(false),
        Some("bytes") => Some(true),
        _ => None,
    };
    if bytes.is_some() {
        words.pop();
    }
    let mut index = tail.0;
    if index.is_none() && words.len() == 1 {
        index = number(words[0].text);
        if index.is_some() {
            words.clear();
        }
    }
    if let Some(word) = words.iter().find(|w| reads_as_operator(w.text)) {
        let what = format!("`{}` is not a comparison, or is misplaced", word.text);
        return malformed(word.span(), &what, CHECK_COUNTER);
    }
    let keys = match (words.first(), words.last()) {
        // An array's element is not named by keys.
        (Some(word), _) if index.is_some() => {
            let what = format!("`{}` has no meaning here", word.text);
            return malformed(word.span(), &what, CHECK_COUNTER);
        }
        (Some(first), Some(last)) => {
            let from = (first.span().lo - line.span().lo) as usize;
            let to = (last.span().hi - line.span().lo) as usize;
            text(line.part(from, to))
        }
        _ => text(line.part(line.text.len(), line.text.len())),
    };
    Ok(StatementKind::CheckCounter {
        name,
        index,
        keys,
        bytes: bytes.unwrap_or(false),
        op: op.unwrap_or(Comparison::Eq),
        value,
    })
}

/// Parses `NAME`, `NAME[INDEX]` or `NAME(INDEX)`. Returns the rest of the text too.
fn name_and_index<'a>(
    line: Piece<'a>,
    rest: Piece<'a>,
    form: &str,
) -> Parsed<(Text, (Option<u64>, Piece<'a>))> {
    let (word, tail) = rest.first_word();
    if word.text.is_empty() {
        return malformed(line.span(), "the name is missing", form);
    }
    let close = match word.text.chars().last() {
        Some(']') => '[',
        Some(')') => '(',
        _ => return Ok((text(word), (None, tail))),
    };
    let Some(open) = word.text.rfind(close) else {
        return malformed(word.span(), "a bracket is closed that was not opened", form);
    };
    let inside = word.part(open + 1, word.text.len() - 1);
    match number(inside.trim().text) {
        Some(index) => Ok((text(word.part(0, open)), (Some(index), tail))),
        None => malformed(inside.span(), "this is not an index", form),
    }
}

/// Parses `NAME[INDEX]` or `NAME INDEX`. Returns the rest of the text too.
fn cell<'a>(line: Piece<'a>, rest: Piece<'a>, form: &str) -> Parsed<(Cell, Piece<'a>)> {
    let (name, (index, tail)) = name_and_index(line, rest, form)?;
    if let Some(index) = index {
        return Ok((Cell { name, index }, tail));
    }
    let (word, tail) = tail.first_word();
    match number(word.text) {
        Some(index) => Ok((Cell { name, index }, tail)),
        None => malformed(line.span(), "the index is missing", form),
    }
}

fn register_read(line: Piece, rest: Piece) -> Parsed<StatementKind> {
    const FORM: &str = "register_read NAME[INDEX] == VALUE";
    let (cell, tail) = cell(line, rest, FORM)?;
    let (first, second) = tail.first_word();
    let value = if matches!(first.text, "==" | "=") {
        second
    } else {
        tail
    };
    Ok(StatementKind::RegisterRead(
        cell,
        some_text(line, value, FORM)?,
    ))
}

fn register_write(line: Piece, rest: Piece) -> Parsed<StatementKind> {
    const FORM: &str = "register_write NAME[INDEX] VALUE";
    let (cell, tail) = cell(line, rest, FORM)?;
    let (first, second) = tail.first_word();
    let value = if first.text == "=" { second } else { tail };
    Ok(StatementKind::RegisterWrite(
        cell,
        some_text(line, value, FORM)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(source: &str) -> Result<StatementKind, String> {
        let mut map = SourceMap::new();
        let file = map.add("t.stf", source).unwrap();
        let (mut script, diagnostics) = parse(&map, file);
        match diagnostics.iter().next() {
            Some(d) => Err(format!(
                "{}: {}",
                map.line_col(d.primary.span).unwrap().1.line,
                d.message
            )),
            None => Ok(script.statements.remove(0).kind),
        }
    }

    #[test]
    fn packets_and_patterns() {
        assert_eq!(
            one("packet 1 0a0B 0c # comment"),
            Ok(StatementKind::Packet {
                port: 1,
                bytes: vec![10, 11, 12]
            })
        );
        let Ok(StatementKind::Expect {
            port: 2,
            pattern: Some(pattern),
        }) = one("expect 2 a* $")
        else {
            panic!()
        };
        assert_eq!(
            pattern,
            Pattern {
                nibbles: vec![Some(10), None],
                strict: true
            }
        );
        assert_eq!(
            one("expect 3"),
            Ok(StatementKind::Expect {
                port: 3,
                pattern: None
            })
        );
    }

    #[test]
    fn errors_are_named_with_their_line() {
        for (source, message) in [
            ("\n\nfoo 1", "3: there is no statement `foo`"),
            ("packet 1 0g", "1: this is not a hexadecimal digit"),
            ("packet 1 0", "1: the last byte has only one digit"),
            ("packet x 00", "1: this is not a port's number"),
            ("packet", "1: the port is missing"),
            ("packet 0", "1: the packet has no bytes"),
            (
                "packet 0 0*",
                "1: `*` has no meaning in a packet that is sent",
            ),
            (
                "expect 0 00 $ 00",
                "1: bytes after the `$` that ends the packet",
            ),
            ("add", "1: the statement is not complete"),
            ("value_set_add", "1: the statement is not complete"),
            ("wait 5", "1: this is not a time"),
            ("wait ms", "1: this is not a time"),
            ("wait -1s", "1: this is not a time"),
            ("wait 99999999999s", "1: this is not a time"),
            ("check_counter c[x] == 1", "1: this is not an index"),
            (
                "check_counter c packets",
                "1: the number to compare with is missing",
            ),
            (
                "check_counter c[0] byte == 0",
                "1: `byte` has no meaning here",
            ),
            (
                "check_counter c[0] frob 10.0.0.0/8 == 0",
                "1: `frob` has no meaning here",
            ),
            (
                "check_counter c[0] => 1",
                "1: `=>` is not a comparison, or is misplaced",
            ),
            (
                "check_counter c 0 =< 1",
                "1: `=<` is not a comparison, or is misplaced",
            ),
            (
                "check_counter c[0] packets =! 1",
                "1: `=!` is not a comparison, or is misplaced",
            ),
            (
                "check_counter t key:1 <> 1",
                "1: `<>` is not a comparison, or is misplaced",
            ),
            (
                "check_counter c[0] == packets 1",
                "1: `==` is not a comparison, or is misplaced",
            ),
            ("register_read r 1", "1: the statement is not complete"),
        ] {
            assert_eq!(one(source), Err(message.to_string()), "{source}");
        }
    }

    #[test]
    fn times_have_a_unit() {
        for (source, time) in [
            ("wait", 0),
            ("wait 7ns", 7),
            ("wait 20us", 20_000),
            ("wait 50 ms", 50_000_000),
            ("wait 3s # comment", 3_000_000_000),
        ] {
            assert_eq!(one(source), Ok(StatementKind::Wait(time)), "{source}");
        }
    }

    #[test]
    fn counters_in_their_forms() {
        let check = |source: &str| match one(source) {
            Ok(StatementKind::CheckCounter {
                name,
                index,
                keys,
                bytes,
                op,
                value,
            }) => (name.text, index, keys.text, bytes, op, value),
            other => panic!("{source}: {other:?}"),
        };
        assert_eq!(
            check("check_counter c[3] bytes >= 0x10"),
            ("c".into(), Some(3), String::new(), true, Comparison::Ge, 16)
        );
        assert_eq!(
            check("check_counter c(3) == 1"),
            ("c".into(), Some(3), String::new(), false, Comparison::Eq, 1)
        );
        assert_eq!(check("check_counter c 3 packets 7").1, Some(3));
        for (operator, op) in [
            ("=", Comparison::Eq),
            ("==", Comparison::Eq),
            ("!=", Comparison::Ne),
            ("<", Comparison::Lt),
            ("<=", Comparison::Le),
            (">", Comparison::Gt),
            (">=", Comparison::Ge),
        ] {
            assert_eq!(check(&format!("check_counter c[3] {operator} 1")).4, op);
        }
        assert_eq!(
            check("check_counter t dst:10.0.0.0/8 x:1 packets == 2").2,
            "dst:10.0.0.0/8 x:1"
        );
    }
}
