//! Entries for slices of several bytes: the paths of a graph that are as long as a slice, or end in a match.

use super::trie::Graph;
use super::{Entry, Form, Reset, SliceBytes};

/// Appends the entries of a graph, and returns the number of its states.
pub(super) fn entries(
    graph: &Graph,
    form: Form,
    slice: SliceBytes,
    reset: Reset,
    out: &mut Vec<Entry>,
) -> usize {
    let state = |node: usize| form.start() | node as u32;
    let mut is_reached = vec![false; graph.nodes.len()];
    let mut todo = vec![0];
    is_reached[0] = true;
    let mut add = |from: Option<usize>, start: usize, skipped: usize, todo: &mut Vec<usize>| {
        let longest = slice.count() - skipped;
        paths(graph, start, longest, &mut Vec::new(), &mut |bytes, to| {
            let decides = graph.nodes[to].accepts;
            let mut all = [0; 4];
            all[..bytes.len()].copy_from_slice(bytes);
            out.push(Entry {
                state: from.map(state),
                form,
                // A slice has four bytes at most.
                skipped: skipped as u8,
                compared: bytes.len() as u8,
                bytes: all,
                next: state(to),
                decides,
            });
            if !std::mem::replace(&mut is_reached[to], true) && !decides {
                todo.push(to);
            }
        });
    };
    // A name may begin within a slice. With links, the start is where all that could begin before has failed.
    let from = match reset {
        Reset::Start => None,
        Reset::Links => Some(0),
    };
    for skipped in 1..slice.count() {
        add(from, 0, skipped, &mut todo);
    }
    while let Some(node) = todo.pop() {
        add(Some(node), node, 0, &mut todo);
    }
    is_reached.iter().filter(|reached| **reached).count()
}

/// Calls `found` with each path from a node that has this length, or is shorter and accepts, and with its end.
fn paths(
    graph: &Graph,
    node: usize,
    length: usize,
    bytes: &mut Vec<u8>,
    found: &mut impl FnMut(&[u8], usize),
) {
    if bytes.len() == length || graph.nodes[node].accepts {
        return found(bytes, node);
    }
    for &(byte, next) in &graph.nodes[node].edges {
        bytes.push(byte);
        paths(graph, next, length, bytes, found);
        bytes.pop();
    }
}
