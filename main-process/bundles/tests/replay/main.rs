//! Replays recorded exchanges of the original bundle server against this crate.
//!
//! Extra members are allowed, and message texts may differ. Deliberate differences follow one of the general [`rules`],
//! which define the expected answer exactly, or are listed in [`differences::DIFFERENCES`] with the reason and the
//! paths that may differ. Everything else must be equal.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod compare;
mod differences;
mod engine;
mod judge;
mod rules;
mod run;

use std::path::{Path, PathBuf};

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

#[test]
fn recorded_exchanges() {
    let shared = run::Place::with_all();
    judge::judge(&[], |case| {
        let own = run::writes(case).then(|| run::Place::of(case));
        run::replay(own.as_ref().unwrap_or(&shared), case, |launch, _| engine::Engine::start(launch))
    });
}

#[test]
fn every_difference_names_recorded_cases() {
    let cases = judge::cases();
    let names: Vec<&str> = cases.iter().map(|case| case["name"].as_str().unwrap()).collect();
    for name in differences::DIFFERENCES.iter().flat_map(|difference| difference.cases) {
        assert!(names.contains(name), "{name}");
    }
}
