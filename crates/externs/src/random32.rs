//! `tc_model`: random numbers.
//!
//! ```p4
//! extern bit<32> random32();
//! ```
//!
//! Each packet gets a list of numbers and draws them in order, so that every target in a test can be given the same.

use crate::{Extern, Meaning, Reply};
use ir::Bits;

/// `random32`
pub(crate) const EXTERN: Extern = Extern {
    name: "random32",
    meaning: Meaning::Function(|_, env| Ok(Reply::value(Bits::new(32, env.numbers.draw())))),
};

/// Random numbers that a packet draws.
#[derive(Clone, Debug)]
pub struct Numbers {
    list: Vec<u32>,
    next: usize,
}

impl Numbers {
    /// Makes a list of numbers in the order in which they are drawn; after the last comes the first again.
    pub fn new(list: impl Into<Vec<u32>>) -> Numbers {
        Numbers {
            list: list.into(),
            next: 0,
        }
    }

    /// Draws the next number; 0 if there are none.
    pub fn draw(&mut self) -> u32 {
        let number = self.list.get(self.next).copied().unwrap_or(0);
        self.next = (self.next + 1) % self.list.len().max(1);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::with_env;

    #[test]
    fn numbers_come_in_order_and_begin_again() {
        let Meaning::Function(random32) = EXTERN.meaning else {
            unreachable!()
        };
        let (drawn, _) = with_env(&[], 0, |env| {
            *env.numbers = Numbers::new([7, u32::MAX]);
            [(); 3].map(|()| random32(&[], env).unwrap().result[0].to_u64())
        });
        assert_eq!(drawn, [Some(7), Some(u64::from(u32::MAX)), Some(7)]);
        assert_eq!(Numbers::new([]).draw(), 0);
    }
}
