//! Plots as SVG: panels with lines or bars, axes with names, and a legend. The same data give the same text.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::error::Error as AnyError;
use std::fmt;
use std::ops::Range;

/// The most lines that have a color of their own.
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

/// An axis.
pub struct Axis<'a> {
    /// What it is about, with the unit.
    pub name: &'a str,
    /// From where to where it goes.
    pub range: (f64, f64),
    /// The text at a place.
    pub label: &'a dyn Fn(f64) -> String,
    /// The places that have a text; without them, round ones between the ends.
    pub places: Option<Vec<f64>>,
}

/// The most places of an axis that are chosen without being given.
const PLACES: usize = 11;

/// The coordinate of an axis, with its places.
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
        // Between places there are no lines.
        match hint.weight().allow_light_points() {
            true => Vec::new(),
            false => self.places.clone(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.plain.range()
    }
}

/// What is shown in a system of coordinates.
pub enum Shape {
    /// Points in the order of their first coordinates, and the line between them.
    Line {
        /// What the legend says.
        name: String,
        /// Across, and up.
        points: Vec<(f64, f64)>,
    },
    /// Bars from the axis on: from where to where they go across, and how far up.
    Bars(Vec<(f64, f64, f64)>),
}

/// Where the legend is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Legend {
    /// In the corner at the left, below.
    LowerLeft,
    /// In the corner at the left, above.
    UpperLeft,
}

/// A system of coordinates.
pub struct Panel<'a> {
    /// What stands above it.
    pub title: &'a str,
    /// The axis from left to right.
    pub across: Axis<'a>,
    /// The axis from the bottom up.
    pub up: Axis<'a>,
    /// What it shows; lines have the first [`LINES`] colors in turn.
    pub shapes: &'a [Shape],
    /// Where the names of its lines are.
    pub legend: Legend,
    /// Whether each point of a line is marked.
    pub marks: bool,
}

/// A plot could not be drawn.
#[derive(Debug)]
pub struct PlotError(String);

impl fmt::Display for PlotError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "a plot could not be drawn: {}", self.0)
    }
}

impl AnyError for PlotError {}

/// The SVG of panels, so many of which stand side by side, each of `size` pixels.
///
/// # Errors
/// A range of an axis is none.
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
            Shape::Line { name, points } => {
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
            Shape::Bars(bars) => {
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
        let line = |name: &str| Shape::Line {
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
            [Shape::Bars(vec![(1.0, 2.0, 3.0)])],
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
