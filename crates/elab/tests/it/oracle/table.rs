//! Tables whose entries are in the program (section 14.2).

use super::machine::{Frame, Machine, Result};
use super::value::Value;
use hir::{
    ActionCall, ActionId, Direction, Entry, KeyElement, Keyset, LocalId, LocalKind, Table, TableId,
};

/// Result of a table's application.
pub(super) struct Applied {
    pub(super) hit: bool,
    /// The action that ran; `None` if it is the `NoAction` of a table without a default action.
    pub(super) action: Option<ActionId>,
}

impl Machine<'_> {
    /// Applies a table of the control that runs.
    pub(super) fn apply(&mut self, table: TableId) -> Result<Applied> {
        let table = &self.module.tables[table];
        let mut keys = Vec::new();
        for key in &table.keys {
            keys.push(self.eval(&key.expr)?);
        }
        let mut found: Option<(&Entry, u64)> = None;
        for entry in &table.entries {
            let bits = self.prefix_bits(table, entry)?;
            let wins = found.is_none_or(|(_, longest)| bits > longest);
            if wins && self.matches(&entry.keyset, &keys)? {
                found = Some((entry, bits));
            }
        }
        let call = match found {
            Some((entry, _)) => Some(&entry.action),
            None => table.default_action.as_ref(),
        };
        if let Some(call) = call {
            self.run_action(table, call)?;
        }
        Ok(Applied {
            hit: found.is_some(),
            action: call.map(|call| table.actions[call.action as usize].action),
        })
    }

    /// Runs an action: the arguments bound in the table's list are evaluated now.
    fn run_action(&mut self, table: &Table, call: &ActionCall) -> Result<()> {
        let listed = &table.actions[call.action as usize];
        let action = &self.module.actions[listed.action];
        let mut given = self.arguments(&listed.args)?;
        let is_data = |param: &&LocalId| {
            self.module.locals[**param].kind == LocalKind::Param(Direction::None)
        };
        let data = action.params.iter().filter(is_data).count();
        given.values.truncate(action.params.len() - data);
        for value in &call.args {
            given.values.push(Some(self.eval(value)?));
        }
        let frame = Frame {
            control: Some(self.control()),
            ..Frame::default()
        };
        self.run(frame, &action.params, given, |m| m.block(&action.body))?;
        Ok(())
    }

    /// Returns the number by which an entry wins: the length of its prefix, in a table where at most one prefix
    /// distinguishes entries. In any other table, the first entry that matches wins.
    fn prefix_bits(&mut self, table: &Table, entry: &Entry) -> Result<u64> {
        let kinds = &self.module.match_kinds;
        let is = |key: &KeyElement, kind| kinds[key.match_kind as usize] == kind;
        let lpm = table.keys.iter().position(|key| is(key, "lpm"));
        let (Some(lpm), false) = (lpm, table.keys.iter().any(|key| is(key, "ternary"))) else {
            return Ok(0);
        };
        Ok(match &entry.keyset[lpm] {
            Keyset::Mask(_, mask) => self.eval(mask)?.bits().value.magnitude().count_ones(),
            Keyset::Value(value) => self.eval(value)?.bits().width.into(),
            _ => 0,
        })
    }

    fn matches(&mut self, keyset: &[Keyset], keys: &[Value]) -> Result<bool> {
        for (set, key) in keyset.iter().zip(keys) {
            let fits = match set {
                Keyset::Any => true,
                Keyset::Value(value) => self.eval(value)?.equals(key),
                Keyset::Mask(value, mask) => {
                    let (value, mask) = (self.eval(value)?, self.eval(mask)?.bits().unsigned());
                    value.bits().unsigned() & &mask == key.bits().unsigned() & &mask
                }
                Keyset::Range(lo, hi) => {
                    let (lo, hi) = (self.eval(lo)?, self.eval(hi)?);
                    (&lo.bits().value..=&hi.bits().value).contains(&&key.bits().value)
                }
                Keyset::ValueSet(..) => panic!("a value set in an entry"),
            };
            if !fits {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
