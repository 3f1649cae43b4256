//! Random numbers that are the same each time.

/// A small deterministic generator (xorshift).
pub(crate) struct Numbers(u64);

impl Numbers {
    /// Makes a generator from a seed.
    pub(crate) fn new(seed: u64) -> Numbers {
        // Adjacent seeds must not begin alike, and the state is never zero.
        let mixed = (seed ^ seed >> 30)
            .wrapping_add(1)
            .wrapping_mul(0xbf58_476d_1ce4_e5b9);
        Numbers((mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) | 1)
    }

    /// Returns a number less than the limit; 0 if that is 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The low bits are the least random ones.
        ((self.0 >> 16) % limit.max(1) as u64) as usize
    }
}
