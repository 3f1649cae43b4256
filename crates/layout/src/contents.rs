//! Description of all state that a program keeps between packets, and of the maps that hold it.

use crate::{
    CounterAbi, DigestsAbi, FlowStateAbi, GlobalsAbi, LogsAbi, LookupAbi, MemberGroupsAbi,
    MeterAbi, MetricsAbi, NameSetAbi, PatternSetAbi, RegisterAbi, StateAbi, TableAbi, ValueSetAbi,
};
use serde::{Deserialize, Serialize};

/// State that a program keeps between packets, and the maps that hold it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Contents {
    /// Data that the program reads and the control plane may change. `None` if there is none.
    pub globals: Option<GlobalsAbi>,
    /// Tables of the program, each with its number in the program and in the schema.
    pub tables: Vec<TableAbi>,
    /// Parser value sets of the program, numbered likewise.
    pub value_sets: Vec<ValueSetAbi>,
    /// Counters that the program increments.
    pub counters: Vec<CounterAbi>,
    /// Meters that the program executes.
    #[serde(default)]
    pub meters: Vec<MeterAbi>,
    /// Action selectors of tables that the program applies.
    #[serde(default)]
    pub member_groups: Vec<MemberGroupsAbi>,
    /// Registers that the program reads or writes.
    #[serde(default)]
    pub registers: Vec<RegisterAbi>,
    /// Per-flow state that the program reads or writes.
    #[serde(default)]
    pub flow_states: Vec<FlowStateAbi>,
    /// Metrics by group that the program keeps.
    #[serde(default)]
    pub metrics: Vec<MetricsAbi>,
    /// Name sets that the program looks names up in.
    #[serde(default)]
    pub name_sets: Vec<NameSetAbi>,
    /// Pattern sets that the program looks for.
    #[serde(default)]
    pub pattern_sets: Vec<PatternSetAbi>,
    /// Ring buffer through which packets send digests to the control plane. `None` if they send none.
    #[serde(default)]
    pub digests: Option<DigestsAbi>,
    /// Ring buffer of log messages. `None` if packets log nothing.
    #[serde(default)]
    pub logs: Option<LogsAbi>,
}

impl Contents {
    /// Returns true if the program's hashes have secret seeds ([`HashSeeds`](crate::HashSeeds)).
    pub fn is_seeded(&self) -> bool {
        let hashes = |table: &TableAbi| matches!(table.lookup, LookupAbi::Buckets(_));
        !self.flow_states.is_empty()
            || !self.metrics.is_empty()
            || !self.name_sets.is_empty()
            || self.tables.iter().any(hashes)
    }

    /// Returns the state that other programs may share.
    pub fn states(&self) -> impl Iterator<Item = StateAbi<'_>> + Clone {
        let flows = self.flow_states.iter().map(StateAbi::Flows);
        flows.chain(self.metrics.iter().map(StateAbi::Metrics))
    }

    /// Returns the maps whose capacities differ from their declarations in the program. Each has its capacity on a
    /// machine with this many processors.
    pub fn resized(&self, processors: u32) -> impl Iterator<Item = (&str, u32)> {
        let tables = self.tables.iter().map(|t| &t.lookup);
        let lookups = tables.chain(self.value_sets.iter().map(|s| &s.lookup));
        let masks = lookups.filter_map(|lookup| match lookup {
            LookupAbi::TupleSpace(space) => Some((space.masks.as_str(), space.tally() + 1)),
            _ => None,
        });
        let sets = move |metrics: &MetricsAbi| metrics.sets.saturating_mul(processors);
        let metrics = self.metrics.iter().map(move |f| (f.map.as_str(), sets(f)));
        masks.chain(metrics)
    }
}
