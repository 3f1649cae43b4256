//! Text of multicast groups and clone sessions in statements, entries files and commands.

use super::{CloneSession, DropReason, Replica};
use crate::errors::{self, Refusal};
use crate::numbers::number;
use crate::piece::Piece;
use serde_json::{Value, json};

/// Syntax of a multicast group.
pub const GROUP: &str = "multicast_group GROUP [PORT[:RID] ...]";
/// Syntax of a clone session.
pub const SESSION: &str = "clone_session SESSION [PORT[:RID] ...] [group GROUP] [truncate BYTES]";

type Parsed<T> = Result<T, Refusal>;

/// Parses `GROUP [PORT[:RID] ...]`. `line` is the whole statement.
pub fn parse_group(line: Piece, rest: Piece) -> Parsed<(u16, Vec<Replica>)> {
    let (group, rest) = group_number(line, rest, GROUP)?;
    let words = rest.words().into_iter();
    let replicas = words.map(|word| replica(line, word, GROUP));
    Ok((group, replicas.collect::<Parsed<_>>()?))
}

/// Parses `SESSION [PORT[:RID] ...] [group GROUP] [truncate BYTES]`; with nothing after its number the session is
/// `None`. `line` is the whole statement.
pub fn parse_session(line: Piece, rest: Piece) -> Parsed<(u32, Option<CloneSession>)> {
    let (session, mut rest) = session_number(line, rest, SESSION)?;
    let mut to = CloneSession::default();
    while !rest.text.is_empty() {
        let (word, after) = rest.first_word();
        rest = after;
        match word.text {
            "group" if to.group.is_none() => {
                let given;
                (given, rest) = group_number(line, after, SESSION)?;
                to.group = Some(given);
            }
            "truncate" if to.truncate.is_none() => {
                let (given, after) = after.first_word();
                let bytes = number(given.text).and_then(|n| u32::try_from(n).ok());
                if bytes.is_none() {
                    return Err(errors::malformed(
                        line.span(),
                        "the length is missing",
                        SESSION,
                    ));
                }
                (to.truncate, rest) = (bytes, after);
            }
            _ => to.replicas.push(replica(line, word, SESSION)?),
        }
    }
    let to = (to != CloneSession::default()).then_some(to);
    Ok((session, to))
}

/// Parses a port's number.
pub(crate) fn port(line: Piece, word: Piece, form: &str) -> Parsed<u32> {
    match number(word.text).and_then(|n| u32::try_from(n).ok()) {
        Some(port) => Ok(port),
        None if word.text.is_empty() => {
            Err(errors::malformed(line.span(), "the port is missing", form))
        }
        None => Err(errors::malformed(
            word.span(),
            "this is not a port's number",
            form,
        )),
    }
}

/// Parses a group's number. Returns the rest of the text too.
pub(crate) fn group_number<'a>(
    line: Piece,
    rest: Piece<'a>,
    form: &str,
) -> Parsed<(u16, Piece<'a>)> {
    let (word, rest) = rest.first_word();
    match number(word.text).and_then(|n| u16::try_from(n).ok()) {
        Some(group) => Ok((group, rest)),
        None if word.text.is_empty() => {
            Err(errors::malformed(line.span(), "the group is missing", form))
        }
        None => Err(errors::malformed(
            word.span(),
            "this is not a group's number",
            form,
        )),
    }
}

/// Parses a session's number. Returns the rest of the text too.
pub(crate) fn session_number<'a>(
    line: Piece,
    rest: Piece<'a>,
    form: &str,
) -> Parsed<(u32, Piece<'a>)> {
    let (word, rest) = rest.first_word();
    match number(word.text).and_then(|n| u32::try_from(n).ok()) {
        Some(session) => Ok((session, rest)),
        None if word.text.is_empty() => Err(errors::malformed(
            line.span(),
            "the session is missing",
            form,
        )),
        None => Err(errors::malformed(
            word.span(),
            "this is not a session's number",
            form,
        )),
    }
}

/// Parses `PORT[:RID]`.
pub(crate) fn replica(line: Piece, word: Piece, form: &str) -> Parsed<Replica> {
    let Some((before, after)) = word.split_once(|c| c == ':') else {
        let port = port(line, word, form)?;
        return Ok(Replica { port, rid: 0 });
    };
    let port = port(line, before, form)?;
    match rid(after.text) {
        Some(rid) => Ok(Replica { port, rid }),
        None => Err(errors::malformed(
            after.span(),
            "this is not a replication id",
            form,
        )),
    }
}

