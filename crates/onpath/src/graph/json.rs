//! Graphs as JSON.

use super::{Edge, Graph, Node, Shape};
use serde_json::{Value, json};

/// An array with an object for each block: its `block`, `nodes` (each with `kind`, `title` and `lines`), and `edges`
/// from one node to another, by their positions among the nodes, with a `label` that may be empty.
pub(crate) fn render(graphs: &[Graph]) -> Value {
    graphs.iter().map(block).collect()
}

fn block(graph: &Graph) -> Value {
    let nodes: Vec<Value> = graph.nodes.iter().map(node).collect();
    let edges: Vec<Value> = graph.edges.iter().map(edge).collect();
    json!({ "block": graph.title, "nodes": nodes, "edges": edges })
}

fn node(node: &Node) -> Value {
    let kind = match node.shape {
        Shape::State => "state",
        Shape::Table => "table",
        Shape::Condition => "condition",
        Shape::Step => "step",
        Shape::Terminal => "terminal",
    };
    json!({ "kind": kind, "title": node.title, "lines": node.lines })
}

fn edge(edge: &Edge) -> Value {
    json!({ "from": edge.from, "to": edge.to, "label": edge.label })
}
