//! Growth of a parser without loops with the number of attributes.

use crate::Order;

/// Returns the number of parser states that distinguish N attributes: N in a fixed order, N² in any order, since each
/// attribute may stand at each position.
pub fn states(attributes: u32, order: Order) -> u64 {
    let attributes = u64::from(attributes);
    match order {
        Order::Fixed => attributes,
        Order::Any => attributes * attributes,
    }
}

/// Returns the number of paths through the states of any order, N^N; `None` if it exceeds a `u128`.
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
