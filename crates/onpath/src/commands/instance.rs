//! A running program, from the flags that name it.

use crate::args::Instance;
use crate::output::{Stop, print_diagnostics, refused};
use control::Store;
use control::strays::Strays;
use diag::{Diagnostics, Severity, SourceMap};
use kernel::errors::device::is_busy;
use kernel::pins::MemberRecord;
use kernel::{Pins, Record, keeper};

/// A running program.
pub(crate) struct Meant {
    /// What is running, or the bundle that it is one of.
    pub instance: String,
    /// The program's name in the bundle, if it was given.
    pub program: Option<String>,
}

/// The running program that the flags mean: `NAME`, or `BUNDLE/PROGRAM`.
pub(crate) fn meant(instance: &Instance) -> Result<Meant, Stop> {
    let (named, program) = match instance.name.as_deref() {
        None => (None, None),
        Some(name) => match name.split_once('/') {
            Some((bundle, program)) => (Some(bundle), Some(program)),
            None => (Some(name), None),
        },
    };
    Ok(Meant {
        instance: Pins::default().choose(named).map_err(refused)?,
        program: program.map(String::from),
    })
}

/// Opens the state of the running program that the flags mean.
pub(crate) fn open(instance: &Instance) -> Result<Box<dyn Store>, Stop> {
    open_with_ports(instance).map(|(store, _)| store)
}

/// The same, with what warns of entries that send packets to ports which it does not have.
pub(crate) fn open_with_ports(instance: &Instance) -> Result<(Box<dyn Store>, Strays), Stop> {
    let Meant { instance, program } = meant(instance)?;
    let opened = Pins::default().open(&instance, program.as_deref());
    let (record, store) = opened.map_err(refused)?;
    let drop_port = arch::drop_port(&store.schema().arch);
    let strays = Strays::new(record.ports().map(|(port, ..)| port), drop_port);
    Ok((Box::new(store), strays))
}

/// Removes what killed commands left. What cannot be removed is a warning: it is in nobody's way.
pub(crate) fn mend(pins: &Pins) -> Result<(), Stop> {
    match pins.mend() {
        Err(diagnostic) if is_busy(&diagnostic) => Err(refused(diagnostic)),
        Err(mut diagnostic) => {
            diagnostic.severity = Severity::Warning;
            print_diagnostics(&Diagnostics::from(diagnostic), &SourceMap::new());
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// Has what is listed be as it should be, and stay so: as far as this process may change anything. A user with read access only can
/// still list. Only commands that list start processes for programs that are not theirs: those would end with a service that ran them.
pub(crate) fn mend_quietly(pins: &Pins) {
    let _ = pins.mend();
    keeper::ensure(pins);
}

/// What users call a program of a record.
pub(crate) fn label(record: &Record, member: &MemberRecord) -> String {
    if record.members.len() == 1 && member.name == record.instance {
        record.instance.clone()
    } else {
        format!("{}/{}", record.instance, member.name)
    }
}
