//! Store of a program. Readers exclude writers, a writer excludes all others, and both first complete or undo a partial
//! change.

use crate::memory::Memory;
use crate::state::ProgramState;
use crate::transaction::Transaction;
use control::{
    CloneSession, Contents, Count, Digests, DropReason, EntryKey, Flow, FlowRoom, Groups, Logs,
    Next, Rates, Rejected, Replica, StoreError,
};
use schema::{ActionCall, Bits, Entry, NameRule, Object, Schema, Table};
use std::sync::Arc;
use std::time::Duration;

/// Store over a program's memory.
#[derive(Debug)]
pub struct Store<M> {
    /// Memory that holds the state.
    pub memory: M,
    /// True if packets may run in the program while it is changed.
    pub live: bool,
    /// True if this process already has exclusive access.
    alone: bool,
}

impl<M: Memory> Store<M> {
    /// Creates the store over a memory. Packets may run in the program if it is `live`.
    pub fn new(memory: M, live: bool) -> Store<M> {
        Store {
            memory,
            live,
            alone: false,
        }
    }

    /// Returns the state of a program whose lock this process holds, or that no other process knows.
    pub(crate) fn state(&self) -> ProgramState<'_> {
        ProgramState::of(&self.memory, self.live)
    }

    /// Runs `work` while no other process reads or writes the program's state, and no change is partial. Maps that were
    /// opened before the lock was taken may be stale, so that `work` gets a newly opened state.
    pub(crate) fn exclusively<T>(
        &self,
        work: impl FnOnce(&ProgramState<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.alone(None, |now| work(&now.state()))
    }

    /// Runs `work` with exclusive access, like `exclusively`, but with the store itself. Waits for other processes at
    /// most `patience`.
    ///
    /// # Errors
    /// The program was unloaded, another process holds its lock for too long, or the work's.
    pub fn alone<T>(
        &self,
        patience: Option<Duration>,
        work: impl FnOnce(&Store<M>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Some(guard) = self.memory.guard().filter(|_| !self.alone) else {
            return work(self);
        };
        let _held = guard.write(patience)?;
        if guard.has_successor() {
            guard.settle_successor()?;
        }
        if guard.has_journal() {
            guard.undo(&self.anew().state())?;
        }
        work(&self.anew())
    }

    /// Undoes or finishes the partial change of a killed writer.
    ///
    /// # Errors
    /// As for [`Store::alone`].
    pub fn recover(&self, patience: Duration) -> Result<(), StoreError> {
        self.alone(Some(patience), |_| Ok(()))
    }

    /// Runs `work` while no other process writes the program's state, and no change is partial.
    pub(crate) fn consistently<T>(
        &self,
        work: impl FnOnce(&ProgramState<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Some(guard) = self.memory.guard().filter(|_| !self.alone) else {
            return work(&self.state());
        };
        let held = guard.read()?;
        if guard.is_unfinished() {
            drop(held);
            return self.exclusively(work);
        }
        work(&self.anew().state())
    }

    fn anew(&self) -> Store<M> {
        Store {
            memory: self.memory.anew(),
            live: self.live,
            alone: true,
        }
    }

    /// Inserts the program's own entries where they are not compiled in.
    pub fn preload(&mut self) -> Result<(), (Table, StoreError)> {
        for (table, data) in self.memory.schema().tables.iter() {
            let of_table = self.state().table_abi(table);
            if !of_table.is_ok_and(|abi| abi.preload) {
                continue;
            }
            let filled = self.exclusively(|now| {
                let mut transaction = Transaction::new(*now);
                let mut entries = data.entries.iter();
                entries.try_for_each(|entry| transaction.insert_own(table, entry, 0))?;
                let committed = transaction.commit();
                committed.map_err(|not_done| not_done.rejected(0).into_error())
            });
            filled.map_err(|e| (table, e))?;
        }
        Ok(())
    }
}

impl<M: Memory> control::Store for Store<M> {
    fn schema(&self) -> &Arc<Schema> {
        self.memory.schema()
    }

    fn entries(&self, table: Table) -> Result<Vec<Entry>, StoreError> {
        self.consistently(|now| now.read_entries(table))
    }

    fn contents(&self, tables: &[Table]) -> Result<Vec<Contents>, (Table, StoreError)> {
        let read = |now: &ProgramState<'_>, table| {
            Ok(Contents {
                entries: now.read_entries(table)?,
                default_action: now.read_default(table)?,
            })
        };
        let done = self.consistently(|now| {
            let all = tables.iter();
            Ok(all
                .map(|table| read(now, *table).map_err(|error| (*table, error)))
                .collect())
        });
        match (done, tables) {
            (Ok(contents), _) => contents,
            (Err(error), [first, ..]) => Err((*first, error)),
            (Err(_), []) => Ok(Vec::new()),
        }
    }

    fn apply_from(&mut self, next: &mut dyn FnMut() -> Next) -> Result<usize, Rejected> {
        let rejected = |at: usize, error: StoreError| Rejected {
            at,
            error,
            not_undone: None,
        };
        let done = self.exclusively(|now| {
            let mut transaction = Transaction::new(*now);
            let mut count = 0;
            loop {
                match next() {
                    Next::Change(change) => {
                        if let Err(error) = transaction.change(&change, count as u32) {
                            return Ok(Err(rejected(count, error)));
                        }
                        count += 1;
                    }
                    Next::Abandon => return Ok(Ok(0)),
                    Next::End => break,
                }
            }
            let committed = transaction.commit().map(|()| count);
            Ok(committed.map_err(|not_done| not_done.rejected(count.saturating_sub(1))))
        });
        done.unwrap_or_else(|error| Err(rejected(0, error)))
    }

    fn names(&self, set: Object) -> Result<Vec<NameRule>, StoreError> {
        self.consistently(|now| now.read_names(set))
    }

    fn default_action(&self, table: Table) -> Result<ActionCall, StoreError> {
        self.consistently(|now| now.read_default(table))
    }

    fn counter(&self, counter: Object, index: u64) -> Result<Count, StoreError> {
        self.consistently(|now| now.read_counter(counter, index))
    }

    fn counters(&self, counter: Object) -> Result<Vec<(u64, Count)>, StoreError> {
        self.consistently(|now| now.read_counters(counter))
    }

    fn reset_counter(&mut self, counter: Object, index: Option<u64>) -> Result<(), StoreError> {
        self.exclusively(|now| now.zero_counter(counter, index))
    }

    fn direct_counter(&self, table: Table, entry: &Entry) -> Result<Count, StoreError> {
        self.consistently(|now| now.read_direct_counter(table, entry))
    }

    fn direct_counters(&self, table: Table) -> Result<Vec<(Entry, Count)>, StoreError> {
        self.consistently(|now| now.read_direct_counters(table))
    }

    fn register(&self, register: Object, index: u64) -> Result<Vec<Bits>, StoreError> {
        self.consistently(|now| now.read_register(register, index))
    }

    fn set_register(
        &mut self,
        register: Object,
        index: u64,
        value: &[Bits],
    ) -> Result<(), StoreError> {
        self.exclusively(|now| now.write_register(register, index, value))
    }

    fn registers(&self, register: Object) -> Result<Vec<(u64, Vec<Bits>)>, StoreError> {
        self.consistently(|now| now.read_registers(register))
    }

    fn reset_register(&mut self, register: Object, index: Option<u64>) -> Result<(), StoreError> {
        self.exclusively(|now| now.zero_register(register, index))
    }

    fn meter(&self, meter: Object, index: u64) -> Result<Option<Rates>, StoreError> {
        self.consistently(|now| now.read_meter(meter, index))
    }

    fn meters(&self, meter: Object) -> Result<Vec<(u64, Rates)>, StoreError> {
        self.consistently(|now| now.read_meters(meter))
    }

    fn direct_meter(&self, table: Table, key: &EntryKey) -> Result<Option<Rates>, StoreError> {
        self.consistently(|now| now.read_direct_meter(table, key))
    }

    fn digests(&mut self, most: u64, patience: Duration) -> Result<Digests, StoreError> {
        self.read_digests(most, patience)
    }

    fn logs(&mut self, most: u64, patience: Duration) -> Result<Logs, StoreError> {
        self.read_logs(most, patience)
    }

    fn metrics(&self, object: Object) -> Result<Groups, StoreError> {
        let metrics = self.state().metrics_of(object)?;
        metrics.map_or_else(|| Ok(Groups::default()), |metrics| metrics.all())
    }

    fn flows(&self, state: Object) -> Result<Vec<Flow>, StoreError> {
        self.consistently(|now| {
            let state = now.flow_state(state)?;
            state.map_or(Ok(Vec::new()), |flows| flows.all())
        })
    }

    fn flow_room(&self, state: Object) -> Result<FlowRoom, StoreError> {
        self.consistently(|now| {
            let state = now.flow_state(state)?;
            let none = FlowRoom {
                capacity: 0,
                evicted: None,
            };
            state.map_or(Ok(none), |flows| flows.room())
        })
    }

    fn flow(&self, state: Object, key: &[Bits]) -> Result<Option<Vec<Bits>>, StoreError> {
        self.consistently(|now| {
            let state = now.flow_state(state)?;
            state.map_or(Ok(None), |flows| flows.one(key))
        })
    }

    fn remove_flow(&mut self, state: Object, key: &[Bits]) -> Result<(), StoreError> {
        self.exclusively(|now| match now.flow_state(state)? {
            Some(flows) => flows.remove(key),
            None => Err(StoreError::Missing),
        })
    }

    fn clear_flows(&mut self, state: Object) -> Result<(), StoreError> {
        self.exclusively(|now| now.flow_state(state)?.map_or(Ok(()), |flows| flows.clear()))
    }

    fn members(&self, profile: Object) -> Result<Vec<(u32, ActionCall)>, StoreError> {
        self.consistently(|now| now.read_members(profile))
    }

    fn member_groups(&self, selector: Object) -> Result<Vec<(u32, Vec<u32>)>, StoreError> {
        self.consistently(|now| now.read_member_groups(selector))
    }

    fn multicast_groups(&self) -> Result<Vec<(u16, Vec<Replica>)>, StoreError> {
        self.consistently(|now| now.read_groups())
    }

    fn clone_sessions(&self) -> Result<Vec<(u32, CloneSession)>, StoreError> {
        self.consistently(|now| now.read_sessions())
    }

    fn drops(&self) -> Result<Vec<(DropReason, u64)>, StoreError> {
        self.consistently(|now| now.read_drops())
    }
}
