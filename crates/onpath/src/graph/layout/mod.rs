//! Places a graph's nodes in layers from top to bottom, so that arrows point down and few cross.
//!
//! The classic steps of a layered drawing (Sugiyama), a file each: arrows that close a cycle are turned and each
//! node goes below all that lead to it (`layers`), arrows over several layers get a waypoint in each (`lanes`), layers
//! are ordered by the mean position of their neighbours (`order`), and placed from left to right (`columns`).

mod columns;
mod lanes;
mod layers;
mod order;

use super::{Edge, Graph, Node};
use columns::columns;
use lanes::{Points, lanes};
use layers::{back_edges, layers};
use order::order;

/// A point; x to the right, y down.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Point {
    pub x: f64,
    pub y: f64,
}

/// Where everything of a graph is drawn. The origin is its top left corner.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Placed {
    /// Width and height of all.
    pub size: (f64, f64),
    /// Each node's centre and size.
    pub nodes: Vec<(Point, (f64, f64))>,
    /// Each edge's line.
    pub lines: Vec<Line>,
}

/// How an edge is drawn.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Line {
    /// From its node to its target, or to where it joins the line of another edge to the same target.
    pub points: Vec<Point>,
    /// Whether it joins another line: then it has no arrowhead.
    pub joins: bool,
}

/// Width of a character and height of a line.
pub(crate) const CHAR: f64 = 7.3;
pub(crate) const LINE: f64 = 15.0;
const GAP_X: f64 = 26.0;
const GAP_Y: f64 = 44.0;
const WAYPOINT: f64 = 14.0;

fn size_of(node: &Node) -> (f64, f64) {
    let longest = node
        .lines
        .iter()
        .chain([&node.title])
        .map(|l| l.chars().count())
        .max()
        .unwrap_or(0);
    (
        longest as f64 * CHAR + 24.0,
        (node.lines.len() + 1) as f64 * LINE + 12.0,
    )
}

/// A graph whose drawing would be too large to be placed, or to be looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooLarge;

/// The upper and the lower end of an edge, which points upwards if it is turned.
fn down(edge: &Edge, turned: bool) -> (usize, usize) {
    match turned {
        false => (edge.from, edge.to),
        true => (edge.to, edge.from),
    }
}

/// Places a graph. Time and memory grow with its nodes, edges and the layers that edges into each node go through.
pub(crate) fn place(graph: &Graph) -> Result<Placed, TooLarge> {
    let real = graph.nodes.len();
    if real == 0 {
        return Ok(Placed::default());
    }
    let turned = back_edges(graph);
    let Points { layer, chains } = lanes(graph, &turned, layers(graph, &turned))?;
    let mut sizes: Vec<(f64, f64)> = graph.nodes.iter().map(size_of).collect();
    sizes.resize(layer.len(), (WAYPOINT, 0.0));
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); layer.iter().max().map_or(1, |m| m + 1)];
    for (point, &layer) in layer.iter().enumerate() {
        rows[layer].push(point);
    }
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); sizes.len()];
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); sizes.len()];
    for chain in &chains {
        for pair in chain.points.windows(2).filter(|pair| pair[0] != pair[1]) {
            below[pair[0]].push(pair[1]);
            above[pair[1]].push(pair[0]);
        }
    }
    order(&mut rows, &above, &below);
    let x = columns(&rows, &sizes, &above, &below);
    let mut points = vec![Point { x: 0.0, y: 0.0 }; sizes.len()];
    let mut top = 0.0;
    for row in &rows {
        let height = row.iter().map(|&n| sizes[n].1).fold(0.0, f64::max);
        for &node in row {
            points[node] = Point {
                x: x[node],
                y: top + height / 2.0,
            };
        }
        top += height + GAP_Y;
    }
    let width = (0..sizes.len())
        .map(|n| x[n] + sizes[n].0 / 2.0)
        .fold(0.0, f64::max);
    let lines = chains
        .iter()
        .zip(&turned)
        .map(|(chain, &turned)| Line {
            points: edge_points(&chain.points, &points, &sizes, turned),
            joins: chain.joins,
        })
        .collect();
    let nodes = (0..real).map(|n| (points[n], sizes[n])).collect();
    Ok(Placed {
        size: (width + GAP_X, top - GAP_Y),
        nodes,
        lines,
    })
}

