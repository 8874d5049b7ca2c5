//! Dependencies between the elements of a proposal, in both directions. A query costs only the elements that it
//! touches.

use shared_protocol::{ProposalSubject, review::ProposedElement};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(super) struct ElementSelectionClosure {
    places: BTreeMap<ProposalSubject, usize>,
    needs: Vec<Vec<usize>>,
    needed_by: Vec<Vec<usize>>,
    /// For each side effect, the removals that cause it.
    causes: Vec<Vec<usize>>,
    effects: Vec<Vec<usize>>,
}

impl ElementSelectionClosure {
    pub(super) fn from_elements(elements: &[ProposedElement]) -> Self {
        let places: BTreeMap<ProposalSubject, usize> =
            elements.iter().enumerate().map(|(place, element)| (element.subject.clone(), place)).collect();
        let placed = |subjects: &[ProposalSubject]| -> Vec<usize> {
            subjects.iter().filter_map(|subject| places.get(subject).copied()).collect()
        };
        let needs: Vec<Vec<usize>> = elements.iter().map(|element| placed(&element.needs)).collect();
        let causes: Vec<Vec<usize>> = elements.iter().map(|element| placed(&element.effect_of)).collect();
        let (needed_by, effects) = (reverse_arrows(&needs), reverse_arrows(&causes));
        Self { places, needs, needed_by, causes, effects }
    }

    pub(super) fn place(&self, subject: &ProposalSubject) -> Option<usize> {
        self.places.get(subject).copied()
    }

    /// Returns these elements and everything that they need.
    pub(super) fn with_needs(&self, from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        reach(&self.needs, from)
    }

    /// Returns these elements and everything that cannot stay without them: elements that need them, and side effects
    /// without a remaining cause. `is_chosen` tells which elements were chosen before.
    pub(super) fn with_dependents(
        &self,
        from: impl IntoIterator<Item = usize>,
        is_chosen: impl Fn(usize) -> bool,
    ) -> BTreeSet<usize> {
        let mut out = reach(&self.needed_by, from);
        loop {
            let is_stranded = |place: &usize| {
                !out.contains(place)
                    && !self.causes[*place].iter().any(|cause| is_chosen(*cause) && !out.contains(cause))
            };
            let effects = out.iter().flat_map(|place| &self.effects[*place]).copied();
            let stranded: Vec<usize> = effects.filter(is_stranded).collect();
            if stranded.is_empty() {
                return out;
            }
            out.extend(reach(&self.needed_by, stranded));
        }
    }

    /// Returns these elements and their side effects.
    pub(super) fn with_effects(&self, from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        reach(&self.effects, from)
    }

    pub(super) fn causes(&self, place: usize) -> &[usize] {
        self.causes.get(place).map_or(&[], Vec::as_slice)
    }
}

fn reverse_arrows(arrows: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut reversed = vec![Vec::new(); arrows.len()];
    for (from, to) in arrows.iter().enumerate().flat_map(|(from, all)| all.iter().map(move |to| (from, *to)))
    {
        reversed[to].push(from);
    }
    reversed
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
