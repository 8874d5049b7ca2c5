//! The preview panel: rendered pages and components beside the board that describes them.
//!
//! Owns: the device and zoom of each session, the open drawer, the loaded log. Must not know: how a page is rendered, or
//! the process that renders it.

mod drawer;
mod empty;
mod input;
mod log;
mod outlines;
mod stage;
mod states;
mod tabs;
mod toolbar;

use crate::{
    preview_display::{PreviewDevice, PreviewTextures, PreviewZoom, screen_for},
    view::{FrameView, WindowAction},
};
use drawer::PreviewDrawer;
use egui::{Context, Id, Ui, Vec2, vec2};
use shared_protocol::{
    ElementId, NodeId,
    preview_sessions::{PreviewId, PreviewSessionView, SelectedInstance},
    preview_wire::PreviewScreen,
    requests::SelectInstance,
};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct PreviewDisplaySettings {
    device: PreviewDevice,
    zoom: PreviewZoom,
    dark: bool,
}

#[derive(Default)]
pub(crate) struct PreviewPanel {
    pub(crate) screens: PreviewTextures,
    pub(crate) log: log::PreviewLog,
    choices: BTreeMap<PreviewId, PreviewDisplaySettings>,
    /// The settings of a new session: the last ones selected, if any.
    default_settings: Option<PreviewDisplaySettings>,
    /// The space for a page when one was last drawn.
    room: Vec2,
    screens_asked: BTreeMap<PreviewId, PreviewScreen>,
    /// A better fitting screen, and the time since it fits better.
    better_screen: Option<(PreviewId, PreviewScreen, f64)>,
    /// The state of the visible session and the time it began.
    since: Option<(PreviewId, &'static str, f64)>,
    below: PreviewDrawer,
    pointer: input::PagePointer,
    followed: SelectionSync,
}

/// The last selection on the board and in the page. Each follows the other; comparing with these prevents a loop.
#[derive(Default)]
struct SelectionSync {
    session: Option<PreviewId>,
    last_selected: Option<SelectedInstance>,
    nodes: Vec<NodeId>,
}

impl PreviewPanel {
    pub(crate) fn retain(&mut self, sessions: &[PreviewId]) {
        self.screens.retain(sessions);
        self.choices.retain(|session, _| sessions.contains(session));
        self.screens_asked.retain(|session, _| sessions.contains(session));
    }

    /// Returns whether the page has keyboard focus.
    pub(crate) fn has_keyboard(&self, context: &Context) -> bool {
        self.pointer.types && context.memory(|memory| memory.focused()) == Some(page_id())
    }

    pub(crate) fn first_screen(&self, context: &Context, dark: bool) -> PreviewScreen {
        let PreviewDisplaySettings { device, zoom, dark } = self
            .default_settings
            .unwrap_or(PreviewDisplaySettings { dark, ..PreviewDisplaySettings::default() });
        let room = if self.room.min_elem() > 0.0 { self.room } else { vec2(420.0, 640.0) };
        let screen = screen_for(device, zoom, dark, room, context.pixels_per_point());
        screen.unwrap_or(PreviewScreen { width: 390, height: 844, quarters: 4, dark })
    }

    pub(crate) fn show_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        ui.painter().rect_filled(ui.max_rect(), 0, view.theme.surface_app);
        if let Some(why) = &view.previews.unavailable {
            return empty::unavailable_ui(ui, view, why);
        }
        let Some(session) = view.visible_preview else { return empty::empty_ui(ui, view) };
        self.follow(view, session);
        tabs::tabs_ui(ui, view, session);
        self.toolbar_ui(ui, view, session);
        self.below_ui(ui, view, session);
        self.stage_ui(ui, view, session);
    }

    fn display_settings(&self, session: &PreviewSessionView) -> PreviewDisplaySettings {
        let as_it_is = || PreviewDisplaySettings {
            device: PreviewDevice::for_screen(session.screen),
            zoom: PreviewZoom::Whole,
            dark: session.screen.dark,
        };
        self.choices.get(&session.id).copied().or(self.default_settings).unwrap_or_else(as_it_is)
    }

    fn choose(&mut self, session: &PreviewSessionView, choice: PreviewDisplaySettings) {
        self.choices.insert(session.id, choice);
        self.default_settings = Some(choice);
    }

    /// Synchronises the selection of the page and the board.
    fn follow(&mut self, view: &FrameView<'_>, session: &PreviewSessionView) {
        let nodes = view.selected_nodes();
        let SelectionSync { session: last, last_selected: shown, nodes: before } = &self.followed;
        let same_session = *last == Some(session.id);
        if same_session && *shown != session.selected {
            let node = |selected: &Option<SelectedInstance>| selected.as_ref().and_then(|one| one.node);
            // A process that ended also reports no selection; that must not clear the selection of the board.
            let picked = std::mem::take(&mut self.pointer.picks);
            match (node(&session.selected), node(shown)) {
                (Some(node), _) if nodes != [node] => view.act(WindowAction::Reveal(ElementId::Node(node))),
                (None, Some(old)) if picked && nodes == [old] => {
                    view.act(WindowAction::Select(Default::default()))
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
                let request = SelectInstance { session: session.id, instance: Some(instance) };
                view.act(WindowAction::request(request));
            }
        }
        self.followed =
            SelectionSync { session: Some(session.id), last_selected: session.selected.clone(), nodes };
    }

    fn instance_of(&self, session: &PreviewSessionView, node: NodeId) -> Option<String> {
        let mut instances = self.screens.instances(session.id).iter();
        instances.find(|instance| instance.node == Some(node)).map(|instance| instance.id.clone())
    }
}

/// One page is visible at a time.
fn page_id() -> Id {
    Id::unique("preview page")
}
