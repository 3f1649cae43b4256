//! Graphviz, if it is installed: it lays graphs out.

use crate::child::{self, Ended};
use crate::interrupt::Deferred;
use crate::scratch::Scratch;
use std::fs;
use std::process::Command;
use std::time::Duration;

/// Time limit of `dot`. Only graphs that are too large to look at need longer.
const LONGEST: Duration = Duration::from_secs(20);

/// Returns the SVG of a graph in Graphviz's language; `None` without a `dot` that makes it in time.
pub fn svg(graph: &str) -> Option<String> {
    // Deferred until the folder is removed: an interrupt would leave it behind.
    let interrupts = Deferred::begin().ok()?;
    let folder = Scratch::new().ok()?;
    let [source, drawing] = ["graph.dot", "graph.svg"].map(|name| folder.path().join(name));
    fs::write(&source, graph).ok()?;
    let mut command = Command::new("dot");
    command.arg("-Tsvg").arg("-o").arg(&drawing).arg(&source);
    match child::run(&mut command, &interrupts, LONGEST).ok()? {
        Ended::ByItself(status, _) if status.success() => fs::read_to_string(&drawing).ok(),
        _ => None,
    }
}