/// From border to border through the waypoints; an edge that was turned runs upwards.
fn edge_points(
    chain: &[usize],
    points: &[Point],
    sizes: &[(f64, f64)],
    turned: bool,
) -> Vec<Point> {
    let (first, last) = (chain[0], chain[chain.len() - 1]);
    if first == last {
        // A loop on one node leaves and comes back at its right side.
        let (p, (w, h)) = (points[first], sizes[first]);
        let right = p.x + w / 2.0;
        return vec![
            Point {
                x: right,
                y: p.y - h / 5.0,
            },
            Point {
                x: right + 22.0,
                y: p.y,
            },
            Point {
                x: right,
                y: p.y + h / 5.0,
            },
        ];
    }
    let mut line: Vec<Point> = chain.iter().map(|&n| points[n]).collect();
    let end = line.len() - 1;
    line[0].y += sizes[first].1 / 2.0;
    line[end].y -= sizes[last].1 / 2.0;
    if turned {
        // At nodes beside the arrows that go down; waypoints, which have no height, stand in line.
        for (point, node) in [(0, first), (end, last)] {
            if sizes[node].1 > 0.0 {
                line[point].x += 12.0;
            }
        }
        line.reverse();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::*;

    fn graph(nodes: usize, edges: &[(usize, usize)]) -> Graph {
        let mut graph = Graph::default();
        for n in 0..nodes {
            graph.node(Shape::State, format!("s{n}"), Vec::new());
        }
        for &(from, to) in edges {
            graph.edge(from, to, "");
        }
        graph
    }

    fn placed(nodes: usize, edges: &[(usize, usize)]) -> Placed {
        place(&graph(nodes, edges)).expect("small enough")
    }

    #[test]
    fn arrows_point_down_but_for_those_that_close_a_cycle() {
        let placed = placed(4, &[(0, 1), (1, 2), (2, 1), (0, 3), (2, 3)]);
        let y = |n: usize| placed.nodes[n].0.y;
        assert!(y(0) < y(1) && y(1) < y(2) && y(2) < y(3));
        let upwards = &placed.lines[2].points;
        assert!(upwards[0].y > upwards[upwards.len() - 1].y);
    }

    #[test]
    fn nodes_of_a_row_do_not_overlap() {
        let edges: Vec<(usize, usize)> = (1..6).map(|n| (0, n)).collect();
        let placed = placed(6, &edges);
        let mut row: Vec<_> = placed.nodes[1..].to_vec();
        row.sort_by(|a, b| a.0.x.total_cmp(&b.0.x));
        for pair in row.windows(2) {
            assert!(pair[0].0.x + pair[0].1.0 / 2.0 < pair[1].0.x - pair[1].1.0 / 2.0);
        }
    }

    #[test]
    fn a_loop_on_one_node_and_nothing_at_all_are_drawn_too() {
        assert_eq!(placed(1, &[(0, 0)]).lines[0].points.len(), 3);
        assert_eq!(placed(0, &[]), Placed::default());
    }

    #[test]
    fn long_edges_to_one_node_join_the_longest() {
        // A chain of five nodes, from each of which an edge leads to the last one.
        let edges = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (1, 4), (2, 4)];
        let placed = placed(5, &edges);
        let [whole, second, third] = [4, 5, 6].map(|edge| &placed.lines[edge]);
        assert_eq!((whole.joins, whole.points.len()), (false, 5));
        assert_eq!((second.joins, second.points.len()), (true, 2));
        assert_eq!((third.joins, third.points.len()), (true, 2));
        assert_eq!(second.points[1], whole.points[2]);
        assert_eq!(third.points[1], whole.points[3]);
        let end = whole.points[4];
        assert_eq!(end.x, placed.nodes[4].0.x);
    }

    #[test]
    fn long_edges_that_close_cycles_join_too_and_point_upwards() {
        let edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (3, 0), (2, 0)];
        let placed = placed(5, &edges);
        let [whole, second, third] = [4, 5, 6].map(|edge| &placed.lines[edge]);
        assert_eq!((whole.joins, whole.points.len()), (false, 5));
        for line in [whole, second, third] {
            assert!(line.points[0].y > line.points[line.points.len() - 1].y);
        }
        assert!(second.joins && third.joins);
        assert_eq!(second.points[1], whole.points[2]);
        assert_eq!(third.points[1], whole.points[3]);
    }

    #[test]
    fn a_drawing_without_end_is_refused() {
        // Each of 3000 nodes leads to one that is 1500 layers further down.
        let chain = (0..2999).map(|n| (n, n + 1));
        let edges: Vec<_> = chain.chain((0..1500).map(|n| (n, n + 1500))).collect();
        assert_eq!(place(&graph(3000, &edges)), Err(TooLarge));
    }
}
