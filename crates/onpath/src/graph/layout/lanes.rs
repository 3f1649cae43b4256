//! The third step: edges over several layers get a waypoint in each.
//!
//! All such edges into one node share their waypoints: where a thousand states lead to `accept`, the arrows join one
//! that goes there, instead of a thousand beside each other.

use super::{TooLarge, down};
use crate::graph::Graph;
use std::collections::BTreeMap;

/// The most waypoints that are placed: more make an unreadable picture.
const MOST_WAYPOINTS: usize = 200_000;

/// What is placed: first the graph's nodes, by index, then the waypoints.
pub(super) struct Points {
    /// The layer of each.
    pub layer: Vec<usize>,
    /// For each edge what it goes through, from top to bottom.
    pub chains: Vec<Chain>,
}

/// What an edge goes through.
pub(super) struct Chain {
    /// Nodes and waypoints, one a layer, from top to bottom.
    pub points: Vec<usize>,
    /// Whether it ends where it joins another edge, and not at its target.
    pub joins: bool,
}

/// Puts waypoints on the long edges of a graph whose nodes have these layers.
pub(super) fn lanes(
    graph: &Graph,
    turned: &[bool],
    mut layer: Vec<usize>,
) -> Result<Points, TooLarge> {
    // The edges that are longer than a layer, by target. Turned ones come to theirs from below.
    let mut lanes: BTreeMap<(usize, bool), Vec<usize>> = BTreeMap::new();
    let mut chains: Vec<Chain> = Vec::with_capacity(graph.edges.len());
    for (index, (edge, &turned)) in graph.edges.iter().zip(turned).enumerate() {
        let (upper, lower) = down(edge, turned);
        chains.push(Chain {
            points: vec![upper, lower],
            joins: false,
        });
        if layer[lower] > layer[upper] + 1 {
            lanes.entry((edge.to, turned)).or_default().push(index);
        }
    }
    let nodes = layer.len();
    for ((target, turned), mut edges) in lanes {
        let far = |index: usize| match turned {
            false => layer[graph.edges[index].from],
            true => usize::MAX - layer[graph.edges[index].from],
        };
        // The longest one has the whole lane; the others join it one layer from where they begin.
        edges.sort_by_key(|&index| far(index));
        let farthest = layer[graph.edges[edges[0]].from];
        let target_layer = layer[target];
        let between = match turned {
            false => farthest + 1..target_layer,
            true => target_layer + 1..farthest,
        };
        let first = layer.len();
        if first + between.len() - nodes > MOST_WAYPOINTS {
            return Err(TooLarge);
        }
        layer.extend(between.clone());
        let waypoint = |at: usize| first + (at - between.start);
        for (position, &index) in edges.iter().enumerate() {
            let from = graph.edges[index].from;
            let joins = position > 0;
            chains[index] = match (turned, joins) {
                (false, false) => {
                    let lane = between.clone().map(waypoint);
                    let points = [from].into_iter().chain(lane).chain([target]).collect();
                    Chain { points, joins }
                }
                (true, false) => {
                    let lane = between.clone().map(waypoint);
                    let points = [target].into_iter().chain(lane).chain([from]).collect();
                    Chain { points, joins }
                }
                (false, true) => Chain {
                    points: vec![from, waypoint(layer[from] + 1)],
                    joins,
                },
                (true, true) => Chain {
                    points: vec![waypoint(layer[from] - 1), from],
                    joins,
                },
            };
        }
    }
    Ok(Points { layer, chains })
}
