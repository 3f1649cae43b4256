//! Interfaces of running programs, for listings.

use diag::shown;
use kernel::attachment::TcOrder;
use kernel::pins::{Absence, Presence};
use kernel::sys::time::local_time;
use kernel::{Pins, Record};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// A port of a running program, and its interface.
pub(super) struct ProgramPort<'a> {
    /// The port's number.
    pub port: u32,
    /// The program's attachment there; `None` if it only sends there.
    pub mode: Option<&'a str>,
    /// Position among the programs at that hook of traffic control, and their number.
    place: Option<(usize, usize)>,
    /// True if it runs on the wrong side of the program before or after which it is to run.
    is_misplaced: bool,
    name: &'a str,
    index: u32,
    presence: Presence,
    absence: Option<Absence>,
}

/// Returns the ports of one program of a record: those at which it runs, then those that it only sends to.
pub(super) fn places<'a>(pins: &Pins, record: &'a Record, number: usize) -> Vec<ProgramPort<'a>> {
    let member = &record.members[number];
    let absences = pins.absences(&record.instance);
    let absence = |port: u32| {
        let mut all = absences.iter();
        all.find(|a| (a.member, a.port) == (number, port)).cloned()
    };
    let attached = member.interfaces.iter().map(|at| ProgramPort {
        port: at.port,
        mode: Some(&at.mode),
        place: pins.tc_place(&record.instance, member.hook, at),
        is_misplaced: pins.is_misplaced(record, member.hook, at),
        name: &at.name,
        index: at.index,
        presence: pins.presence(&record.instance, number, member.hook, at),
        absence: absence(at.port),
    });
    let reached = member.targets.iter().map(|at| ProgramPort {
        port: at.port,
        mode: None,
        place: None,
        is_misplaced: false,
        name: &at.name,
        index: at.index,
        presence: pins.presence_of_target(at),
        absence: absence(at.port),
    });
    attached.chain(reached).collect()
}

impl ProgramPort<'_> {
    /// Returns the interface's present name, and its location if it is not here.
    pub(super) fn interface(&self) -> String {
        let name = self.name;
        match (&self.presence, self.since()) {
            (Presence::Here(now), _) => now.clone(),
            (Presence::InNamespace(Some(path)), _) => {
                format!("{name} (in namespace {})", namespace(path))
            }
            (Presence::InNamespace(None), _) => format!("{name} (in another namespace)"),
            (Presence::Gone, Some(since)) => format!("{name} (gone since {})", time(since)),
            (Presence::Gone, None) => format!("{name} (gone)"),
        }
    }

    /// Returns the program's mode there, and its position if it is one of several.
    pub(super) fn attached(&self) -> String {
        match (self.mode, self.place) {
            (None, _) => "reached".to_owned(),
            (Some(mode), Some((place, all))) if all > 1 => format!("{mode}, {place} of {all}"),
            (Some(mode), _) => mode.to_owned(),
        }
    }

    /// Returns the time since which it is gone, in seconds, if that was seen.
    fn since(&self) -> Option<u64> {
        let absence = self.absence.as_ref()?;
        absence.until.is_none().then_some(absence.since)
    }

    /// Returns remarks about the port.
    pub(super) fn lines(&self, record: &Record, number: usize) -> impl Iterator<Item = String> {
        let lines = [
            self.absence_line(record, number),
            self.order_line(record, number),
        ];
        lines.into_iter().flatten()
    }

    /// Returns a remark if the program runs on the wrong side of another one.
    fn order_line(&self, record: &Record, number: usize) -> Option<String> {
        let (runs, beside, was_to) = match &record.order {
            TcOrder::Before(beside) if self.is_misplaced => ("after", beside, "before"),
            TcOrder::After(beside) if self.is_misplaced => ("before", beside, "after"),
            _ => return None,
        };
        let label = record.label(&record.members[number]);
        let (port, name, instance) = (self.port, self.name, &record.instance);
        Some(format!(
            "{label}: port {port} ({name}): it runs {runs} `{beside}` since they were attached there anew; to have it {was_to} that, `onpath \
             unload {instance}` and run it with `--{was_to} {beside}`"
        ))
    }

    /// Returns a remark about the interface's absence, or about the reason why the program does not run at a new one
    /// of its name.
    fn absence_line(&self, record: &Record, number: usize) -> Option<String> {
        let absence = self.absence.as_ref()?;
        let label = record.label(&record.members[number]);
        let (port, name) = (self.port, self.name);
        match (absence.until, &absence.why) {
            (Some(until), _) => Some(format!(
                "{label}: port {port} ({name}) was gone from {} to {}; it runs there again",
                time(absence.since),
                time(until)
            )),
            (None, Some(why)) => Some(format!(
                "{label}: there is a {name} again, and it cannot be port {port}: {why}; it is tried again"
            )),
            (None, None) => None,
        }
    }

    pub(super) fn as_json(&self) -> Value {
        let (name, state) = match &self.presence {
            Presence::Here(now) => (now.as_str(), "here"),
            Presence::InNamespace(_) => (self.name, "other_namespace"),
            Presence::Gone => (self.name, "gone"),
        };
        let mut value = json!({
            "port": self.port,
            "present": state == "here",
            "state": state,
            "name": name,
            "index": self.index,
        });
        if let Some(mode) = self.mode {
            value["mode"] = json!(mode);
        }
        if let Some((place, all)) = self.place.filter(|(_, all)| *all > 1) {
            value["place"] = json!({ "number": place, "of": all });
        }
        if self.is_misplaced {
            value["misplaced"] = json!(true);
        }
        if let Presence::InNamespace(path) = &self.presence {
            value["namespace"] = json!(path);
        }
        if let Some(absence) = &self.absence {
            match absence.until {
                Some(until) => {
                    value["last_absence"] = json!({ "since": absence.since, "until": until });
                }
                None => value["since"] = json!(absence.since),
            }
            if let Some(why) = &absence.why {
                value["why"] = json!(why);
            }
        }
        value
    }
}

fn time(seconds: u64) -> String {
    local_time(Duration::from_secs(seconds))
}

/// Returns the name that `ip netns` gave a network namespace, or its path.
fn namespace(path: &Path) -> String {
    let name = path.strip_prefix("/run/netns").unwrap_or(path);
    shown(&name.to_string_lossy()).into_owned()
}
