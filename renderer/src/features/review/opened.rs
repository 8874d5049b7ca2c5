//! The open proposal: ticks, confirmations, and whether it is still the version that was shown. Holds the logic of
//! ticking and deciding; drawing is elsewhere.

use super::{closure::ElementSelectionClosure, proposed::ProposedWorkspace, words::sanitise};
use shared_protocol::{
    ProposalId, ProposalState, ProposalSubject,
    proposal::{ElementChangeKind, ProposedAction, ReviewVerdict, Risk},
    review::{ProposalDetails, ProposedElement},
    terraform::ApplyRequestPlanView,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ProposalPresentation {
    /// Ghosts drawn over the board.
    #[default]
    Overlay,
    /// Before and after with one camera.
    SideBySide,
    List,
    /// The proposed state, open for edits of the reviewer.
    Edit,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum DecisionProgress {
    #[default]
    Not,
    /// The choices are open, with the focus on the safe one.
    Choosing {
        fresh: bool,
    },
    Rejecting {
        reason: String,
        fresh: bool,
    },
    /// The decision was sent and cannot be sent twice.
    BundleProposalArguments,
}

/// The reason that main sent a proposal that is open already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProposalResendReason {
    /// Something about it changed.
    News,
    /// The reviewer requested a rebase on the current workspace.
    LookedAgain,
    Edited,
}

#[derive(Debug)]
pub(crate) struct ProposalReview {
    /// The version that is shown, and that a decision names.
    proposal: ProposalDetails,
    /// A newer version that arrived while this one was shown.
    newer: Option<Box<ProposalDetails>>,
    selected: Arc<BTreeSet<ProposalSubject>>,
    confirmed: BTreeSet<ProposalSubject>,
    /// Elements in list order, most severe first.
    order: Vec<usize>,
    closure: ElementSelectionClosure,
    all: Arc<BTreeSet<ProposalSubject>>,
    pub(crate) focus: Option<ProposalSubject>,
    /// Scrolls to the focused element in the next frame.
    pub(crate) go_to_focus: bool,
    /// Scrolls to the top of the panel, for something that must be read first.
    pub(crate) go_to_top: bool,
    /// Puts the keyboard on the button that confirms the focused removal.
    pub(super) go_to_gesture: bool,
    pub(super) rows: super::elements::ElementRowHeights,
    /// The side effect of the last tick, in words.
    pub(crate) note: Option<String>,
    pub(crate) look: ProposalPresentation,
    pub(crate) deciding: DecisionProgress,
    /// The next version is the rest after a partial acceptance.
    pub(crate) expects_rest: bool,
    pub(crate) proposed: Option<Arc<ProposedWorkspace>>,
    /// The ghosts of a draft, shown without a person having opened it.
    pub(crate) is_followed: bool,
    pub(super) consequences: super::consequences::ConsequencesState,
    pub(super) pages: super::pages::PageComparison,
}

impl ProposalReview {
    pub(crate) fn new(proposal: ProposalDetails) -> Self {
        let mut opened = Self {
            proposal: sanitise(proposal),
            newer: None,
            selected: Arc::default(),
            confirmed: BTreeSet::new(),
            order: Vec::new(),
            closure: ElementSelectionClosure::default(),
            all: Arc::default(),
            focus: None,
            go_to_focus: false,
            go_to_top: false,
            go_to_gesture: false,
            rows: super::elements::ElementRowHeights::default(),
            note: None,
            look: ProposalPresentation::default(),
            deciding: DecisionProgress::default(),
            expects_rest: false,
            proposed: None,
            is_followed: false,
            consequences: super::consequences::ConsequencesState::default(),
            pages: super::pages::PageComparison::default(),
        };
        opened.sort();
        opened.tick_all(true);
        opened
    }

    pub(crate) fn proposal(&self) -> &ProposalDetails {
        &self.proposal
    }

    pub(crate) fn id(&self) -> ProposalId {
        self.proposal.brief.id
    }

    pub(crate) fn newer_version(&self) -> Option<&ProposalDetails> {
        self.newer.as_deref()
    }

    // ---- elements ----------------------------------------------------------------------------------------------------

    /// Most severe first, removals before their side effects, layout changes last.
    fn sort(&mut self) {
        let rank = |element: &ProposedElement| {
            let is_effect = !element.effect_of.is_empty();
            let is_kept = element.kind != ElementChangeKind::Removed;
            (element.kind == ElementChangeKind::Placed, Risk::severity(&element.risks), is_kept, is_effect)
        };
        let elements = &self.proposal.elements;
        self.order = (0..elements.len()).collect();
        self.order.sort_by_key(|&index| rank(&elements[index]));
        self.closure = ElementSelectionClosure::from_elements(elements);
        self.rows = super::elements::ElementRowHeights::default();
        self.all = Arc::new(elements.iter().map(|element| element.subject.clone()).collect());
    }

    /// All elements except layout changes.
    pub(crate) fn listed_elements(&self) -> impl Iterator<Item = &ProposedElement> {
        self.ordered_elements().filter(|element| element.kind != ElementChangeKind::Placed)
    }

    pub(crate) fn layout_changes(&self) -> impl Iterator<Item = &ProposedElement> {
        self.ordered_elements().filter(|element| element.kind == ElementChangeKind::Placed)
    }

    fn ordered_elements(&self) -> impl Iterator<Item = &ProposedElement> {
        self.order.iter().filter_map(|&index| self.proposal.elements.get(index))
    }

    pub(crate) fn element(&self, subject: &ProposalSubject) -> Option<&ProposedElement> {
        self.proposal.elements.get(self.closure.place(subject)?)
    }

    /// The index of an element in the proposal.
    pub(super) fn place(&self, subject: &ProposalSubject) -> Option<usize> {
        self.closure.place(subject)
    }

    pub(crate) fn focused(&self) -> Option<&ProposedElement> {
        self.element(self.focus.as_ref()?)
    }

    /// Moves the focus to the next or previous element and stops at the ends.
    pub(crate) fn step(&mut self, forwards: bool) {
        let subjects: Vec<&ProposalSubject> =
            self.ordered_elements().map(|element| &element.subject).collect();
        let at = self.focus.as_ref().and_then(|focus| subjects.iter().position(|other| *other == focus));
        let wanted = match at {
            None => 0,
            Some(at) if forwards => (at + 1).min(subjects.len().saturating_sub(1)),
            Some(at) => at.saturating_sub(1),
        };
        let wanted = subjects.get(wanted).map(|subject| (*subject).clone());
        self.focus_subject(wanted);
    }

    pub(crate) fn focus_subject(&mut self, subject: Option<ProposalSubject>) {
        self.focus = subject.filter(|subject| self.element(subject).is_some());
        self.go_to_focus = self.focus.is_some();
        self.note = None;
    }

    // ---- ticks ---------------------------------------------------------------------------------------------------------

    pub(crate) fn selected_subjects(&self) -> &Arc<BTreeSet<ProposalSubject>> {
        &self.selected
    }

    /// The elements drawn as accepted: the chosen ones, or all when nothing can be decided.
    pub(crate) fn accepted_for_drawing(&self) -> &Arc<BTreeSet<ProposalSubject>> {
        if self.proposal.brief.needs_decision() && !self.is_followed { &self.selected } else { &self.all }
    }

    pub(crate) fn is_selected(&self, subject: &ProposalSubject) -> bool {
        self.selected.contains(subject)
    }

    /// States that consequences are for all changes when only some are ticked: `For all 11 changes; 5 are ticked`.
    pub(crate) fn partial_scope(&self, start: &str) -> Option<String> {
        let (chosen, all) = (self.selected.len(), self.proposal.elements.len());
        let is_partial = self.proposal.brief.needs_decision() && chosen < all;
        let changes = if all == 1 { "the 1 change".to_owned() } else { format!("all {all} changes") };
        let are = if chosen == 1 { "is" } else { "are" };
        is_partial.then(|| format!("{start} {changes}; {chosen} {are} ticked"))
    }

    /// Returns whether the proposal is decided or expired.
    pub(crate) fn is_over(&self) -> bool {
        let brief = &self.proposal.brief;
        !brief.needs_decision() && brief.state != ProposalState::Draft
    }

    /// Chooses the elements that need no gesture: no removals, nothing that needs one, and no side effect of an
    /// element that is not chosen.
    fn choose(&mut self, wanted: &BTreeSet<ProposalSubject>) {
        let out =
            |element: &ProposedElement| !wanted.contains(&element.subject) || self.is_unconfirmed(element);
        let elements = &self.proposal.elements;
        let out = elements.iter().enumerate().filter(|(_, element)| out(element)).map(|(place, _)| place);
        let out = self.closure.with_dependents(out, |_| true);
        let taken = elements.iter().enumerate().filter(|(place, _)| !out.contains(place));
        self.selected = Arc::new(taken.map(|(_, element)| element.subject.clone()).collect());
    }

    fn is_unconfirmed(&self, element: &ProposedElement) -> bool {
        element.destructive && !self.confirmed.contains(&element.subject)
    }

    fn elements_at<'a>(&'a self, places: &'a BTreeSet<usize>) -> impl Iterator<Item = &'a ProposedElement> {
        places.iter().filter_map(|place| self.proposal.elements.get(*place))
    }

    /// Ticks or unticks an element. A tick includes the elements that it needs, an untick those that need it and its
    /// side effects; the note names them. Neither ticks a removal, nor a side effect without its cause.
    pub(crate) fn tick(&mut self, subject: &ProposalSubject) {
        let Some(place) = self.closure.place(subject) else { return };
        if self.is_selected(subject) {
            return self.untick(place);
        }
        if let Some(cause) = self.missing_cause(place).map(|cause| cause.subject.clone()) {
            return self.point_at_cause(cause);
        }
        let effects = self.closure.with_effects([place]);
        let needed = self.closure.with_needs(effects);
        // The element's own gesture comes first, because it covers its side effects.
        let own = self.element(subject).filter(|element| self.is_unconfirmed(element));
        let grave = own.or_else(|| self.elements_at(&needed).find(|element| self.is_unconfirmed(element)));
        if let Some(grave) = grave.map(|element| element.subject.clone()) {
            return self.point_at_grave(subject, grave);
        }
        let along: Vec<&ProposedElement> =
            self.elements_at(&needed).filter(|element| !self.is_selected(&element.subject)).collect();
        let others = along.iter().filter(|element| element.subject != *subject);
        let note = join_others("Also ticked as a dependency", others.map(|element| element.text.as_str()));
        let along: Vec<ProposalSubject> = along.into_iter().map(|element| element.subject.clone()).collect();
        self.note = note;
        Arc::make_mut(&mut self.selected).extend(along);
    }

    fn point_at_grave(&mut self, subject: &ProposalSubject, grave: ProposalSubject) {
        let is_own = grave == *subject;
        let text = self.element(&grave).map_or_else(String::new, |element| element.text.clone());
        self.open_gesture(grave);
        if !is_own {
            self.note = Some(format!("Needs a removal: {text}. Include that removal first."));
        }
    }

    /// Opens the row of a removal, with the keyboard on the button that confirms it.
    fn open_gesture(&mut self, removal: ProposalSubject) {
        self.focus_subject(Some(removal));
        self.go_to_gesture = true;
    }

    /// The removal to tick first, for a side effect without a chosen cause.
    pub(super) fn cause_to_tick(&self, subject: &ProposalSubject) -> Option<&ProposedElement> {
        self.missing_cause(self.closure.place(subject)?)
    }

    /// Follows a side effect of a side effect to the requested removal.
    fn missing_cause(&self, place: usize) -> Option<&ProposedElement> {
        let elements = &self.proposal.elements;
        let is_chosen =
            |place: &usize| elements.get(*place).is_some_and(|element| self.is_selected(&element.subject));
        let (mut at, mut seen) = (place, BTreeSet::new());
        while let Some(cause) = self.closure.causes(at).first()
            && !self.closure.causes(at).iter().any(is_chosen)
            && seen.insert(at)
        {
            at = *cause;
        }
        elements.get(at).filter(|_| at != place)
    }

    fn point_at_cause(&mut self, cause: ProposalSubject) {
        let text = self.element(&cause).map_or_else(String::new, |element| element.text.clone());
        self.open_gesture(cause);
        self.note = Some(format!("Side effect of a removal: {text}. Include that removal first."));
    }

    fn untick(&mut self, place: usize) {
        let elements = &self.proposal.elements;
        let is_chosen =
            |place: usize| elements.get(place).is_some_and(|element| self.is_selected(&element.subject));
        let dependents = self.closure.with_dependents([place], is_chosen);
        let gone: Vec<ProposalSubject> = self
            .elements_at(&dependents)
            .filter(|element| self.is_selected(&element.subject))
            .map(|element| element.subject.clone())
            .collect();
        let own = self.proposal.elements.get(place).map(|element| &element.subject);
        let others =
            gone.iter().filter(|subject| Some(*subject) != own).filter_map(|subject| self.element(subject));
        self.note = join_others("Also unticked as a dependent", others.map(|element| element.text.as_str()));
        let chosen = Arc::make_mut(&mut self.selected);
        for subject in &gone {
            chosen.remove(subject);
            self.confirmed.remove(subject);
        }
    }

    /// Confirms a removal and its side effects after the gesture.
    pub(crate) fn confirm(&mut self, subject: &ProposalSubject) {
        let Some(place) = self.closure.place(subject) else { return };
        let together = self.closure.with_effects([place]);
        let together: Vec<ProposalSubject> =
            self.elements_at(&together).map(|element| element.subject.clone()).collect();
        self.confirmed.extend(together);
        if !self.is_selected(subject) {
            self.tick(subject);
        }
    }

    /// Ticks or unticks all layout changes.
    pub(crate) fn tick_placed(&mut self, on: bool) {
        let placed: Vec<ProposalSubject> =
            self.layout_changes().map(|element| element.subject.clone()).collect();
        for subject in
            placed.iter().filter(|subject| self.is_selected(subject) != on).cloned().collect::<Vec<_>>()
        {
            if self.is_selected(&subject) != on {
                self.tick(&subject);
            }
        }
    }

    /// Ticks everything that needs no gesture, or nothing.
    pub(crate) fn tick_all(&mut self, on: bool) {
        let wanted = if on { Arc::clone(&self.all) } else { Arc::default() };
        self.choose(&wanted);
        self.note = None;
        if !on {
            self.confirmed.clear();
        }
    }

    // ---- what was shown, and what is --------------------------------------------------------------------------------------

    /// Takes a newer version. The version that is shown is replaced only if it looks the same or the reviewer asked
    /// for the new one.
    pub(crate) fn receive(&mut self, now: ProposalDetails, arrival: ProposalResendReason) {
        let now = sanitise(now);
        let is_watched = matches!(self.proposal.brief.state, ProposalState::Draft) || self.is_followed;
        // A decided proposal needs no protection against changes.
        let is_over = !now.brief.needs_decision() && now.brief.state != ProposalState::Draft;
        let is_rest = std::mem::take(&mut self.expects_rest);
        let is_own = arrival != ProposalResendReason::News;
        if is_own || is_watched || is_over || is_rest || is_same(&self.proposal, &now) {
            self.replace(now, arrival);
        } else {
            self.newer = Some(Box::new(now));
            self.go_to_top = true;
            self.deciding = DecisionProgress::Not;
        }
    }

    /// Shows the newer version after the reviewer has read the differences.
    pub(crate) fn show_newer(&mut self) {
        if let Some(newer) = self.newer.take() {
            self.replace(*newer, ProposalResendReason::News);
        }
    }

    fn replace(&mut self, now: ProposalDetails, arrival: ProposalResendReason) {
        let mut before = std::mem::replace(&mut self.proposal, now);
        if self.applies() {
            // The plan is followed separately, so that a gesture never carries over to another plan.
            self.proposal.plan = before.plan.take();
        }
        self.newer = None;
        self.deciding = DecisionProgress::Not;
        self.sort();
        let was_draft = matches!(before.brief.state, ProposalState::Draft);
        let old = elements_by_subject(&before.elements);
        let same = |element: &ProposedElement| old.get(&element.subject).is_some_and(|old| *old == element);
        // The reviewer edited the version that they saw, so all differences are theirs. A stale version was also
        // rebased on changes of others.
        let was_edited = arrival == ProposalResendReason::Edited && before.brief.state == ProposalState::Open;
        // Ticks stay on unchanged elements and on edits of the reviewer. New or changed elements must be read first.
        let kept: BTreeSet<ProposalSubject> = self
            .proposal
            .elements
            .iter()
            .filter(|element| match same(element) {
                true => was_draft || self.selected.contains(&element.subject),
                false => was_draft || was_edited,
            })
            .map(|element| element.subject.clone())
            .collect();
        let confirmed = self.proposal.elements.iter().filter(|element| same(element));
        let confirmed: BTreeSet<ProposalSubject> = confirmed.map(|element| element.subject.clone()).collect();
        self.confirmed.retain(|subject| confirmed.contains(subject));
        self.choose(&kept);
        if self.focused().is_none() {
            self.focus = None;
        }
    }

    /// The differences of the newer version, each with its kind.
    pub(crate) fn describe_changes_since(&self) -> Vec<(ElementChangeKind, String)> {
        let Some(newer) = &self.newer else { return Vec::new() };
        let old = |subject: &ProposalSubject| self.element(subject);
        let mut changed: Vec<(ElementChangeKind, String)> = newer
            .elements
            .iter()
            .filter_map(|element| match old(&element.subject) {
                None => Some((ElementChangeKind::Added, format!("now also {}", element.text))),
                Some(old) if old != element => {
                    Some((ElementChangeKind::Changed, format!("now {}", element.text)))
                }
                Some(_) => None,
            })
            .collect();
        let now = elements_by_subject(&newer.elements);
        let still = |element: &&ProposedElement| now.contains_key(&element.subject);
        let gone = self.proposal.elements.iter().filter(|element| !still(element));
        changed
            .extend(gone.map(|element| (ElementChangeKind::Removed, format!("no longer {}", element.text))));
        if changed.is_empty() {
            changed.push((ElementChangeKind::Changed, "same changes, new version".to_owned()));
        }
        changed
    }

    // ---- the plan of a request --------------------------------------------------------------------------------------------

    /// Returns whether the request changes real resources, so that accepting needs a saved plan.
    pub(crate) fn applies(&self) -> bool {
        matches!(&self.proposal.brief.act, Some(ProposedAction::Run { operation, .. }) if operation.needs_confirmation())
    }

    /// Takes the plan of a request from main. Another plan, or none, clears the gesture, which was about the plan that
    /// was shown.
    pub(crate) fn follow_plan(&mut self, requests: &[ApplyRequestPlanView]) {
        if !self.applies() {
            return;
        }
        let (id, version) = (self.proposal.brief.id, self.proposal.brief.version);
        let now = requests.iter().find(|plan| plan.proposal == id && plan.version == version);
        if self.proposal.plan.as_deref() == now {
            return;
        }
        let hash = |plan: Option<&ApplyRequestPlanView>| plan.and_then(ApplyRequestPlanView::hash);
        if hash(self.proposal.plan.as_deref()) != hash(now) {
            self.clear_gesture();
        }
        self.proposal.plan = now.cloned().map(Box::new);
    }

    fn clear_gesture(&mut self) {
        self.confirmed.remove(&ProposalSubject::Act);
        Arc::make_mut(&mut self.selected).remove(&ProposalSubject::Act);
        if self.deciding != DecisionProgress::BundleProposalArguments {
            self.deciding = DecisionProgress::Not;
        }
    }

    // ---- deciding -------------------------------------------------------------------------------------------------------

    /// Returns why nothing can be decided now; `stamp` is the newest from main.
    pub(crate) fn decision_blocker(&self, stamp: Option<u64>, now: u64) -> Option<String> {
        let brief = &self.proposal.brief;
        match &brief.state {
            ProposalState::Draft => return Some("The proposal is a draft.".to_owned()),
            ProposalState::Open | ProposalState::Stale { .. } => {}
            state => return Some(format!("It is {}.", state.as_str())),
        }
        if self.newer.is_some() {
            return Some("The proposal changed while you were reviewing it.".to_owned());
        }
        if stamp.is_some_and(|stamp| stamp != brief.stamp) {
            return Some("The proposal changed. Loading the new version…".to_owned());
        }
        if brief.expires <= now {
            return Some("The proposal has expired.".to_owned());
        }
        if self.deciding == DecisionProgress::BundleProposalArguments {
            return Some("The decision is being saved.".to_owned());
        }
        None
    }

    /// Returns why the proposal cannot be accepted although it can be decided.
    pub(crate) fn accept_blocker(&self) -> Option<String> {
        if !self.proposal.conflicts.is_empty() {
            return Some("The proposal conflicts with the current workspace.".to_owned());
        }
        if matches!(self.proposal.brief.state, ProposalState::Stale { .. }) {
            return Some("The workspace changed since the proposal. Rebase it first.".to_owned());
        }
        if let Some(why) = super::request_plan::obstacle(self) {
            return Some(why);
        }
        if self.selected.is_empty() {
            return Some("Nothing is ticked.".to_owned());
        }
        None
    }

    /// The decision about exactly the changes that are shown and ticked.
    pub(crate) fn verdict(&self) -> ReviewVerdict {
        let all = self.selected.len() == self.proposal.elements.len();
        let chosen = (!all).then(|| (*self.selected).clone());
        let confirmed = self.confirmed.intersection(&self.selected).cloned().collect();
        self.proposal.verdict(chosen, confirmed)
    }
}

/// Returns whether both versions look the same; base, comments and time may differ.
fn is_same(a: &ProposalDetails, b: &ProposalDetails) -> bool {
    a.brief.version == b.brief.version
        && a.hash == b.hash
        && a.elements == b.elements
        && a.rationale == b.rationale
        && a.brief.title == b.brief.title
}

fn elements_by_subject(elements: &[ProposedElement]) -> BTreeMap<&ProposalSubject, &ProposedElement> {
    elements.iter().map(|element| (&element.subject, element)).collect()
}

/// Names a few of the other elements; `None` when there are none.
fn join_others<'a>(what: &str, others: impl Iterator<Item = &'a str>) -> Option<String> {
    const MAX_NAMES: usize = 4;
    let others: Vec<&str> = others.collect();
    let shown = others.iter().take(MAX_NAMES).copied().collect::<Vec<_>>().join("; ");
    match others.len() {
        0 => None,
        many if many > MAX_NAMES => Some(format!("{what}: {shown}; and {} more", many - MAX_NAMES)),
        _ => Some(format!("{what}: {shown}")),
    }
}
