//! The command palette (Ctrl+K): searches commands, boards, nodes of all boards, types to add, managed servers and spec
//! entities.

use crate::{
    commands::{COMMANDS, CommandDef, CommandFacts, CommandMenu},
    picker::{PickerEntry, PickerIcon, PickerPopup, SearchPicker, rank},
    specs::{SpecsFeature, type_look},
    view::{ActionQueue, FrameView, SpecAction, SpecPage, WindowAction},
    widgets::{PopupPosition, kind_icon},
};
use egui::Context;
use shared_protocol::{ElementId, bundle::EntitySummary};
use std::ops::ControlFlow;

const WIDTH: f32 = 480.0;
/// The maximum number of node matches; a longer query narrows the list.
const MAX_NODE_MATCHES: usize = 30;
const MAX_TYPE_MATCHES: usize = 12;
const MAX_SERVER_MATCHES: usize = 12;

#[derive(Default)]
pub(crate) struct CommandPalette {
    picker: SearchPicker,
}

/// A match with its rank and the action that opens it.
struct PaletteMatch<'a> {
    rank: u32,
    entry: PickerEntry<'a>,
    action: WindowAction,
}

impl CommandPalette {
    /// Returns `false` when the palette closes.
    pub(crate) fn show_ui(
        &mut self,
        context: &Context,
        view: Option<&FrameView<'_>>,
        specs: &mut SpecsFeature,
        theme: &canvas::WorkbenchTheme,
        actions: &ActionQueue,
    ) -> bool {
        if view.is_some_and(|view| !view.bundles.bundles.is_empty()) {
            specs.search(&self.picker.query);
        }
        let found = find_all(view, specs.search_results(), &self.picker.query);
        let (entries, found): (Vec<PickerEntry<'_>>, Vec<WindowAction>) =
            found.into_iter().map(|found| (found.entry, found.action)).unzip();
        let popup = PickerPopup {
            id: "command palette",
            place: PopupPosition::Top(64.0),
            width: WIDTH,
            name: "Search and commands",
            hint: "Search commands, boards, nodes, types, specs and managed servers",
        };
        let ControlFlow::Break(chosen) = self.picker.popup_ui(context, theme, popup, &entries, |_| {}) else {
            return true;
        };
        actions.extend(chosen.and_then(|index| found.into_iter().nth(index)));
        false
    }
}

fn find_all<'a>(
    view: Option<&FrameView<'a>>,
    entities: &[EntitySummary],
    query: &str,
) -> Vec<PaletteMatch<'a>> {
    let facts = CommandFacts::from_view(view);
    let mut found: Vec<PaletteMatch<'a>> =
        COMMANDS.iter().filter_map(|def| command(def, &facts, query)).collect();
    if let Some(view) = view {
        found.extend(boards(view, query));
        if !query.trim().is_empty() {
            found.extend(best(nodes(view, query), MAX_NODE_MATCHES));
            found.extend(best(types(view, query), MAX_TYPE_MATCHES));
            found.extend(best(servers(view, query), MAX_SERVER_MATCHES));
            found.extend(entities.iter().filter_map(|summary| entity(view, summary, query)));
        }
    }
    // The sort is stable: commands keep menu order and precede boards and nodes of the same rank.
    found.sort_by_key(|found| found.rank);
    found
}

fn command<'a>(def: &CommandDef, facts: &CommandFacts<'_>, query: &str) -> Option<PaletteMatch<'a>> {
    if def.menu == CommandMenu::None
        || def.id == crate::commands::CommandId::CommandPalette
        || !def.is_enabled(facts)
    {
        return None;
    }
    let title = def.caption(facts).into_owned();
    let rank = rank(query, &title, def.menu.title())?;
    let note = def.keys.first().map(|keys| keys.text()).unwrap_or_default();
    let entry = PickerEntry { title, note, mark: PickerIcon::Icon("arrow") };
    Some(PaletteMatch { rank, entry, action: WindowAction::Do(def.id) })
}

