//! Tables as text and as Markdown.

/// Rows of cells, each with a cell for each column. The first row is the head.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Grid(pub Vec<Vec<String>>);

impl Grid {
    /// Formats the table for a terminal: columns are as wide as they need.
    pub(crate) fn text(&self) -> String {
        let width = |column: usize| self.0.iter().map(|row| row[column].chars().count()).max();
        let columns = self.0.first().map_or(0, Vec::len);
        let widths: Vec<usize> = (0..columns).filter_map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths);
            let padded: Vec<String> = cells
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            padded.join("  ").trim_end().to_string() + "\n"
        };
        self.0.iter().map(line).collect()
    }

    /// Formats the table as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
        let mut lines: Vec<String> = self.0.iter().map(line).collect();
        let columns = self.0.first().map_or(0, Vec::len);
        lines.insert(1, "|---".repeat(columns) + "|\n");
        lines.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_gets_the_same_cells() {
        let row = |cells: [&str; 2]| cells.map(String::from).to_vec();
        let grid = Grid(vec![row(["a", "b"]), row(["1", ""])]);
        assert_eq!(grid.markdown(), "| a | b |\n|---|---|\n| 1 |  |\n");
        assert_eq!(grid.text(), "a  b\n1\n");
    }
}
