//! What is asked of nodes beyond their labels: sets of tests as numbers, and what follows from what.
//!
//! What a test says is not known here. Whoever hands in the twigs numbers the sets of tests, tells
//! of a set whether it leaves a single value, and answers which sets follow from which others. The
//! answers are remembered within bounds.

use rustc_hash::FxHashMap;

use super::labels::Names;

/// Whether the tests of one set are sure to pass where those of another do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// They are not.
    No,
    /// They are.
    Yes,
    /// It depends on what is around the node.
    Unclear,
}

/// The set of no tests.
pub const NONE: u32 = 0;
/// Answers remembered, at 24 bytes each; beyond, all are forgotten.
const ANSWERS_MAX: usize = 1 << 20;
/// Numbers that wait for the answers about them to be forgotten.
const RESTING_MAX: usize = 1 << 16;

/// The sets of tests in use.
#[derive(Default)]
pub struct Tests {
    /// Of each set but the empty one, how many nodes have it.
    uses: Vec<u32>,
    /// The only value that a set leaves, or 0.
    values: Vec<u32>,
    strings: Names,
    free: Vec<u32>,
    /// Sets that nobody has any more, about which there may be answers.
    resting: Vec<u32>,
    answers: FxHashMap<u64, Answer>,
}

impl Tests {
    /// A number for a new set, used once, and the only value that it leaves, if there is one.
    pub fn insert(&mut self, value: Option<&str>) -> u32 {
        let value = value.map_or(0, |text| self.strings.take(text));
        let at = self.free.pop().unwrap_or(self.uses.len() as u32);
        if at as usize == self.uses.len() {
            self.uses.push(1);
            self.values.push(value);
        } else {
            self.uses[at as usize] = 1;
            self.values[at as usize] = value;
        }
        at + 1
    }

    /// The set is used once more.
    pub fn take(&mut self, set: u32) {
        if let Some(at) = set.checked_sub(1) {
            self.uses[at as usize] += 1;
        }
    }

    /// It is used once less; whether nobody uses it any more.
    pub fn release(&mut self, set: u32) -> bool {
        let Some(at) = set.checked_sub(1) else {
            return false;
        };
        let at = at as usize;
        self.uses[at] -= 1;
        if self.uses[at] > 0 {
            return false;
        }
        self.strings.release(self.values[at]);
        self.resting.push(at as u32);
        if self.resting.len() > RESTING_MAX {
            self.forget();
        }
        true
    }

    /// The only value that the set leaves, as a number; 0 if it may leave more.
    pub fn value(&self, set: u32) -> u32 {
        set.checked_sub(1).map_or(0, |at| self.values[at as usize])
    }

    /// How many sets there are.
    pub fn len(&self) -> usize {
        self.uses.len() - self.free.len() - self.resting.len()
    }

    /// Whether there is none but the empty one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is remembered, or else what `ask` says.
    pub fn answer(
        &mut self,
        stronger: u32,
        weaker: u32,
        ask: &mut dyn FnMut(u32, u32) -> Answer,
    ) -> Answer {
        let key = u64::from(stronger) << 32 | u64::from(weaker);
        if let Some(&answer) = self.answers.get(&key) {
            return answer;
        }
        let answer = ask(stronger, weaker);
        if self.answers.len() >= ANSWERS_MAX {
            self.forget();
        }
        self.answers.insert(key, answer);
        answer
    }

    /// Forgets all answers.
    pub fn forget(&mut self) {
        self.answers = FxHashMap::default();
        self.free.append(&mut self.resting);
    }

    /// Roughly how many bytes they take.
    pub fn held(&self) -> usize {
        let numbers = self.uses.capacity() + self.values.capacity();
        let waiting = self.free.capacity() + self.resting.capacity();
        4 * (numbers + waiting) + self.answers.capacity() * 18 + self.strings.held()
    }
}
