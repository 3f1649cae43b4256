//! The control-plane interface of every target. Names are resolved and values checked against the program before these
//! functions are called; a target only stores them.

use crate::change::{Change, Next, Rejected};
use crate::replication::{CloneSession, DropReason, Replica};
use crate::{Digests, EntryKey, Groups, Logs, Rates};
use diag::counted;
use schema::{
    ActionCall, Bits, Entry, KeyMatch, NameRule, Object, RuleValue, Schema, ScopedName, Table,
};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Number of packets and bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Number of packets.
    pub packets: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// Contents of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct Contents {
    /// All entries, the program's own first.
    pub entries: Vec<Entry>,
    /// Default action, which runs if nothing matches.
    pub default_action: ActionCall,
}

/// A flow in a flow state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Flow {
    /// Key of the flow as scalars, whose names are in [`schema::ObjectKind::FlowState`].
    pub key: Vec<Bits>,
    /// Value of the flow, likewise.
    pub value: Vec<Bits>,
    /// Nanoseconds since packets last used it; `None` in a state whose flows do not expire.
    pub age: Option<u64>,
}

/// Capacity of a flow state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowRoom {
    /// Most flows that it holds at once.
    pub capacity: u64,
    /// Number of flows evicted for lack of room since the program was loaded; `None` if they are not counted.
    pub evicted: Option<u64>,
}

/// Reason why a target refused a request. Nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StoreError {
    /// An entry with this match (and priority) exists already.
    Duplicate,
    /// There is no entry with this match (and priority).
    Missing,
    /// The table or value set is full.
    Full {
        /// Number of entries or members that it holds.
        capacity: u64,
    },
    /// An index past an array's end.
    OutOfRange {
        /// Number of elements of the array.
        size: u64,
    },
    /// The change would leave a dangling reference.
    Reference {
        /// Description of the missing object, or of the one still in use.
        what: String,
    },
    /// A rule of a name set is there already, or is not there.
    Name {
        /// Description of the conflict.
        what: String,
    },
    /// The port has no interface.
    NoInterface {
        /// The port.
        port: u32,
    },
    /// The program made it `const`.
    Const,
    /// The value is invalid on every target.
    Invalid {
        /// Description of the fault.
        what: String,
    },
    /// The target does not support it.
    Unsupported {
        /// Description of the missing feature, and of a substitute.
        what: String,
    },
    /// The program did not terminate for a packet.
    Endless {
        /// Description of the event.
        what: String,
    },
    /// The program is no longer loaded; another one has its name now.
    Unloaded,
    /// The operating system refused the request.
    System {
        /// Description of the attempt, and the error.
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
            StoreError::Name { what }
            | StoreError::Unsupported { what }
            | StoreError::Invalid { what }
            | StoreError::Reference { what }
            | StoreError::Endless { what }
            | StoreError::System { what } => f.write_str(what),
        }
    }
}

impl std::error::Error for StoreError {}

/// State that the control plane reads and writes while a program runs. Tables, value sets, groups, sessions, members
/// and meters are written by [`Change`]s alone. Counters, registers and flows are in no transaction, since packets
/// write them too: each has a write of its own, which is atomic.
pub trait Store {
    /// Returns the program's interface, which defines all ids that the other methods take.
    fn schema(&self) -> &Arc<Schema>;

    /// Applies changes in order, atomically. `next` gives one after the other, so that they need not all be in memory.
    /// The store decides how much of a batch readers see at once: at least a whole entry. Returns the number of
    /// changes.
    ///
    /// # Errors The first change that fails, by its index.
    fn apply_from(&mut self, next: &mut dyn FnMut() -> Next) -> Result<usize, Rejected>;

    /// Applies changes that are in memory, as [`Store::apply_from`] does.
    ///
    /// # Errors As for [`Store::apply_from`].
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

    /// Returns all entries, the program's own first.
    fn entries(&self, table: Table) -> Result<Vec<Entry>, StoreError>;

    /// Returns the contents of tables, all at the same moment.
    ///
    /// # Errors The first table that cannot be read, and the reason.
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