fn boards<'a>(view: &FrameView<'a>, query: &str) -> Vec<PaletteMatch<'a>> {
    let boards = view.snapshot.boards().filter(|board| Some(board.id) != view.board);
    boards
        .filter_map(|board| {
            let rank = rank(query, &board.title, "board go open")?;
            let note = format!("{} board", board.kind.as_str());
            let entry = PickerEntry {
                title: board.title.clone(),
                note,
                mark: PickerIcon::Icon(kind_icon(board.kind)),
            };
            Some(PaletteMatch { rank, entry, action: WindowAction::OpenBoard(board.id) })
        })
        .collect()
}

fn best(mut found: Vec<PaletteMatch<'_>>, most: usize) -> Vec<PaletteMatch<'_>> {
    found.sort_by_key(|found| found.rank);
    found.truncate(most);
    found
}

/// Types that the open board accepts.
fn types<'a>(view: &FrameView<'a>, query: &str) -> Vec<PaletteMatch<'a>> {
    let Some(kind) = view.board_kind().filter(|_| !view.is_held()) else { return Vec::new() };
    let types = view.snapshot.registry().types().filter(|def| def.is_allowed_on(kind));
    types
        .filter_map(|def| {
            let title = format!("Add {}", def.title);
            let more = format!("{} {}", def.category, def.id);
            let rank = rank(query, &title, &more)?;
            let entry = PickerEntry { title, note: def.category.clone(), mark: PickerIcon::Type(Some(def)) };
            Some(PaletteMatch { rank, entry, action: WindowAction::Add(def.id.clone()) })
        })
        .collect()
}

/// Managed servers with their state.
fn servers<'a>(view: &FrameView<'a>, query: &str) -> Vec<PaletteMatch<'a>> {
    let servers = view.managed_servers.servers.iter();
    servers
        .filter_map(|server| {
            let rank =
                rank(query, &server.name, &format!("managed mcp server {} {}", server.slug, server.runs))?;
            let note = format!("server, {}", server.state.label());
            let entry = PickerEntry { title: server.name.clone(), note, mark: PickerIcon::Icon("server") };
            Some(PaletteMatch { rank, entry, action: WindowAction::OpenServer(server.id.clone()) })
        })
        .collect()
}

/// A spec entity from the latest search response, ranked against the current query, which may be newer.
fn entity<'a>(view: &FrameView<'a>, summary: &EntitySummary, query: &str) -> Option<PaletteMatch<'a>> {
    let entity = &summary.entity;
    let rank = rank(query, &summary.title, &entity.id).unwrap_or(5);
    let many = view.bundles.bundles.len() > 1;
    let note = if many { format!("{} in {}", entity.id, entity.bundle) } else { entity.id.clone() };
    let title = if summary.title.is_empty() { entity.id.clone() } else { summary.title.clone() };
    let entry = PickerEntry { title, note, mark: PickerIcon::Icon(type_look(&entity.entity_type).0) };
    let action = WindowAction::Spec(SpecAction::Open(SpecPage::Entity(entity.clone())));
    Some(PaletteMatch { rank, entry, action })
}

fn nodes<'a>(view: &FrameView<'a>, query: &str) -> Vec<PaletteMatch<'a>> {
    view.snapshot
        .nodes()
        .filter_map(|node| {
            let def = view.snapshot.type_of(node);
            let kind = def.map_or(node.type_id.as_str(), |def| def.title.as_str());
            let more = format!("{} {kind} {}", node.name, node.type_id);
            let rank = rank(query, &node.label, &more)?;
            let board = view.snapshot.board(node.board).map_or("", |board| board.title.as_str());
            let note = format!("{kind} on {board}");
            let entry = PickerEntry { title: node.label.clone(), note, mark: PickerIcon::Type(def) };
            Some(PaletteMatch { rank, entry, action: WindowAction::Reveal(ElementId::Node(node.id)) })
        })
        .collect()
}
