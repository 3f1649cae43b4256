//! `v1model`: cells in which packets leave values for later packets.
//!
//! ```p4
//! extern register<T> {
//!     register(bit<32> size);
//!     void read(out T result, in bit<32> index);
//!     void write(in bit<32> index, in T value);
//! }
//! ```
//!
//! Cells are zero at the start. Out of range, a read returns zero and a write does nothing.

use crate::call::{Arg, Env, Fault, Reply, index, values};
use crate::counter::size_of;
use crate::{Extern, ExternState, Meaning};
use ir::{Bits, ExternData, Value};
use std::collections::HashMap;

/// `register`
pub(crate) const EXTERN: Extern = Extern {
    name: "register",
    meaning: Meaning::Object {
        create: |data| ExternState::Registers(Registers::new(size_of(data, "size"), zero(data))),
        methods: &[("read", read), ("write", write)],
    },
};

/// Cells by index; only those that were written take memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Registers {
    size: u64,
    zero: Vec<Bits>,
    cells: HashMap<u64, Vec<Bits>>,
}

impl Registers {
    /// Makes `size` cells that hold `zero`.
    pub fn new(size: u64, zero: Vec<Bits>) -> Registers {
        Registers {
            size,
            zero,
            cells: HashMap::new(),
        }
    }

    /// Returns the number of cells.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns a cell's scalars; `None` out of range.
    pub fn get(&self, index: u64) -> Option<&[Bits]> {
        (index < self.size).then(|| self.cells.get(&index).unwrap_or(&self.zero).as_slice())
    }

    /// Changes a cell. Returns true if there is one.
    pub fn set(&mut self, index: u64, value: &[Bits]) -> bool {
        if index < self.size {
            self.cells.insert(index, value.to_vec());
        }
        index < self.size
    }
}

/// Returns a cell's initial value, by the type argument.
fn zero(data: &ExternData) -> Vec<Bits> {
    let scalars = data.type_args.first().map_or(&[][..], Vec::as_slice);
    scalars
        .iter()
        .map(|&ty| Value::zero(ty).to_bits())
        .collect()
}

fn read(state: &mut ExternState, args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    let ExternState::Registers(registers) = state else {
        return Err(Fault::Malformed);
    };
    let value = registers.get(index(args, 1)?).unwrap_or(&registers.zero);
    Ok(Reply::out(0, value.to_vec()))
}

fn write(state: &mut ExternState, args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    let ExternState::Registers(registers) = state else {
        return Err(Fault::Malformed);
    };
    registers.set(index(args, 0)?, values(args, 1)?);
    Ok(Reply::none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};

    #[test]
    fn what_was_written_is_read_and_the_rest_is_zero() {
        let mut state = ExternState::Registers(Registers::new(2, vec![Bits::zero(8)]));
        with_env(&[], 0, |env| {
            for at in [1, 2] {
                write(&mut state, &[arg(32, at), arg(8, 7)], env).unwrap();
            }
            for (at, want) in [(0, 0u32), (1, 7), (2, 0)] {
                let reply = read(&mut state, &[arg(8, 0), arg(32, at)], env).unwrap();
                assert_eq!(reply.outs[0].1, [Bits::new(8, want)]);
            }
        });
    }
}
