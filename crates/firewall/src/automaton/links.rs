//! Failure links of a trie.

use super::trie::Graph;
use std::collections::VecDeque;

/// Returns the trie without nodes after a match, and each pair of a node and its failure link that is not the start.
///
/// A node's link is the node of its longest proper suffix. A node accepts if a suffix of it is a pattern, since a match
/// ends the search. All accepting nodes are one.
pub(super) fn find(mut trie: Graph) -> (Graph, Vec<(usize, usize)>) {
    let mut links = vec![0; trie.nodes.len()];
    let mut queue = VecDeque::from([0]);
    let mut accepting = None;
    let mut stands_for: Vec<usize> = (0..trie.nodes.len()).collect();
    while let Some(node) = queue.pop_front() {
        for (byte, next) in trie.nodes[node].edges.clone() {
            links[next] = match node {
                0 => 0,
                _ => longest_suffix(&trie, &links, links[node], byte),
            };
            if trie.nodes[links[next]].accepts || trie.nodes[next].accepts {
                trie.nodes[next].accepts = true;
                trie.nodes[next].edges.clear();
                stands_for[next] = *accepting.get_or_insert(next);
            } else {
                queue.push_back(next);
            }
        }
    }
    let (graph, numbers) = trie.reachable(&stands_for);
    let mut pairs = Vec::new();
    for (node, &link) in links.iter().enumerate() {
        if let (Some(from), Some(to)) = (numbers[node], numbers[link])
            && to != 0
            && !graph.nodes[from].accepts
        {
            pairs.push((from, to));
        }
    }
    pairs.sort_unstable();
    (graph, pairs)
}

/// Returns the node for the longest suffix that ends with a byte, among `link` and its links.
fn longest_suffix(trie: &Graph, links: &[usize], mut link: usize, byte: u8) -> usize {
    loop {
        match trie.nodes[link].next(byte) {
            Some(next) => return next,
            None if link == 0 => return 0,
            None => link = links[link],
        }
    }
}
