//! What every target lets the control plane do. Names were resolved and values checked against the
//! program before these are called; a target only keeps them.

use crate::change::{Change, Next, Rejected};
use crate::replication::{CloneSession, DropReason, Replica};
use crate::{Digests, EntryKey, Groups, Logs, Rates};
use diag::counted;
use schema::{ActionCall, Bits, Entry, KeyMatch, Object, Schema, Table};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Packets and bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

/// What a table holds.
#[derive(Clone, PartialEq, Debug)]
pub struct Contents {
    /// All entries, the program's own first.
    pub entries: Vec<Entry>,
    /// What runs when nothing matches.
    pub default_action: ActionCall,
}

/// A flow that a flow state knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flow {
    /// Its key, taken apart into scalars. [`schema::ObjectKind::FlowState`] has their names.
    pub key: Vec<Bits>,
    /// Its value, likewise.
    pub value: Vec<Bits>,
    /// Nanoseconds since packets last used it; `None` in a state whose flows do not end when unused.
    pub age: Option<u64>,
}

/// The room of a flow state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowRoom {
    /// Flows that it can know at once.
    pub capacity: u64,
    /// Flows that others have replaced, for which there was no room, since it was loaded; `None` if they are not counted.
    pub evicted: Option<u64>,
}

/// Why a target did not do it. Nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StoreError {
    /// An entry with this match (and priority) is there already.
    Duplicate,
    /// No entry with this match (and priority).
    Missing,
    /// The table or value set holds as many as it can.
    Full {
        /// How many that is.
        capacity: u64,
    },
    /// An index past an array's end.
    OutOfRange {
        /// How many elements there are.
        size: u64,
    },
    /// What refers to something else, or is referred to, cannot be changed so.
    Reference {
        /// What is missing, or still in use.
        what: String,
    },
    /// No interface is this port.
    NoInterface {
        /// The port.
        port: u32,
    },
    /// The program made it `const`.
    Const,
    /// No target can have it.
    Invalid {
        /// What is wrong with it.
        what: String,
    },
    /// The target has no such thing.
    Unsupported {
        /// What it has not, and what would do instead.
        what: String,
    },
    /// The program did not come to an end with a packet.
    Endless {
        /// What happened.
        what: String,
    },
    /// The program is not loaded any more; what is under its name now is another one.
    Unloaded,
    /// The operating system refused.
    System {
        /// What was tried and the error.
        what: String,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Duplicate => f.write_str("there is already an entry with this match"),
            StoreError::Missing => f.write_str("there is no entry with this match"),
            StoreError::Full { capacity } => {
                write!(f, "it is full ({})", counted(*capacity, "entry"))
            }
            StoreError::OutOfRange { size } => write!(f, "index out of range: the size is {size}"),
            StoreError::NoInterface { port } => write!(f, "port {port} has no interface"),
            StoreError::Const => f.write_str("it is declared const"),
            StoreError::Unloaded => f.write_str("the program was unloaded meanwhile"),
            StoreError::Unsupported { what }
            | StoreError::Invalid { what }
            | StoreError::Reference { what }
            | StoreError::Endless { what }
            | StoreError::System { what } => f.write_str(what),
        }
    }
}

impl std::error::Error for StoreError {}

/// The state that the control plane reads and writes while a program runs. Tables, value sets, groups, sessions, members
/// and meters are written by [`Change`]s alone. Counters, registers and flows are in no transaction, since packets write
/// them too: each has a write of its own, which is atomic.
pub trait Store {
    /// What the program offers the control plane: what every id means that is given to the other methods.
    fn schema(&self) -> &Arc<Schema>;

    /// Makes changes in order, all or none of them. They come one after the other, so that they need not all be in memory.
    /// The store decides how much of it readers see at once: at least a whole entry. Gives how many were made.
    ///
    /// # Errors
    /// The first change that fails, by its index.
    fn apply_from(&mut self, next: &mut dyn FnMut() -> Next) -> Result<usize, Rejected>;

    /// As [`Store::apply_from`], for changes that are in memory.
    ///
    /// # Errors
    /// As for [`Store::apply_from`].
    fn apply(&mut self, changes: &[Change]) -> Result<(), Rejected> {
        let mut changes = changes.iter().cloned();
        let mut next = || changes.next().map_or(Next::End, Next::Change);
        self.apply_from(&mut next).map(|_| ())
    }

    /// Makes one change.
    ///
    /// # Errors
    /// Those that [`Change`] lists for its kind.
    fn change(&mut self, change: Change) -> Result<(), StoreError> {
        let mut change = Some(change);
        let mut next = || change.take().map_or(Next::End, Next::Change);
        let made = self.apply_from(&mut next);
        made.map(|_| ()).map_err(Rejected::into_error)
    }

    /// All entries, the program's own first.
    fn entries(&self, table: Table) -> Result<Vec<Entry>, StoreError>;

