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

/// The time between two looks at the tables.
const LOOK: Duration = Duration::from_millis(50);

/// The fate of a program whose tables had changed.
#[derive(Debug)]
pub enum Specialization<'a> {
    /// It is specialized to them.
    Done(&'a Done),
    /// It is not, since no code for them fits its hook.
    Refused(&'a Diagnostics, &'a SourceMap),
    /// It is not, since the kernel or the system fails.
    Failed(&'a StoreError),
    /// No program ever is: /proc, by which others see whether this process is still there, is not mounted.
    NoProc,
}

/// The threads that watch the programs' tables. Dropping it ends them, and waits for that: one that compiles a program
/// first completes that.
pub struct Watchers {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Watchers {
    /// Starts to watch the tables of an instance's programs. `report` gets each program's fate, with its name
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
            // All that it had to report, it has.
            let _ = thread.join();
        }
    }
}

/// Watches a program's tables until it is unloaded, or this is to stop.
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
