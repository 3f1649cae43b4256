//! Draws a program: parser states and the flow of each control, as SVG.

mod flow;
mod layout;
mod svg;

use diag::SourceMap;
use ir::Program;

/// What a node stands for, and so how it is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    /// A parser state.
    State,
    /// A table.
    Table,
    /// A condition.
    Condition,
    /// Anything else that is done.
    Step,
    /// Where a block begins or ends.
    Terminal,
}

/// A box with a title and lines below it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Node {
    shape: Shape,
    title: String,
    lines: Vec<String>,
}

/// An arrow between nodes, by index.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Edge {
    from: usize,
    to: usize,
    label: String,
}

/// One block of the pipeline.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Graph {
    title: String,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

impl Graph {
    fn node(&mut self, shape: Shape, title: impl Into<String>, lines: Vec<String>) -> usize {
        self.nodes.push(Node {
            shape,
            title: title.into(),
            lines,
        });
        self.nodes.len() - 1
    }

    fn edge(&mut self, from: usize, to: usize, label: impl Into<String>) {
        let label = label.into();
        if !self
            .edges
            .iter()
            .any(|e| (e.from, e.to) == (from, to) && e.label == label)
        {
            self.edges.push(Edge { from, to, label });
        }
    }
}

/// The drawing of a program as elaborated.
pub fn draw(program: &Program, map: &SourceMap) -> String {
    let graphs = flow::graphs(program, map);
    let placed: Vec<layout::Placed> = graphs.iter().map(layout::place).collect();
    svg::render(&graphs, &placed)
}
