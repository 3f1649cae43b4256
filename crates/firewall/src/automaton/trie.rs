//! Graphs of patterns: a trie as they are inserted, and graphs that other modules make of it.

/// State of an automaton.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub(super) struct Node {
    /// Edges in the order of their bytes, each with the node that it leads to.
    pub edges: Vec<(u8, usize)>,
    /// True if a pattern ends here. Such a node has no edges: a match ends the search.
    pub accepts: bool,
}

impl Node {
    /// Returns the node that a byte leads to.
    pub(super) fn next(&self, byte: u8) -> Option<usize> {
        let found = self.edges.binary_search_by_key(&byte, |(label, _)| *label);
        found.ok().map(|index| self.edges[index].1)
    }
}

/// Nodes from the start on, which is the first one.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    /// The nodes.
    pub nodes: Vec<Node>,
}

impl Graph {
    /// Returns the trie of some patterns. An edge leads to a node with a higher number. A pattern that begins with
    /// another one is left out.
    pub(super) fn trie(mut patterns: Vec<Vec<u8>>) -> Graph {
        patterns.sort_unstable();
        let mut nodes = vec![Node::default()];
        'patterns: for pattern in patterns {
            let mut at = 0;
            for byte in pattern {
                if nodes[at].accepts {
                    continue 'patterns;
                }
                // In sorted order, an edge that exists is the last one.
                at = match nodes[at].edges.last() {
                    Some(&(label, next)) if label == byte => next,
                    _ => {
                        let next = nodes.len();
                        nodes[at].edges.push((byte, next));
                        nodes.push(Node::default());
                        next
                    }
                };
            }
            nodes[at].accepts = at != 0;
        }
        Graph { nodes }
    }

    /// Returns the nodes that can be reached from the start, breadth first, and the new number of each node.
    /// `stands_for` has the node that takes the place of each.
    pub(super) fn reachable(&self, stands_for: &[usize]) -> (Graph, Vec<Option<usize>>) {
        let mut numbers = vec![None; self.nodes.len()];
        let start = stands_for.first().copied().unwrap_or_default();
        let mut order = vec![start];
        numbers[start] = Some(0);
        let mut done = 0;
        let mut nodes = Vec::new();
        while let Some(&old) = order.get(done) {
            done += 1;
            let mut node = self.nodes[old].clone();
            for (_, next) in &mut node.edges {
                let target = stands_for[*next];
                *next = *numbers[target].get_or_insert_with(|| {
                    order.push(target);
                    order.len() - 1
                });
            }
            nodes.push(node);
        }
        for node in 0..numbers.len() {
            numbers[node] = numbers[stands_for[node]];
        }
        (Graph { nodes }, numbers)
    }
}
