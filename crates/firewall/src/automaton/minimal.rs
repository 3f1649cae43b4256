//! Minimal automaton of a set of patterns: the trie with equal subtrees merged.

use super::trie::{Graph, Node};
use std::collections::HashMap;

/// Merges nodes from which the same patterns follow.
pub(super) fn merge(trie: &Graph) -> Graph {
    let mut stands_for: Vec<usize> = (0..trie.nodes.len()).collect();
    let mut known: HashMap<Node, usize> = HashMap::new();
    // Children have higher numbers than their parents, so they are merged first.
    for (number, node) in trie.nodes.iter().enumerate().rev() {
        let mut node = node.clone();
        for (_, next) in &mut node.edges {
            *next = stands_for[*next];
        }
        stands_for[number] = *known.entry(node).or_insert(number);
    }
    trie.reachable(&stands_for).0
}
