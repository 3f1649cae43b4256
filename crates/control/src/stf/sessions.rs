//! Clone sessions: in one statement, or by BMv2's statements.

use super::groups::nothing_more;
use super::parse::Parsed;
use super::script::StatementKind;
use crate::piece::Piece;
use crate::replication::text::{group_number, parse_session, port, session_number};
use crate::{CloneSession, Replica};

/// Parses `clone_session SESSION [PORT[:RID] ...] [group GROUP] [truncate BYTES]`.
pub(super) fn session(line: Piece, rest: Piece) -> Parsed<StatementKind> {
    let (session, to) = parse_session(line, rest)?;
    Ok(StatementKind::CloneSession { session, to })
}

/// Parses `mirroring_add SESSION PORT`.
pub(super) fn to_port(line: Piece, rest: Piece) -> Parsed<StatementKind> {
    const FORM: &str = "mirroring_add SESSION PORT";
    let (session, rest) = session_number(line, rest, FORM)?;
    let (word, rest) = rest.first_word();
    let port = port(line, word, FORM)?;
    nothing_more(rest, FORM)?;
    let to = Some(CloneSession {
        replicas: vec![Replica { port, rid: 0 }],
        ..CloneSession::default()
    });
    Ok(StatementKind::CloneSession { session, to })
}

/// Parses `mirroring_add_mc SESSION GROUP`.
pub(super) fn to_group(line: Piece, rest: Piece) -> Parsed<StatementKind> {
    const FORM: &str = "mirroring_add_mc SESSION GROUP";
    let (session, rest) = session_number(line, rest, FORM)?;
    let (group, rest) = group_number(line, rest, FORM)?;
    nothing_more(rest, FORM)?;
    let to = Some(CloneSession {
        group: Some(group),
        ..CloneSession::default()
    });
    Ok(StatementKind::CloneSession { session, to })
}

/// Parses `mirroring_delete SESSION`.
pub(super) fn delete(line: Piece, rest: Piece) -> Parsed<StatementKind> {
    const FORM: &str = "mirroring_delete SESSION";
    let (session, rest) = session_number(line, rest, FORM)?;
    nothing_more(rest, FORM)?;
    Ok(StatementKind::CloneSession { session, to: None })
}

/// Parses `mirroring_get SESSION`.
pub(super) fn get(line: Piece, rest: Piece) -> Parsed<StatementKind> {
    const FORM: &str = "mirroring_get SESSION";
    let (_, rest) = session_number(line, rest, FORM)?;
    nothing_more(rest, FORM)?;
    Ok(StatementKind::Nothing)
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;
    use diag::SourceMap;

    /// Returns the sessions as the statements set them, and the errors.
    fn read(text: &str) -> (Vec<(u32, Option<CloneSession>)>, Vec<String>) {
        let mut map = SourceMap::new();
        let file = map.add("t.stf", text).unwrap();
        let (script, diagnostics) = parse(&map, file);
        let sessions = script.statements.into_iter().filter_map(|s| match s.kind {
            StatementKind::CloneSession { session, to } => Some((session, to)),
            _ => None,
        });
        let errors = diagnostics.iter().map(|d| d.message.clone());
        (sessions.collect(), errors.collect())
    }

    #[test]
    fn a_session_is_made_in_one_statement_or_as_bmv2_does_it() {
        let (sessions, errors) = read(
            "clone_session 5 1:7 2 group 3 truncate 0x40\nclone_session 5\nmirroring_add 6 4\n\
             mirroring_add_mc 0x7 9\nmirroring_get 6\nmirroring_delete 6",
        );
        assert_eq!(errors, [""; 0]);
        let whole = CloneSession {
            replicas: vec![Replica { port: 1, rid: 7 }, Replica { port: 2, rid: 0 }],
            group: Some(3),
            truncate: Some(64),
        };
        let port = CloneSession {
            replicas: Replica::to_ports([4]),
            ..CloneSession::default()
        };
        let group = CloneSession {
            group: Some(9),
            ..CloneSession::default()
        };
        let expected = [
            (5, Some(whole)),
            (5, None),
            (6, Some(port)),
            (7, Some(group)),
            (6, None),
        ];
        assert_eq!(sessions, expected);
    }

    #[test]
    fn errors_are_named() {
        for (text, error) in [
            ("clone_session", "the session is missing"),
            ("clone_session x", "this is not a session's number"),
            ("clone_session 1 x", "this is not a port's number"),
            ("clone_session 1 2:x", "this is not a replication id"),
            ("clone_session 1 2:65536", "this is not a replication id"),
            ("clone_session 1 group", "the group is missing"),
            ("clone_session 1 truncate", "the length is missing"),
            ("mirroring_add 1", "the port is missing"),
            ("mirroring_add 1 2 3", "this has no meaning here"),
            ("mirroring_add_mc 1", "the group is missing"),
            ("mirroring_delete", "the session is missing"),
            ("clone_session 1 2 group 0", ""),
        ] {
            let found = read(text).1;
            match error {
                "" => assert_eq!(found, [""; 0], "{text}: refused where it is bound"),
                error => assert_eq!(found, [error], "{text}"),
            }
        }
    }
}