    /// What tables hold, all at the same moment.
    ///
    /// # Errors
    /// The first that cannot be read, and why.
    fn contents(&self, tables: &[Table]) -> Result<Vec<Contents>, (Table, StoreError)> {
        let read = |table: Table| {
            Ok(Contents {
                entries: self.entries(table)?,
                default_action: self.default_action(table)?,
            })
        };
        let all = tables.iter();
        all.map(|table| read(*table).map_err(|error| (*table, error)))
            .collect()
    }

    /// The entry with this match and priority (ignored where matches cannot overlap).
    ///
    /// # Errors
    /// [`StoreError::Missing`]
    fn entry(&self, table: Table, keys: &[KeyMatch], priority: u32) -> Result<Entry, StoreError> {
        let all = self.entries(table)?;
        let data = &self.schema().tables[table];
        let (keys, ordered) = (data.canonical(keys), data.has_priorities());
        let is_it =
            |e: &Entry| (!ordered || e.priority == priority) && data.canonical(&e.keys) == keys;
        all.into_iter().find(is_it).ok_or(StoreError::Missing)
    }

    /// What runs when nothing matches.
    fn default_action(&self, table: Table) -> Result<ActionCall, StoreError>;

    /// An indexed counter's value, summed over processors.
    fn counter(&self, counter: Object, index: u64) -> Result<Count, StoreError>;