/// Parses a replication id.
pub(crate) fn rid(text: &str) -> Option<u16> {
    number(text).and_then(|n| u16::try_from(n).ok())
}

/// Parses `PORT`, or `PORT:RID`.
impl std::str::FromStr for Replica {
    type Err = String;

    fn from_str(text: &str) -> Result<Replica, String> {
        let (port, id) = text.split_once(':').unwrap_or((text, "0"));
        let port = number(port).and_then(|n| u32::try_from(n).ok());
        let port = port.ok_or("write PORT or PORT:RID, such as 3 or 3:7")?;
        let rid = rid(id).ok_or("a replication id is a number from 0 to 65535")?;
        Ok(Replica { port, rid })
    }
}

/// Returns a group as JSON: `group`, its `ports` in order, and its `copies`, each with `port` and `rid`.
pub fn group_json(group: u16, replicas: &[Replica]) -> Value {
    let ports: Vec<u32> = replicas.iter().map(|replica| replica.port).collect();
    json!({ "group": group, "ports": ports, "copies": copies_json(replicas) })
}

/// Returns a session as JSON: `session`, its `copies`, each with `port` and `rid`, `group` and `truncate` (bytes), or
/// null.
pub fn session_json(session: u32, to: &CloneSession) -> Value {
    json!({
        "session": session,
        "copies": copies_json(&to.replicas),
        "group": to.group,
        "truncate": to.truncate,
    })
}

fn copies_json(replicas: &[Replica]) -> Vec<Value> {
    let copies = replicas.iter();
    copies
        .map(|replica| json!({ "port": replica.port, "rid": replica.rid }))
        .collect()
}

/// Describes the lost packets in one line; `None` if there are none.
pub fn lost(drops: &[(DropReason, u64)]) -> Option<String> {
    let losses = drops.iter();
    let losses = losses.filter(|(reason, count)| reason.is_loss() && *count > 0);
    let losses: Vec<String> = losses
        .map(|(reason, count)| format!("{reason} ({count})"))
        .collect();
    (!losses.is_empty()).then(|| losses.join(", "))
}

/// Returns the dropped packets as JSON: an array with `reason` and `packets` for each reason.
pub fn drops_json(drops: &[(DropReason, u64)]) -> Value {
    let drops = drops.iter();
    drops
        .map(|(reason, count)| json!({ "reason": reason.name(), "packets": count }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_is_a_port_with_or_without_an_id() {
        let read = |text: &str| text.parse::<Replica>();
        assert_eq!(read("3"), Ok(Replica { port: 3, rid: 0 }));
        assert_eq!(read("3:0x7"), Ok(Replica { port: 3, rid: 7 }));
        assert!(read("3:65536").unwrap_err().contains("65535"));
        assert!(read(":7").unwrap_err().contains("PORT:RID"));
        for text in ["3", "3:7"] {
            assert_eq!(read(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_the_program_dropped_is_no_loss() {
        let drops = [
            (DropReason::Port, 3),
            (DropReason::DropPort, 7),
            (DropReason::Queue, 0),
        ];
        assert_eq!(lost(&drops).as_deref(), Some("no such port (3)"));
        assert_eq!(lost(&drops[1..]), None);
        assert_eq!(
            drops_json(&drops[1..]),
            json!([{ "reason": "drop_port", "packets": 7 }, { "reason": "queue", "packets": 0 }])
        );
    }

    #[test]
    fn programs_see_ports_and_ids() {
        let replicas = [Replica { port: 2, rid: 9 }];
        assert_eq!(
            group_json(1, &replicas),
            json!({ "group": 1, "ports": [2], "copies": [{ "port": 2, "rid": 9 }] })
        );
        let session = CloneSession {
            replicas: replicas.to_vec(),
            group: None,
            truncate: Some(64),
        };
        let shown = session_json(5, &session);
        assert_eq!(
            shown,
            json!({ "session": 5, "copies": [{ "port": 2, "rid": 9 }], "group": null, "truncate": 64 })
        );
    }
}
