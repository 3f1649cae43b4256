//! Multicast groups: in one statement, or as BMv2 makes them, group and nodes apart.

use super::parse::{Parsed, malformed, number, port};
use super::script::StatementKind;
use crate::piece::Piece;
use std::collections::BTreeMap;

/// The groups and nodes that a script has made so far.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The ports of each group.
    groups: BTreeMap<u16, Vec<u32>>,
    /// The ports of each node, by its handle.
    nodes: Vec<Vec<u32>>,
}

impl Groups {
    /// `multicast_group GROUP [PORT ...]`
    pub(crate) fn group(&mut self, line: Piece, rest: Piece) -> Parsed<StatementKind> {
        const FORM: &str = "multicast_group GROUP [PORT ...]";
        let (group, rest) = group(line, rest, FORM)?;
        let ports = ports(line, rest, FORM)?;
        Ok(self.set(group, ports))
    }

    /// `mc_mgrp_create GROUP`
    pub(crate) fn create(&mut self, line: Piece, rest: Piece) -> Parsed<StatementKind> {
        const FORM: &str = "mc_mgrp_create GROUP";
        let (group, rest) = group(line, rest, FORM)?;
        nothing_more(rest, FORM)?;
        Ok(self.set(group, Vec::new()))
    }

    /// `mc_node_create RID PORT ...`
    pub(crate) fn node(&mut self, line: Piece, rest: Piece) -> Parsed<StatementKind> {
        const FORM: &str = "mc_node_create RID PORT ...";
        let (rid, rest) = rest.first_word();
        if number(rid.text).is_none() {
            return malformed(line.span(), "the replication id is missing", FORM);
        }
        self.nodes.push(ports(line, rest, FORM)?);
        Ok(StatementKind::MulticastNode)
    }

    /// `mc_node_associate GROUP NODE`
    pub(crate) fn associate(&mut self, line: Piece, rest: Piece) -> Parsed<StatementKind> {
        const FORM: &str = "mc_node_associate GROUP NODE";
        let (number_of_group, rest) = group(line, rest, FORM)?;
        let (word, rest) = rest.first_word();
        nothing_more(rest, FORM)?;
        let Some(ports) = self.groups.get(&number_of_group) else {
            let what = format!("there is no group {number_of_group} yet");
            return malformed(line.span(), &what, "mc_mgrp_create GROUP, before this line");
        };
        let node = number(word.text).and_then(|n| self.nodes.get(usize::try_from(n).ok()?));
        let Some(node) = node else {
            let what = format!("there is no node `{}`", word.text);
            let form = "mc_node_create RID PORT ..., before this line; the first makes node 0";
            return malformed(line.span(), &what, form);
        };
        let ports = [ports.as_slice(), node].concat();
        Ok(self.set(number_of_group, ports))
    }

    fn set(&mut self, group: u16, ports: Vec<u32>) -> StatementKind {
        self.groups.insert(group, ports.clone());
        StatementKind::MulticastGroup { group, ports }
    }
}

fn group<'a>(line: Piece<'a>, rest: Piece<'a>, form: &str) -> Parsed<(u16, Piece<'a>)> {
    let (word, rest) = rest.first_word();
    match number(word.text).and_then(|n| u16::try_from(n).ok()) {
        Some(group) => Ok((group, rest)),
        None if word.text.is_empty() => malformed(line.span(), "the group is missing", form),
        None => malformed(word.span(), "this is not a group's number", form),
    }
}

fn ports(line: Piece, rest: Piece, form: &str) -> Parsed<Vec<u32>> {
    rest.words()
        .into_iter()
        .map(|word| port(line, word, form))
        .collect()
}

fn nothing_more(rest: Piece, form: &str) -> Parsed<()> {
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

    /// The groups as the statements set them, and the errors.
    fn read(text: &str) -> (Vec<(u16, Vec<u32>)>, Vec<String>) {
        let mut map = SourceMap::new();
        let file = map.add("t.stf", text).unwrap();
        let (script, diagnostics) = parse(&map, file);
        let groups = script.statements.into_iter().filter_map(|s| match s.kind {
            StatementKind::MulticastGroup { group, ports } => Some((group, ports)),
            _ => None,
        });
        let errors = diagnostics.iter().map(|d| d.message.clone());
        (groups.collect(), errors.collect())
    }

    #[test]
    fn a_group_is_made_in_one_statement_or_of_nodes() {
        let (groups, errors) = read(
            "multicast_group 7 1 2\nmc_mgrp_create 0x10\nmc_node_create 5 3\nmc_node_create 5 4 5\n\
             mc_node_associate 16 1\nmc_node_associate 16 0\nmulticast_group 7",
        );
        assert_eq!(errors, [""; 0]);
        let expected = [
            (7, vec![1, 2]),
            (16, vec![]),
            (16, vec![4, 5]),
            (16, vec![4, 5, 3]),
            (7, vec![]),
        ];
        assert_eq!(groups, expected);
    }

    #[test]
    fn errors_are_named() {
        for (text, error) in [
            ("multicast_group", "the group is missing"),
            ("multicast_group 65536 1", "this is not a group's number"),
            ("multicast_group 1 x", "this is not a port's number"),
            ("mc_mgrp_create 1 2", "this has no meaning here"),
            ("mc_node_create", "the replication id is missing"),
            ("mc_node_associate 1 0", "there is no group 1 yet"),
            (
                "mc_mgrp_create 1\nmc_node_associate 1 0",
                "there is no node `0`",
            ),
        ] {
            assert_eq!(read(text).1, [error], "{text}");
        }
    }
}
