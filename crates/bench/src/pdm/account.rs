//! State that an end keeps of its one flow, in a form that allows comparison.

use super::programs::{End, Flows};
use crate::error::Error;
use control::{Store, flow};
use std::collections::BTreeMap;

/// State that both versions keep, by the names of the P4 program. Times are left out, and numbers that begin at random.
pub(crate) type Account = BTreeMap<&'static str, u64>;

/// Fields of `struct flow` of `bench/pdm/flows.h`: name, offset and size in bytes.
const FIELDS: [(&str, usize, usize); 11] = [
    ("psn_received", 74, 2),
    ("psn_highest", 76, 2),
    ("psn_far", 78, 2),
    ("window", 80, 8),
    ("expected", 88, 8),
    ("received", 96, 8),
    ("sent", 104, 8),
    ("reordered", 112, 4),
    ("duplicates", 116, 4),
    ("reported", 120, 8),
    ("samples", 136, 8),
];

/// Returns the state of the only flow; `None` if there is none.
pub(crate) fn of(end: &End) -> Result<Option<Account>, Error> {
    let all = match &end.flows {
        Flows::None => Vec::new(),
        Flows::Compiled(store) => compiled(&**store)?,
        Flows::HandWritten(map) => {
            let mut all = Vec::new();
            map.each_locked(|set| all.extend(hand_written(set)))
                .map_err(Error::system("flows"))?;
            all
        }
    };
    match all.len() {
        0 | 1 => Ok(all.into_iter().next()),
        many => Err(Error::new(format!("there are {many} flows instead of one"))),
    }
}

fn compiled(store: &dyn Store) -> Result<Vec<Account>, Error> {
    let refused = |what: &str| Error::new(format!("the flows of programs/pdm: {what}"));
    let (state, _) = flow::states(store.schema())
        .find(|(_, name)| name.rsplit('.').next() == Some("flows"))
        .ok_or_else(|| refused("there is no such state"))?;
    let fields = flow::fields(&store.schema().objects[state], flow::FlowPart::Value);
    let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
    let flows = store.flows(state).map_err(|e| refused(&format!("{e:?}")))?;
    let account = |flow: control::Flow| {
        let field = |(name, ..): (&'static str, usize, usize)| {
            let at = names.iter().position(|n| *n == name);
            let value = at.and_then(|at| flow.value.get(at)?.to_u64());
            value
                .map(|value| (name, value))
                .ok_or_else(|| refused(name))
        };
        FIELDS.into_iter().map(field).collect()
    };
    flows.into_iter().map(account).collect()
}

/// Returns the flows of a set. They are preceded by a lock, a clock, tags and uses, of four bytes each.
fn hand_written(set: &[u8]) -> Vec<Account> {
    const WAYS: usize = 8;
    const FLOWS: usize = 8 + 2 * 4 * WAYS;
    let size = set.len().saturating_sub(FLOWS) / WAYS;
    let number = |bytes: &[u8]| match *bytes {
        [a, b] => u16::from_ne_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]).into(),
        _ => bytes
            .first_chunk()
            .map_or(0, |all| u64::from_ne_bytes(*all)),
    };
    let used = (0..WAYS).filter(|way| number(&set[8 + 4 * way..][..4]) != 0);
    let account = |way: usize| {
        let flow = &set[FLOWS + way * size..][..size];
        let field =
            |(name, at, bytes): (&'static str, usize, usize)| (name, number(&flow[at..at + bytes]));
        FIELDS.into_iter().map(field).collect()
    };
    used.map(account).collect()
}
