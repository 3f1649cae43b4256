//! Draws a program's parser states and the flow of each control, as SVG or in Graphviz's language.

mod control_flow;
mod dot;
mod layout;
mod overview;
mod svg;

use diag::SourceMap;
use ir::Program;
use serde::Serialize;
use std::collections::HashSet;

/// Kind of a node, which decides its shape in the drawing.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "lowercase")]
enum NodeKind {
    /// A parser state.
    State,
    /// A table.
    Table,
    /// A condition.
    Condition,
    /// Any other statement.
    Step,
    /// Beginning or end of a block.
    Terminal,
}

/// A box with a title and lines below it.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
struct Node {
    #[serde(rename = "kind")]
    shape: NodeKind,
    title: String,
    lines: Vec<String>,
}

impl Node {
    /// Returns the lines of text in it.
    fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.title)
            .chain(&self.lines)
            .map(String::as_str)
    }
}

/// An arrow between nodes, by index.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Debug)]
struct Edge {
    from: usize,
    to: usize,
    label: String,
}

/// Graph of one block of the pipeline.
#[derive(Clone, PartialEq, Eq, Serialize, Debug, Default)]
struct Graph {
    #[serde(rename = "block")]
    title: String,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Set of the edges in `edges`.
    #[serde(skip)]
    known: HashSet<Edge>,
}

impl Graph {
    fn node(&mut self, shape: NodeKind, title: impl Into<String>, lines: Vec<String>) -> usize {
        self.nodes.push(Node {
            shape,
            title: title.into(),
            lines,
        });
        self.nodes.len() - 1
    }

    /// Adds an edge, unless it exists already.
    fn edge(&mut self, from: usize, to: usize, label: impl Into<String>) {
        let edge = Edge {
            from,
            to,
            label: label.into(),
        };
        if self.known.insert(edge.clone()) {
            self.edges.push(edge);
        }
    }
}

/// Error: the block of this title has too many nodes and edges to be laid out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TooLarge(pub String);

/// Draws an elaborated program as SVG, by Graphviz if it is installed.
pub(crate) fn svg(program: &Program, map: &SourceMap) -> Result<String, TooLarge> {
    let graphs = graphs(program, map);
    if let Some(drawing) = host::graphviz::svg(&dot::render(&graphs)) {
        return Ok(drawing);
    }
    let place = |graph: &Graph| layout::place(graph).ok_or_else(|| TooLarge(graph.title.clone()));
    let placed: Vec<layout::Placed> = graphs.iter().map(place).collect::<Result<_, _>>()?;
    Ok(svg::render(&graphs, &placed))
}

/// Writes the graphs of a program for `dot` and the like, which lay them out.
pub(crate) fn dot(program: &Program, map: &SourceMap) -> String {
    dot::render(&graphs(program, map))
}

/// Returns the graphs of a program as JSON. Edges refer to nodes by index.
pub(crate) fn json(program: &Program, map: &SourceMap) -> serde_json::Value {
    serde_json::json!(graphs(program, map))
}

/// Returns an overview, if the pipeline has branches, and a graph for each block.
fn graphs(program: &Program, map: &SourceMap) -> Vec<Graph> {
    let blocks = control_flow::graphs(program, map);
    let overview = overview::graph(program, &blocks);
    overview.into_iter().chain(blocks).collect()
}
