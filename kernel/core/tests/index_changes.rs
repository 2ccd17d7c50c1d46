//! Patterns that come and go between documents: both layers, ids of all sorts, several readers at all
//! budgets, links, skips and trips through bytes.

mod support;

use support::trial::Trial;

#[test]
fn answers_stay_right_under_random_changes() {
    let mut pairs = 0;
    for seed in 0..150 {
        let mut trial = Trial::new(seed);
        for _ in 0..100 {
            trial.step();
        }
        pairs += trial.pairs;
    }
    assert!(pairs >= 5_000, "{pairs}");
}
