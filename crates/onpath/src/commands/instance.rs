//! Choice of a running program by the flags that name it.

use crate::args::Instance;
use crate::output::{Stop, print_diagnostics, refused};
use control::Store;
use control::strays::Strays;
use diag::{Diagnostics, Severity, SourceMap};
use kernel::errors::device::is_busy;
use kernel::{Pins, keeper};

/// A running program.
pub(crate) struct Meant {
    /// Name of the running instance: a program, or the bundle that has it.
    pub instance: String,
    /// Name of the program in the bundle, if it was given.
    pub program: Option<String>,
}

/// Finds the running program that the flags name: `NAME`, or `BUNDLE/PROGRAM`.
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

/// Opens the state of the running program that the flags name.
pub(crate) fn open(instance: &Instance) -> Result<Box<dyn Store>, Stop> {
    open_with_ports(instance).map(|(store, _)| store)
}

/// Opens the state, and returns a check for entries that send packets to ports which the program does not have.
pub(crate) fn open_with_ports(instance: &Instance) -> Result<(Box<dyn Store>, Strays), Stop> {
    let Meant { instance, program } = meant(instance)?;
    let opened = Pins::default().open(&instance, program.as_deref());
    let (record, store) = opened.map_err(refused)?;
    let drop_port = arch::drop_port(&store.schema().arch);
    let strays = Strays::new(record.ports().map(|(port, ..)| port), drop_port);
    Ok((Box::new(store), strays))
}

/// Removes the remains of killed commands. If that fails, it only warns, as the remains do no harm.
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

/// Repairs the instances that are listed and keeps them attached, if this process may do so. A user with read access
/// can still list them. Only listing commands start keeper processes for other commands' programs. Those of a service
/// would end with it.
pub(crate) fn mend_quietly(pins: &Pins) {
    let _ = pins.mend();
    keeper::ensure(pins);
}
