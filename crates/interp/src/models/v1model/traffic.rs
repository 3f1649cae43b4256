//! The traffic manager of `v1model`: what becomes of a packet when ingress and when egress has ended.
//!
//! After ingress, in this order: a clone is made if one was asked for; then the packet is resubmitted, or sent to its
//! multicast group, or dropped, or sent to its port, and the first of these that holds is done. After egress: a clone is
//! made; then the packet is dropped, or recirculated, or leaves. (bmv2, `docs/simple_switch.md`)
//!
//! What waits for egress is served in the order in which it came, so clones come before what they were cloned from; what begins
//! anew waits for all of that.
//!
//! | what begins anew | with which headers | with which metadata |
//! |---|---|---|
//! | a resubmitted packet | none: it is parsed as it came in | its field list |
//! | a recirculated packet | none: it is parsed as it was deparsed | its field list |
//! | a clone of ingress | as the parser left them | as the parser left them, and its field list |
//! | a clone of egress | as egress left them | its field list |
//! | a copy of a multicast group | as ingress left them | as ingress left it |
//!
//! All keep the port and the time at which the packet came in. Whoever is cloned or begins anew too often is dropped.

use super::V1Model;
use crate::outcome::{Disposition, Fault};
use crate::run::Run;
use crate::storage::Storage;
use crate::trace::{Named, TraceKind};
use arch::v1model::{DROP_PORT, InstanceType};
use control::values::show_scalar;
use control::{DropReason, Packet, Replica};
use diag::Span;
use ir::{Value, Var};
use std::collections::VecDeque;
use std::rc::Rc;

/// How often ingress or egress runs for one packet and all that became of it: clones of clones multiply.
const PASSES: usize = 16_384;

/// The fields that a packet kept.
type Kept = Vec<(Var, Value)>;

/// What a packet or a copy is that waits for ingress.
pub(super) struct AtIngress {
    pub bytes: Rc<[u8]>,
    pub instance: InstanceType,
    pub kept: Kept,
    /// It is the packet, not a copy.
    original: bool,
    /// How often it has begun anew.
    rounds: u32,
}

/// What a packet or a copy is that waits for egress.
#[derive(Clone)]
pub(super) struct AtEgress {
    /// The packet as it was parsed.
    pub bytes: Rc<[u8]>,
    /// Where the parser stopped, in bits.
    pub cursor: usize,
    /// Headers and metadata.
    pub storage: Storage,
    pub instance: InstanceType,
    pub replica: Replica,
    /// At most so many bytes leave.
    pub truncate: Option<u64>,
    /// The field list of a packet that ingress recirculates.
    pub recirculate: Option<u64>,
    /// What a clone kept; its storage has it already.
    kept: Kept,
    /// It is the packet, not a copy.
    original: bool,
    rounds: u32,
}

/// Runs a packet and all that becomes of it. What became of the packet itself.
pub(super) fn manage(model: V1Model, run: &mut Run<'_>, port: u32) -> Result<Disposition, Fault> {
    let mut manager = Manager {
        model,
        run,
        port,
        waiting: VecDeque::new(),
        anew: VecDeque::new(),
        disposition: Disposition::Drop,
    };
    manager.anew.push_back(AtIngress {
        bytes: manager.run.packet.clone(),
        instance: InstanceType::Normal,
        kept: Kept::new(),
        original: true,
        rounds: 0,
    });
    let mut passes = 0;
    while manager.something_waits() {
        passes += 1;
        if passes > PASSES {
            manager.lose(DropReason::Rounds);
            if manager.waiting.pop_front().is_none() {
                manager.anew.pop_front();
            }
            continue;
        }
        let (original, done) = match manager.waiting.pop_front() {
            Some(packet) => (packet.original, manager.egress(&packet)),
            None => match manager.anew.pop_front() {
                Some(packet) => (packet.original, manager.ingress(packet)),
                None => break,
            },
        };
        match done {
            // It ends this packet or copy alone.
            Err(Fault::AssertionFailed) => {
                manager.leaves(original, Disposition::Fault(Fault::AssertionFailed), None);
            }
            done => done?,
        }
    }
    manager.run.judged = true;
    Ok(manager.disposition)
}

