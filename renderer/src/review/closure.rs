//! What cannot go without what, both ways, for thousands of elements: each question costs what it touches.

use shared_protocol::{Subject, review::Element};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(super) struct Closure {
    places: BTreeMap<Subject, usize>,
    needs: Vec<Vec<usize>>,
    needed_by: Vec<Vec<usize>>,
}

impl Closure {
    pub(super) fn of(elements: &[Element]) -> Self {
        let places: BTreeMap<Subject, usize> =
            elements.iter().enumerate().map(|(place, element)| (element.subject.clone(), place)).collect();
        let needs: Vec<Vec<usize>> = elements
            .iter()
            .map(|element| element.needs.iter().filter_map(|needed| places.get(needed).copied()).collect())
            .collect();
        let mut needed_by = vec![Vec::new(); elements.len()];
        for (place, needed) in
            needs.iter().enumerate().flat_map(|(place, all)| all.iter().map(move |n| (place, *n)))
        {
            needed_by[needed].push(place);
        }
        Self { places, needs, needed_by }
    }

    pub(super) fn place(&self, subject: &Subject) -> Option<usize> {
        self.places.get(subject).copied()
    }

    /// These and all that they need.
    pub(super) fn with_needs(&self, from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        reach(&self.needs, from)
    }

    /// These and all that need them.
    pub(super) fn with_needing(&self, from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        reach(&self.needed_by, from)
    }
}

fn reach(next: &[Vec<usize>], from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<usize> = from.into_iter().collect();
    while let Some(place) = waiting.pop() {
        if reached.insert(place) {
            waiting.extend(next.get(place).into_iter().flatten());
        }
    }
    reached
}
