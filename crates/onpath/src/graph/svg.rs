//! Renders graphs with their positions as SVG.

use super::layout::{LINE, Placed};
use super::{Graph, Node, NodeKind};
use dagre::Point;
use std::fmt::Write;

const MARGIN: f64 = 24.0;
const TITLE: f64 = 30.0;

const STYLE: &str = "\
text{font:12px ui-monospace,monospace;fill:#1b1f24}\
.title{font-weight:600;font-size:14px}\
.name{font-weight:600}\
.label{font-size:10px;fill:#57606a;paint-order:stroke;stroke:#ffffff;stroke-width:3px}\
.node{stroke:#57606a;stroke-width:1}\
.state{fill:#ddf4ff}.table{fill:#fff8c5}.condition{fill:#fbefff}.step{fill:#f6f8fa}.terminal{fill:#eaeef2}\
.edge{fill:none;stroke:#57606a;stroke-width:1.2}";

/// Renders the graphs, one below the other.
pub(super) fn render(graphs: &[Graph], placed: &[Placed]) -> String {
    let width = placed.iter().map(|p| p.size.0).fold(320.0, f64::max) + 2.0 * MARGIN;
    let height: f64 = placed.iter().map(|p| p.size.1 + TITLE + 2.0 * MARGIN).sum();
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n\
         <style>{STYLE}</style>\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#57606a\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    );
    let mut top = 0.0;
    for (graph, placed) in graphs.iter().zip(placed) {
        let _ = writeln!(
            out,
            "<text class=\"title\" x=\"{MARGIN}\" y=\"{:.0}\">{}</text>",
            top + MARGIN,
            escape(&graph.title)
        );
        let _ = writeln!(
            out,
            "<g transform=\"translate({MARGIN},{:.0})\">",
            top + MARGIN + TITLE
        );
        for (edge, (points, _)) in graph.edges.iter().zip(&placed.edges) {
            let [from, to] = [edge.from, edge.to].map(|node| &graph.nodes[node].title);
            edge_path(&mut out, points, &escape(&format!("{from} → {to}")));
        }
        for (node, (centre, size)) in graph.nodes.iter().zip(&placed.nodes) {
            node_box(&mut out, node, centre, *size);
        }
        for (edge, (_, at)) in graph.edges.iter().zip(&placed.edges) {
            if !edge.label.is_empty() {
                let _ = writeln!(
                    out,
                    "<text class=\"label\" text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    at.x,
                    at.y + 3.0,
                    escape(&edge.label)
                );
            }
        }
        out.push_str("</g>\n");
        top += placed.size.1 + TITLE + 2.0 * MARGIN;
    }
    out.push_str("</svg>\n");
    out
}

fn node_box(out: &mut String, node: &Node, centre: &Point, (width, height): (f64, f64)) {
    let (class, radius): (_, f64) = match node.shape {
        NodeKind::State => ("state", 12.0),
        NodeKind::Table => ("table", 2.0),
        NodeKind::Condition => ("condition", 20.0),
        NodeKind::Step => ("step", 2.0),
        NodeKind::Terminal => ("terminal", 14.0),
    };
    let (x, y) = (centre.x - width / 2.0, centre.y - height / 2.0);
    let _ = writeln!(
        out,
        "<rect class=\"node {class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
         height=\"{height:.1}\" rx=\"{:.0}\"/>",
        radius.min(height / 2.0)
    );
    for (row, line) in node.texts().enumerate() {
        let class = if row == 0 { " class=\"name\"" } else { "" };
        let _ = writeln!(
            out,
            "<text{class} text-anchor=\"middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            centre.x,
            y + LINE * (row as f64 + 1.0) + 2.0,
            escape(line)
        );
    }
}

/// Draws a smooth line through the points, from one layer to the next. Its tooltip has the names of both ends.
fn edge_path(out: &mut String, points: &[Point], ends: &str) {
    let Some(first) = points.first() else { return };
    let mut path = format!("M{:.1},{:.1}", first.x, first.y);
    for pair in points.windows(2) {
        let middle = (pair[0].y + pair[1].y) / 2.0;
        let _ = write!(
            path,
            " C{:.1},{middle:.1} {:.1},{middle:.1} {:.1},{:.1}",
            pair[0].x, pair[1].x, pair[1].x, pair[1].y
        );
    }
    let _ = writeln!(
        out,
        "<path class=\"edge\" marker-end=\"url(#arrow)\" d=\"{path}\"><title>{ends}</title></path>"
    );
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in diag::shown(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_does_no_harm() {
        assert_eq!(
            escape("a<b && \"c\"\n"),
            "a&lt;b &amp;&amp; &quot;c&quot;\\n"
        );
    }
}
