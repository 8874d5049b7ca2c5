//! Randomness that can be repeated from its seed.

use std::time::{SystemTime, UNIX_EPOCH};

/// The variable that overrides the seed of a test.
const SEED_VARIABLE: &str = "DRAFTBOARD_SEED";
/// Seeds from the clock stay short enough to be typed.
const MAX_CLOCK_SEED: u64 = 1_000_000;

/// SplitMix64: small, and the same on every machine.
#[derive(Debug)]
pub struct RandomSource(u64);

impl RandomSource {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Takes the seed from `DRAFTBOARD_SEED`, or `default_seed` without it.
    pub fn from_environment(default_seed: u64) -> Self {
        let set = std::env::var(SEED_VARIABLE).ok().and_then(|seed| seed.parse().ok());
        let seed = set.unwrap_or(default_seed);
        println!("seed {seed} (repeat it with {SEED_VARIABLE}={seed})");
        Self(seed)
    }

    /// Takes the seed from `DRAFTBOARD_SEED`, or from the clock without it, so that every run tries other cases.
    pub fn from_environment_or_clock() -> Self {
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        Self::from_environment(clock % MAX_CLOCK_SEED)
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, or 0 when `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end.max(1) as u64) as usize
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// Returns up to `max_bytes` bytes.
    pub fn bytes(&mut self, max_bytes: usize) -> Vec<u8> {
        let count = self.below(max_bytes + 1);
        (0..count).map(|_| self.number() as u8).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::RandomSource;

    /// The first numbers of the published reference for the seed 1234567.
    #[test]
    fn a_seed_gives_the_published_sequence() {
        let mut random = RandomSource::new(1_234_567);
        assert_eq!(
            [random.number(), random.number(), random.number()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn choices_stay_within_their_bounds() {
        let mut random = RandomSource::new(7);
        assert_eq!((random.below(0), random.pick::<u8>(&[])), (0, None));
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[random.below(5)] = true;
            assert!(random.bytes(3).len() <= 3);
        }
        assert_eq!(seen, [true; 5]);
    }
}
