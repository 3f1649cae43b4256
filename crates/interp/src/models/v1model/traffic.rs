//! Traffic manager of `v1model`, which executes the rules in [`arch::v1model::traffic`].

use super::V1Model;
use crate::outcome::{Disposition, Fault};
use crate::run::Run;
use crate::storage::Storage;
use crate::trace::{Named, TraceKind};
use arch::v1model::copying::{CLONE_SESSION, RECIRCULATE, TRUNCATE};
use arch::v1model::traffic::{
    DEPARSED, EGRESS_ENDS, INGRESS_ENDS, Instance, LIMITS, MOST_RUNS, Made, Point, Then, When,
};
use arch::v1model::{InstanceType, STANDARD_METADATA};
use control::values::show_scalar;
use control::{DropReason, Packet, Replica};
use diag::Span;
use ir::{Value, Var};
use std::collections::VecDeque;
use std::rc::Rc;

// A store accepts groups of any size that every traffic manager supports.
const _: () = assert!(control::MOST_REPLICAS == LIMITS.replicas as usize);

/// Preserved fields of a packet, with their values.
type Kept = Vec<(Var, Value)>;

/// Packet or copy that waits for ingress.
pub(super) struct AtIngress {
    pub bytes: Rc<[u8]>,
    pub instance: InstanceType,
    pub kept: Kept,
    /// True for the packet itself, false for a copy.
    original: bool,
    /// Number of times that it was resubmitted, recirculated or cloned.
    rounds: u32,
}

/// Packet or copy that waits for egress.
#[derive(Clone)]
pub(super) struct AtEgress {
    /// Bytes of the packet as it was parsed.
    pub bytes: Rc<[u8]>,
    /// Position where the parser stopped, in bits.
    pub cursor: usize,
    /// Headers and metadata.
    pub storage: Storage,
    pub instance: InstanceType,
    pub replica: Replica,
    /// Maximum length of the packet that leaves, in bytes.
    pub truncate: Option<u64>,
    /// Field list of a packet that ingress recirculates.
    pub recirculate: Option<u64>,
    /// Preserved fields of a clone. They are in its storage already.
    kept: Kept,
    /// True for the packet itself, false for a copy.
    original: bool,
    rounds: u32,
}

/// Packet or copy at a point where the traffic manager decides about it.
struct Here {
    /// Headers and metadata as the parser left them, if copies may start from them.
    parsed: Option<Storage>,
    /// Bytes of the packet as it was deparsed.
    deparsed: Rc<[u8]>,
    /// Port through which it leaves.
    port: u32,
    original: bool,
    rounds: u32,
}

