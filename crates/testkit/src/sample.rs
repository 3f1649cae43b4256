//! Choice of tests for `make test`, for groups whose tests are much alike. `make test-all` runs the rest.

/// Returns true for a quarter of all names, always the same. The name is hashed by FNV-1a, so new tests do not change
/// the choice among the others.
pub fn in_quarter(name: &str) -> bool {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // The low bits of the hash depend only on the low bits of the bytes.
    (hash >> 32).is_multiple_of(4)
}

#[cfg(test)]
mod tests {
    use super::in_quarter;

    #[test]
    fn a_quarter_is_chosen() {
        let chosen = (0..4000)
            .filter(|i| in_quarter(&format!("xdp_parts::tests/stf/{i}.p4")))
            .count();
        assert!((900..1100).contains(&chosen), "{chosen}");
    }
}