    /// The elements of an indexed counter that are not zero, in order, each with its index.
    fn counters(&self, counter: Object) -> Result<Vec<(u64, Count)>, StoreError> {
        let mut found = Vec::new();
        for index in 0.. {
            match self.counter(counter, index) {
                Ok(count) if count == Count::default() => {}
                Ok(count) => found.push((index, count)),
                Err(StoreError::OutOfRange { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Sets an indexed counter to zero: one element, or all of them; or a direct counter, which has no index. What packets count
    /// meanwhile may be lost.
    ///
    /// # Errors
    /// [`StoreError::OutOfRange`] for an index that it does not have.
    fn reset_counter(&mut self, counter: Object, index: Option<u64>) -> Result<(), StoreError> {
        let _ = (counter, index);
        Err(StoreError::Unsupported {
            what: "this target cannot reset counters".to_string(),
        })
    }

    /// The value of the counter that belongs to an entry of a table.
    fn direct_counter(&self, table: Table, entry: &Entry) -> Result<Count, StoreError>;

    /// The same of all entries of a table, each with its entry, in the order of [`Store::entries`].
    fn direct_counters(&self, table: Table) -> Result<Vec<(Entry, Count)>, StoreError> {
        let entries = self.entries(table)?.into_iter();
        let counted = |entry: Entry| Ok((self.direct_counter(table, &entry)?, entry));
        entries
            .map(counted)
            .map(|counted| counted.map(|(count, entry)| (entry, count)))
            .collect()
    }

    /// A register's value, taken apart into scalars.
    fn register(&self, register: Object, index: u64) -> Result<Vec<Bits>, StoreError>;

    /// Changes a register's value.
    fn set_register(
        &mut self,
        register: Object,
        index: u64,
        value: &[Bits],
    ) -> Result<(), StoreError>;

    /// The elements of a register that are not zero, in order.
    fn registers(&self, register: Object) -> Result<Vec<(u64, Vec<Bits>)>, StoreError> {
        let mut found = Vec::new();
        for index in 0.. {
            match self.register(register, index) {
                Ok(value) if value.iter().all(Bits::is_zero) => {}
                Ok(value) => found.push((index, value)),
                Err(StoreError::OutOfRange { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Sets one element of a register, or all, to zero.
    fn reset_register(&mut self, register: Object, index: Option<u64>) -> Result<(), StoreError> {
        let zero = crate::register::zero(self.schema(), register);
        if let Some(index) = index {
            return self.set_register(register, index, &zero);
        }
        for (index, _) in self.registers(register)? {
            self.set_register(register, index, &zero)?;
        }
        Ok(())
    }

    /// The rates of an indexed meter; `None` for one that has none, which is always green.
    ///
    /// # Errors
    /// [`StoreError::OutOfRange`] for an index that it does not have.
    fn meter(&self, meter: Object, index: u64) -> Result<Option<Rates>, StoreError> {
        let _ = (meter, index);
        Err(no_such("meters"))
    }

    /// The elements of an indexed meter that have rates, in order, each with its index.
    fn meters(&self, meter: Object) -> Result<Vec<(u64, Rates)>, StoreError> {
        let mut found = Vec::new();
        for index in 0.. {
            match self.meter(meter, index) {
                Ok(rates) => found.extend(rates.map(|rates| (index, rates))),
                Err(StoreError::OutOfRange { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// The rates of the meter that belongs to an entry of a table.
    ///
    /// # Errors
    /// [`StoreError::Missing`]
    fn direct_meter(&self, table: Table, key: &EntryKey) -> Result<Option<Rates>, StoreError> {
        let _ = (table, key);
        Err(no_such("direct meters"))
    }

    /// The members of an action profile or selector by number, each with what it runs: the action is an index of
    /// [`ProfileSchema::actions`](schema::ProfileSchema::actions).
    fn members(&self, profile: Object) -> Result<Vec<(u32, ActionCall)>, StoreError> {
        let _ = profile;
        Err(no_such("action profiles"))
    }

    /// The groups of an action selector by number, each with its members by number, ascending.
    fn member_groups(&self, selector: Object) -> Result<Vec<(u32, Vec<u32>)>, StoreError> {
        let _ = selector;
        Err(no_such("action selectors"))
    }

    /// The digests that have come since the last call, in order, at most so many: the others stay for the next call. If
    /// there are none yet, waits for one at most as long as this; who reads digests takes them from all other readers.
    fn digests(&mut self, most: u64, patience: Duration) -> Result<Digests, StoreError> {
        let _ = (most, patience);
        Err(no_such("digests"))
    }

    /// What packets have logged since the last call, as [`Store::digests`] gives digests.
    fn logs(&mut self, most: u64, patience: Duration) -> Result<Logs, StoreError> {
        let _ = (most, patience);
        Err(no_such("log"))
    }

    /// The flows that a flow state knows, in no particular order. Each is read as a whole; packets may change
    /// some while others are read.
    fn flows(&self, state: Object) -> Result<Vec<Flow>, StoreError> {
        let _ = state;
        Err(no_flows())
    }

    /// The room of a flow state.
    fn flow_room(&self, state: Object) -> Result<FlowRoom, StoreError> {
        let _ = state;
        Err(no_flows())
    }

    /// A flow's value, if it is known. It does not count as a use.
    fn flow(&self, state: Object, key: &[Bits]) -> Result<Option<Vec<Bits>>, StoreError> {
        let flows = self.flows(state)?;
        Ok(flows.into_iter().find(|f| f.key == key).map(|f| f.value))
    }

    /// Removes a flow.
    ///
    /// # Errors
    /// [`StoreError::Missing`] if it was not known.
    fn remove_flow(&mut self, state: Object, key: &[Bits]) -> Result<(), StoreError> {
        let _ = (state, key);
        Err(no_flows())
    }

    /// Removes all flows.
    fn clear_flows(&mut self, state: Object) -> Result<(), StoreError> {
        let _ = state;
        Err(no_flows())
    }

    /// The groups of an object with figures, of all processors together. Packets may change some while others are read; no
    /// number is torn.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`] if the object has none.
    fn figures(&self, object: Object) -> Result<Groups, StoreError> {
        let _ = object;
        Err(StoreError::Unsupported {
            what: "this extern object has no figures".to_string(),
        })
    }

    /// The multicast groups by number, each with its copies. A program that never sends to a group has none.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`] on a target that has no groups.
    fn multicast_groups(&self) -> Result<Vec<(u16, Vec<Replica>)>, StoreError> {
        Err(no_such("multicast groups"))
    }

    /// The clone sessions by number. A program that never clones has none.
    ///
    /// # Errors
    /// [`StoreError::Unsupported`] on a target that has no clone sessions.
    fn clone_sessions(&self) -> Result<Vec<(u32, CloneSession)>, StoreError> {
        Err(no_such("clone sessions"))
    }

    /// What the traffic manager dropped: packets and copies for each reason; nothing if the program has none.
    fn drops(&self) -> Result<Vec<(DropReason, u64)>, StoreError> {
        Ok(Vec::new())
    }
}

fn no_such(what: &str) -> StoreError {
    StoreError::Unsupported {
        what: format!("this target has no {what}"),
    }
}

fn no_flows() -> StoreError {
    StoreError::Unsupported {
        what: "this extern object keeps no flows".to_string(),
    }
}

/// A packet on a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet {
    /// The port's number.
    pub port: u32,
    /// Its bytes from the link layer on.
    pub bytes: Vec<u8>,
}

/// A target with a program in it, ready for packets: what STF runs on.
pub trait Device {
    /// The program's state.
    fn store(&self) -> &dyn Store;

    /// The program's state, to be changed.
    fn store_mut(&mut self) -> &mut dyn Store;

    /// Sends a packet into a port.
    fn send(&mut self, packet: &Packet) -> Result<(), StoreError>;

    /// The packets that came out since the last call, in order for each port. Waits as long as the
    /// target needs for those sent to have gone through.
    fn receive(&mut self) -> Result<Vec<Packet>, StoreError>;

    /// Lets so many nanoseconds go by for the program: a device with a clock of its own sets it forward,
    /// any other sleeps.
    fn wait(&mut self, nanoseconds: u64) -> Result<(), StoreError> {
        std::thread::sleep(std::time::Duration::from_nanos(nanoseconds));
        Ok(())
    }
}
