//! Plots as SVG: panels with lines or bars, axes with names, and a legend. The same data give the same text.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::error::Error as AnyError;
use std::fmt;
use std::ops::Range;

/// Number of lines that have a color of their own.
pub const LINES: usize = 8;

const COLORS: [RGBColor; LINES] = [
    RGBColor(0x1f, 0x77, 0xb4),
    RGBColor(0xd6, 0x27, 0x28),
    RGBColor(0x2c, 0xa0, 0x2c),
    RGBColor(0xff, 0x7f, 0x0e),
    RGBColor(0x94, 0x67, 0xbd),
    RGBColor(0x17, 0xbe, 0xcf),
    RGBColor(0xe3, 0x77, 0xc2),
    RGBColor(0x7f, 0x7f, 0x7f),
];

/// Axis of a panel.
pub struct Axis<'a> {
    /// Name of the axis, with the unit.
    pub name: &'a str,
    /// First and last value on the axis.
    pub range: (f64, f64),
    /// Returns the label of a tick at this value.
    pub label: &'a dyn Fn(f64) -> String,
    /// Values with a tick and a label. `None` selects round values between the ends.
    pub places: Option<Vec<f64>>,
}

/// Greatest number of ticks that are chosen automatically.
const PLACES: usize = 11;

/// Coordinate of an axis, with its ticks.
struct Scale {
    plain: RangedCoordf64,
    places: Vec<f64>,
}

impl Scale {
    fn new(axis: &Axis) -> Scale {
        let plain = RangedCoordf64::from(axis.range.0..axis.range.1);
        let places = axis.places.clone();
        Scale {
            places: places.unwrap_or_else(|| plain.key_points(PLACES)),
            plain,
        }
    }
}

impl Ranged for Scale {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.plain.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // There are no grid lines between ticks.
        match hint.weight().allow_light_points() {
            true => Vec::new(),
            false => self.places.clone(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.plain.range()
    }
}

/// Data series of a panel.
pub enum Series {
    /// Points in the order of their first coordinates, joined by a line.
    Line {
        /// Name of the line in the legend.
        name: String,
        /// Coordinates of each point: horizontal, vertical.
        points: Vec<(f64, f64)>,
    },
    /// Bars that start on the horizontal axis: left end, right end and height of each.
    Bars(Vec<(f64, f64, f64)>),
}

/// Position of the legend in its panel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Legend {
    /// Lower left corner.
    LowerLeft,
    /// Upper left corner.
    UpperLeft,
}

/// Panel of a plot: one system of coordinates.
pub struct Panel<'a> {
    /// Title above the panel.
    pub title: &'a str,
    /// Horizontal axis.
    pub across: Axis<'a>,
    /// Vertical axis.
    pub up: Axis<'a>,
    /// Data series; lines have the first [`LINES`] colors in turn.
    pub shapes: &'a [Series],
    /// Position of the legend with the names of the lines.
    pub legend: Legend,
    /// True if each point of a line is marked.
    pub marks: bool,
}

/// Error of drawing a plot.
#[derive(Debug)]
pub struct PlotError(String);

impl fmt::Display for PlotError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "a plot could not be drawn: {}", self.0)
    }
}

impl AnyError for PlotError {}

/// Returns the SVG of several panels, `columns` of them side by side, each of `size` pixels.
///
/// # Errors
/// The range of an axis is empty.
pub fn svg(panels: &[Panel], columns: usize, size: (u32, u32)) -> Result<String, PlotError> {
    let columns = columns.clamp(1, panels.len().max(1));
    let rows = panels.len().div_ceil(columns).max(1);
    let mut text = String::new();
    let whole = (size.0 * columns as u32, size.1 * rows as u32);
    let mut drawn = || -> Result<(), Box<dyn AnyError>> {
        let area = SVGBackend::with_string(&mut text, whole).into_drawing_area();
        area.fill(&WHITE)?;
        for (panel, area) in panels.iter().zip(area.split_evenly((rows, columns))) {
            draw(panel, &area)?;
        }
        area.present()?;
        Ok(())
    };
    drawn().map_err(|e| PlotError(e.to_string()))?;
    Ok(text)
}

fn draw(panel: &Panel, area: &DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), Box<dyn AnyError>> {
    let (across, up) = (&panel.across, &panel.up);
    let mut chart = ChartBuilder::on(area)
        .caption(panel.title, ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(58)
        .build_cartesian_2d(Scale::new(across), Scale::new(up))?;
    chart
        .configure_mesh()
        .x_desc(across.name)
        .y_desc(up.name)
        .x_label_formatter(&|x| (across.label)(*x))
        .y_label_formatter(&|y| (up.label)(*y))
        .max_light_lines(0)
        .draw()?;
    let mut is_named = false;
    for (shape, color) in panel.shapes.iter().zip(COLORS.into_iter().cycle()) {
        match shape {
            Series::Line { name, points } => {
                is_named = true;
                let points = points.iter().copied();
                chart
                    .draw_series(LineSeries::new(points.clone(), color.stroke_width(2)))?
                    .label(name)
                    .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], color));
                if panel.marks {
                    chart.draw_series(points.map(|point| Circle::new(point, 3, color.filled())))?;
                }
            }
            Series::Bars(bars) => {
                let bars = bars.iter();
                chart.draw_series(bars.map(|&(left, right, top)| {
                    Rectangle::new([(left, 0.0), (right, top)], color.filled())
                }))?;
            }
        }
    }
    if is_named {
        let position = match panel.legend {
            Legend::LowerLeft => SeriesLabelPosition::LowerLeft,
            Legend::UpperLeft => SeriesLabelPosition::UpperLeft,
        };
        chart
            .configure_series_labels()
            .position(position)
            .background_style(WHITE)
            .draw()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_has_its_titles_axes_and_names() {
        let label = |x: f64| format!("{x:.0} u");
        let axis = |name| Axis {
            name,
            range: (0.0, 10.0),
            label: &label,
            places: None,
        };
        let line = |name: &str| Series::Line {
            name: name.into(),
            points: vec![(0.0, 1.0), (5.0, 9.0)],
        };
        let panel = |title, shapes| Panel {
            title,
            across: axis("time"),
            up: axis("count"),
            shapes,
            legend: Legend::UpperLeft,
            marks: true,
        };
        let (lines, bars) = (
            [line("one <&>"), line("two")],
            [Series::Bars(vec![(1.0, 2.0, 3.0)])],
        );
        let panels = [panel("first", &lines), panel("second", &bars)];
        let drawn = || svg(&panels, 1, (300, 200)).expect("a plot");
        let text = drawn();
        for part in [
            "width=\"300\" height=\"400\"",
            "first",
            "second",
            "time",
            "count",
            "4 u",
            "one &lt;&amp;&gt;",
            "two",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(drawn(), text);
    }
}
