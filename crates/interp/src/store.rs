//! Implementation of [`Store`], the control-plane interface, by the interpreter's own state.

mod profile;

use crate::Interpreter;
use crate::models::Model;
use control::name_set::{is_known, is_missing, is_there};
use control::{
    Change, CloneSession, Count, Digests, DropReason, EntryKey, Flow, FlowRoom, Group, Groups,
    MeterRef, Next, Rates, Rejected, Replica, Store, StoreError, one_by_one,
};
use cranelift_entity::EntityRef;
use externs::ExternState;
use externs::meter::Limits;
use schema::{
    ActionCall, Bits, Entry, KeyMatch, NameRule, NameRules, Object, ObjectKind, RuleValue, Schema,
    ScopedName, Table, ValueSet,
};
use std::sync::Arc;
use std::time::Duration;

impl Interpreter {
    /// Returns how often a table's entries or default action have changed. [`ir::StmtKind::IsCurrent`] compares this
    /// number.
    pub fn changes(&self, table: Table) -> u64 {
        self.tables[table.index()].generation()
    }

    /// Applies one change.
    fn make(&mut self, change: &Change) -> Result<(), StoreError> {
        match change {
            Change::Insert(table, entry) => {
                self.check_reference(*table, &entry.action)?;
                self.tables[table.index()].insert(entry)
            }
            Change::Modify(table, entry) => {
                self.check_reference(*table, &entry.action)?;
                self.tables[table.index()].modify(&entry.keys, entry.priority, &entry.action)
            }
            Change::Remove(table, key) => {
                self.tables[table.index()].remove(&key.keys, key.priority)
            }
            Change::SetDefault(table, action) => self.tables[table.index()].set_default(action),
            Change::Clear(_) | Change::Replace(_) => unreachable!("they come as removals"),
            Change::InsertMember(set, member) => self.insert_value(*set, member),
            Change::RemoveMember(set, member) => self.remove_value(*set, member),
            Change::InsertName(set, rule) => self.insert_name(*set, rule),
            Change::RemoveName(set, name) => {
                let removed = match &mut self.externs[set.index()] {
                    ExternState::Patterns(rules) => Arc::make_mut(rules).remove(name),
                    _ => self.name_rules(*set)?.remove(name),
                };
                removed.map(|_| ()).ok_or_else(|| is_missing(name))
            }
            Change::ClearNames(_) => unreachable!("they come as removals"),
            Change::Group(group, replicas) => {
                control::check_group(*group, replicas)?;
                match replicas.as_slice() {
                    [] => self.groups.remove(group),
                    some => self.groups.insert(*group, some.to_vec()),
                };
                Ok(())
            }
            Change::Session(session, to) => {
                match to {
                    None => self.sessions.remove(session),
                    Some(to) => {
                        control::check_session(to)?;
                        self.sessions.insert(*session, to.clone())
                    }
                };
                Ok(())
            }
            Change::Member(profile, member, to) => {
                self.change_member(*profile, *member, to.as_ref())
            }
            Change::MemberGroup(selector, group, members) => {
                self.change_member_group(*selector, *group, members)
            }
            Change::Meter(meter, rates) => self.set_meter(meter, *rates),
        }
    }

    fn insert_value(&mut self, set: ValueSet, member: &[KeyMatch]) -> Result<(), StoreError> {
        let member = self.schema.value_sets[set].canonical(member);
        let capacity = self.schema.value_sets[set].size;
        let members = &mut self.value_sets[set.index()];
        if members.contains(&member) {
            return Err(StoreError::Duplicate);
        }
        if members.len() as u64 >= capacity {
            return Err(StoreError::Full { capacity });
        }
        members.push(member);
        Ok(())
    }

    fn remove_value(&mut self, set: ValueSet, member: &[KeyMatch]) -> Result<(), StoreError> {
        let member = self.schema.value_sets[set].canonical(member);
        let members = &mut self.value_sets[set.index()];
        let at = members.iter().position(|m| *m == member);
        members.remove(at.ok_or(StoreError::Missing)?);
        Ok(())
    }

    fn insert_name(&mut self, set: Object, rule: &NameRule) -> Result<(), StoreError> {
        if let ExternState::Patterns(rules) = &mut self.externs[set.index()] {
            return match Arc::make_mut(rules).insert(rule) {
                Ok(true) => Ok(()),
                Ok(false) => Err(is_known(&rule.name)),
                Err(what) => Err(StoreError::Name { what }),
            };
        }
        let ObjectKind::NameSet { size: capacity } = self.schema.objects[set].kind else {
            return Err(no_such("rules for names"));
        };
        let rules = self.name_rules(set)?;
        if rules.len() as u64 >= capacity {
            return Err(StoreError::Full { capacity });
        }
        match rules.insert(rule) {
            true => Ok(()),
            false => Err(is_there(&rule.name)),
        }
    }

