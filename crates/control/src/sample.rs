//! A small program with every kind of key, parameter and extern, and a device that stores tables as lists, for the
//! tests of this crate.

use crate::name_set::{is_missing, is_there};
use crate::{
    Change, CloneSession, Count, Device, Digest, Digests, EntryKey, MeterRef, Next, Packet, Rates,
    Rejected, Replica, Store, StoreError, one_by_one,
};
use schema::{ActionCall, Bits, Entry, KeyMatch, NameRule, NameRules, Object, Schema, Table};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

const TEXT: &str = r#"program V1Switch reject continue
errors NoError, PacketTooShort
enum Color { red, green }
enum CounterType { packets, bytes, packets_and_bytes }
header_type ipv4 {
    ttl: bit<8>;
    src: bit<32>;
    dst: bit<32>;
}
var port: bit<9>
var mac: bit<48>
var loud: bool
var offset: int<16>
var color: Color
var why: error
header hdr.ipv4: ipv4
value_set P.set size 2 {
    kind: bit<16> exact;
    range: bit<8> range;
}
extern C.count: counter {
    arg size = 4;
    arg type = CounterType::packets_and_bytes;
}
extern C.last: register {
    type (bit<32>);
}
extern C.pair: register {
    type (bit<8>, bool);
}
extern C.rate: meter {
    arg size = 1;
}
extern C.flows: flow_state {
    type (bit<32> src @format("IPV4_ADDRESS"), bit<16> port);
    type (bit<64> packets, bit<32> next type ip_t @format("IPV4_ADDRESS"));
    arg size = 64;
}
extern C.hops: action_selector {
    arg size = 2;
}
extern C.limit: direct_meter {}
extern C.names: name_set {
    arg size = 4;
}
action C.forward(port type PortId_t @id("9") @p4runtime_translation("p4.org/PortId_t", "32"), mac, loud, offset, color, why) {}
action C.drop() {}
table C.routes @id("3") {
    key "hdr.ipv4.dst" lpm hdr.ipv4.dst type ip_t @format("IPV4_ADDRESS");
    action C.forward;
    action C.drop;
    default C.drop();
    size 2;
}
table C.rules {
    key "src" ternary hdr.ipv4.src;
    key "ttl" range hdr.ipv4.ttl;
    key "dst" optional hdr.ipv4.dst;
    action C.forward;
    action C.drop;
    default C.drop();
}
table C.fixed {
    key "ttl" exact hdr.ipv4.ttl;
    action C.drop;
    default const C.drop();
    entry const 1 (8w7) -> C.drop();
    const_entries;
}
table C.balanced {
    key "dst" exact hdr.ipv4.dst;
    key "src" selector hdr.ipv4.src;
    action C.forward default_only;
    action C.drop;
    default C.drop();
    property implementation = extern C.hops;
    property meters = extern C.limit;
}
digest learn_t {
    field "mac": bit<48> @format("MAC_ADDRESS");
    field "port": bit<9> type PortId_t;
}
routine C block() {
    apply C.routes;
    apply C.rules;
    apply C.fixed;
    apply C.balanced;
}
"#;

static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    let program = ir::text::parse(TEXT).expect("the sample is right");
    Arc::new(Schema::of(&program))
});

/// Returns the program's schema.
pub(crate) fn schema() -> &'static Arc<Schema> {
    &SCHEMA
}

/// Returns a table of the program.
pub(crate) fn table(name: &str) -> Table {
    let mut tables = schema().tables.iter();
    tables.find(|(_, t)| t.name == name).expect("a table").0
}

/// State that is set beside tables.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Settings {
    groups: BTreeMap<u16, Vec<Replica>>,
    sessions: BTreeMap<u32, CloneSession>,
    members: BTreeMap<u32, ActionCall>,
    member_groups: BTreeMap<u32, Vec<u32>>,
    meter: Option<Rates>,
    names: NameRules,
}

/// A device that sends every packet back where it came from, with its first byte incremented. Port 9 loses packets,
/// port 8 sends them to each port of group 1, and port 7 makes a digest of them.
#[derive(Clone, Default)]
pub(crate) struct Fake {
    tables: BTreeMap<Table, Vec<Entry>>,
    defaults: BTreeMap<Table, ActionCall>,
    registers: BTreeMap<(Object, u64), Vec<Bits>>,
    members: Vec<Vec<KeyMatch>>,
    out: Vec<Packet>,
    sent: u64,
    waited: u64,
    settings: Settings,
    digests: Vec<Digest>,
    /// Number of entries that a table holds; 0 for two.
    pub capacity: usize,
    /// True to make removals fail from now on.
    pub stuck: bool,
}

