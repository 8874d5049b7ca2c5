//! Chance that can be repeated.

/// SplitMix64: small, and the same everywhere.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// From `DRAFTBOARD_SEED`, else from the clock. The seed is printed.
    pub(crate) fn seeded() -> Self {
        let clock =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
        let seed = std::env::var("DRAFTBOARD_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok())
            .unwrap_or(clock % 1_000_000);
        println!("seed {seed} (repeat it with DRAFTBOARD_SEED={seed})");
        Self(seed)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.number() % end.max(1) as u64) as usize
    }
}
