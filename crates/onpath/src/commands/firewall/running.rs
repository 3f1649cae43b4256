//! Firewalls that run.

use super::lists::Files;
use crate::args::Instance;
use crate::commands::instance::meant;
use crate::output::{Stop, refused};
use kernel::{KernelStore, Pins};

/// A running firewall.
pub(super) struct Running {
    /// Its name.
    pub name: String,
    /// Its lists.
    pub files: Files,
    /// Its rules and counters.
    pub store: KernelStore,
}

/// Opens a running firewall; without a name, the one program that runs.
pub(super) fn running(name: Option<&str>) -> Result<Running, Stop> {
    let instance = Instance {
        name: name.map(str::to_owned),
    };
    let instance = meant(&instance)?.instance;
    let pins = Pins::default();
    let record = pins.record(&instance).map_err(refused)?;
    let files = Files::of_record(&record)?;
    let (_, store) = pins.open(&instance, None).map_err(refused)?;
    Ok(Running {
        name: instance,
        files,
        store,
    })
}
