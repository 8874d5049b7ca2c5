//! Evaluates all recorded exchanges.

use crate::{
    differences::{DIFFERENCES, Difference},
    fixtures,
    run::Outcome,
};
use serde_json::Value;
use std::collections::BTreeMap;

pub(crate) fn cases() -> Vec<Value> {
    let folder = fixtures().join("cases");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let lines = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect::<String>();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Replays every case. `further` are differences beyond those of the crate itself.
pub(crate) fn judge(further: &'static [Difference], mut replay: impl FnMut(&Value) -> Outcome) {
    let cases = cases();
    let (mut as_recorded, mut by_rule) = (0, 0);
    let mut unexpected = Vec::new();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        let outcome = replay(case);
        let mut rules = outcome.rules;
        rules.sort_unstable();
        rules.dedup();
        rules.iter().for_each(|rule| *reasons.entry(rule).or_default() += 1);
        let known = further.iter().chain(DIFFERENCES);
        match known.into_iter().find(|difference| difference.cases.contains(&name)) {
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
    assert!(unexpected.is_empty(), "{} unexpected:\n{}", unexpected.len(), unexpected.join("\n"));
    assert!(
        (as_recorded + by_rule) * 10 > total * 9,
        "{as_recorded} equal as recorded and {by_rule} by a general rule, of {total}; the reasons: {reasons:#?}"
    );
}
