//! Output of graphs in the language of Graphviz.

use super::{Graph, Node, NodeKind};
use std::fmt::Write;

/// Renders all graphs as one directed graph, with a cluster for each.
pub(crate) fn render(graphs: &[Graph]) -> String {
    let mut out = String::from(
        "digraph onpath {\n\
         \x20   graph [style=filled color=\"#f3f4f6\"]\n\
         \x20   node [fontname=\"monospace\" fontsize=10 style=filled shape=box]\n\
         \x20   edge [fontname=\"monospace\" fontsize=9]\n",
    );
    for (number, graph) in graphs.iter().enumerate() {
        let _ = writeln!(out, "    subgraph cluster_{number} {{");
        // The labels of the outermost edges are in the margin.
        let _ = writeln!(out, "        label={} margin=28", quote(&graph.title));
        for (index, node) in graph.nodes.iter().enumerate() {
            let _ = writeln!(out, "        n{number}_{index} [{}]", attributes(node));
        }
        for edge in &graph.edges {
            let (from, to) = (edge.from, edge.to);
            let _ = write!(out, "        n{number}_{from} -> n{number}_{to}");
            if !edge.label.is_empty() {
                // Graphviz puts a label against its edge.
                let _ = write!(out, " [label={}]", quote(&format!(" {} ", edge.label)));
            }
            out.push('\n');
        }
        out.push_str("    }\n");
    }
    out.push_str("}\n");
    out
}

fn attributes(node: &Node) -> String {
    let look = match node.shape {
        NodeKind::State => "style=\"filled,rounded\" fillcolor=\"#ddf4ff\"",
        NodeKind::Table => "fillcolor=\"#fff8c5\"",
        NodeKind::Condition => "shape=diamond fillcolor=\"#fbefff\"",
        NodeKind::Step => "fillcolor=\"#f6f8fa\"",
        NodeKind::Terminal => "shape=oval fillcolor=\"#eaeef2\"",
    };
    let lines: Vec<&str> = node.texts().collect();
    format!("label={} {look}", quote(&lines.join("\n")))
}

/// Quotes a string. Quotation marks and backslashes, which begin escape sequences, are escaped.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in diag::shown_lines(text).chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_in_names_do_no_harm() {
        assert_eq!(quote("a\\n\"b\"\nc\t"), r#""a\\n\"b\"\nc ""#);
        assert_eq!(quote("\x1b[2J"), r#""\\u001b[2J""#);
    }
}
