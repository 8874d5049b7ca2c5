//! Creates a trace link: chooses the relation and the target node or entity.

use crate::{
    picker::{PickerEntry, PickerIcon, PickerPopup, SearchPicker, rank},
    specs::{SpecsFeature, type_look},
    trace_links::change,
    view::{FrameView, entity_of_node},
    widgets::{PopupPosition, muted_ui},
};
use egui::{Context, TextEdit};
use shared_protocol::{
    BoardKind, Node,
    bundle::EntitySummary,
    trace_link::{MAX_RELATION_CHARS, TraceLinkChange, TraceLinkEnd},
};
use std::ops::ControlFlow;

const WIDTH: f32 = 460.0;
/// The maximum number of listed targets; a longer query narrows the list.
const MAX_LINK_TARGETS: usize = 60;
const RELATIONS: [&str; 4] = ["is realised by", "runs on", "is verified by", "depends on"];

pub(crate) struct TraceLinkPicker {
    from: TraceLinkEnd,
    relation: String,
    picker: SearchPicker,
}

impl TraceLinkPicker {
    pub(crate) fn new(view: &FrameView<'_>, from: TraceLinkEnd) -> Self {
        let kind = match &from {
            TraceLinkEnd::Node(node) => {
                view.snapshot.node(*node).and_then(|node| view.snapshot.board(node.board))
            }
            TraceLinkEnd::Entity(_) => None,
        };
        // An entity is usually realised by something; an interface node usually runs on something.
        let usual = if kind.is_some_and(|board| board.kind == BoardKind::Interface) { 1 } else { 0 };
        Self { from, relation: RELATIONS[usual].to_owned(), picker: SearchPicker::default() }
    }

    /// Returns `false` when the list closes.
    pub(crate) fn show_ui(
        &mut self,
        context: &Context,
        view: &FrameView<'_>,
        specs: &mut SpecsFeature,
    ) -> bool {
        let entities = specs.find_everywhere(view, &self.picker.query, MAX_LINK_TARGETS);
        let targets = self.targets(view, &entities);
        let entries: Vec<PickerEntry<'_>> = targets.iter().map(|target| target.entry(view)).collect();
        let popup = PickerPopup {
            id: "link to",
            place: PopupPosition::Top(64.0),
            width: WIDTH,
            name: "Link to",
            hint: "Search nodes and entities to link to",
        };
        let relation = &mut self.relation;
        let header = |ui: &mut egui::Ui| relation_ui(ui, view, relation);
        let ControlFlow::Break(chosen) = self.picker.popup_ui(context, view.theme, popup, &entries, header)
        else {
            return true;
        };
        if let Some(target) = chosen.and_then(|index| targets.get(index)) {
            let (from, to, relation) = (self.from.clone(), target.end(), self.relation.clone());
            view.act(change(TraceLinkChange::Add { from, to, relation }));
            return false;
        }
        false
    }

    /// Nodes and entities that match the query, best match first. Between equal matches, other boards come first.
    fn targets<'a>(&self, view: &FrameView<'a>, entities: &'a [EntitySummary]) -> Vec<TraceLinkTarget<'a>> {
        let own_board = match &self.from {
            TraceLinkEnd::Node(node) => view.snapshot.node(*node).map(|node| node.board),
            TraceLinkEnd::Entity(_) => None,
        };
        let nodes = view.snapshot.nodes().filter(|node| entity_of_node(node).is_none()).filter_map(|node| {
            let more = format!("{} {}", node.name, node.type_id);
            let rank = rank(&self.picker.query, &node.label, &more)?;
            Some(((rank, own_board == Some(node.board)), TraceLinkTarget::Node(node)))
        });
        let entities = entities.iter().filter_map(|summary| {
            let rank = rank(&self.picker.query, &summary.title, &summary.entity.id)?;
            Some(((rank, false), TraceLinkTarget::Entity(summary)))
        });
        let mut found: Vec<((u32, bool), TraceLinkTarget<'a>)> =
            nodes.chain(entities).filter(|(_, target)| target.end() != self.from).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.title().cmp(b.1.title())));
        found.truncate(MAX_LINK_TARGETS);
        found.into_iter().map(|(_, target)| target).collect()
    }
}

fn relation_ui(ui: &mut egui::Ui, view: &FrameView<'_>, relation: &mut String) {
    ui.horizontal_wrapped(|ui| {
        muted_ui(ui, view.theme, "This");
        for usual in RELATIONS {
            if ui.selectable_label(relation == usual, usual).clicked() {
                *relation = usual.to_owned();
            }
        }
    });
    let field = TextEdit::singleline(relation).char_limit(MAX_RELATION_CHARS).desired_width(f32::INFINITY);
    ui.add(field).accessible_name("Link relation");
    ui.add_space(4.0);
}

enum TraceLinkTarget<'a> {
    Node(&'a Node),
    Entity(&'a EntitySummary),
}

impl<'a> TraceLinkTarget<'a> {
    fn end(&self) -> TraceLinkEnd {
        match self {
            Self::Node(node) => TraceLinkEnd::Node(node.id),
            Self::Entity(summary) => TraceLinkEnd::Entity(summary.entity.clone()),
        }
    }

    fn title(&self) -> &'a str {
        match self {
            Self::Node(node) => &node.label,
            Self::Entity(summary) if summary.title.is_empty() => &summary.entity.id,
            Self::Entity(summary) => &summary.title,
        }
    }

    fn entry(&self, view: &FrameView<'a>) -> PickerEntry<'a> {
        let title = self.title().to_owned();
        match self {
            Self::Node(node) => {
                let board = view.snapshot.board(node.board).map_or("", |board| board.title.as_str());
                let def = view.snapshot.registry().get(&node.type_id);
                PickerEntry { title, note: board.to_owned(), mark: PickerIcon::Type(def) }
            }
            Self::Entity(summary) => {
                let mark = PickerIcon::Icon(type_look(&summary.entity.entity_type).0);
                PickerEntry { title, note: summary.entity.id.clone(), mark }
            }
        }
    }
}