struct Manager<'m, 'r> {
    model: V1Model,
    run: &'m mut Run<'r>,
    /// Where the packet came in.
    port: u32,
    /// Copies, for egress.
    waiting: VecDeque<Box<AtEgress>>,
    /// What begins anew.
    anew: VecDeque<AtIngress>,
    /// What became of the packet itself.
    disposition: Disposition,
}

impl Manager<'_, '_> {
    fn something_waits(&self) -> bool {
        !self.waiting.is_empty() || !self.anew.is_empty()
    }

    fn ingress(&mut self, packet: AtIngress) -> Result<(), Fault> {
        if packet.instance != InstanceType::Normal {
            self.begins(packet.instance, None, packet.rounds, &packet.kept);
        }
        self.model.parse(self.run, &packet, self.port)?;
        let parsed = self.run.p.copies.then(|| self.run.it.storage.clone());
        self.model.ingress(self.run)?;
        let requests = self.run.requests;
        if let (Some((session, list)), Some(mut storage)) = (requests.clone, parsed) {
            let kept = self.kept(list);
            keep(&mut storage, &kept);
            let clone = AtEgress {
                storage,
                kept,
                truncate: None,
                ..self.at_egress(InstanceType::IngressClone, packet.rounds)
            };
            self.clones(session, &clone);
        }
        if let Some(list) = requests.resubmit {
            self.again(AtIngress {
                instance: InstanceType::Resubmitted,
                kept: self.kept(list),
                ..packet
            });
            return Ok(());
        }
        let group = self.run.number(self.model.mcast_grp) as u16;
        if group != 0 {
            let copy = self.at_egress(InstanceType::Replicated, packet.rounds);
            let replicas = self.group(group);
            self.copies(&copy, replicas);
            self.leaves(packet.original, Disposition::Multicast(group), None);
            return Ok(());
        }
        let port = self.run.number(self.model.egress_spec) as u32;
        if port == DROP_PORT {
            self.drops(packet.original);
            return Ok(());
        }
        let unicast = AtEgress {
            replica: Replica { port, rid: 0 },
            original: packet.original,
            recirculate: requests.recirculate,
            ..self.at_egress(InstanceType::Normal, packet.rounds)
        };
        // Only behind copies would a reader of the trace not know whose egress this is.
        if self.waiting.is_empty() {
            return self.through_egress(&unicast);
        }
        self.waiting.push_back(Box::new(unicast));
        Ok(())
    }

    fn egress(&mut self, packet: &AtEgress) -> Result<(), Fault> {
        let to = Some(packet.replica);
        self.begins(packet.instance, to, packet.rounds, &packet.kept);
        self.through_egress(packet)
    }

    fn through_egress(&mut self, packet: &AtEgress) -> Result<(), Fault> {
        self.model.egress(self.run, packet)?;
        if let Some((session, list)) = self.run.requests.clone {
            let kept = self.kept(list);
            let mut clone = AtEgress {
                truncate: None,
                ..self.at_egress(InstanceType::EgressClone, packet.rounds)
            };
            self.model.forget_metadata(self.run.p, &mut clone.storage);
            keep(&mut clone.storage, &kept);
            clone.kept = kept;
            self.clones(session, &clone);
        }
        if self.run.number(self.model.egress_spec) == u64::from(DROP_PORT) {
            self.drops(packet.original);
            return Ok(());
        }
        let bytes = self.model.deparse(self.run)?;
        let list = self.run.requests.recirculate;
        let kept = list.map(|list| self.kept(list));
        match kept {
            Some(kept) => self.again(AtIngress {
                bytes: bytes.into(),
                instance: InstanceType::Recirculated,
                kept,
                original: packet.original,
                rounds: packet.rounds,
            }),
            None => {
                let port = packet.replica.port;
                let left = Packet { port, bytes };
                self.leaves(packet.original, Disposition::Forward(port), Some(left));
            }
        }
        Ok(())
    }

    /// Lets a packet begin anew in ingress.
    fn again(&mut self, packet: AtIngress) {
        if packet.rounds >= self.run.it.options.rounds {
            self.lose(DropReason::Rounds);
            if packet.original {
                self.disposition = Disposition::Drop;
            }
            return;
        }
        self.anew.push_back(AtIngress {
            rounds: packet.rounds + 1,
            ..packet
        });
    }

