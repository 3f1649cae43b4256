//! Places a graph's nodes in layers from top to bottom, so that arrows point down and few cross.
//!
//! The classic four steps: arrows that close a cycle are turned, each node goes below all that lead
//! to it, arrows over several layers get a waypoint in each, and layers are ordered by the mean
//! position of their neighbours.

use super::{Graph, Node};

/// A point; x to the right, y down.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// Where everything of a graph is drawn. The origin is its top left corner.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Placed {
    /// Width and height of all.
    pub size: (f64, f64),
    /// Each node's centre and size.
    pub nodes: Vec<(Point, (f64, f64))>,
    /// Each edge's points, from node to node.
    pub edges: Vec<Vec<Point>>,
}

/// Width of a character and height of a line.
pub const CHAR: f64 = 7.3;
pub const LINE: f64 = 15.0;
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

/// Places a graph.
pub fn place(graph: &Graph) -> Placed {
    let mut sizes: Vec<(f64, f64)> = graph.nodes.iter().map(size_of).collect();
    let real = sizes.len();
    if real == 0 {
        return Placed::default();
    }
    let turned = back_edges(graph);
    let down = |index: usize| {
        let edge = &graph.edges[index];
        if turned[index] {
            (edge.to, edge.from)
        } else {
            (edge.from, edge.to)
        }
    };
    let layer = layers(graph, &down);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); layer.iter().max().map_or(1, |m| m + 1)];
    for (node, &l) in layer.iter().enumerate() {
        rows[l].push(node);
    }
    // One chain of nodes and waypoints an edge.
    let mut chains: Vec<Vec<usize>> = Vec::new();
    for index in 0..graph.edges.len() {
        let (from, to) = down(index);
        let mut chain = vec![from];
        for row in rows.iter_mut().take(layer[to]).skip(layer[from] + 1) {
            sizes.push((WAYPOINT, 0.0));
            row.push(sizes.len() - 1);
            chain.push(sizes.len() - 1);
        }
        chain.push(to);
        chains.push(chain);
    }
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); sizes.len()];
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); sizes.len()];
    for chain in chains.iter().filter(|c| c[0] != c[c.len() - 1]) {
        for pair in chain.windows(2) {
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
    let edges = chains
        .iter()
        .enumerate()
        .map(|(index, chain)| edge_points(chain, &points, &sizes, turned[index]))
        .collect();
    let nodes = (0..real).map(|n| (points[n], sizes[n])).collect();
    Placed {
        size: (width + GAP_X, top - GAP_Y),
        nodes,
        edges,
    }
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
        // Beside the arrows that go down.
        line[0].x += 12.0;
        line[end].x += 12.0;
        line.reverse();
    }
    line
}

/// Which edges close a cycle, by depth-first search from the first node on.
fn back_edges(graph: &Graph) -> Vec<bool> {
    let mut turned = vec![false; graph.edges.len()];
    let mut state = vec![0u8; graph.nodes.len()];
    let out: Vec<Vec<usize>> = (0..graph.nodes.len())
        .map(|n| {
            (0..graph.edges.len())
                .filter(|&e| graph.edges[e].from == n)
                .collect()
        })
        .collect();
    for root in 0..graph.nodes.len() {
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.pop() {
            if next == 0 {
                if state[node] != 0 {
                    continue;
                }
                state[node] = 1;
            }
            match out[node].get(next) {
                None => state[node] = 2,
                Some(&edge) => {
                    stack.push((node, next + 1));
                    let to = graph.edges[edge].to;
                    match state[to] {
                        0 => stack.push((to, 0)),
                        1 => turned[edge] = true,
                        _ => {}
                    }
                }
            }
        }
    }
    turned
}

