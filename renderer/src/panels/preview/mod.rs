//! The preview: pages and components as the real thing, beside the board that describes them.
//!
//! Owns: which device is looked at and how large, what is open below the page, the log as far as it was read. Must not
//! know: how a page is drawn, the process that does it.

mod below;
mod empty;
mod input;
mod log;
mod outlines;
mod stage;
mod states;
mod tabs;
mod toolbar;

use crate::{
    previews::{Device, Screens, Zoom, screen_for},
    view::{Action, View},
};
use below::Below;
use egui::{Context, Id, Ui, Vec2, vec2};
use shared_protocol::{
    ElementId, NodeId,
    messages::Request,
    preview::Screen,
    previews::{PreviewRequest, SelectedInstance, SessionId, SessionView},
};
use std::collections::BTreeMap;

/// How a session is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Choice {
    device: Device,
    zoom: Zoom,
    dark: bool,
}

#[derive(Default)]
pub(crate) struct PreviewPanel {
    pub(crate) screens: Screens,
    pub(crate) log: log::SessionLog,
    choices: BTreeMap<SessionId, Choice>,
    /// What a new session begins with; none until somebody chose.
    usual: Option<Choice>,
    /// The room for a page when one was last drawn.
    room: Vec2,
    /// The screen that was asked for, and since when another one would suit better.
    screens_asked: BTreeMap<SessionId, Screen>,
    unsuited: Option<(SessionId, Screen, f64)>,
    /// Since when a session is in its state.
    since: Option<(SessionId, &'static str, f64)>,
    below: Below,
    pointer: input::Pointer,
    followed: Followed,
}

/// What was last selected on either side, so that each follows the other and neither leads in a circle.
#[derive(Default)]
struct Followed {
    session: Option<SessionId>,
    shown: Option<SelectedInstance>,
    nodes: Vec<NodeId>,
}

impl PreviewPanel {
    pub(crate) fn keep(&mut self, sessions: &[SessionId]) {
        self.screens.keep(sessions);
        self.choices.retain(|session, _| sessions.contains(session));
        self.screens_asked.retain(|session, _| sessions.contains(session));
    }

    /// The page has the keyboard.
    pub(crate) fn has_keyboard(&self, context: &Context) -> bool {
        self.pointer.types && context.memory(|memory| memory.focused()) == Some(page_id())
    }

    /// For a session that is about to start.
    pub(crate) fn first_screen(&self, context: &Context, dark: bool) -> Screen {
        let Choice { device, zoom, dark } = self.usual.unwrap_or(Choice { dark, ..Choice::default() });
        let room = if self.room.min_elem() > 0.0 { self.room } else { vec2(420.0, 640.0) };
        let screen = screen_for(device, zoom, dark, room, context.pixels_per_point());
        screen.unwrap_or(Screen { width: 390, height: 844, quarters: 4, dark })
    }

    pub(crate) fn show_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        ui.painter().rect_filled(ui.max_rect(), 0, view.theme.surface_app);
        if let Some(why) = &view.previews.unavailable {
            return empty::unavailable_ui(ui, view, why);
        }
        let Some(session) = view.looked_at else { return empty::empty_ui(ui, view, actions) };
        self.follow(view, session, actions);
        tabs::tabs_ui(ui, view, session, actions);
        self.toolbar_ui(ui, view, session, actions);
        self.below_ui(ui, view, session, actions);
        self.stage_ui(ui, view, session, actions);
    }

    fn choice(&self, session: &SessionView) -> Choice {
        let as_it_is =
            || Choice { device: Device::of(session.screen), zoom: Zoom::Whole, dark: session.screen.dark };
        self.choices.get(&session.id).copied().or(self.usual).unwrap_or_else(as_it_is)
    }

    fn choose(&mut self, session: &SessionView, choice: Choice) {
        self.choices.insert(session.id, choice);
        self.usual = Some(choice);
    }

    /// What is selected in the page is selected on the board, and the other way round.
    fn follow(&mut self, view: &View<'_>, session: &SessionView, actions: &mut Vec<Action>) {
        let nodes = view.selected_nodes();
        let Followed { session: last, shown, nodes: before } = &self.followed;
        let same_session = *last == Some(session.id);
        if same_session && *shown != session.selected {
            let node = |selected: &Option<SelectedInstance>| selected.as_ref().and_then(|one| one.node);
            // A process that ends has nothing selected either, and takes nothing away from the board.
            let picked = std::mem::take(&mut self.pointer.picks);
            match (node(&session.selected), node(shown)) {
                (Some(node), _) if nodes != [node] => actions.push(Action::Reveal(ElementId::Node(node))),
                (None, Some(old)) if picked && nodes == [old] => {
                    actions.push(Action::Select(Default::default()))
                }
                _ => {}
            }
        } else if same_session && *before != nodes {
            let instance = match nodes.as_slice() {
                [node] => self.instance_of(session, *node),
                _ => None,
            };
            let told = session.selected.as_ref().and_then(|selected| selected.node);
            if let Some(instance) = instance.filter(|_| told != nodes.first().copied()) {
                let request = PreviewRequest::Select { session: session.id, instance: Some(instance) };
                actions.push(ask(request));
            }
        }
        self.followed = Followed { session: Some(session.id), shown: session.selected.clone(), nodes };
    }

    /// The outermost instance that a node is.
    fn instance_of(&self, session: &SessionView, node: NodeId) -> Option<String> {
        let mut instances = self.screens.instances(session.id).iter();
        instances.find(|instance| instance.node == Some(node)).map(|instance| instance.id.clone())
    }
}

fn ask(request: PreviewRequest) -> Action {
    Action::Ask(Request::Preview(request))
}

/// There is one page at a time.
fn page_id() -> Id {
    Id::unique("preview page")
}
