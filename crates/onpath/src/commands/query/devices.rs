//! Interfaces whose packets a query reads.

use crate::output::{Stop, err_line, refused};
use net::interface;

/// Name that stands for all interfaces.
const ANY: &str = "any";
/// Maximum length of several interfaces' names in the name of a query, in characters.
const LONGEST: usize = 32;

/// Interfaces, one at least.
pub(super) struct Devices {
    all: Vec<Device>,
    /// Their name in messages.
    pub called: String,
}

/// An interface.
struct Device {
    name: String,
    index: u32,
    /// True once it was found to be gone.
    is_gone: bool,
}

impl Devices {
    /// Finds the named interfaces, each once, or all whose packets have an Ethernet header.
    pub(super) fn find(given: &[String]) -> Result<Devices, Stop> {
        let mut all: Vec<Device> = Vec::new();
        if given.iter().any(|name| name == ANY) {
            if given.len() > 1 {
                return Err(Stop::Usage(
                    "`--dev any` reads at all interfaces: omit the others".into(),
                ));
            }
            for (index, name) in interface::all() {
                match interface::link_type(index) {
                    Ok(link) if link.is_ethernet() => all.push(Device::new(name, index)),
                    Ok(_) => {
                        err_line!("note: {name} is left out: its packets have no Ethernet header")
                    }
                    // The interface was just removed.
                    Err(_) => {}
                }
            }
            if all.is_empty() {
                return Err(Stop::Failed(
                    "there is no interface whose packets have an Ethernet header".into(),
                ));
            }
        }
        for name in given.iter().filter(|name| *name != ANY) {
            let index = interface::index(name).map_err(refused)?;
            if all.iter().all(|device| device.index != index) {
                all.push(Device::new(name.clone(), index));
            }
        }
        let names: Vec<&str> = all.iter().map(|device| device.name.as_str()).collect();
        let called = match given.iter().any(|name| name == ANY) {
            true => ANY.to_owned(),
            false => names.join(","),
        };
        Ok(Devices { all, called })
    }

    /// Returns their names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|device| device.name.as_str())
    }

    /// Returns the name for a query at these interfaces. It may be taken.
    pub(super) fn query(&self) -> String {
        let plain = |c: char| !c.is_ascii_alphanumeric();
        let names = self.called.replace(plain, "-");
        match (&self.all[..], names.len() <= LONGEST) {
            ([_], _) | (_, true) => format!("query-{names}"),
            (all, false) => format!("query-{}-interfaces", all.len()),
        }
    }

    /// Returns true if all are gone. If only some are gone, each of them is reported once.
    pub(super) fn are_gone(&mut self) -> bool {
        let there = interface::all();
        let is_there = |device: &Device| there.iter().any(|(index, _)| *index == device.index);
        if !self.all.iter().any(is_there) {
            return true;
        }
        for device in &mut self.all {
            let is_new = !device.is_gone && !is_there(device);
            if is_new {
                device.is_gone = true;
                err_line!("{}: the interface is gone", device.name);
            }
        }
        false
    }
}

impl Device {
    fn new(name: String, index: u32) -> Device {
        Device {
            name,
            index,
            is_gone: false,
        }
    }
}
