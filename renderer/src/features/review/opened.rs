//! The proposal that is looked at: what of it is chosen, what was confirmed, and whether it is still what was shown. This
//! is the whole logic of ticking and deciding; drawing is elsewhere.

use super::{closure::ElementClosure, proposed::ProposedState, words::harmless};
use shared_protocol::{
    ProposalId, ProposalState, Subject,
    proposal::{Act, Kind, Risk, Verdict},
    review::{Element, OpenedProposal},
    terraform::RequestPlanView,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// How the difference is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ProposalLook {
    /// Drawn over the board.
    #[default]
    Overlay,
    /// Before and after, with one camera.
    SideBySide,
    /// In words.
    List,
    /// The state as it would be, to be changed by the reviewer.
    Edit,
}

/// How far a decision is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum DecisionStep {
    #[default]
    Not,
    /// The choices are open; the keyboard is on the safe one.
    Choosing {
        fresh: bool,
    },
    Rejecting {
        reason: String,
        fresh: bool,
    },
    /// Main was asked; nothing can be asked twice.
    Asked,
}

/// Why main sent a proposal that is open already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProposalArrival {
    /// Something about it changed.
    News,
    /// The reviewer asked to look again.
    LookedAgain,
    /// The reviewer edited it.
    Edited,
}

#[derive(Debug)]
pub(crate) struct ProposalReview {
    /// As it is shown, and as a decision names it.
    proposal: OpenedProposal,
    /// It changed while it was looked at: this is what it is now.
    newer: Option<Box<OpenedProposal>>,
    chosen: Arc<BTreeSet<Subject>>,
    confirmed: BTreeSet<Subject>,
    /// Elements in the order of the list, the gravest first.
    order: Vec<usize>,
    closure: ElementClosure,
    /// Every element.
    all: Arc<BTreeSet<Subject>>,
    pub(crate) focus: Option<Subject>,
    /// The focus moved: bring it into view.
    pub(crate) go_to_focus: bool,
    /// Something has to be read first: back to the top of the panel.
    pub(crate) go_to_top: bool,
    /// A removal was ticked: put the keyboard on the button that confirms it.
    pub(super) go_to_gesture: bool,
    pub(super) rows: super::elements::ElementRowHeights,
    /// What a tick did besides.
    pub(crate) note: Option<String>,
    pub(crate) look: ProposalLook,
    pub(crate) deciding: DecisionStep,
    /// What comes next is what the reviewer's own decision left.
    pub(crate) expects_rest: bool,
    pub(crate) proposed: Option<Arc<ProposedState>>,
    /// Ghosts of somebody who is writing, shown without having been asked for.
    pub(crate) is_followed: bool,
    pub(super) consequences: super::consequences::ConsequencesState,
    pub(super) pages: super::pages::PageComparison,
}

