//! Choice of the tests that `make test` runs, where all of them would repeat each other. `make test-all` runs the rest.

/// Returns true for a quarter of all names, always the same. The name is hashed by FNV-1a, so that a test's place does not
/// change with others that are added.
pub fn in_quarter(name: &str) -> bool {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // The low bits alone depend on the bytes' low bits alone.
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