impl Fake {
    /// Returns the entries and default actions of all tables.
    pub(crate) fn state(&self) -> (Vec<Entry>, Vec<ActionCall>) {
        let entries = self.tables.values().flatten().cloned().collect();
        (entries, self.defaults.values().cloned().collect())
    }

    /// Returns the state that is set beside tables.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    fn make(&mut self, change: &Change) -> Result<(), StoreError> {
        let settings = &mut self.settings;
        match change.clone() {
            Change::Insert(table, entry) => return self.insert(table, entry),
            Change::Modify(table, entry) => {
                self.remove(table, &EntryKey::of(&entry))?;
                return self.insert(table, entry);
            }
            Change::Remove(table, key) => return self.remove(table, &key),
            Change::SetDefault(table, action) => drop(self.defaults.insert(table, action)),
            Change::Clear(_) | Change::Replace(_) => unreachable!("they come as removals"),
            Change::InsertMember(_, member) => self.members.push(member),
            Change::RemoveMember(_, member) => {
                let at = self.members.iter().position(|m| *m == member);
                self.members.remove(at.ok_or(StoreError::Missing)?);
            }
            Change::InsertName(_, rule) => {
                if !settings.names.insert(&rule) {
                    return Err(is_there(&rule.name));
                }
            }
            Change::RemoveName(_, name) => {
                let removed = settings.names.remove(&name);
                removed.ok_or_else(|| is_missing(&name))?;
            }
            Change::ClearNames(_) => unreachable!("they come as removals"),
            Change::Group(group, _) if group != 1 => {
                let what = "there is one group".to_string();
                return Err(StoreError::Unsupported { what });
            }
            Change::Group(group, to) => {
                set(&mut settings.groups, group, (!to.is_empty()).then_some(to));
            }
            Change::Session(session, to) => set(&mut settings.sessions, session, to),
            Change::Member(_, member, to) => set(&mut settings.members, member, to),
            Change::MemberGroup(_, group, to) => {
                let to = (!to.is_empty()).then_some(to);
                set(&mut settings.member_groups, group, to);
            }
            Change::Meter(MeterRef::Indexed(meter, index), rates) => {
                self.meter(meter, index)?;
                self.settings.meter = rates;
            }
            Change::Meter(MeterRef::OfEntry(table, key), rates) => {
                self.direct_meter(table, &key)?;
                self.settings.meter = rates;
            }
        }
        Ok(())
    }

    fn insert(&mut self, table: Table, entry: Entry) -> Result<(), StoreError> {
        let capacity = if self.capacity == 0 { 2 } else { self.capacity };
        let entries = self.tables.entry(table).or_default();
        if entries
            .iter()
            .any(|e| e.keys == entry.keys && e.priority == entry.priority)
        {
            return Err(StoreError::Duplicate);
        }
        if entries.len() == capacity {
            let capacity = capacity as u64;
            return Err(StoreError::Full { capacity });
        }
        entries.push(entry);
        Ok(())
    }

    fn remove(&mut self, table: Table, key: &EntryKey) -> Result<(), StoreError> {
        if self.stuck {
            let what = "the cable is cut".to_string();
            return Err(StoreError::System { what });
        }
        let entries = self.tables.entry(table).or_default();
        let at = entries
            .iter()
            .position(|e| e.keys == key.keys && e.priority == key.priority);
        entries.remove(at.ok_or(StoreError::Missing)?);
        Ok(())
    }
}

/// Sets the value under a number, or removes it.
fn set<N: Ord, T>(all: &mut BTreeMap<N, T>, number: N, to: Option<T>) {
    match to {
        None => all.remove(&number),
        Some(to) => all.insert(number, to),
    };
}

impl Store for Fake {
    fn schema(&self) -> &Arc<Schema> {
        schema()
    }

    fn apply_from(&mut self, next: &mut dyn FnMut() -> Next) -> Result<usize, Rejected> {
        one_by_one(self, next, Fake::make)
    }

    fn entries(&self, table: Table) -> Result<Vec<Entry>, StoreError> {
        Ok(self.tables.get(&table).cloned().unwrap_or_default())
    }

