//! Multicast groups: in one statement, or by BMv2's statements, which make groups and nodes separately.

use super::parse::{Parsed, malformed};
use super::script::StatementKind;
use crate::Replica;
use crate::numbers::number;
use crate::piece::Piece;
use crate::replication::text::{group_number, parse_group, port, rid};
use std::collections::BTreeMap;

/// Groups and nodes that a script has made so far.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    groups: BTreeMap<u16, Vec<GroupMember>>,
    /// Copies of each node, by its handle.
    nodes: Vec<Vec<Replica>>,
}

/// A part of a group.
#[derive(Debug, PartialEq)]
enum GroupMember {
    Copies(Vec<Replica>),
    /// Handle of a node.
    Node(usize),
}

impl Groups {
    /// Parses `multicast_group GROUP [PORT[:RID] ...]`.
    pub(super) fn group(&mut self, line: Piece, rest: Piece) -> Parsed<StatementKind> {
        let (group, replicas) = parse_group(line, rest)?;
        self.groups
            .insert(group, vec![GroupMember::Copies(replicas)]);
        Ok(self.all_of(group))
    }

    /// Parses `mc_mgrp_create GROUP`.
    pub(super) fn create(&mut self, line: Piece, rest: Piece) -> Parsed<StatementKind> {
        const FORM: &str = "mc_mgrp_create GROUP";
        let (group, rest) = group_number(line, rest, FORM)?;
        nothing_more(rest, FORM)?;
        self.groups.insert(group, Vec::new());
        Ok(self.all_of(group))
    }

    /// Parses `mc_mgrp_destroy GROUP`.
    pub(super) fn destroy(&mut self, line: Piece, rest: Piece) -> Parsed<StatementKind> {
        const FORM: &str = "mc_mgrp_destroy GROUP";
        let (group, rest) = group_number(line, rest, FORM)?;
        nothing_more(rest, FORM)?;
        self.parts(line, group)?;
        self.groups.remove(&group);
        Ok(self.all_of(group))
    }

    /// Parses `mc_node_create RID PORT ...`.
    pub(super) fn node(&mut self, line: Piece, rest: Piece) -> Parsed<StatementKind> {
        const FORM: &str = "mc_node_create RID PORT ...";
        let (word, rest) = rest.first_word();
        let rid = match rid(word.text) {
            Some(rid) => rid,
            None if word.text.is_empty() => {
                return malformed(line.span(), "the replication id is missing", FORM);
            }
            None => return malformed(word.span(), "this is not a replication id", FORM),
        };
        let words = rest.words().into_iter();
        let ports = words.map(|word| port(line, word, FORM).map(|port| Replica { port, rid }));
        self.nodes.push(ports.collect::<Parsed<_>>()?);
        Ok(StatementKind::Nothing)
    }

    /// Parses `mc_node_associate GROUP NODE`.
    pub(super) fn associate(&mut self, line: Piece, rest: Piece) -> Parsed<StatementKind> {
        const FORM: &str = "mc_node_associate GROUP NODE";
        let (group, node) = self.group_and_node(line, rest, FORM)?;
        self.parts(line, group)?.push(GroupMember::Node(node));
        Ok(self.all_of(group))
    }

    /// Parses `mc_node_dissociate GROUP NODE`.
    pub(super) fn dissociate(&mut self, line: Piece, rest: Piece) -> Parsed<StatementKind> {
        const FORM: &str = "mc_node_dissociate GROUP NODE";
        let (group, node) = self.group_and_node(line, rest, FORM)?;
        let parts = self.parts(line, group)?;
        let Some(at) = parts
            .iter()
            .position(|part| *part == GroupMember::Node(node))
        else {
            let what = format!("node {node} is not in group {group}");
            return malformed(
                line.span(),
                &what,
                "mc_node_associate GROUP NODE, before this line",
            );
        };
        parts.remove(at);
        Ok(self.all_of(group))
    }