/// Runs a packet with all its copies, resubmissions and recirculations. Returns the disposition of the packet itself.
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
    let mut runs = 0;
    while manager.something_waits() {
        runs += 1;
        if runs > MOST_RUNS {
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
            // The fault ends this packet or copy alone.
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
    /// Ingress port of the packet.
    port: u32,
    /// Packets and copies that wait for egress.
    waiting: VecDeque<Box<AtEgress>>,
    /// Packets that wait for ingress: new, resubmitted or recirculated.
    anew: VecDeque<AtIngress>,
    /// Disposition of the packet itself.
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
        let here = Here {
            parsed,
            deparsed: Rc::default(),
            port: 0,
            original: packet.original,
            rounds: packet.rounds,
        };
        self.decide(&INGRESS_ENDS, &here).map(drop)
    }

    fn egress(&mut self, packet: &AtEgress) -> Result<(), Fault> {
        let to = Some(packet.replica);
        self.begins(packet.instance, to, packet.rounds, &packet.kept);
        self.through_egress(packet)
    }

    fn through_egress(&mut self, packet: &AtEgress) -> Result<(), Fault> {
        self.model.egress(self.run, packet)?;
        let mut here = Here {
            parsed: None,
            deparsed: Rc::default(),
            port: packet.replica.port,
            original: packet.original,
            rounds: packet.rounds,
        };
        if self.decide(&EGRESS_ENDS, &here)? {
            return Ok(());
        }
        here.deparsed = self.model.deparse(self.run)?.into();
        self.decide(&DEPARSED, &here).map(drop)
    }

    /// Executes the steps of a point for a packet or copy. Returns true if its path ends there.
    fn decide(&mut self, point: &Point, here: &Here) -> Result<bool, Fault> {
        for step in point.steps {
            if !self.holds(step.when) {
                continue;
            }
            match step.then {
                Then::Clones(made) => {
                    self.clones(made, here);
                    continue;
                }
                Then::Anew(made) => self.again(made, here),
                Then::Group(made) => {
                    let group = self.metadata("mcast_grp") as u16;
                    if let Some(copy) = self.at_egress(made, here) {
                        let replicas = self.group(group);
                        self.copies(&copy, replicas);
                    }
                    self.leaves(here.original, Disposition::Multicast(group), None);
                }
                Then::Sent(made) => self.sent(made, here)?,
                Then::Dropped => {
                    self.run.count_drop(DropReason::DropPort);
                    self.leaves(here.original, Disposition::Drop, None);
                }
                Then::Leaves => {
                    let port = here.port;
                    let bytes = here.deparsed.to_vec();
                    let left = Packet { port, bytes };
                    self.leaves(here.original, Disposition::Forward(port), Some(left));
                }
            }
            return Ok(true);
        }
        Ok(false)
    }

    fn holds(&self, when: When) -> bool {
        match when {
            When::Asked(flag) => self.run.requests.of(flag).is_some(),
            When::Set(field) => self.metadata(field) != 0,
            When::Is(field, number) => self.metadata(field) == u64::from(number),
            When::Otherwise => true,
        }
    }

    fn metadata(&self, field: &str) -> u64 {
        let var = self.run.p.slot_var(STANDARD_METADATA, field);
        self.run.number(var)
    }

    /// Resubmits or recirculates a packet.
    fn again(&mut self, made: &Instance, here: &Here) {
        let Some(rounds) = self.rounds(made, here) else {
            if here.original {
                self.disposition = Disposition::Drop;
            }
            return;
        };
        self.anew.push_back(AtIngress {
            bytes: match made.of {
                Made::BytesAsDeparsed => here.deparsed.clone(),
                _ => self.run.packet.clone(),
            },
            instance: made.kind,
            kept: self.kept(made),
            original: here.original,
            rounds,
        });
    }

    /// Sends a packet to egress.
    fn sent(&mut self, made: &Instance, here: &Here) -> Result<(), Fault> {
        let Some(mut unicast) = self.at_egress(made, here) else {
            return Ok(());
        };
        let port = self.metadata("egress_spec") as u32;
        unicast.replica = Replica { port, rid: 0 };
        unicast.original = here.original;
        // If copies wait, a reader of the trace would not know whose egress this is.
        if self.waiting.is_empty() {
            return self.through_egress(&unicast);
        }
        self.waiting.push_back(Box::new(unicast));
        Ok(())
    }

    /// Makes the clones of a clone session.
    fn clones(&mut self, made: &Instance, here: &Here) {
        let number = self.run.requests.of(CLONE_SESSION);
        let number = number.and_then(|number| u32::try_from(number).ok());
        let found = number.and_then(|number| self.run.it.sessions.get(&number).cloned());
        let Some(session) = found else {
            self.lose(DropReason::CloneSession);
            return;
        };
        let Some(mut clone) = self.at_egress(made, here) else {
            return;
        };
        clone.truncate = session.truncate.map(u64::from);
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

    /// Returns the replicas of a multicast group.
    fn group(&mut self, group: u16) -> Vec<Replica> {
        let found = self.run.it.groups.get(&group).cloned();
        found.unwrap_or_else(|| {
            self.lose(DropReason::MulticastGroup);
            Vec::new()
        })
    }

    /// Returns the packet or copy that enters egress, without its port. `None` if it exceeds the limit of rounds.
    fn at_egress(&mut self, made: &Instance, here: &Here) -> Option<AtEgress> {
        let rounds = self.rounds(made, here)?;
        let now = &self.run.it.storage;
        let mut storage = match made.of {
            Made::Parsed => here.parsed.as_ref().unwrap_or(now).clone(),
            _ => now.clone(),
        };
        let kept = self.kept(made);
        if !made.all_metadata {
            self.model.forget_metadata(self.run.p, &mut storage);
        }
        for (var, value) in &kept {
            storage.set_var(*var, value.clone());
        }
        let carried = |what: &str| made.carries.contains(&what);
        Some(AtEgress {
            bytes: self.run.packet.clone(),
            cursor: self.run.cursor,
            storage,
            instance: made.kind,
            replica: Replica { port: 0, rid: 0 },
            truncate: self.run.truncate.filter(|_| carried(TRUNCATE)),
            recirculate: self
                .run
                .requests
                .recirculate
                .filter(|_| carried(RECIRCULATE)),
            kept,
            original: false,
            rounds,
        })
    }

    /// Returns the number of rounds of an instance made of a packet. `None` if it exceeds the limit, so that the
    /// instance is lost.
    fn rounds(&mut self, made: &Instance, here: &Here) -> Option<u32> {
        let rounds = here.rounds + u32::from(made.is_round);
        if made.is_round && here.rounds >= self.run.it.options.rounds {
            self.lose(DropReason::Rounds);
            return None;
        }
        Some(rounds)
    }

    /// Returns the current values of the instance's field list. Empty if there is no such list.
    fn kept(&self, made: &Instance) -> Kept {
        let list = made.list.and_then(|list| self.run.requests.of(list));
        let lists = &self.run.p.field_lists;
        let list = lists
            .iter()
            .find(|known| Some(u64::from(known.number)) == list);
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

    /// Records that a packet or copy has reached its end.
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

fn named(run: &Run<'_>, var: Var, value: &Value) -> Named {
    let data = &run.p.vars[var];
    Named {
        name: data.name.to_string(),
        value: show_scalar(&run.it.schema, data.ty, &data.name, &value.to_bits()),
    }
}

/// Returns the name of an instance type in the trace.
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
