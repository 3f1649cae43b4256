//! The first two steps: which edges close a cycle and are turned, and each node's layer.

use crate::graph::Graph;

/// The edges that leave each node, by index.
fn outgoing(graph: &Graph) -> Vec<Vec<usize>> {
    let mut out = vec![Vec::new(); graph.nodes.len()];
    for (index, edge) in graph.edges.iter().enumerate() {
        out[edge.from].push(index);
    }
    out
}

/// Which edges close a cycle, by depth-first search from the first node on.
pub(super) fn back_edges(graph: &Graph) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        Not,
        Open,
        Done,
    }
    let mut turned = vec![false; graph.edges.len()];
    let mut state = vec![Visit::Not; graph.nodes.len()];
    let out = outgoing(graph);
    for root in 0..graph.nodes.len() {
        if state[root] != Visit::Not {
            continue;
        }
        state[root] = Visit::Open;
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.pop() {
            let Some(&edge) = out[node].get(next) else {
                state[node] = Visit::Done;
                continue;
            };
            stack.push((node, next + 1));
            let to = graph.edges[edge].to;
            match state[to] {
                Visit::Not => {
                    state[to] = Visit::Open;
                    stack.push((to, 0));
                }
                Visit::Open => turned[edge] = true,
                Visit::Done => {}
            }
        }
    }
    turned
}

/// Each node's layer: one below the lowest node that leads to it, once back edges are turned.
pub(super) fn layers(graph: &Graph, turned: &[bool]) -> Vec<usize> {
    let count = graph.nodes.len();
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waits_for = vec![0usize; count];
    for (edge, &turned) in graph.edges.iter().zip(turned) {
        let (upper, lower) = super::down(edge, turned);
        if upper != lower {
            below[upper].push(lower);
            waits_for[lower] += 1;
        }
    }
    let mut layer = vec![0usize; count];
    let mut ready: Vec<usize> = (0..count).filter(|&n| waits_for[n] == 0).collect();
    while let Some(node) = ready.pop() {
        for &next in &below[node] {
            layer[next] = layer[next].max(layer[node] + 1);
            waits_for[next] -= 1;
            if waits_for[next] == 0 {
                ready.push(next);
            }
        }
    }
    layer
}
