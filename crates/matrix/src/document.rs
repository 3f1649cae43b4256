//! Document with the tables, in Markdown.

use crate::accelerator::Accelerator;
use crate::table::Grid;

/// Returns all tables below a head that describes their origin. `machine` describes this machine, its kernel and the
/// date.
pub(crate) fn document(machine: &str, accelerator: Accelerator, tables: &[(&str, Grid)]) -> String {
    let tables: String = tables
        .iter()
        .map(|(title, grid)| format!("\n## {title}\n\n{}", grid.markdown()))
        .collect();
    let accelerator = accelerator.name;
    format!(
        "# Kernels: what loads and runs, and how\n\n{machine}. Written by `make test-kernels TRIALS=\"... --markdown FILE\"`.\n\n\
         The kernels are those of Debian's packages, each in a machine of its own by {accelerator}; `host` is this machine's. \
         The first table has the suites that this run was of.\n{tables}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accelerator::TCG;

    #[test]
    fn a_document_has_a_head_and_all_tables() {
        let row = |cells: [&str; 2]| cells.map(String::from).to_vec();
        let grid = Grid(vec![row(["a", "b"]), row(["1", "2"])]);
        let text = document("Today, a machine", TCG, &[("T", grid)]);
        assert!(text.contains("\n\nToday, a machine. Written by `make test-kernels"));
        assert!(text.contains("by emulation; `host`"));
        assert!(text.ends_with("\n\n## T\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"));
    }
}
