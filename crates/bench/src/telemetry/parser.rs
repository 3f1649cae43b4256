//! Parsers on the packets' path, compiled from P4 and loaded as by `onpath run`.

use super::message::{Message, Technique};
use crate::error::Error;
use bpf::abi::Hook;
use control::{Metric, Store};
use driver::Input;
use driver::bpf_target::Request;
use kernel::Instance;
use kernel::sys::Prog;
use schema::Object;

/// Loaded parser with its tally.
pub(super) struct Parser {
    instance: Instance,
    tally: Object,
}

impl Parser {
    /// Compiles and loads a parser of messages with the layout of `message`.
    pub(super) fn new(
        message: &Message,
        technique: Technique,
        timed: bool,
    ) -> Result<Parser, Error> {
        let folder = tempfile::tempdir().map_err(Error::system("a folder"))?;
        let file = folder.path().join("parser.p4");
        let text = message.program(technique, timed);
        std::fs::write(&file, text).map_err(|e| Error::file("write", &file, &e))?;
        let elaborated = driver::elaborate(&Input::file(file))
            .map_err(|refused| Error::diagnostics(&refused.diagnostics, &refused.map))?;
        let sources = elaborated.map;
        let request = Request::hook(Hook::Xdp);
        let compiled = driver::bpf_target::compile(&elaborated.program, &sources, request)
            .map_err(|d| Error::diagnostics(&d, &sources))?;
        let instance = kernel::load(&compiled.object, &compiled.abi, &compiled.schema, &sources)?;
        let tally = compiled.schema.metrics().next();
        let (tally, _) = tally.ok_or_else(|| Error::new("the parser keeps no tally"))?;
        Ok(Parser { instance, tally })
    }

    /// Returns the program.
    pub(super) fn prog(&self) -> &Prog {
        self.instance.program.prog()
    }

    /// Returns the number of packets with the query attribute, and the greatest value that one of them added to the
    /// tally. It makes no system call.
    pub(super) fn tally(&self) -> Result<(u64, u64), Error> {
        let groups = self.instance.store.metrics(self.tally);
        let groups = groups.map_err(|e| Error::new(e.to_string()))?;
        Ok(match groups.groups.first().map(|group| &group.metric) {
            Some(Metric::Tally(tally)) => (tally.count, tally.greatest),
            _ => (0, 0),
        })
    }
}