impl ProposalReview {
    pub(crate) fn new(proposal: OpenedProposal) -> Self {
        let mut opened = Self {
            proposal: harmless(proposal),
            newer: None,
            chosen: Arc::default(),
            confirmed: BTreeSet::new(),
            order: Vec::new(),
            closure: ElementClosure::default(),
            all: Arc::default(),
            focus: None,
            go_to_focus: false,
            go_to_top: false,
            go_to_gesture: false,
            rows: super::elements::ElementRowHeights::default(),
            note: None,
            look: ProposalLook::default(),
            deciding: DecisionStep::default(),
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

    pub(crate) fn proposal(&self) -> &OpenedProposal {
        &self.proposal
    }

    pub(crate) fn id(&self) -> ProposalId {
        self.proposal.brief.id
    }

    pub(crate) fn newer(&self) -> Option<&OpenedProposal> {
        self.newer.as_deref()
    }

    /// The newest stamp that was seen of it.
    pub(crate) fn stamp(&self) -> u64 {
        self.newer.as_ref().map_or(self.proposal.brief.stamp, |newer| newer.brief.stamp)
    }

    // ---- elements ----------------------------------------------------------------------------------------------------

    /// Risk first, a removal before its side effects; what is layout alone comes last and is one line.
    fn sort(&mut self) {
        let rank = |element: &Element| {
            let is_effect = !element.effect_of.is_empty();
            let is_kept = element.kind != Kind::Removed;
            (element.kind == Kind::Placed, Risk::severity(&element.risks), is_kept, is_effect)
        };
        let elements = &self.proposal.elements;
        self.order = (0..elements.len()).collect();
        self.order.sort_by_key(|&index| rank(&elements[index]));
        self.closure = ElementClosure::of(elements);
        self.rows = super::elements::ElementRowHeights::default();
        self.all = Arc::new(elements.iter().map(|element| element.subject.clone()).collect());
    }

    /// All but what is layout alone.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &Element> {
        self.ordered().filter(|element| element.kind != Kind::Placed)
    }

    /// What is layout alone.
    pub(crate) fn placed(&self) -> impl Iterator<Item = &Element> {
        self.ordered().filter(|element| element.kind == Kind::Placed)
    }

    fn ordered(&self) -> impl Iterator<Item = &Element> {
        self.order.iter().filter_map(|&index| self.proposal.elements.get(index))
    }

    pub(crate) fn element(&self, subject: &Subject) -> Option<&Element> {
        self.proposal.elements.get(self.closure.place(subject)?)
    }

    /// Where it stands among the elements of the proposal.
    pub(super) fn place(&self, subject: &Subject) -> Option<usize> {
        self.closure.place(subject)
    }

    pub(crate) fn focused(&self) -> Option<&Element> {
        self.element(self.focus.as_ref()?)
    }

    /// To the next element, or the one before; the ends stay where they are.
    pub(crate) fn step(&mut self, forwards: bool) {
        let subjects: Vec<&Subject> = self.ordered().map(|element| &element.subject).collect();
        let at = self.focus.as_ref().and_then(|focus| subjects.iter().position(|other| *other == focus));
        let wanted = match at {
            None => 0,
            Some(at) if forwards => (at + 1).min(subjects.len().saturating_sub(1)),
            Some(at) => at.saturating_sub(1),
        };
        let wanted = subjects.get(wanted).map(|subject| (*subject).clone());
        self.look_at(wanted);
    }

    pub(crate) fn look_at(&mut self, subject: Option<Subject>) {
        self.focus = subject.filter(|subject| self.element(subject).is_some());
        self.go_to_focus = self.focus.is_some();
        self.note = None;
    }

    // ---- ticks ---------------------------------------------------------------------------------------------------------

    pub(crate) fn chosen(&self) -> &Arc<BTreeSet<Subject>> {
        &self.chosen
    }

    /// What is drawn as if it were taken: of what nobody can decide about, all of it.
    pub(crate) fn drawn(&self) -> &Arc<BTreeSet<Subject>> {
        if self.proposal.brief.waits() && !self.is_followed { &self.chosen } else { &self.all }
    }

    pub(crate) fn is_chosen(&self, subject: &Subject) -> bool {
        self.chosen.contains(subject)
    }

    /// Says that consequences are of all changes, when only some are ticked: `For all 11 changes; 5 are ticked`.
    pub(crate) fn partial_scope(&self, start: &str) -> Option<String> {
        let (chosen, all) = (self.chosen.len(), self.proposal.elements.len());
        let is_partial = self.proposal.brief.waits() && chosen < all;
        let changes = if all == 1 { "the 1 change".to_owned() } else { format!("all {all} changes") };
        let are = if chosen == 1 { "is" } else { "are" };
        is_partial.then(|| format!("{start} {changes}; {chosen} {are} ticked"))
    }

    /// Nothing can be decided about it any more.
    pub(crate) fn is_over(&self) -> bool {
        let brief = &self.proposal.brief;
        !brief.waits() && brief.state != ProposalState::Draft
    }

    /// Takes what may be taken without a gesture: nothing destructive, nothing that needs such, and no side effect of what
    /// is not taken.
    fn choose(&mut self, wanted: &BTreeSet<Subject>) {
        let out = |element: &Element| !wanted.contains(&element.subject) || self.is_unconfirmed(element);
        let elements = &self.proposal.elements;
        let out = elements.iter().enumerate().filter(|(_, element)| out(element)).map(|(place, _)| place);
        let out = self.closure.with_dependents(out, |_| true);
        let taken = elements.iter().enumerate().filter(|(place, _)| !out.contains(place));
        self.chosen = Arc::new(taken.map(|(_, element)| element.subject.clone()).collect());
    }

    fn is_unconfirmed(&self, element: &Element) -> bool {
        element.destructive && !self.confirmed.contains(&element.subject)
    }

    fn elements_at<'a>(&'a self, places: &'a BTreeSet<usize>) -> impl Iterator<Item = &'a Element> {
        places.iter().filter_map(|place| self.proposal.elements.get(*place))
    }

    /// Ticks or unticks. A tick takes along what it needs, an untick what needs it and its side effects; both say so.
    /// Something destructive is not ticked this way, nor a side effect without its cause.
    pub(crate) fn tick(&mut self, subject: &Subject) {
        let Some(place) = self.closure.place(subject) else { return };
        if self.is_chosen(subject) {
            return self.untick(place);
        }
        if let Some(cause) = self.missing_cause(place).map(|cause| cause.subject.clone()) {
            return self.point_at_cause(cause);
        }
        let effects = self.closure.with_effects([place]);
        let needed = self.closure.with_needs(effects);
        // Its own gesture comes first: it covers its side effects.
        let own = self.element(subject).filter(|element| self.is_unconfirmed(element));
        let grave = own.or_else(|| self.elements_at(&needed).find(|element| self.is_unconfirmed(element)));
        if let Some(grave) = grave.map(|element| element.subject.clone()) {
            return self.point_at_grave(subject, grave);
        }
        let along: Vec<&Element> =
            self.elements_at(&needed).filter(|element| !self.is_chosen(&element.subject)).collect();
        let others = along.iter().filter(|element| element.subject != *subject);
        let note = told("Also ticked, because it needs it", others.map(|element| element.text.as_str()));
        let along: Vec<Subject> = along.into_iter().map(|element| element.subject.clone()).collect();
        self.note = note;
        Arc::make_mut(&mut self.chosen).extend(along);
    }

    fn point_at_grave(&mut self, subject: &Subject, grave: Subject) {
        let is_own = grave == *subject;
        let text = self.element(&grave).map_or_else(String::new, |element| element.text.clone());
        self.open_gesture(grave);
        if !is_own {
            self.note = Some(format!("It needs a removal: {text}. Include that removal first."));
        }
    }

    /// Opens the row of a removal, with the keyboard on the button that confirms it.
    fn open_gesture(&mut self, removal: Subject) {
        self.look_at(Some(removal));
        self.go_to_gesture = true;
    }

    /// The removal that has to be ticked first, for a side effect that goes with none that is.
    pub(super) fn cause_to_tick(&self, subject: &Subject) -> Option<&Element> {
        self.missing_cause(self.closure.place(subject)?)
    }

    /// An effect of an effect leads to the removal that was asked for.
    fn missing_cause(&self, place: usize) -> Option<&Element> {
        let elements = &self.proposal.elements;
        let is_chosen =
            |place: &usize| elements.get(*place).is_some_and(|element| self.is_chosen(&element.subject));
        let (mut at, mut seen) = (place, BTreeSet::new());
        while let Some(cause) = self.closure.causes(at).first()
            && !self.closure.causes(at).iter().any(is_chosen)
            && seen.insert(at)
        {
            at = *cause;
        }
        elements.get(at).filter(|_| at != place)
    }

    fn point_at_cause(&mut self, cause: Subject) {
        let text = self.element(&cause).map_or_else(String::new, |element| element.text.clone());
        self.open_gesture(cause);
        self.note = Some(format!("It is a side effect: {text}. Include that removal first."));
    }

    fn untick(&mut self, place: usize) {
        let elements = &self.proposal.elements;
        let is_chosen =
            |place: usize| elements.get(place).is_some_and(|element| self.is_chosen(&element.subject));
        let dependents = self.closure.with_dependents([place], is_chosen);
        let gone: Vec<Subject> = self
            .elements_at(&dependents)
            .filter(|element| self.is_chosen(&element.subject))
            .map(|element| element.subject.clone())
            .collect();
        let own = self.proposal.elements.get(place).map(|element| &element.subject);
        let others =
            gone.iter().filter(|subject| Some(*subject) != own).filter_map(|subject| self.element(subject));
        self.note = told("Also unticked, because it needs it", others.map(|element| element.text.as_str()));
        let chosen = Arc::make_mut(&mut self.chosen);
        for subject in &gone {
            chosen.remove(subject);
            self.confirmed.remove(subject);
        }
    }

    /// The deliberate gesture was made for this one and for all that goes with it as a side effect.
    pub(crate) fn confirm(&mut self, subject: &Subject) {
        let Some(place) = self.closure.place(subject) else { return };
        let together = self.closure.with_effects([place]);
        let together: Vec<Subject> =
            self.elements_at(&together).map(|element| element.subject.clone()).collect();
        self.confirmed.extend(together);
        if !self.is_chosen(subject) {
            self.tick(subject);
        }
    }

    /// All that is layout alone, as one.
    pub(crate) fn tick_placed(&mut self, on: bool) {
        let placed: Vec<Subject> = self.placed().map(|element| element.subject.clone()).collect();
        for subject in
            placed.iter().filter(|subject| self.is_chosen(subject) != on).cloned().collect::<Vec<_>>()
        {
            if self.is_chosen(&subject) != on {
                self.tick(&subject);
            }
        }
    }

    /// Everything that may be ticked without a gesture, or nothing.
    pub(crate) fn tick_all(&mut self, on: bool) {
        let wanted = if on { Arc::clone(&self.all) } else { Arc::default() };
        self.choose(&wanted);
        self.note = None;
        if !on {
            self.confirmed.clear();
        }
    }

    // ---- what was shown, and what is --------------------------------------------------------------------------------------

    /// Main told what the proposal is now. What a person looks at is replaced only if nothing in it is other than it was,
    /// or if they asked for it.
    pub(crate) fn receive(&mut self, now: OpenedProposal, arrival: ProposalArrival) {
        let now = harmless(now);
        let is_watched = matches!(self.proposal.brief.state, ProposalState::Draft) || self.is_followed;
        // About what is over nothing is decided any more.
        let is_over = !now.brief.waits() && now.brief.state != ProposalState::Draft;
        let is_rest = std::mem::take(&mut self.expects_rest);
        let is_own = arrival != ProposalArrival::News;
        if is_own || is_watched || is_over || is_rest || is_same(&self.proposal, &now) {
            self.replace(now, arrival);
        } else {
            self.newer = Some(Box::new(now));
            self.go_to_top = true;
            self.deciding = DecisionStep::Not;
        }
    }

    /// The reviewer has read what changed.
    pub(crate) fn look_at_newer(&mut self) {
        if let Some(newer) = self.newer.take() {
            self.replace(*newer, ProposalArrival::News);
        }
    }

    fn replace(&mut self, now: OpenedProposal, arrival: ProposalArrival) {
        let mut before = std::mem::replace(&mut self.proposal, now);
        if self.applies() {
            // It is followed by itself, so that a gesture is never carried over to another plan.
            self.proposal.plan = before.plan.take();
        }
        self.newer = None;
        self.deciding = DecisionStep::Not;
        self.sort();
        let was_draft = matches!(before.brief.state, ProposalState::Draft);
        let old = by_subject(&before.elements);
        let same = |element: &Element| old.get(&element.subject).is_some_and(|old| *old == element);
        // An edit was made to what the reviewer saw, so all that differs is theirs. What was stale was also fitted to
        // changes of others.
        let was_edited = arrival == ProposalArrival::Edited && before.brief.state == ProposalState::Open;
        // Marks stay on what is as it was, and on what the reviewer edited; what is new or other has to be looked at first.
        let kept: BTreeSet<Subject> = self
            .proposal
            .elements
            .iter()
            .filter(|element| match same(element) {
                true => was_draft || self.chosen.contains(&element.subject),
                false => was_draft || was_edited,
            })
            .map(|element| element.subject.clone())
            .collect();
        let confirmed = self.proposal.elements.iter().filter(|element| same(element));
        let confirmed: BTreeSet<Subject> = confirmed.map(|element| element.subject.clone()).collect();
        self.confirmed.retain(|subject| confirmed.contains(subject));
        self.choose(&kept);
        if self.focused().is_none() {
            self.focus = None;
        }
    }

    /// What is other in the new version, in words: a sign and a line.
    pub(crate) fn what_changed(&self) -> Vec<(Kind, String)> {
        let Some(newer) = &self.newer else { return Vec::new() };
        let old = |subject: &Subject| self.element(subject);
        let mut changed: Vec<(Kind, String)> = newer
            .elements
            .iter()
            .filter_map(|element| match old(&element.subject) {
                None => Some((Kind::Added, format!("now also {}", element.text))),
                Some(old) if old != element => Some((Kind::Changed, format!("now {}", element.text))),
                Some(_) => None,
            })
            .collect();
        let now = by_subject(&newer.elements);
        let still = |element: &&Element| now.contains_key(&element.subject);
        let gone = self.proposal.elements.iter().filter(|element| !still(element));
        changed.extend(gone.map(|element| (Kind::Removed, format!("no longer {}", element.text))));
        if changed.is_empty() {
            changed.push((Kind::Changed, "the same elements, in another version".to_owned()));
        }
        changed
    }

    // ---- the plan of a request --------------------------------------------------------------------------------------------

    /// It asks to change real resources, so a yes is about a saved plan.
    pub(crate) fn applies(&self) -> bool {
        matches!(&self.proposal.brief.act, Some(Act::Run { operation, .. }) if operation.needs_confirmation())
    }

    /// Takes the plan of a request as main tells of it. Another plan, or none, clears the gesture: it was about what was
    /// shown then.
    pub(crate) fn follow_plan(&mut self, requests: &[RequestPlanView]) {
        if !self.applies() {
            return;
        }
        let (id, version) = (self.proposal.brief.id, self.proposal.brief.version);
        let now = requests.iter().find(|plan| plan.proposal == id && plan.version == version);
        if self.proposal.plan.as_deref() == now {
            return;
        }
        let hash = |plan: Option<&RequestPlanView>| plan.and_then(RequestPlanView::hash);
        if hash(self.proposal.plan.as_deref()) != hash(now) {
            self.clear_gesture();
        }
        self.proposal.plan = now.cloned().map(Box::new);
    }

    fn clear_gesture(&mut self) {
        self.confirmed.remove(&Subject::Act);
        Arc::make_mut(&mut self.chosen).remove(&Subject::Act);
        if self.deciding != DecisionStep::Asked {
            self.deciding = DecisionStep::Not;
        }
    }

    // ---- deciding -------------------------------------------------------------------------------------------------------

    /// Why nothing can be decided now; `stamp` is the newest that main told of.
    pub(crate) fn why_not(&self, stamp: Option<u64>, now: u64) -> Option<String> {
        let brief = &self.proposal.brief;
        match &brief.state {
            ProposalState::Draft => return Some("It is still being written.".to_owned()),
            ProposalState::Open | ProposalState::Stale { .. } => {}
            state => return Some(format!("It is {}.", state.word())),
        }
        if self.newer.is_some() {
            return Some("It changed while you were looking.".to_owned());
        }
        if stamp.is_some_and(|stamp| stamp != brief.stamp) {
            return Some("It has just changed; reading what it is now.".to_owned());
        }
        if brief.expires <= now {
            return Some("It has expired.".to_owned());
        }
        if self.deciding == DecisionStep::Asked {
            return Some("The decision is under way.".to_owned());
        }
        None
    }

    /// Why it cannot be accepted although it can be decided.
    pub(crate) fn why_not_accept(&self) -> Option<String> {
        if !self.proposal.conflicts.is_empty() {
            return Some("It does not fit on what is there now.".to_owned());
        }
        if matches!(self.proposal.brief.state, ProposalState::Stale { .. }) {
            return Some("What it touches was changed since. Look again first.".to_owned());
        }
        if let Some(why) = super::request_plan::obstacle(self) {
            return Some(why);
        }
        if self.chosen.is_empty() {
            return Some("Nothing is ticked.".to_owned());
        }
        None
    }

    /// The decision about exactly what is shown and ticked.
    pub(crate) fn verdict(&self) -> Verdict {
        let all = self.chosen.len() == self.proposal.elements.len();
        let chosen = (!all).then(|| (*self.chosen).clone());
        let confirmed = self.confirmed.intersection(&self.chosen).cloned().collect();
        self.proposal.verdict(chosen, confirmed)
    }
}

/// Whether somebody who looks at one sees the other: base, comments and time may differ.
fn is_same(a: &OpenedProposal, b: &OpenedProposal) -> bool {
    a.brief.version == b.brief.version
        && a.hash == b.hash
        && a.elements == b.elements
        && a.rationale == b.rationale
        && a.brief.title == b.brief.title
}

fn by_subject(elements: &[Element]) -> BTreeMap<&Subject, &Element> {
    elements.iter().map(|element| (&element.subject, element)).collect()
}

/// What happened to others, a few of them by name; nothing when there are none.
fn told<'a>(what: &str, others: impl Iterator<Item = &'a str>) -> Option<String> {
    const MOST: usize = 4;
    let others: Vec<&str> = others.collect();
    let shown = others.iter().take(MOST).copied().collect::<Vec<_>>().join("; ");
    match others.len() {
        0 => None,
        many if many > MOST => Some(format!("{what}: {shown}; and {} more", many - MOST)),
        _ => Some(format!("{what}: {shown}")),
    }
}