    /// Returns the entry with this match and priority (ignored in tables whose matches cannot overlap).
    ///
    /// # Errors [`StoreError::Missing`]
    fn entry(&self, table: Table, keys: &[KeyMatch], priority: u32) -> Result<Entry, StoreError> {
        let all = self.entries(table)?;
        let data = &self.schema().tables[table];
        let (keys, ordered) = (data.canonical(keys), data.has_priorities());
        let is_it =
            |e: &Entry| (!ordered || e.priority == priority) && data.canonical(&e.keys) == keys;
        all.into_iter().find(is_it).ok_or(StoreError::Missing)
    }

    /// Returns the rules of a name set.
    fn names(&self, set: Object) -> Result<Vec<NameRule>, StoreError> {
        let _ = set;
        Err(StoreError::Unsupported {
            what: "this target has no name sets".to_string(),
        })
    }

    /// Returns the values of a rule of a name set. `None` if there is no such rule.
    fn name(&self, set: Object, name: &ScopedName) -> Result<Option<RuleValue>, StoreError> {
        let mut rules = self.names(set)?.into_iter();
        let rule = rules.find(|rule| rule.name == *name);
        Ok(rule.map(|rule| rule.value))
    }

    /// Returns the default action, which runs if nothing matches.
    fn default_action(&self, table: Table) -> Result<ActionCall, StoreError>;

    /// Returns an indexed counter's value, summed over processors.
    fn counter(&self, counter: Object, index: u64) -> Result<Count, StoreError>;

    /// Returns the elements of an indexed counter that are not zero, in order, each with its index.
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

    /// Sets an indexed counter to zero, one element or all, or a direct counter, which has no index. Packets that are
    /// counted meanwhile may be lost.
    ///
    /// # Errors [`StoreError::OutOfRange`] for an index that it does not have.
    fn reset_counter(&mut self, counter: Object, index: Option<u64>) -> Result<(), StoreError> {
        let _ = (counter, index);
        Err(StoreError::Unsupported {
            what: "this target cannot reset counters".to_string(),
        })
    }

    /// Returns the value of the counter that belongs to an entry of a table.
    fn direct_counter(&self, table: Table, entry: &Entry) -> Result<Count, StoreError>;

    /// Returns the direct counters of all entries of a table, each with its entry, in the order of [`Store::entries`].
    fn direct_counters(&self, table: Table) -> Result<Vec<(Entry, Count)>, StoreError> {
        let entries = self.entries(table)?.into_iter();
        let counted = |entry: Entry| Ok((self.direct_counter(table, &entry)?, entry));
        entries
            .map(counted)
            .map(|counted| counted.map(|(count, entry)| (entry, count)))
            .collect()
    }

    /// Returns a register's value as scalars.
    fn register(&self, register: Object, index: u64) -> Result<Vec<Bits>, StoreError>;

    /// Changes a register's value.
    fn set_register(
        &mut self,
        register: Object,
        index: u64,
        value: &[Bits],
    ) -> Result<(), StoreError>;

    /// Returns the elements of a register that are not zero, in order, each with its index.
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

    /// Returns the rates of an indexed meter; `None` if it has none, and so is always green.
    ///
    /// # Errors [`StoreError::OutOfRange`] for an index that it does not have.
    fn meter(&self, meter: Object, index: u64) -> Result<Option<Rates>, StoreError> {
        let _ = (meter, index);
        Err(no_such("meters"))
    }

    /// Returns the elements of an indexed meter that have rates, in order, each with its index.
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

    /// Returns the rates of the meter that belongs to an entry of a table.
    ///
    /// # Errors [`StoreError::Missing`]
    fn direct_meter(&self, table: Table, key: &EntryKey) -> Result<Option<Rates>, StoreError> {
        let _ = (table, key);
        Err(no_such("direct meters"))
    }

    /// Returns the members of an action profile or selector by number, each with its action call. The action is an
    /// index of [`ProfileSchema::actions`](schema::ProfileSchema::actions).
    fn members(&self, profile: Object) -> Result<Vec<(u32, ActionCall)>, StoreError> {
        let _ = profile;
        Err(no_such("action profiles"))
    }

