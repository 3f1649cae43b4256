//! A table as text and as Markdown.

/// Rows of cells below a head.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Grid {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// One without rows.
    pub(crate) fn new(head: impl Iterator<Item = String>) -> Grid {
        Grid {
            head: head.collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, with a cell for each column.
    pub(crate) fn row(&mut self, cells: impl Iterator<Item = String>) {
        self.rows.push(cells.collect());
    }

    /// Whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// For a terminal: columns as wide as they need.
    pub(crate) fn text(&self) -> String {
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        let width = |column: usize| {
            lines()
                .map(|line| line[column].chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let line = |cells: &Vec<String>| {
            let cells = cells
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
        };
        lines().map(line).collect()
    }

    /// For a document.
    pub(crate) fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = "|---".repeat(self.head.len()) + "|\n";
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        line(&self.head) + &rule + &rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_gets_the_same_cells() {
        let cells = |text: &str| {
            text.split(',')
                .map(String::from)
                .collect::<Vec<_>>()
                .into_iter()
        };
        let mut grid = Grid::new(cells("a,b"));
        grid.row(cells("1,"));
        assert_eq!(grid.markdown(), "| a | b |\n|---|---|\n| 1 |  |\n");
        assert_eq!(grid.text(), "a  b\n1\n");
    }
}
