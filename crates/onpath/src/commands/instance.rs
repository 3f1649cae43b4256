//! A running program, from the flags that name it.

use crate::args::Instance;
use crate::output::{Stop, refused};
use control::Store;
use kernel::pins::MemberRecord;
use kernel::{Pins, Record};

/// Opens the state of the running program that the flags mean: `NAME`, or `BUNDLE/PROGRAM`.
pub fn open(instance: &Instance) -> Result<Box<dyn Store>, Stop> {
    let pins = Pins::default();
    let (named, program) = match instance.name.as_deref() {
        None => (None, None),
        Some(name) => match name.split_once('/') {
            Some((bundle, program)) => (Some(bundle), Some(program)),
            None => (Some(name), None),
        },
    };
    let name = pins.choose(named).map_err(refused)?;
    let (_, store) = pins.open(&name, program).map_err(refused)?;
    Ok(Box::new(store))
}

/// What users call a program of a record.
pub fn label(record: &Record, member: &MemberRecord) -> String {
    if record.members.len() == 1 && member.name == record.instance {
        record.instance.clone()
    } else {
        format!("{}/{}", record.instance, member.name)
    }
}
