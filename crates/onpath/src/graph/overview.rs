//! Pipeline of `v1model` as one graph: its blocks, and the paths of packets that are resubmitted, recirculated or
//! copied.

use super::{Graph, NodeKind};
use arch::Model;
use arch::v1model::{self, EGRESS, INGRESS};
use ir::Program;

/// Returns the overview of a program with these blocks. Returns `None` for another architecture, whose pipeline has
/// no branches.
pub(super) fn graph(program: &Program, blocks: &[Graph]) -> Option<Graph> {
    arch::by_package(&program.arch).filter(|arch| arch.model == Model::Pipeline)?;
    let mut graph = Graph {
        title: "pipeline".to_string(),
        ..Graph::default()
    };
    let mut last = graph.node(NodeKind::Terminal, "packet in", Vec::new());
    let (mut parser, mut manager, mut egress) = (last, last, last);
    for (block, drawn) in program.blocks.iter().zip(blocks) {
        let tables = drawn
            .nodes
            .iter()
            .filter(|node| node.shape == NodeKind::Table);
        let tables = tables.map(|node| node.title.clone()).collect();
        let node = graph.node(NodeKind::Step, drawn.title.as_str(), tables);
        graph.edge(last, node, "");
        last = node;
        match block.name.as_str() {
            arch::PARSER => parser = node,
            INGRESS => {
                manager = graph.node(NodeKind::Step, "traffic manager", Vec::new());
                graph.edge(node, manager, "");
                last = manager;
            }
            EGRESS => egress = node,
            _ => {}
        }
    }
    let out = graph.node(NodeKind::Terminal, "packet out", Vec::new());
    graph.edge(last, out, "");
    for way in v1model::ways(program) {
        match way {
            "multicast groups" => graph.edge(manager, egress, "copies of a multicast group"),
            name if name.starts_with("clone") => graph.edge(manager, egress, "clones"),
            name if name.starts_with("resubmit") => graph.edge(manager, parser, "resubmitted"),
            name if name.starts_with("recirculate") => graph.edge(last, parser, "recirculated"),
            _ => {}
        }
    }
    Some(graph)
}
