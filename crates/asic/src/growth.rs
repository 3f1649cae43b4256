//! How a parser without loops grows with the number of attributes.

/// Parser states that tell `attributes` attributes apart in any order: at each of N positions each of N may stand, N².
pub fn states(attributes: u32) -> u64 {
    u64::from(attributes) * u64::from(attributes)
}

/// Paths through these states, N^N; `None` if there are more than a `u128` can count.
pub fn paths(attributes: u32) -> Option<u128> {
    u128::from(attributes).checked_pow(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_grow_with_the_square_and_paths_with_the_power() {
        assert_eq!(states(9), 81);
        assert_eq!(paths(8), Some(16_777_216));
        assert_eq!(paths(9), Some(387_420_489));
        assert_eq!(paths(64), None);
    }
}
