//! Settings that are made so that programs lose no packets, for as long as they run.

use bpf::abi::Hook;
use kernel::attach::Mode;
use kernel::bundle::{self, Member};
use kernel::loss::{Kind, Loss};
use kernel::pins::Begun;

/// Settings made so far.
#[derive(Default)]
pub(super) struct Adjusted {
    /// The losses that they have ended.
    pub made: Vec<Loss>,
    /// Commands of those that could not be made, with the reason. Their losses are warned of like any other.
    failed: Vec<(String, String)>,
}

impl Adjusted {
    /// Has the interfaces that programs only send to take packets from native XDP.
    pub(super) fn sent(&mut self, pending: &mut Begun<'_>, members: &[Member]) {
        let native = |number: usize, _: &_| {
            let hook = members[number].instance.program.hook();
            (hook == Hook::Xdp).then_some(Mode::Native)
        };
        let mut losses = bundle::losses(members, native);
        losses.retain(|(number, loss)| {
            let mut targets = members[*number].targets.iter();
            loss.kind == Kind::Sent && targets.any(|port| port.name == loss.interface)
        });
        self.all(pending, losses);
    }

    /// Makes the settings that end losses.
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

    /// A line for what was set, and one for each setting that could not be made.
    pub(super) fn lines(&self, name: &str) -> Vec<String> {
        let mut by_place: Vec<Loss> = Vec::new();
        for loss in &self.made {
            let known = by_place.iter_mut().find(|known| known.at == loss.at);
            match known
                .and_then(|known| known.change.as_mut())
                .zip(loss.change)
            {
                Some((known, change))
                    if known.gso_max_segs.is_none() && change.gso_max_segs.is_none() =>
                {
                    known.offloads = known.offloads.or(change.offloads);
                }
                _ => by_place.push(loss.clone()),
            }
        }
        let commands: Vec<String> = by_place.iter().filter_map(Loss::command).collect();
        let made = (!commands.is_empty()).then(|| {
            format!(
                "{name}: set for as long as it runs: `{}`",
                commands.join("; ")
            )
        });
        let failed = self.failed.iter();
        let failed = failed.map(|(command, why)| format!("{name}: `{command}` fails: {why}"));
        made.into_iter().chain(failed).collect()
    }
}
