//! Name sets: rules for domain names (`p4include/payload.p4`).
//!
//! ```p4
//! extern name_set {
//!     name_set(bit<32> size);
//!     bool find(in bit<32> offset, in bit<32> length, out bit<32> number, out bit<32> lists);
//! }
//! ```
//!
//! `message.find_name` looks up an attribute of a message in the same way.

use crate::call::{Arg, Env, Fault, Reply, index};
use crate::{Extern, ExternState, Meaning};
use ir::Bits;
use schema::{NameRules, RuleValue};
use std::sync::Arc;

/// Extern whose objects are sets of rules for names.
pub const NAME_SET: &str = "name_set";
/// Method that looks up bytes of the payload.
pub const FIND_BYTES: &str = "find";

/// `name_set`
pub(crate) const EXTERN: Extern = Extern {
    name: NAME_SET,
    meaning: Meaning::Object {
        create: |_| ExternState::Names(Arc::default()),
        methods: &[(FIND_BYTES, find)],
    },
};

fn find(state: &mut ExternState, args: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let ExternState::Names(rules) = state else {
        return Err(Fault::Malformed);
    };
    let (offset, length) = (index(args, 0)?, index(args, 1)?);
    let bytes = env.payload_from(offset);
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    Ok(decided(rules, bytes.get(..length), 2))
}

/// Returns the reply of a look-up: true if a rule covers the name, and the values of that rule for the `out` arguments
/// from `at` on. No name is covered by no rule.
pub(crate) fn decided(rules: &NameRules, name: Option<&[u8]>, at: usize) -> Reply {
    let found = name.and_then(|name| rules.look_up(name));
    let RuleValue { number, lists } = found.unwrap_or_default();
    Reply {
        result: vec![Bits::new(1, u32::from(found.is_some()))],
        outs: vec![
            (at, vec![Bits::new(32, number)]),
            (at + 1, vec![Bits::new(32, lists)]),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};
    use schema::{NameRule, ScopedName};

    #[test]
    fn bytes_of_the_payload_are_looked_up() {
        let mut rules = NameRules::default();
        rules.insert(&NameRule {
            name: ScopedName::parse("example.com").expect("a name"),
            value: RuleValue {
                number: 7,
                lists: 3,
            },
        });
        let mut state = ExternState::Names(Arc::new(rules));
        let mut find = |offset: u64, length: u64| {
            let out = || arg(32, 0);
            let args = [arg(32, offset), arg(32, length), out(), out()];
            let found = |env: &mut Env<'_>| super::find(&mut state, &args, env);
            let reply = with_env(b"....A.Example.com!", 4, found)
                .0
                .expect("a reply");
            let outs: Vec<Option<u64>> = reply.outs.iter().map(|(_, v)| v[0].to_u64()).collect();
            (reply.result[0] == Bits::new(1, 1u32), outs)
        };
        let values = |number, lists| vec![Some(number), Some(lists)];
        assert_eq!(find(0, 13), (true, values(7, 3)));
        assert_eq!(find(2, 11), (true, values(7, 3)));
        assert_eq!(find(3, 10), (false, values(0, 0)));
        assert_eq!(
            find(2, 13),
            (false, values(0, 0)),
            "the payload ends before"
        );
    }
}
