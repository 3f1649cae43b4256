//! How a parser without loops grows with the number of attributes.

use crate::Order;

/// Parser states that tell N attributes apart: N in a fixed order; in any order N², since at each of N positions each of N may stand.
pub fn states(attributes: u32, order: Order) -> u64 {
    let attributes = u64::from(attributes);
    match order {
        Order::Fixed => attributes,
        Order::Any => attributes * attributes,
    }
}

/// Paths through the states of any order, N^N; `None` if there are more than a `u128` can count.
pub fn paths(attributes: u32) -> Option<u128> {
    u128::from(attributes).checked_pow(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_grow_with_the_square_and_paths_with_the_power() {
        assert_eq!(states(9, Order::Any), 81);
        assert_eq!(states(9, Order::Fixed), 9);
        assert_eq!(paths(8), Some(16_777_216));
        assert_eq!(paths(9), Some(387_420_489));
        assert_eq!(paths(64), None);
    }
}
