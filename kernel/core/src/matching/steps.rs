//! Work in steps: counted, never timed, so that the same document ends at the same place everywhere.

/// The steps allowed were not enough: the answer is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent;

/// Whether something holds, if the steps allowed were enough to decide.
pub type Answer = Result<bool, Spent>;

/// So many bytes of text are looked through in one step: where all its letters are as frequent as those
/// looked for, one takes a nanosecond or more.
pub const BYTES_PER_STEP: usize = 4;

/// Steps taken so far, and how many are left.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    left: u64,
    given: u64,
}

impl Default for Steps {
    fn default() -> Self {
        Steps {
            left: u64::MAX,
            given: u64::MAX,
        }
    }
}

impl Steps {
    /// Takes some steps, all that are left if there are fewer.
    #[inline]
    pub fn take(&mut self, steps: u64) -> Result<(), Spent> {
        if self.left < steps {
            self.left = 0;
            return Err(Spent);
        }
        self.left -= steps;
        Ok(())
    }

    /// Allows so many more from here on.
    pub fn allow(&mut self, more: u64) {
        self.given = self.taken().saturating_add(more);
        self.left = more;
    }

    /// How many were taken.
    #[inline]
    pub fn taken(&self) -> u64 {
        self.given - self.left
    }

    /// How many are left.
    #[inline]
    pub fn left(&self) -> u64 {
        self.left
    }
}
