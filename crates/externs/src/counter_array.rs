//! `ebpf_model`, `xdp_model`: indexed counters that rise by any amount.
//!
//! ```p4
//! extern CounterArray {
//!     CounterArray(bit<32> max_index, bool sparse);
//!     void increment(in bit<32> index);
//!     void add(in bit<32> index, in bit<32> value);
//! }
//! ```
//!
//! Counters wrap at 64 bits. `sparse` changes what a target builds, not what is counted.

use crate::call::{Arg, Env, Fault, Reply, index};
use crate::counter::{Counted, Counters, size_of};
use crate::{Extern, ExternState, Meaning};

/// `CounterArray`
pub(crate) const EXTERN: Extern = Extern {
    name: "CounterArray",
    meaning: Meaning::Object {
        create: |data| {
            ExternState::Counters(Counters::new(size_of(data, "max_index"), Counted::Packets))
        },
        methods: &[("increment", increment), ("add", add)],
    },
};

fn raise(state: &mut ExternState, args: &[Arg], by: u64) -> Result<Reply, Fault> {
    let ExternState::Counters(counters) = state else {
        return Err(Fault::Malformed);
    };
    counters.add(index(args, 0)?, by, 0);
    Ok(Reply::none())
}

fn increment(state: &mut ExternState, args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    raise(state, args, 1)
}

fn add(state: &mut ExternState, args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    raise(state, args, index(args, 1)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};

    #[test]
    fn it_rises_by_one_or_by_any_amount() {
        let mut state = ExternState::Counters(Counters::new(4, Counted::Packets));
        with_env(&[], 0, |env| {
            increment(&mut state, &[arg(32, 3)], env).unwrap();
            add(&mut state, &[arg(32, 3), arg(32, 10)], env).unwrap();
            add(&mut state, &[arg(32, 4), arg(32, 10)], env).unwrap();
        });
        let ExternState::Counters(counters) = state else {
            unreachable!()
        };
        assert_eq!(counters.get(3), Some((11, 0)));
        assert_eq!(counters.get(4), None);
    }
}
