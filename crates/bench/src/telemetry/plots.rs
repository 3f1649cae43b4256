//! The results as SVG.

use super::rates::{APPLICATION, OFF_PATH, PATH, Rate};
use super::{Results, published};
use crate::error::Error;
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error as AnyError;

/// Width of a panel and height of a plot, in pixels.
const PANEL: (u32, u32) = (460, 360);
const COLORS: [RGBColor; 3] = [
    RGBColor(0x1f, 0x77, 0xb4),
    RGBColor(0xd6, 0x27, 0x28),
    RGBColor(0x2c, 0xa0, 0x2c),
];

/// Points with their name.
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
}

/// Lines in one system of coordinates.
struct Panel {
    title: String,
    across: &'static str,
    lines: Vec<Line>,
}

impl Results {
    /// File names and their texts.
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
        let drawn = |panels: &[Panel]| {
            drawn(panels).map_err(|e| Error::new(format!("a plot could not be drawn: {e}")))
        };
        Ok(vec![
            ("telemetry_places", drawn(&places)?),
            ("telemetry_techniques", drawn(&techniques)?),
        ])
    }

    /// The places, from no bytes on.
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

/// Panels side by side.
fn drawn(panels: &[Panel]) -> Result<String, Box<dyn AnyError>> {
    let mut text = String::new();
    {
        let size = (PANEL.0 * panels.len() as u32, PANEL.1);
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&WHITE)?;
        for (panel, area) in panels.iter().zip(area.split_evenly((1, panels.len()))) {
            draw(panel, &area)?;
        }
        area.present()?;
    }
    Ok(text)
}

fn draw(panel: &Panel, area: &DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), Box<dyn AnyError>> {
    let points = || panel.lines.iter().flat_map(|line| &line.points);
    let right = points().fold(1.0f64, |most, point| most.max(point.0));
    let top = points().fold(1.0f64, |most, point| most.max(point.1));
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 16))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(48)
        .build_cartesian_2d(0.0..right * 1.03, 0.0..top * 1.1)?;
    chart
        .configure_mesh()
        .x_desc(panel.across)
        .y_desc("Gbit/s")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .max_light_lines(0)
        .draw()?;
    for (line, color) in panel.lines.iter().zip(COLORS) {
        let points = line.points.iter().copied();
        chart
            .draw_series(LineSeries::new(points.clone(), color.stroke_width(2)))?
            .label(&line.name)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], color));
        chart.draw_series(points.map(|point| Circle::new(point, 3, color.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerLeft)
        .background_style(WHITE)
        .draw()?;
    Ok(())
}
