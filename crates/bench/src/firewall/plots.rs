//! Plots of the results, as SVG.

use super::{Results, published};
use crate::error::Error;
use plot::{Axis, Legend, Series};

/// Width and height of a panel, in pixels.
const PANEL: (u32, u32) = (560, 400);
/// Powers of ten on the axes: of names, and of milliseconds.
const ACROSS: (f64, f64) = (0.0, 6.2);
const UP: (f64, f64) = (-3.0, 3.0);

impl Results {
    /// Returns the files' names and texts.
    pub(crate) fn plots(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let panels = [
            ("ClientHello, in the device", self.lines(true)),
            ("ClientHello, end to end", self.lines(false)),
        ];
        let power = |power: f64| match power {
            power if power < 0.0 => format!("{:.*}", (-power).ceil() as usize, 10f64.powf(power)),
            power => format!("{:.0}", 10f64.powf(power)),
        };
        let ticks = |(from, to): (f64, f64)| {
            let all = (from as i32)..=(to as i32);
            Some(all.map(f64::from).collect::<Vec<f64>>())
        };
        let panels: Vec<plot::Panel> = panels
            .iter()
            .map(|(title, shapes)| plot::Panel {
                title,
                across: Axis {
                    name: "names on the list",
                    range: ACROSS,
                    label: &power,
                    places: ticks(ACROSS),
                },
                up: Axis {
                    name: "ms",
                    range: UP,
                    label: &power,
                    places: ticks(UP),
                },
                shapes,
                legend: Legend::UpperLeft,
                marks: true,
            })
            .collect();
        let drawn = plot::svg(&panels, panels.len(), PANEL);
        let drawn = drawn.map_err(|e| Error::new(e.to_string()))?;
        Ok(vec![("firewall_delays", drawn)])
    }

    /// Returns a line of each firewall, and the published ones.
    fn lines(&self, in_device: bool) -> Vec<Series> {
        let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        for row in self
            .delays
            .iter()
            .filter(|row| row.message == "ClientHello")
        {
            let value = if in_device {
                row.device
            } else {
                row.end_to_end
            };
            let Some(micros) = value else {
                continue;
            };
            let point = ((row.names as f64).log10(), (micros / 1e3).log10());
            match lines.iter_mut().find(|(name, _)| name == row.peer) {
                Some((_, points)) => points.push(point),
                None => lines.push((row.peer.to_owned(), vec![point])),
            }
        }
        let published = match in_device {
            true => (published::DEVICE, &published::NETFILTER_DEVICE[..]),
            false => (published::END_TO_END, &published::NETFILTER_END_TO_END[..]),
        };
        let point = |names: usize, ms: f64| ((names as f64).log10(), ms.log10());
        let flat = vec![point(1, published.0), point(5_000, published.0)];
        let netfilter = published.1.iter().map(|(n, ms)| point(*n, *ms)).collect();
        lines.push(("published".into(), flat));
        lines.push(("published, netfilter".into(), netfilter));
        let line = |(name, points)| Series::Line { name, points };
        lines.into_iter().map(line).collect()
    }
}
