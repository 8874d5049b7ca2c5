//! Recorded exchanges with the server that bundles were made for, replayed against this crate.
//!
//! Extra members are allowed and the words of messages may differ. What differs on purpose does so by one of the general
//! [`rules`], which say exactly what the recorded answer becomes, or is in [`differences::DIFFERENCES`] with the reason and
//! the places that may differ; everything else must be equal.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod compare;
mod differences;
mod rules;
mod run;

use differences::DIFFERENCES;
use serde_json::Value;
use std::{collections::BTreeMap, path::Path};

fn cases() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cases");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let lines = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect::<String>();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn recorded_exchanges() {
    let shared = run::Place::with_all();
    let cases = cases();
    let (mut as_recorded, mut by_rule) = (0, 0);
    let mut unexpected = Vec::new();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        let outcome = if run::writes(case) {
            run::replay(&run::Place::of(case), case)
        } else {
            run::replay(&shared, case)
        };
        let mut rules = outcome.rules;
        rules.sort_unstable();
        rules.dedup();
        rules.iter().for_each(|rule| *reasons.entry(rule).or_default() += 1);
        match DIFFERENCES.iter().find(|difference| difference.cases.contains(&name)) {
            None if !outcome.differences.is_empty() => {
                unexpected.push(format!("{name}: {}", outcome.differences.join("; ")));
            }
            None if rules.is_empty() => as_recorded += 1,
            None => by_rule += 1,
            Some(_) if outcome.differences.is_empty() => {
                unexpected.push(format!("{name}: is equal, so take it off the list"));
            }
            Some(difference) => {
                *reasons.entry(difference.reason).or_default() += 1;
                let is_allowed =
                    |place: &&String| difference.places.iter().any(|known| place.starts_with(known));
                let others: Vec<String> =
                    outcome.differences.iter().filter(|place| !is_allowed(place)).cloned().collect();
                if !others.is_empty() {
                    unexpected.push(format!("{name}: beyond what is allowed: {}", others.join("; ")));
                }
            }
        }
    }
    let total = cases.len();
    let listed = total - as_recorded - by_rule - unexpected.len();
    println!(
        "{total} exchanges: {as_recorded} equal as recorded, {by_rule} equal by a general rule, {listed} listed"
    );
    reasons.iter().for_each(|(reason, count)| println!("{count:4}  {reason}"));
    assert!(unexpected.is_empty(), "{} unexpected:\n{}", unexpected.len(), unexpected.join("\n"));
    assert!((as_recorded + by_rule) * 10 > total * 9, "{as_recorded} and {by_rule} of {total} are equal");
}

#[test]
fn every_difference_names_recorded_cases() {
    let cases = cases();
    let names: Vec<&str> = cases.iter().map(|case| case["name"].as_str().unwrap()).collect();
    for name in DIFFERENCES.iter().flat_map(|difference| difference.cases) {
        assert!(names.contains(name), "{name}");
    }
}
