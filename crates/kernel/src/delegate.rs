//! Devices keep their program's state in a [`KernelStore`](crate::store::KernelStore) and pass the
//! control plane's wishes on to it.

/// Implements [`control::Store`] for a type by its field `store`.
macro_rules! store_by_field {
    ($type:ty, $($field:ident).+) => {
        impl control::Store for $type {
            fn schema(&self) -> &std::sync::Arc<schema::Schema> {
                self.$($field).+.schema()
            }
            fn insert(&mut self, table: schema::Table, entry: &schema::Entry) -> Result<(), control::StoreError> {
                self.$($field).+.insert(table, entry)
            }
            fn modify(&mut self, table: schema::Table, entry: &schema::Entry) -> Result<(), control::StoreError> {
                self.$($field).+.modify(table, entry)
            }
            fn remove(
                &mut self,
                table: schema::Table,
                keys: &[schema::KeyMatch],
                priority: u32,
            ) -> Result<(), control::StoreError> {
                self.$($field).+.remove(table, keys, priority)
            }
            fn entries(&self, table: schema::Table) -> Result<Vec<schema::Entry>, control::StoreError> {
                self.$($field).+.entries(table)
            }
            fn entry(
                &self,
                table: schema::Table,
                keys: &[schema::KeyMatch],
                priority: u32,
            ) -> Result<schema::Entry, control::StoreError> {
                self.$($field).+.entry(table, keys, priority)
            }
            fn apply_from(
                &mut self,
                next: &mut dyn FnMut() -> control::Next,
            ) -> Result<usize, control::Rejected> {
                self.$($field).+.apply_from(next)
            }
            fn apply(&mut self, changes: &[control::Change]) -> Result<(), control::Rejected> {
                self.$($field).+.apply(changes)
            }
            fn set_default(
                &mut self,
                table: schema::Table,
                action: &schema::ActionCall,
            ) -> Result<(), control::StoreError> {
                self.$($field).+.set_default(table, action)
            }
            fn default_action(&self, table: schema::Table) -> Result<schema::ActionCall, control::StoreError> {
                self.$($field).+.default_action(table)
            }
            fn counter(
                &self,
                counter: schema::Object,
                index: u64,
            ) -> Result<control::Count, control::StoreError> {
                self.$($field).+.counter(counter, index)
            }
            fn reset_counter(
                &mut self,
                counter: schema::Object,
                index: Option<u64>,
            ) -> Result<(), control::StoreError> {
                self.$($field).+.reset_counter(counter, index)
            }
            fn direct_counter(
                &self,
                table: schema::Table,
                entry: &schema::Entry,
            ) -> Result<control::Count, control::StoreError> {
                self.$($field).+.direct_counter(table, entry)
            }
            fn direct_counters(
                &self,
                table: schema::Table,
            ) -> Result<Vec<(schema::Entry, control::Count)>, control::StoreError> {
                self.$($field).+.direct_counters(table)
            }
            fn register(
                &self,
                register: schema::Object,
                index: u64,
            ) -> Result<Vec<schema::Bits>, control::StoreError> {
                self.$($field).+.register(register, index)
            }
            fn set_register(
                &mut self,
                register: schema::Object,
                index: u64,
                value: &[schema::Bits],
            ) -> Result<(), control::StoreError> {
                self.$($field).+.set_register(register, index, value)
            }
            fn registers(
                &self,
                register: schema::Object,
            ) -> Result<Vec<(u64, Vec<schema::Bits>)>, control::StoreError> {
                self.$($field).+.registers(register)
            }
            fn reset_register(
                &mut self,
                register: schema::Object,
                index: Option<u64>,
            ) -> Result<(), control::StoreError> {
                self.$($field).+.reset_register(register, index)
            }
            fn meter(
                &self,
                meter: schema::Object,
                index: u64,
            ) -> Result<Option<control::Rates>, control::StoreError> {
                self.$($field).+.meter(meter, index)
            }
            fn set_meter(
                &mut self,
                meter: schema::Object,
                index: u64,
                rates: Option<control::Rates>,
            ) -> Result<(), control::StoreError> {
                self.$($field).+.set_meter(meter, index, rates)
            }
            fn direct_meter(
                &self,
                table: schema::Table,
                key: &control::EntryKey,
            ) -> Result<Option<control::Rates>, control::StoreError> {
                self.$($field).+.direct_meter(table, key)
            }
            fn set_direct_meter(
                &mut self,
                table: schema::Table,
                key: &control::EntryKey,
                rates: Option<control::Rates>,
            ) -> Result<(), control::StoreError> {
                self.$($field).+.set_direct_meter(table, key, rates)
            }
            fn members(
                &self,
                profile: schema::Object,
            ) -> Result<Vec<(u32, schema::ActionCall)>, control::StoreError> {
                self.$($field).+.members(profile)
            }
            fn set_member(
                &mut self,
                profile: schema::Object,
                member: u32,
                to: Option<&schema::ActionCall>,
            ) -> Result<(), control::StoreError> {
                self.$($field).+.set_member(profile, member, to)
            }
            fn member_groups(
                &self,
                selector: schema::Object,
            ) -> Result<Vec<(u32, Vec<u32>)>, control::StoreError> {
                self.$($field).+.member_groups(selector)
            }
            fn set_member_group(
                &mut self,
                selector: schema::Object,
                group: u32,
                members: &[u32],
            ) -> Result<(), control::StoreError> {
                self.$($field).+.set_member_group(selector, group, members)
            }
            fn digests(
                &mut self,
                most: u64,
                patience: std::time::Duration,
            ) -> Result<control::Digests, control::StoreError> {
                self.$($field).+.digests(most, patience)
            }
            fn logs(
                &mut self,
                most: u64,
                patience: std::time::Duration,
            ) -> Result<control::Logs, control::StoreError> {
                self.$($field).+.logs(most, patience)
            }
            fn value_set_insert(
                &mut self,
                set: schema::ValueSet,
                member: &[schema::KeyMatch],
            ) -> Result<(), control::StoreError> {
                self.$($field).+.value_set_insert(set, member)
            }
            fn value_set_remove(
                &mut self,
                set: schema::ValueSet,
                member: &[schema::KeyMatch],
            ) -> Result<(), control::StoreError> {
                self.$($field).+.value_set_remove(set, member)
            }
            fn figures(&self, object: schema::Object) -> Result<control::Groups, control::StoreError> {
                self.$($field).+.figures(object)
            }
            fn flows(&self, state: schema::Object) -> Result<Vec<control::Flow>, control::StoreError> {
                self.$($field).+.flows(state)
            }
            fn flow(
                &self,
                state: schema::Object,
                key: &[schema::Bits],
            ) -> Result<Option<Vec<schema::Bits>>, control::StoreError> {
                self.$($field).+.flow(state, key)
            }
            fn remove_flow(
                &mut self,
                state: schema::Object,
                key: &[schema::Bits],
            ) -> Result<(), control::StoreError> {
                self.$($field).+.remove_flow(state, key)
            }
            fn clear_flows(&mut self, state: schema::Object) -> Result<(), control::StoreError> {
                self.$($field).+.clear_flows(state)
            }
            fn multicast_groups(
                &self,
            ) -> Result<Vec<(u16, Vec<control::Replica>)>, control::StoreError> {
                self.$($field).+.multicast_groups()
            }
            fn set_multicast_group(
                &mut self,
                group: u16,
                replicas: &[control::Replica],
            ) -> Result<(), control::StoreError> {
                self.$($field).+.set_multicast_group(group, replicas)
            }
            fn clone_sessions(
                &self,
            ) -> Result<Vec<(u32, control::CloneSession)>, control::StoreError> {
                self.$($field).+.clone_sessions()
            }
            fn set_clone_session(
                &mut self,
                session: u32,
                to: Option<&control::CloneSession>,
            ) -> Result<(), control::StoreError> {
                self.$($field).+.set_clone_session(session, to)
            }
            fn drops(&self) -> Result<Vec<(control::DropReason, u64)>, control::StoreError> {
                self.$($field).+.drops()
            }
        }
    };
}

pub(crate) use store_by_field;
