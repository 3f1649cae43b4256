//! Positions of a graph's nodes, edges and labels, by the layered layout of `dagre`.

use super::Graph;
use dagre::graph::GraphOptions;
use dagre::layout::types::LabelPos;
use dagre::{EdgeLabel, GraphLabel, LayoutOptions, NodeLabel, Point};

/// Height of a line, in pixels.
pub(super) const LINE: f64 = 15.0;
/// Width of a character of a node, in pixels.
const CHAR: f64 = 7.3;
const LABEL_CHAR: f64 = 6.1;

/// Maximum number of nodes and edges, which takes seconds. The time grows with the square of their number.
const MOST: usize = 400;

/// Positions of a graph's parts. The origin is its top left corner.
pub(super) struct Placed {
    /// Width and height of the graph.
    pub(super) size: (f64, f64),
    /// Centre and size of each node.
    pub(super) nodes: Vec<(Point, (f64, f64))>,
    /// Points of each edge, from its source to its target, and the centre of its label.
    pub(super) edges: Vec<(Vec<Point>, Point)>,
}

/// Lays out a graph. Returns `None` if it is too large.
pub(super) fn place(graph: &Graph) -> Option<Placed> {
    if graph.nodes.len() + graph.edges.len() > MOST {
        return None;
    }
    let mut to_place = dagre::graph::Graph::with_options(GraphOptions {
        directed: true,
        multigraph: true,
        compound: false,
    });
    for (number, node) in graph.nodes.iter().enumerate() {
        let longest = node.texts().map(|line| line.chars().count()).max();
        let label = NodeLabel {
            width: longest.unwrap_or(0) as f64 * CHAR + 24.0,
            height: node.texts().count() as f64 * LINE + 12.0,
            ..NodeLabel::default()
        };
        to_place.set_node(number.to_string(), Some(label));
    }
    // Edges between the same nodes are distinguished by their numbers.
    let ends = |number: usize| {
        let edge = &graph.edges[number];
        [edge.from, edge.to, number].map(|number| number.to_string())
    };
    for (number, edge) in graph.edges.iter().enumerate() {
        let [from, to, name] = ends(number);
        let label = EdgeLabel {
            width: edge.label.chars().count() as f64 * LABEL_CHAR,
            height: if edge.label.is_empty() { 0.0 } else { LINE },
            labelpos: LabelPos::Center,
            ..EdgeLabel::default()
        };
        to_place.set_edge(from, to, Some(label), Some(&name));
    }
    let spacing = LayoutOptions {
        nodesep: 26.0,
        ranksep: 44.0,
        ..LayoutOptions::default()
    };
    dagre::layout(&mut to_place, Some(spacing));
    let at = |x: Option<f64>, y: Option<f64>| Point::new(x.unwrap_or(0.0), y.unwrap_or(0.0));
    let nodes = (0..graph.nodes.len())
        .filter_map(|number| to_place.node(&number.to_string()))
        .map(|node| (at(node.x, node.y), (node.width, node.height)))
        .collect();
    let edges = (0..graph.edges.len())
        .filter_map(|number| {
            let [from, to, name] = ends(number);
            to_place.edge(&from, &to, Some(&name))
        })
        .map(|edge| (edge.points.clone(), at(edge.x, edge.y)))
        .collect();
    let label = to_place.graph_label::<GraphLabel>()?;
    Some(Placed {
        size: (label.width, label.height),
        nodes,
        edges,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::NodeKind;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// A rectangle, as its centre and its size.
    type Area = (Point, (f64, f64));

    fn overlap((a, (width, height)): &Area, (b, (other_width, other_height)): &Area) -> bool {
        (a.x - b.x).abs() < (width + other_width) / 2.0 - 0.1
            && (a.y - b.y).abs() < (height + other_height) / 2.0 - 0.1
    }

    fn random(seed: u64) -> Graph {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut graph = Graph::default();
        let nodes = rng.random_range(2..14);
        for node in 0..nodes {
            let lines = vec!["a line".to_string(); rng.random_range(0..4)];
            graph.node(NodeKind::Step, format!("node {node}"), lines);
        }
        for number in 0..rng.random_range(1..25) {
            let (from, to) = (rng.random_range(0..nodes), rng.random_range(0..nodes));
            graph.edge(from, to, format!("label {number}"));
        }
        graph
    }

    #[test]
    fn a_label_is_on_its_edge_and_covers_no_node_and_no_other_label() {
        for seed in 0..300 {
            let graph = random(seed);
            let placed = place(&graph).expect("small");
            let labels: Vec<Area> = graph
                .edges
                .iter()
                .zip(&placed.edges)
                .map(|(edge, (_, at))| {
                    let width = edge.label.chars().count() as f64 * LABEL_CHAR;
                    (at.clone(), (width, LINE))
                })
                .collect();
            for (number, label) in labels.iter().enumerate() {
                let (points, at) = &placed.edges[number];
                assert!(
                    points.iter().any(|point| {
                        (point.x - at.x).abs() < 0.1 && (point.y - at.y).abs() < 0.1
                    }),
                    "{seed}: {number} at {at:?}, its edge at {points:?}"
                );
                let others = labels[..number].iter().chain(&placed.nodes);
                assert_eq!(
                    others.filter(|other| overlap(label, other)).count(),
                    0,
                    "{seed}"
                );
            }
        }
    }

    #[test]
    fn too_large_a_graph_is_not_placed() {
        let mut graph = Graph::default();
        for node in 0..MOST {
            graph.node(NodeKind::Step, format!("{node}"), Vec::new());
        }
        assert!(place(&graph).is_some());
        graph.edge(0, 1, "");
        assert!(place(&graph).is_none());
    }
}