/// Each node one layer below the lowest that leads to it.
fn layers(graph: &Graph, down: &dyn Fn(usize) -> (usize, usize)) -> Vec<usize> {
    let mut layer = vec![0usize; graph.nodes.len()];
    for _ in 0..graph.nodes.len() {
        let mut changed = false;
        for index in 0..graph.edges.len() {
            let (from, to) = down(index);
            if from != to && layer[to] <= layer[from] {
                layer[to] = layer[from] + 1;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    layer
}

/// Orders each row by the mean place of its neighbours, down and up a few times.
fn order(rows: &mut [Vec<usize>], above: &[Vec<usize>], below: &[Vec<usize>]) {
    let count = above.len();
    for sweep in 0..8 {
        let (neighbours, range): (_, Vec<usize>) = if sweep % 2 == 0 {
            (above, (1..rows.len()).collect())
        } else {
            (below, (0..rows.len().saturating_sub(1)).rev().collect())
        };
        for index in range {
            let mut place = vec![0.0; count];
            for row in rows.iter() {
                for (at, &node) in row.iter().enumerate() {
                    place[node] = at as f64;
                }
            }
            let key = |node: usize| {
                let near = &neighbours[node];
                if near.is_empty() {
                    place[node]
                } else {
                    near.iter().map(|&n| place[n]).sum::<f64>() / near.len() as f64
                }
            };
            rows[index].sort_by(|&a, &b| key(a).total_cmp(&key(b)));
        }
    }
}

/// Centres from left to right without overlap, drawn towards the neighbours.
fn columns(
    rows: &[Vec<usize>],
    sizes: &[(f64, f64)],
    above: &[Vec<usize>],
    below: &[Vec<usize>],
) -> Vec<f64> {
    let mut x = vec![0.0; sizes.len()];
    let distance = |a: usize, b: usize| (sizes[a].0 + sizes[b].0) / 2.0 + GAP_X;
    for row in rows {
        for pair in 0..row.len() {
            x[row[pair]] = match pair {
                0 => sizes[row[0]].0 / 2.0,
                _ => x[row[pair - 1]] + distance(row[pair - 1], row[pair]),
            };
        }
    }
    for sweep in 0..24 {
        for row in rows {
            let wish: Vec<f64> = row
                .iter()
                .map(|&node| {
                    let near: Vec<usize> = match sweep % 3 {
                        0 => above[node].clone(),
                        1 => below[node].clone(),
                        _ => above[node].iter().chain(&below[node]).copied().collect(),
                    };
                    if near.is_empty() {
                        x[node]
                    } else {
                        near.iter().map(|&n| x[n]).sum::<f64>() / near.len() as f64
                    }
                })
                .collect();
            // As far left as allowed and as far right as allowed; the mean of both keeps the order.
            let mut left = wish.clone();
            for i in 1..row.len() {
                left[i] = left[i].max(left[i - 1] + distance(row[i - 1], row[i]));
            }
            let mut right = wish.clone();
            for i in (0..row.len().saturating_sub(1)).rev() {
                right[i] = right[i].min(right[i + 1] - distance(row[i], row[i + 1]));
            }
            for (i, &node) in row.iter().enumerate() {
                x[node] = (left[i] + right[i]) / 2.0;
            }
        }
    }
    let leftmost = (0..sizes.len())
        .map(|n| x[n] - sizes[n].0 / 2.0)
        .fold(f64::INFINITY, f64::min);
    x.iter_mut().for_each(|x| *x -= leftmost);
    x
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

    #[test]
    fn arrows_point_down_but_for_those_that_close_a_cycle() {
        let placed = place(&graph(4, &[(0, 1), (1, 2), (2, 1), (0, 3), (2, 3)]));
        let y = |n: usize| placed.nodes[n].0.y;
        assert!(y(0) < y(1) && y(1) < y(2) && y(2) < y(3));
        let upwards = &placed.edges[2];
        assert!(upwards[0].y > upwards[upwards.len() - 1].y);
    }

    #[test]
    fn nodes_of_a_row_do_not_overlap() {
        let edges: Vec<(usize, usize)> = (1..6).map(|n| (0, n)).collect();
        let placed = place(&graph(6, &edges));
        let mut row: Vec<_> = placed.nodes[1..].to_vec();
        row.sort_by(|a, b| a.0.x.total_cmp(&b.0.x));
        for pair in row.windows(2) {
            assert!(pair[0].0.x + pair[0].1.0 / 2.0 < pair[1].0.x - pair[1].1.0 / 2.0);
        }
    }

    #[test]
    fn a_loop_on_one_node_and_nothing_at_all_are_drawn_too() {
        assert_eq!(place(&graph(1, &[(0, 0)])).edges[0].len(), 3);
        assert_eq!(place(&graph(0, &[])), Placed::default());
    }
}