    /// Returns the groups of an action selector by number, each with its members by number, ascending.
    fn member_groups(&self, selector: Object) -> Result<Vec<(u32, Vec<u32>)>, StoreError> {
        let _ = selector;
        Err(no_such("action selectors"))
    }

    /// Returns the digests that have come since the last call, in order. It returns `most` of them at most; the others
    /// stay for the next call. If there are none yet, it waits for one, for `patience` at most. A digest goes to one
    /// reader only.
    fn digests(&mut self, most: u64, patience: Duration) -> Result<Digests, StoreError> {
        let _ = (most, patience);
        Err(no_such("digests"))
    }

    /// Returns the messages that packets have logged since the last call, in the manner of [`Store::digests`].
    fn logs(&mut self, most: u64, patience: Duration) -> Result<Logs, StoreError> {
        let _ = (most, patience);
        Err(no_such("log"))
    }

    /// Returns the flows of a flow state, in no particular order. Each is read atomically; packets may change some
    /// while others are read.
    fn flows(&self, state: Object) -> Result<Vec<Flow>, StoreError> {
        let _ = state;
        Err(no_flows())
    }

    /// Returns the capacity of a flow state.
    fn flow_room(&self, state: Object) -> Result<FlowRoom, StoreError> {
        let _ = state;
        Err(no_flows())
    }

    /// Returns a flow's value, if there is such a flow. The look-up does not count as a use.
    fn flow(&self, state: Object, key: &[Bits]) -> Result<Option<Vec<Bits>>, StoreError> {
        let flows = self.flows(state)?;
        Ok(flows.into_iter().find(|f| f.key == key).map(|f| f.value))
    }

    /// Removes a flow.
    ///
    /// # Errors [`StoreError::Missing`] if there is no such flow.
    fn remove_flow(&mut self, state: Object, key: &[Bits]) -> Result<(), StoreError> {
        let _ = (state, key);
        Err(no_flows())
    }

    /// Removes all flows.
    fn clear_flows(&mut self, state: Object) -> Result<(), StoreError> {
        let _ = state;
        Err(no_flows())
    }

    /// Returns the groups of an object with metrics, merged over all processors. Packets may change some while others
    /// are read; no number is torn.
    ///
    /// # Errors [`StoreError::Unsupported`] if the object has none.
    fn metrics(&self, object: Object) -> Result<Groups, StoreError> {
        let _ = object;
        Err(StoreError::Unsupported {
            what: "this extern object has no metrics".to_string(),
        })
    }

    /// Returns the multicast groups by number, each with its copies. A program that never sends to a group has none.
    ///
    /// # Errors [`StoreError::Unsupported`] on a target that has no groups.
    fn multicast_groups(&self) -> Result<Vec<(u16, Vec<Replica>)>, StoreError> {
        Err(no_such("multicast groups"))
    }

    /// Returns the clone sessions by number. A program that never clones has none.
    ///
    /// # Errors [`StoreError::Unsupported`] on a target that has no clone sessions.
    fn clone_sessions(&self) -> Result<Vec<(u32, CloneSession)>, StoreError> {
        Err(no_such("clone sessions"))
    }

    /// Returns the number of packets and copies that the traffic manager dropped, for each reason. Empty if the program
    /// has no traffic manager.
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
    /// Number of the port.
    pub port: u32,
    /// Bytes from the link layer on.
    pub bytes: Vec<u8>,
}

/// A target with a program in it, ready for packets. STF runs on it.
pub trait Device {
    /// Returns the program's state.
    fn store(&self) -> &dyn Store;

    /// Returns the program's state, for changes.
    fn store_mut(&mut self) -> &mut dyn Store;

    /// Sends a packet into a port.
    fn send(&mut self, packet: &Packet) -> Result<(), StoreError>;

    /// Returns the packets that have left since the last call, in order for each port. It waits as long as the target
    /// needs to process those sent.
    fn receive(&mut self) -> Result<Vec<Packet>, StoreError>;

    /// Lets this many nanoseconds pass for the program. A device with a clock of its own sets it forward, any other
    /// sleeps.
    fn wait(&mut self, nanoseconds: u64) -> Result<(), StoreError> {
        std::thread::sleep(std::time::Duration::from_nanos(nanoseconds));
        Ok(())
    }
}
