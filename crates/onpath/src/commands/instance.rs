//! A running program, from the flags that name it.

use crate::args::Instance;
use crate::output::{Stop, refused};
use kernel::pins::MemberRecord;
use kernel::{KernelStore, Pins};

/// Opens the running program that the flags mean.
pub fn open(instance: &Instance) -> Result<(MemberRecord, KernelStore), Stop> {
    let pins = Pins::default();
    let name = pins.choose(instance.name.as_deref()).map_err(refused)?;
    pins.open(&name, None).map_err(refused)
}
