//! Settings of interfaces that are changed while programs run, so that they lose no packets.

use bpf::abi::Hook;
use kernel::attachment::Mode;
use kernel::bundle::{self, LoadedProgram};
use kernel::loss::{Loss, LossKind};
use kernel::pins::Begun;

/// Settings made so far.
#[derive(Clone, Default, Debug)]
pub struct Adjusted {
    /// Losses that the settings prevent.
    pub made: Vec<Loss>,
    /// Commands for the settings that could not be made, with the reason. Their losses are reported as warnings.
    pub failed: Vec<(String, String)>,
}

impl Adjusted {
    /// Changes interfaces that programs only send to, so that they accept packets from native XDP.
    pub(super) fn sent(&mut self, pending: &mut Begun<'_>, members: &[LoadedProgram]) {
        let native = |number: usize, _: &_| {
            let hook = members[number].instance.program.hook();
            (hook == Hook::Xdp).then_some(Mode::Native)
        };
        let mut losses = bundle::losses(members, native);
        losses.retain(|(number, loss)| {
            let mut targets = members[*number].targets.iter();
            loss.kind == LossKind::Sent && targets.any(|port| port.name == loss.interface)
        });
        self.all(pending, losses);
    }

    /// Makes the settings that prevent these losses.
    pub(super) fn all(&mut self, pending: &mut Begun<'_>, losses: Vec<(usize, Loss)>) {
        for (_, loss) in losses {
            let (Some(at), Some(change), Some(command)) = (&loss.at, loss.change, loss.command())
            else {
                continue;
            };
            match pending.change_link(at, change) {
                Ok(()) => self.made.push(loss),
                Err(wrong) => self.failed.push((command, wrong.message)),
            }
        }
    }
}