    fn group_and_node(&self, line: Piece, rest: Piece, form: &str) -> Parsed<(u16, usize)> {
        let (group, rest) = group_number(line, rest, form)?;
        let (word, rest) = rest.first_word();
        nothing_more(rest, form)?;
        let node = number(word.text).and_then(|n| usize::try_from(n).ok());
        match node.filter(|&node| node < self.nodes.len()) {
            Some(node) => Ok((group, node)),
            None => {
                let what = format!("there is no node `{}`", word.text);
                let form = "mc_node_create RID PORT ..., before this line; the first makes node 0";
                malformed(line.span(), &what, form)
            }
        }
    }

    fn parts(&mut self, line: Piece, group: u16) -> Parsed<&mut Vec<GroupMember>> {
        match self.groups.get_mut(&group) {
            Some(parts) => Ok(parts),
            None => {
                let what = format!("there is no group {group} yet");
                malformed(line.span(), &what, "mc_mgrp_create GROUP, before this line")
            }
        }
    }

    /// Makes the statement that sets a group to its current parts.
    fn all_of(&self, group: u16) -> StatementKind {
        let parts = self.groups.get(&group).into_iter().flatten();
        let copies = parts.flat_map(|part| match part {
            GroupMember::Copies(copies) => copies,
            GroupMember::Node(node) => &self.nodes[*node],
        });
        StatementKind::MulticastGroup {
            group,
            replicas: copies.copied().collect(),
        }
    }
}

pub(super) fn nothing_more(rest: Piece, form: &str) -> Parsed<()> {
    if rest.text.is_empty() {
        return Ok(());
    }
    malformed(rest.span(), "this has no meaning here", form)
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;
    use diag::SourceMap;

    /// Returns the groups as the statements set them, their copies as text, and the errors.
    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let mut map = SourceMap::new();
        let file = map.add("t.stf", text).unwrap();
        let (script, diagnostics) = parse(&map, file);
        let groups = script.statements.into_iter().filter_map(|s| match s.kind {
            StatementKind::MulticastGroup { group, replicas } => {
                let copies: Vec<_> = replicas.iter().map(|r| format!(" {r}")).collect();
                Some(format!("{group}{}", copies.concat()))
            }
            _ => None,
        });
        let errors = diagnostics.iter().map(|d| d.message.clone());
        (groups.collect(), errors.collect())
    }

    #[test]
    fn a_group_is_made_in_one_statement_or_of_nodes() {
        let (groups, errors) = read(
            "multicast_group 7 1 2:0x10\nmc_mgrp_create 0x10\nmc_node_create 5 3\nmc_node_create 6 4 5\n\
             mc_node_associate 16 1\nmc_node_associate 16 0\nmc_node_dissociate 16 1\nmulticast_group 7\n\
             mc_mgrp_destroy 16",
        );
        assert_eq!(errors, [""; 0]);
        let expected = [
            "7 1 2:16",
            "16",
            "16 4:6 5:6",
            "16 4:6 5:6 3:5",
            "16 3:5",
            "7",
            "16",
        ];
        assert_eq!(groups, expected);
    }

    #[test]
    fn errors_are_named() {
        for (text, error) in [
            ("multicast_group", "the group is missing"),
            ("multicast_group 65536 1", "this is not a group's number"),
            ("multicast_group 1 x", "this is not a port's number"),
            ("multicast_group 1 2:x", "this is not a replication id"),
            ("mc_mgrp_create 1 2", "this has no meaning here"),
            ("mc_mgrp_destroy 1", "there is no group 1 yet"),
            ("mc_node_create", "the replication id is missing"),
            ("mc_node_create x", "this is not a replication id"),
            (
                "mc_mgrp_create 1\nmc_node_associate 1 0",
                "there is no node `0`",
            ),
            (
                "mc_node_create 0 1\nmc_node_associate 1 0",
                "there is no group 1 yet",
            ),
            (
                "mc_mgrp_create 1\nmc_node_create 0 1\nmc_node_dissociate 1 0",
                "node 0 is not in group 1",
            ),
        ] {
            assert_eq!(read(text).1, [error], "{text}");
        }
    }
}