    fn name_rules(&mut self, set: Object) -> Result<&mut NameRules, StoreError> {
        match &mut self.externs[set.index()] {
            ExternState::Names(rules) => Ok(Arc::make_mut(rules)),
            _ => Err(no_such("rules for names")),
        }
    }

    fn set_meter(&mut self, meter: &MeterRef, rates: Option<Rates>) -> Result<(), StoreError> {
        rates.map_or(Ok(()), |rates| rates.check())?;
        let now = self.now();
        let meter = match meter {
            MeterRef::Indexed(meter, index) => {
                let ExternState::Meters(meters) = &mut self.externs[meter.index()] else {
                    return Err(no_such("meters"));
                };
                let size = meters.size();
                meters.get_mut(*index).ok_or(out_of_range(size))?
            }
            MeterRef::OfEntry(table, key) => {
                let state = &mut self.tables[table.index()];
                let id = state.find(&key.keys, key.priority)?;
                &mut state.entry_mut(id).ok_or(StoreError::Missing)?.meter
            }
        };
        meter.set_limits(now, rates.map(limits));
        Ok(())
    }
}

fn limits(rates: Rates) -> Limits {
    [
        (rates.committed, rates.committed_burst),
        (rates.peak, rates.peak_burst),
    ]
}

fn rates([(committed, committed_burst), (peak, peak_burst)]: Limits) -> Rates {
    Rates {
        committed,
        committed_burst,
        peak,
        peak_burst,
    }
}

fn no_such(what: &str) -> StoreError {
    StoreError::Unsupported {
        what: format!("this extern object has no {what}"),
    }
}

/// Returns the error for an index that an extern object does not have. `size` is the object's number of elements.
fn out_of_range(size: u64) -> StoreError {
    StoreError::OutOfRange { size }
}

impl Store for Interpreter {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn apply_from(&mut self, next: &mut dyn FnMut() -> Next) -> Result<usize, Rejected> {
        one_by_one(self, next, Interpreter::make)
    }

    fn entries(&self, table: Table) -> Result<Vec<Entry>, StoreError> {
        let state = &self.tables[table.index()];
        Ok(state.entries().map(|e| e.entry.clone()).collect())
    }

    fn entry(&self, table: Table, keys: &[KeyMatch], priority: u32) -> Result<Entry, StoreError> {
        let state = &self.tables[table.index()];
        let id = state.find(keys, priority)?;
        Ok(state.entry(id).entry.clone())
    }

    fn default_action(&self, table: Table) -> Result<ActionCall, StoreError> {
        Ok(self.tables[table.index()].default_action().clone())
    }

    fn counter(&self, counter: Object, index: u64) -> Result<Count, StoreError> {
        let ExternState::Counters(counters) = &self.externs[counter.index()] else {
            return Err(no_such("counters"));
        };
        let (packets, bytes) = counters.get(index).ok_or(out_of_range(counters.size()))?;
        Ok(Count { packets, bytes })
    }

    fn reset_counter(&mut self, counter: Object, index: Option<u64>) -> Result<(), StoreError> {
        if let (ObjectKind::DirectCounter { .. }, None) =
            (&self.schema.objects[counter].kind, index)
        {
            let schema = Arc::clone(&self.schema);
            for table in schema.counted_tables(counter) {
                self.tables[table.index()].reset_counts();
            }
            return Ok(());
        }
        let ExternState::Counters(counters) = &mut self.externs[counter.index()] else {
            return Err(no_such("counters"));
        };
        if counters.reset(index) {
            Ok(())
        } else {
            Err(out_of_range(counters.size()))
        }
    }

    fn direct_counter(&self, table: Table, entry: &Entry) -> Result<Count, StoreError> {
        let state = &self.tables[table.index()];
        if !state.counts() {
            return Err(StoreError::Unsupported {
                what: "the table has no direct counter".to_string(),
            });
        }
        let id = state.find(&entry.keys, entry.priority)?;
        Ok(state.entry(id).count)
    }

    fn register(&self, register: Object, index: u64) -> Result<Vec<Bits>, StoreError> {
        let ExternState::Registers(registers) = &self.externs[register.index()] else {
            return Err(no_such("cells"));
        };
        let value = registers.get(index).ok_or(out_of_range(registers.size()))?;
        Ok(value.to_vec())
    }

    fn set_register(
        &mut self,
        register: Object,
        index: u64,
        value: &[Bits],
    ) -> Result<(), StoreError> {
        let ExternState::Registers(registers) = &mut self.externs[register.index()] else {
            return Err(no_such("cells"));
        };
        if registers.set(index, value) {
            Ok(())
        } else {
            Err(out_of_range(registers.size()))
        }
    }