    fn default_action(&self, table: Table) -> Result<ActionCall, StoreError> {
        let none = ActionCall {
            action: 1,
            args: Vec::new(),
        };
        Ok(self.defaults.get(&table).cloned().unwrap_or(none))
    }

    fn counter(&self, _: Object, index: u64) -> Result<Count, StoreError> {
        if index >= 4 {
            return Err(StoreError::OutOfRange { size: 4 });
        }
        // The first counts packets, the second the elapsed time.
        let packets = match index {
            0 => self.sent,
            1 => self.waited,
            _ => 0,
        };
        Ok(Count {
            packets,
            bytes: packets * 64,
        })
    }

    fn direct_counter(&self, _: Table, entry: &Entry) -> Result<Count, StoreError> {
        let packets = u64::from(entry.priority);
        Ok(Count { packets, bytes: 0 })
    }

    fn register(&self, register: Object, index: u64) -> Result<Vec<Bits>, StoreError> {
        if index >= 4 {
            return Err(StoreError::OutOfRange { size: 4 });
        }
        let zero = vec![Bits::zero(32)];
        Ok(self
            .registers
            .get(&(register, index))
            .cloned()
            .unwrap_or(zero))
    }

    fn set_register(
        &mut self,
        register: Object,
        index: u64,
        value: &[Bits],
    ) -> Result<(), StoreError> {
        if index >= 4 {
            return Err(StoreError::OutOfRange { size: 4 });
        }
        self.registers.insert((register, index), value.to_vec());
        Ok(())
    }

    fn names(&self, _: Object) -> Result<Vec<NameRule>, StoreError> {
        Ok(self.settings.names.iter().collect())
    }

    fn multicast_groups(&self) -> Result<Vec<(u16, Vec<Replica>)>, StoreError> {
        Ok(self.settings.groups.clone().into_iter().collect())
    }

    fn clone_sessions(&self) -> Result<Vec<(u32, CloneSession)>, StoreError> {
        Ok(self.settings.sessions.clone().into_iter().collect())
    }

    fn members(&self, _: Object) -> Result<Vec<(u32, ActionCall)>, StoreError> {
        Ok(self.settings.members.clone().into_iter().collect())
    }

    fn member_groups(&self, _: Object) -> Result<Vec<(u32, Vec<u32>)>, StoreError> {
        Ok(self.settings.member_groups.clone().into_iter().collect())
    }

    fn meter(&self, _: Object, index: u64) -> Result<Option<Rates>, StoreError> {
        match index {
            0 => Ok(self.settings.meter),
            _ => Err(StoreError::OutOfRange { size: 1 }),
        }
    }

    fn direct_meter(&self, table: Table, key: &EntryKey) -> Result<Option<Rates>, StoreError> {
        self.entry(table, &key.keys, key.priority)?;
        Ok(self.settings.meter)
    }

    fn digests(&mut self, _: u64, _: Duration) -> Result<Digests, StoreError> {
        Ok(Digests {
            received: std::mem::take(&mut self.digests),
            lost: 0,
        })
    }
}

impl Device for Fake {
    fn store(&self) -> &dyn Store {
        self
    }

    fn store_mut(&mut self) -> &mut dyn Store {
        self
    }

    fn send(&mut self, packet: &Packet) -> Result<(), StoreError> {
        self.sent += 1;
        let group = || self.settings.groups.get(&1).cloned().unwrap_or_default();
        let ports = match packet.port {
            9 => Vec::new(),
            8 => group().iter().map(|replica| replica.port).collect(),
            7 => {
                self.digests.push(Digest {
                    number: 0,
                    receiver: 0,
                    values: vec![Bits::new(48, u64::from(packet.bytes[0])), Bits::zero(9)],
                });
                Vec::new()
            }
            port => vec![port],
        };
        for port in ports {
            let mut packet = packet.clone();
            packet.port = port;
            packet.bytes[0] = packet.bytes[0].wrapping_add(1);
            self.out.push(packet);
        }
        Ok(())
    }

    fn wait(&mut self, nanoseconds: u64) -> Result<(), StoreError> {
        self.waited += nanoseconds;
        Ok(())
    }

    fn receive(&mut self) -> Result<Vec<Packet>, StoreError> {
        Ok(std::mem::take(&mut self.out))
    }
}