    /// Makes the copies of a clone session.
    fn clones(&mut self, session: u64, clone: &AtEgress) {
        let number = u32::try_from(session).ok();
        let found = number.and_then(|number| self.run.it.sessions.get(&number).cloned());
        let Some(session) = found else {
            self.lose(DropReason::CloneSession);
            return;
        };
        if clone.rounds >= self.run.it.options.rounds {
            self.lose(DropReason::Rounds);
            return;
        }
        let clone = AtEgress {
            truncate: session.truncate.map(u64::from),
            rounds: clone.rounds + 1,
            ..clone.clone()
        };
        let mut replicas = session.group.map_or(Vec::new(), |group| self.group(group));
        replicas.extend(session.replicas);
        self.copies(&clone, replicas);
    }

    /// Sends copies to egress.
    fn copies(&mut self, copy: &AtEgress, replicas: Vec<Replica>) {
        for replica in replicas {
            let copy = AtEgress {
                replica,
                ..copy.clone()
            };
            self.waiting.push_back(Box::new(copy));
        }
    }

    /// What a multicast group sends.
    fn group(&mut self, group: u16) -> Vec<Replica> {
        let found = self.run.it.groups.get(&group).cloned();
        found.unwrap_or_else(|| {
            self.lose(DropReason::MulticastGroup);
            Vec::new()
        })
    }

    /// A copy of the packet as it is now, for a port that is yet to be said.
    fn at_egress(&self, instance: InstanceType, rounds: u32) -> AtEgress {
        AtEgress {
            bytes: self.run.packet.clone(),
            cursor: self.run.cursor,
            storage: self.run.it.storage.clone(),
            instance,
            replica: Replica { port: 0, rid: 0 },
            truncate: self.run.truncate,
            recirculate: None,
            kept: Kept::new(),
            original: false,
            rounds,
        }
    }

    /// The fields of a list as they are now; none if there is no such list.
    fn kept(&self, list: u64) -> Kept {
        let lists = &self.run.p.field_lists;
        let list = lists.iter().find(|known| u64::from(known.number) == list);
        let vars = list.into_iter().flat_map(|list| &list.vars);
        vars.map(|&var| (var, self.run.it.storage.var(var).clone()))
            .collect()
    }

    fn begins(
        &mut self,
        instance: InstanceType,
        to: Option<Replica>,
        round: u32,
        kept: &[(Var, Value)],
    ) {
        self.run.trace(Span::NONE, |run| TraceKind::Begins {
            instance: name(instance),
            port: to.map(|replica| replica.port),
            rid: to.map(|replica| replica.rid),
            round,
            kept: kept
                .iter()
                .map(|(var, value)| named(run, *var, value))
                .collect(),
        });
    }

    fn lose(&mut self, reason: DropReason) {
        self.run.trace(Span::NONE, |_| TraceKind::Lost {
            reason: reason.to_string(),
        });
        self.run.count_drop(reason);
    }

    /// The program dropped a packet or copy.
    fn drops(&mut self, original: bool) {
        self.run.count_drop(DropReason::DropPort);
        self.leaves(original, Disposition::Drop, None);
    }

    /// A packet or copy has come to its end.
    fn leaves(&mut self, original: bool, disposition: Disposition, packet: Option<Packet>) {
        let packets: Vec<Packet> = packet.into_iter().collect();
        self.run
            .trace(Span::NONE, |_| TraceKind::verdict(&disposition, &packets));
        for Packet { port, bytes } in packets {
            self.run.send(port, bytes);
        }
        if original {
            self.disposition = disposition;
        }
    }
}

fn keep(storage: &mut Storage, kept: &[(Var, Value)]) {
    for (var, value) in kept {
        storage.set_var(*var, value.clone());
    }
}

fn named(run: &Run<'_>, var: Var, value: &Value) -> Named {
    let data = &run.p.vars[var];
    Named {
        name: data.name.to_string(),
        value: show_scalar(&run.it.schema, data.ty, &data.name, &value.to_bits()),
    }
}

/// What a reader of the trace calls it.
fn name(instance: InstanceType) -> &'static str {
    match instance {
        InstanceType::Normal => "the packet",
        InstanceType::IngressClone => "a clone of ingress",
        InstanceType::EgressClone => "a clone of egress",
        InstanceType::Recirculated => "the packet, recirculated",
        InstanceType::Replicated => "a copy of a multicast group",
        InstanceType::Resubmitted => "the packet, resubmitted",
    }
}
