//! Host with both programs at its only interface, and one clock for both.

use crate::pair::{self, Compiled};
use control::{Device, repeatable};
use kernel::TestRun;
use kernel::test_run::Outcome;

/// The programs, loaded for test runs, and their clock.
pub(crate) struct Host {
    egress: TestRun,
    ingress: TestRun,
    code: [Compiled; 2],
    now: u64,
}

impl Host {
    /// Loads the programs in the initial state of `onpath pdm`: the options of incoming packets are removed.
    pub(crate) fn new() -> Host {
        let code = [Compiled::egress(true), Compiled::ingress(true)];
        let [egress, ingress] = pair::load(code.each_ref()).map(TestRun::new);
        Host {
            egress,
            ingress,
            code,
            now: repeatable::START,
        }
    }

    /// Makes the options of incoming packets stay from now on.
    pub(crate) fn leave(&mut self) {
        let line = "setdefault ingress.towards_host leave()";
        self.code[1].set(self.ingress.store_mut(), line);
    }

    /// Advances the time.
    pub(crate) fn wait(&mut self, nanoseconds: u64) {
        self.now += nanoseconds;
        for program in [&mut self.egress, &mut self.ingress] {
            program.wait(nanoseconds).unwrap_or_else(|e| panic!("{e}"));
        }
    }

    /// Returns the time of the next packet, in nanoseconds.
    pub(crate) fn next(&self) -> u64 {
        self.now + repeatable::STEP
    }

    /// Runs the next packet.
    pub(crate) fn packet(&mut self, incoming: bool, bytes: &[u8]) -> Outcome {
        let (own, other) = match incoming {
            true => (&mut self.ingress, &mut self.egress),
            false => (&mut self.egress, &mut self.ingress),
        };
        self.now += repeatable::STEP;
        other
            .wait(repeatable::STEP)
            .and_then(|()| own.run(0, bytes))
            .unwrap_or_else(|e| panic!("{e}"))
    }
}
