//! Runs a plan in a guest: boots it, watches it and collects its events.

use crate::boot::{Order, boot};
use crate::error::Error;
use crate::interrupt;
use crate::packages::Kernel;
use crate::plan::GuestPlan;
use crate::trial::Event;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest silence of a guest: a trial that hangs is killed earlier.
const PATIENCE: Duration = Duration::from_secs(900);
const POLL: Duration = Duration::from_millis(200);
const EVENTS: &str = "events.jsonl";
const PLAN: &str = "plan.json";

/// Boots a kernel, runs the plan there, and passes the events to the sink. `logs` is the absolute path of a folder for
/// this kernel, which both sides read.
pub(crate) fn run(
    kernel: &Kernel,
    plan: &GuestPlan,
    logs: &Path,
    sink: &mut dyn FnMut(Event),
) -> Result<(), Error> {
    let (plan_file, events) = (logs.join(PLAN), logs.join(EVENTS));
    let text = serde_json::to_string(plan).map_err(|e| Error::new(e.to_string()))?;
    fs::write(&plan_file, text).map_err(Error::file("write", &plan_file))?;
    File::create(&events).map_err(Error::file("write", &events))?;
    let this = std::env::current_exe().map_err(|e| Error::new(format!("this program: {e}")))?;
    let command = format!(
        "{} guest {} {}",
        quoted(&this),
        quoted(&plan_file),
        quoted(&events)
    );
    let order = Order {
        command: &command,
        logs,
        objects: &plan.objects,
        wires: !plan.with_wires(true).suites.is_empty(),
    };
    let mut guest = boot(kernel, &order)?;
    let file = File::open(&events).map_err(Error::file("read", &events))?;
    let mut lines = BufReader::new(file);
    let mut line = String::new();
    let mut last = Instant::now();
    loop {
        let runs = guest.qemu.runs();
        while lines.read_line(&mut line).is_ok_and(|n| n > 0) && line.ends_with('\n') {
            last = Instant::now();
            let event: Event = serde_json::from_str(&line)
                .map_err(|e| Error::new(format!("{}: {e}: {line}", events.display())))?;
            let is_end = event == Event::Ended;
            sink(event);
            line.clear();
            if is_end {
                return Ok(());
            }
        }
        let why = match runs {
            _ if interrupt::is_requested() => return Err(Error::new("interrupted")),
            false => "ended before its tests",
            true if last.elapsed() > PATIENCE => "is silent",
            true => {
                sleep(POLL);
                continue;
            }
        };
        return Err(Error::new(format!(
            "the guest {why}; its last words:\n{}",
            last_words(&guest.console)
        )));
    }
}

/// Runs the plan in a file, inside a guest, and appends the events to another file.
pub(crate) fn inside(plan: &Path, events: &Path) -> Result<(), Error> {
    let text = fs::read_to_string(plan).map_err(Error::file("read", plan))?;
    let plan: GuestPlan = serde_json::from_str(&text).map_err(|e| Error::new(e.to_string()))?;
    let mut file = File::options()
        .append(true)
        .open(events)
        .map_err(Error::file("write", events))?;
    crate::runner::run(&plan, &mut |event: Event| {
        // Each line is one write, so the reader sees all of it or nothing. There is nobody to report an error to.
        if let Ok(line) = serde_json::to_string(&event) {
            let _ = std::io::Write::write_all(&mut file, format!("{line}\n").as_bytes());
        }
    });
    Ok(())
}

/// Quotes a path for the shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

fn last_words(console: &PathBuf) -> String {
    let bytes = fs::read(console).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
