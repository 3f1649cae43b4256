//! Threads that keep the programs of an instance specialized.

use super::{Done, Failed, Specializable, Specializer};
use control::StoreError;
use diag::{Diagnostics, SourceMap};
use kernel::Pins;
use kernel::pins::Owner;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time between two polls of the tables.
const LOOK: Duration = Duration::from_millis(50);

/// Report on a program whose tables had changed.
#[derive(Debug)]
pub enum Specialization<'a> {
    /// The program is specialized to them.
    Done(&'a Done),
    /// The program is not specialized, as its hook refuses the code for them.
    Refused(&'a Diagnostics, &'a SourceMap),
    /// The program is not specialized, as the kernel or the system failed.
    Failed(&'a StoreError),
    /// No program can be specialized, as /proc is not mounted. Other processes need it to see whether this one still
    /// runs.
    NoProc,
}

/// Threads that watch the programs' tables. Dropping it ends them and waits for them. A thread that is compiling a
/// program completes this first.
pub struct Watchers {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Watchers {
    /// Starts to watch the tables of an instance's programs. `report` receives each result, with the program's name
    /// as the user knows it.
    pub fn start(
        pins: &Pins,
        instance: &str,
        programs: Vec<Specializable>,
        report: impl Fn(&str, Specialization<'_>) + Send + Sync + 'static,
    ) -> Watchers {
        let stop = Arc::new(AtomicBool::new(false));
        let report = Arc::new(report);
        let threads = programs.into_iter().map(|program| {
            let (pins, instance) = (pins.clone(), instance.to_owned());
            let (stop, report) = (Arc::clone(&stop), Arc::clone(&report));
            thread::spawn(move || watch((&pins, &instance), program, &stop, &*report))
        });
        Watchers {
            threads: threads.collect(),
            stop,
        }
    }
}

impl Drop for Watchers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // The thread has reported everything; a panic of it is ignored.
            let _ = thread.join();
        }
    }
}

/// Watches a program's tables until the program is unloaded or `stop` is set.
fn watch(
    (pins, instance): (&Pins, &str),
    watched: Specializable,
    stop: &AtomicBool,
    report: &dyn Fn(&str, Specialization<'_>),
) {
    let Specializable {
        name,
        program,
        origin,
    } = watched;
    let Ok((_, store)) = pins.open(instance, Some(&name)) else {
        return;
    };
    let Ok(this) = Owner::this() else {
        return report(&program, Specialization::NoProc);
    };
    let mut specializer = match Specializer::new(origin, store, this) {
        Ok(specializer) => specializer,
        Err(Failed::Unloaded | Failed::Refused(_)) => return,
        Err(Failed::Store(error)) => return report(&program, Specialization::Failed(&error)),
    };
    while !stop.load(Ordering::Relaxed) {
        match specializer.step() {
            Ok(None) => thread::sleep(LOOK),
            Ok(Some(done)) => report(&program, Specialization::Done(&done)),
            Err(Failed::Unloaded) => return,
            Err(Failed::Store(error)) => report(&program, Specialization::Failed(&error)),
            Err(Failed::Refused(wrong)) => {
                report(
                    &program,
                    Specialization::Refused(&wrong, specializer.sources()),
                );
            }
        }
    }
}
