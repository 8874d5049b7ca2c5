//! The command palette (Ctrl+K): searches commands, boards, nodes of all boards, types to add, managed servers and spec
//! entities.

use crate::{
    commands::{CommandDef, Facts, Menu, TABLE},
    panels::menu_bar::kind_icon,
    picker::{Entry, Mark, Picker, rank},
    specs::{Page, SpecAction, Specs, type_look},
    view::{Action, View},
};
use egui::{Align2, Context, Frame, Id, Key, Modifiers, Order, vec2};
use shared_protocol::{ElementId, bundle::EntitySummary};

const WIDTH: f32 = 480.0;
/// The maximum number of node matches; a longer query narrows the list.
const MOST_NODES: usize = 30;
const MOST_TYPES: usize = 12;
const MOST_SERVERS: usize = 12;

#[derive(Default)]
pub(crate) struct CommandPalette {
    picker: Picker,
    shown_before: bool,
}

/// A match with its rank and the action that opens it.
struct Found<'a> {
    rank: u32,
    entry: Entry<'a>,
    action: Action,
}

impl CommandPalette {
    /// Returns `false` when the palette closes.
    pub(crate) fn show_ui(
        &mut self,
        context: &Context,
        view: Option<&View<'_>>,
        specs: &mut Specs,
        theme: &canvas::Theme,
        actions: &mut Vec<Action>,
    ) -> bool {
        if context.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
            return false;
        }
        if view.is_some_and(|view| !view.bundles.bundles.is_empty()) {
            specs.search(&self.picker.query, actions);
        }
        let found = find_all(view, specs.found(), &self.picker.query);
        let (entries, found): (Vec<Entry<'_>>, Vec<Action>) =
            found.into_iter().map(|found| (found.entry, found.action)).unzip();
        let area = egui::Area::new(Id::unique("command palette"))
            .order(Order::Foreground)
            .anchor(Align2::CENTER_TOP, vec2(0.0, 64.0))
            .show(context, |ui| {
                Frame::popup(ui.style())
                    .show(ui, |ui| {
                        ui.set_width(WIDTH.min(context.content_rect().width() - 24.0));
                        let hint = "Search commands, boards, nodes, types, specs and servers";
                        self.picker.show_ui(ui, theme, ("Search and commands", hint), &entries)
                    })
                    .inner
            });
        if let Some(index) = area.inner {
            actions.extend(found.into_iter().nth(index));
            return false;
        }
        // The click or key that opened the palette may still be active in this frame.
        let first = !std::mem::replace(&mut self.shown_before, true);
        first || !area.response.clicked_elsewhere()
    }
}

fn find_all<'a>(view: Option<&View<'a>>, entities: &[EntitySummary], query: &str) -> Vec<Found<'a>> {
    let facts = Facts::of(view);
    let mut found: Vec<Found<'a>> = TABLE.iter().filter_map(|def| command(def, &facts, query)).collect();
    if let Some(view) = view {
        found.extend(boards(view, query));
        if !query.trim().is_empty() {
            found.extend(best(nodes(view, query), MOST_NODES));
            found.extend(best(types(view, query), MOST_TYPES));
            found.extend(best(servers(view, query), MOST_SERVERS));
            found.extend(entities.iter().filter_map(|summary| entity(view, summary, query)));
        }
    }
    // The sort is stable: commands keep menu order and precede boards and nodes of the same rank.
    found.sort_by_key(|found| found.rank);
    found
}

fn command<'a>(def: &CommandDef, facts: &Facts<'_>, query: &str) -> Option<Found<'a>> {
    if def.menu == Menu::None
        || def.id == crate::commands::CommandId::CommandPalette
        || !def.is_enabled(facts)
    {
        return None;
    }
    let title = def.caption(facts).into_owned();
    let rank = rank(query, &title, def.menu.title())?;
    let note = def.keys.first().map(|keys| keys.text()).unwrap_or_default();
    let entry = Entry { title, note, mark: Mark::Icon("arrow"), enabled: true };
    Some(Found { rank, entry, action: Action::Do(def.id) })
}

fn boards<'a>(view: &View<'a>, query: &str) -> Vec<Found<'a>> {
    let boards = view.snapshot.boards().filter(|board| Some(board.id) != view.board);
    boards
        .filter_map(|board| {
            let rank = rank(query, &board.title, "board go open")?;
            let note = format!("{} board", board.kind.word());
            let entry = Entry {
                title: board.title.clone(),
                note,
                mark: Mark::Icon(kind_icon(board.kind)),
                enabled: true,
            };
            Some(Found { rank, entry, action: Action::OpenBoard(board.id) })
        })
        .collect()
}

fn best(mut found: Vec<Found<'_>>, most: usize) -> Vec<Found<'_>> {
    found.sort_by_key(|found| found.rank);
    found.truncate(most);
    found
}

/// Types that the open board accepts.
fn types<'a>(view: &View<'a>, query: &str) -> Vec<Found<'a>> {
    let Some(kind) = view.board_kind().filter(|_| !view.is_held()) else { return Vec::new() };
    let types = view.snapshot.registry().types().filter(|def| def.may_stand_on(kind));
    types
        .filter_map(|def| {
            let title = format!("Add {}", def.title);
            let more = format!("{} {}", def.category, def.id);
            let rank = rank(query, &title, &more)?;
            let entry =
                Entry { title, note: def.category.clone(), mark: Mark::Type(Some(def)), enabled: true };
            Some(Found { rank, entry, action: Action::Add(def.id.clone()) })
        })
        .collect()
}

/// Managed servers with their state.
fn servers<'a>(view: &View<'a>, query: &str) -> Vec<Found<'a>> {
    let servers = view.upstreams.servers.iter();
    servers
        .filter_map(|server| {
            let rank =
                rank(query, &server.name, &format!("upstream server {} {}", server.slug, server.runs))?;
            let note = format!("server, {}", server.state.word());
            let entry = Entry { title: server.name.clone(), note, mark: Mark::Icon("server"), enabled: true };
            Some(Found { rank, entry, action: Action::OpenServer(server.id.clone()) })
        })
        .collect()
}

/// A spec entity from the latest search response, ranked against the current query, which may be newer.
fn entity<'a>(view: &View<'a>, summary: &EntitySummary, query: &str) -> Option<Found<'a>> {
    let entity = &summary.entity;
    let rank = rank(query, &summary.title, &entity.id).unwrap_or(5);
    let many = view.bundles.bundles.len() > 1;
    let note = if many { format!("{} in {}", entity.id, entity.bundle) } else { entity.id.clone() };
    let title = if summary.title.is_empty() { entity.id.clone() } else { summary.title.clone() };
    let entry = Entry { title, note, mark: Mark::Icon(type_look(&entity.entity_type).0), enabled: true };
    let action = Action::Spec(SpecAction::Open(Page::Entity(entity.clone())));
    Some(Found { rank, entry, action })
}

fn nodes<'a>(view: &View<'a>, query: &str) -> Vec<Found<'a>> {
    view.snapshot
        .nodes()
        .filter_map(|node| {
            let def = view.snapshot.type_of(node);
            let kind = def.map_or(node.type_id.as_str(), |def| def.title.as_str());
            let more = format!("{} {kind} {}", node.name, node.type_id);
            let rank = rank(query, &node.label, &more)?;
            let board = view.snapshot.board(node.board).map_or("", |board| board.title.as_str());
            let note = format!("{kind} on {board}");
            let entry = Entry { title: node.label.clone(), note, mark: Mark::Type(def), enabled: true };
            Some(Found { rank, entry, action: Action::Reveal(ElementId::Node(node.id)) })
        })
        .collect()
}
