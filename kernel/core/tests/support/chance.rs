//! Chance from a seed: the same seed gives the same case, on every machine.

/// A small generator (xorshift with a multiplication behind it); its seed may be any number.
#[derive(Clone, Debug)]
pub struct Chance {
    state: u64,
    /// How many words of a list are in use.
    variety: usize,
}

impl Chance {
    /// Chance from a seed.
    pub fn new(seed: u64) -> Self {
        // Neighbouring seeds must not give similar cases, and no state may be zero.
        let mixed = (seed ^ 0x5851_F42D_4C95_7F2D).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut chance = Chance {
            state: (mixed ^ mixed >> 31) | 1,
            variety: 1,
        };
        chance.next();
        chance.variety = chance.pick(&[1, 2, 2, 3, 4, 20]);
        chance
    }

    /// Any number.
    pub fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (((self.next() >> 32) * end as u64) >> 32) as usize
    }

    /// True once in `times`.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of some things.
    pub fn pick<T: Copy>(&mut self, things: &[T]) -> T {
        things[self.below(things.len())]
    }

    /// One of the first few words of a list; how few depends on the seed, so that in some cases
    /// everything speaks of the same things, and in others hardly anything does.
    pub fn word(&mut self, words: &[&'static str]) -> &'static str {
        self.pick(&words[..words.len().min(self.variety)])
    }
}
