//! Plots of the results, as SVG.

use super::rates::{APPLICATION, OFF_PATH, PATH, Rate};
use super::{Results, published};
use crate::error::Error;
use plot::{Axis, Legend, PlotError, Series};

/// Width and height of a panel, in pixels.
const PANEL: (u32, u32) = (460, 360);

/// Named line through points.
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
}

/// Panel of lines in one system of coordinates.
struct Panel {
    title: String,
    across: &'static str,
    lines: Vec<Line>,
}

impl Results {
    /// Returns the files' names and texts.
    pub(crate) fn plots(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let places = [
            Panel {
                title: "here".into(),
                across: "bytes parsed",
                lines: self.place_lines(),
            },
            Panel {
                title: "published".into(),
                across: "bytes parsed",
                lines: published_places(),
            },
        ];
        let techniques = [
            Panel {
                title: "on the path, by bytes".into(),
                across: "bytes parsed",
                lines: lines(&self.rates.techniques),
            },
            Panel {
                title: "on the path, by attributes".into(),
                across: "attributes in 1,400 bytes",
                lines: lines(&self.rates.attributes),
            },
        ];
        let drawn = |panels: &[Panel]| drawn(panels).map_err(|e| Error::new(e.to_string()));
        Ok(vec![
            ("telemetry_places", drawn(&places)?),
            ("telemetry_techniques", drawn(&techniques)?),
        ])
    }

    /// Returns a line for each location of the parser. It starts at zero parsed bytes, with the rate without a parser.
    fn place_lines(&self) -> Vec<Line> {
        let mut lines = lines(&self.rates.places);
        for line in &mut lines {
            line.points.insert(0, (0.0, self.rates.nowhere.median));
        }
        lines
    }
}

fn lines(rates: &[Rate]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for rate in rates {
        let point = (rate.at as f64, rate.gbits.median);
        match lines.iter_mut().find(|line| line.name == rate.of) {
            Some(line) => line.points.push(point),
            None => lines.push(Line {
                name: rate.of.into(),
                points: vec![point],
            }),
        }
    }
    lines
}

fn published_places() -> Vec<Line> {
    let names = [PATH, APPLICATION, OFF_PATH].into_iter().enumerate();
    let line = |(place, name): (usize, &str)| {
        let points = published::PLACES.iter();
        let points = points.map(|(bytes, rates)| (*bytes as f64, rates[place]));
        Line {
            name: name.into(),
            points: std::iter::once((0.0, published::NOWHERE))
                .chain(points)
                .collect(),
        }
    };
    names.map(line).collect()
}

/// Draws panels side by side.
fn drawn(panels: &[Panel]) -> Result<String, PlotError> {
    let shapes: Vec<Vec<Series>> = panels.iter().map(|panel| shapes(&panel.lines)).collect();
    let panels = panels.iter().zip(&shapes).map(|(panel, shapes)| {
        let points = || panel.lines.iter().flat_map(|line| &line.points);
        let right = points().fold(1.0f64, |most, point| most.max(point.0));
        let top = points().fold(1.0f64, |most, point| most.max(point.1));
        plot::Panel {
            title: &panel.title,
            across: Axis {
                name: panel.across,
                range: (0.0, right * 1.03),
                label: &|x| format!("{x:.0}"),
                places: None,
            },
            up: Axis {
                name: "Gbit/s",
                range: (0.0, top * 1.1),
                label: &|y| format!("{y:.1}"),
                places: None,
            },
            shapes,
            legend: Legend::LowerLeft,
            marks: true,
        }
    });
    let panels: Vec<plot::Panel> = panels.collect();
    plot::svg(&panels, panels.len(), PANEL)
}

fn shapes(lines: &[Line]) -> Vec<Series> {
    let shape = |line: &Line| Series::Line {
        name: line.name.clone(),
        points: line.points.clone(),
    };
    lines.iter().map(shape).collect()
}