    fn meter(&self, meter: Object, index: u64) -> Result<Option<Rates>, StoreError> {
        let ExternState::Meters(meters) = &self.externs[meter.index()] else {
            return Err(no_such("meters"));
        };
        let found = meters.limits(index).ok_or(out_of_range(meters.size()))?;
        Ok(found.map(rates))
    }

    fn direct_meter(&self, table: Table, key: &EntryKey) -> Result<Option<Rates>, StoreError> {
        let state = &self.tables[table.index()];
        let id = state.find(&key.keys, key.priority)?;
        Ok(state.entry(id).meter.limits().map(rates))
    }

    fn flows(&self, state: Object) -> Result<Vec<Flow>, StoreError> {
        let ExternState::Flows(flows) = &self.externs[state.index()] else {
            return Err(no_such("flows"));
        };
        let ages = flows.ages(self.now());
        let flows = flows.flows(self.now()).into_iter().zip(ages);
        Ok(flows
            .map(|((key, value), age)| Flow { key, value, age })
            .collect())
    }

    fn flow_room(&self, state: Object) -> Result<FlowRoom, StoreError> {
        let ExternState::Flows(flows) = &self.externs[state.index()] else {
            return Err(no_such("flows"));
        };
        Ok(FlowRoom {
            capacity: flows.capacity(),
            evicted: Some(flows.evicted()),
        })
    }

    fn name(&self, set: Object, name: &ScopedName) -> Result<Option<RuleValue>, StoreError> {
        match &self.externs[set.index()] {
            ExternState::Names(rules) => Ok(rules.get(name)),
            ExternState::Patterns(rules) => Ok(rules.get(name)),
            _ => Err(no_such("rules for names")),
        }
    }

    fn names(&self, set: Object) -> Result<Vec<NameRule>, StoreError> {
        match &self.externs[set.index()] {
            ExternState::Names(rules) => Ok(rules.iter().collect()),
            ExternState::Patterns(rules) => Ok(rules.iter().collect()),
            _ => Err(no_such("rules for names")),
        }
    }

    fn metrics(&self, object: Object) -> Result<Groups, StoreError> {
        let ExternState::Metrics(metrics) = &self.externs[object.index()] else {
            return Err(no_such("metrics"));
        };
        let groups = metrics.all().into_iter();
        Ok(Groups {
            groups: groups.map(|(key, metric)| Group { key, metric }).collect(),
            lost: metrics.lost(),
            unseen: metrics.greatest_unseen(),
        })
    }

    fn remove_flow(&mut self, state: Object, key: &[Bits]) -> Result<(), StoreError> {
        let now = self.now();
        let ExternState::Flows(flows) = &mut self.externs[state.index()] else {
            return Err(no_such("flows"));
        };
        if flows.remove(key, now) {
            Ok(())
        } else {
            Err(StoreError::Missing)
        }
    }

    fn clear_flows(&mut self, state: Object) -> Result<(), StoreError> {
        let ExternState::Flows(flows) = &mut self.externs[state.index()] else {
            return Err(no_such("flows"));
        };
        flows.clear();
        Ok(())
    }

    fn multicast_groups(&self) -> Result<Vec<(u16, Vec<Replica>)>, StoreError> {
        let groups = self.groups.iter();
        Ok(groups.map(|(&group, to)| (group, to.clone())).collect())
    }

    fn clone_sessions(&self) -> Result<Vec<(u32, CloneSession)>, StoreError> {
        let sessions = self.sessions.iter();
        Ok(sessions
            .map(|(&session, to)| (session, to.clone()))
            .collect())
    }

    fn members(&self, profile: Object) -> Result<Vec<(u32, ActionCall)>, StoreError> {
        let members = self.profile(profile)?.members.iter();
        Ok(members
            .map(|(&member, call)| (member, call.clone()))
            .collect())
    }

    fn member_groups(&self, selector: Object) -> Result<Vec<(u32, Vec<u32>)>, StoreError> {
        let groups = self.profile(selector)?.groups.iter();
        Ok(groups
            .map(|(&group, members)| (group, members.clone()))
            .collect())
    }

    fn digests(&mut self, most: u64, _: Duration) -> Result<Digests, StoreError> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let taken = self.digests.len().min(most);
        Ok(Digests {
            received: self.digests.drain(..taken).collect(),
            lost: 0,
        })
    }

    fn drops(&self) -> Result<Vec<(DropReason, u64)>, StoreError> {
        let Model::V1Model(_) = self.model else {
            return Ok(Vec::new());
        };
        let count = |reason| (reason, self.drops.get(&reason).copied().unwrap_or(0));
        Ok(DropReason::ALL.map(count).to_vec())
    }
}
