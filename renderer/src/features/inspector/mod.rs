//! The inspector: the properties of the selection, its overrides, trace links, deployment and provenance.

mod choices;
mod colour;
mod controls;
mod deployment;
mod fields;
mod header;
mod history;
mod messages;
mod overrides;
mod pickers;
mod rows;
mod slider;
mod text;
mod variables;

use crate::{
    trace_links,
    view::FrameView,
    widgets::{disclosure_ui, empty_state_ui, muted_ui},
};
use controls::PropField;
pub(crate) use controls::paint_combo_arrow;
use egui::{Context, Key, RichText, Ui};
use fields::{FieldEdit, FieldPart, InspectorField, InspectorSubject, interpret};
use history::ElementHistory;
pub(crate) use messages::{InspectorContext, InspectorMessage, InspectorReply};
pub(crate) use overrides::override_row_ui;
use shared_protocol::text::count_noun;
use shared_protocol::{
    ElementId, Node, NodeId, PropKey, TypeDef,
    preview_sessions::PreviewId,
    registry::{PropDef, PropKind},
};
use std::collections::BTreeSet;

#[derive(Default)]
pub(crate) struct InspectorFeature {
    editing: Option<FieldEdit>,
    /// Folded groups, by heading.
    folded: BTreeSet<String>,
    /// Sensitive values that are revealed until the selection changes.
    revealed: BTreeSet<PropKey>,
    /// The list or tags property that has an empty row at its end.
    adding: Option<PropKey>,
    /// The colour while it is dragged.
    picked_colour: Option<(PropKey, egui::Color32)>,
    /// The number while it is dragged.
    dragged_value: Option<(PropKey, f64)>,
    /// The preview session that shows values which are not saved.
    preview_session: Option<PreviewId>,
    subject: Option<InspectorSubject>,
    /// The property whose control takes the keyboard in the next frame.
    focus_request: Option<PropKey>,
    operations: ElementHistory,
}

pub(crate) struct InspectedNodes<'a> {
    pub(crate) subject: &'a InspectorSubject,
    pub(crate) ids: &'a [NodeId],
    pub(crate) nodes: &'a [&'a Node],
    pub(crate) def: &'a TypeDef,
}

impl InspectorFeature {
    pub(crate) fn forget_history(&mut self) {
        self.operations = ElementHistory::default();
    }

    /// Returns whether the focused text field belongs to the inspector and is unchanged.
    pub(crate) fn has_clean_focus(&self, context: &Context) -> bool {
        let focused = context.memory(|memory| memory.focused());
        self.editing.as_ref().is_some_and(|editing| Some(editing.widget) == focused && !editing.is_changed())
    }

    /// Commits the text of a field that lost the keyboard, also when a click on another node removed the field in the
    /// same frame. Esc discards the text. Invalid text stays with its message until it is fixed or the selection
    /// changes.
    pub(crate) fn commit_unfocused_field(&mut self, cx: &InspectorContext<'_>) {
        let Some(editing) = &self.editing else { return };
        if cx.egui.memory(|memory| memory.focused()) == Some(editing.widget) {
            return;
        }
        if cx.egui.input(|input| input.key_pressed(Key::Escape)) {
            self.editing = None;
            self.adding = None;
            return;
        }
        let still_shown = subject_of(cx.view).is_some_and(|subject| subject == editing.field.subject);
        if editing.problem.is_none() || !still_shown {
            self.commit_text(cx);
        }
    }

    fn commit_text(&mut self, cx: &InspectorContext<'_>) {
        let Some(editing) = self.editing.take() else { return };
        if matches!(editing.field.part, FieldPart::NewListItem(_) | FieldPart::NewTag(_)) {
            self.adding = None;
            if editing.text.trim().is_empty() {
                return;
            }
        }
        if editing.is_changed()
            && let Ok(command) = interpret(cx.view, &editing.field, &editing.text)
        {
            cx.act(command);
        }
    }

    pub(crate) fn panel_ui(&mut self, ui: &mut Ui, cx: &InspectorContext<'_>) {
        let subject = subject_of(cx.view);
        if self.subject != subject {
            self.revealed.clear();
            self.adding = None;
            self.picked_colour = None;
            self.dragged_value = None;
            self.reset_preview(cx);
            self.subject.clone_from(&subject);
        }
        egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            // Room for the scroll bar.
            ui.set_width(ui.available_width() - 4.0);
            ui.add_enabled_ui(!cx.view.is_held(), |ui| match subject {
                None if cx.view.board().is_none() => {
                    empty_state_ui(ui, cx.view.theme, "Nothing to show", "Create a board to begin.");
                }
                None => self.several_ui(ui, cx),
                Some(InspectorSubject::Board(board)) => {
                    self.board_ui(ui, cx);
                    self.history_ui(ui, cx, ElementId::Board(board));
                }
                Some(InspectorSubject::Edge(edge)) => {
                    self.edge_ui(ui, cx, edge);
                    self.history_ui(ui, cx, ElementId::Edge(edge));
                }
                Some(InspectorSubject::Nodes(ids)) => self.nodes_ui(ui, cx, &ids),
                Some(InspectorSubject::Alone(_)) => self.alone_ui(ui, cx),
            });
        });
    }

    fn nodes_ui(&mut self, ui: &mut Ui, cx: &InspectorContext<'_>, ids: &[NodeId]) {
        let nodes: Vec<&Node> = ids.iter().filter_map(|id| cx.view.snapshot.node(*id)).collect();
        let Some(first) = nodes.first() else { return };
        let Some(def) = cx.view.type_of(first) else {
            self.unknown_type_ui(ui, cx, first, ids);
            return;
        };
        let subject = &InspectorSubject::Nodes(ids.to_vec());
        self.header_ui(ui, cx, &InspectedNodes { subject, ids, nodes: &nodes, def });
        overrides::switch_ui(ui, cx, def);
        // While overrides are set, controls show the values of the preview.
        let laid: Vec<Node> = nodes.iter().map(|node| overrides::as_shown(cx.view, node)).collect();
        let nodes: Vec<&Node> = if cx.view.is_overriding { laid.iter().collect() } else { nodes };
        let def = overrides::part_type(cx.view).unwrap_or(def);
        let subjects = InspectedNodes { subject, ids, nodes: &nodes, def };
        self.groups_ui(ui, cx, &subjects);
        if let [only] = ids {
            ui.add_space(4.0);
            ui.separator();
            overrides::section_ui(ui, cx, *only);
            trace_links::section_ui(ui, cx.view, &trace_links::end_of(cx.view, *only));
            self.deployment_ui(ui, cx, *only);
            self.history_ui(ui, cx, ElementId::Node(*only));
        }
        ui.add_space(16.0);
    }

    /// A component in its own preview. Controls set overrides.
    fn alone_ui(&mut self, ui: &mut Ui, cx: &InspectorContext<'_>) {
        let view = FrameView { is_overriding: true, ..*cx.view };
        let cx = &InspectorContext { view: &view, ..*cx };
        let (Some(alone), Some(node)) = (cx.view.isolated_component(), overrides::as_node(cx.view)) else {
            return;
        };
        let Some(def) = cx.view.snapshot.type_of(&node) else { return };
        let subject = &InspectorSubject::Alone(alone.instance.clone());
        let (ids, nodes) = ([node.id], [&node]);
        let subjects = InspectedNodes { subject, ids: &ids, nodes: &nodes, def };
        self.alone_header_ui(ui, cx.view, &alone, def);
        self.groups_ui(ui, cx, &subjects);
        ui.add_space(4.0);
        ui.separator();
        overrides::section_ui(ui, cx, node.id);
        ui.add_space(16.0);
    }

    fn groups_ui(&mut self, ui: &mut Ui, cx: &InspectorContext<'_>, subjects: &InspectedNodes<'_>) {
        for (group, props) in groups(subjects) {
            ui.add_space(4.0);
            ui.separator();
            let title = if group.is_empty() { "General" } else { group };
            let wanted = props.iter().any(|prop| Some(&prop.key) == self.focus_request.as_ref());
            let mut open = wanted || !self.folded.contains(title);
            disclosure_ui(ui, cx.view.theme, title, None, &mut open);
            if open {
                self.folded.remove(title);
                for prop in props {
                    self.prop_ui(ui, PropField { cx, subjects, prop });
                }
            } else {
                self.folded.insert(title.to_owned());
            }
        }
        self.focus_request = None;
    }

    /// A selection without common properties.
    fn several_ui(&mut self, ui: &mut Ui, cx: &InspectorContext<'_>) {
        use crate::commands::CommandId;
        let (nodes, edges) = (cx.view.selected_nodes().len(), cx.view.selected_edges().len());
        ui.add_space(4.0);
        ui.label(RichText::new(format!("{} selected", count_noun(nodes + edges, "element"))).heading());
        let parts = [(nodes, "node"), (edges, "edge")];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| count_noun(*count, word))
            .collect();
        muted_ui(ui, cx.view.theme, format!("{} of different types", parts.join(" and ")));
        ui.add_space(8.0);
        for id in [CommandId::Duplicate, CommandId::Tidy, CommandId::Delete] {
            let Some(def) = crate::commands::find(id) else { continue };
            if ui.button(def.text).clicked() {
                cx.act(id);
            }
        }
    }
}

/// The subject of the inspector: the board when nothing is selected, nodes of one type, or one edge. `None` for a
/// mixed selection.
fn subject_of(view: &FrameView<'_>) -> Option<InspectorSubject> {
    if let Some(alone) = view.isolated_component().filter(|_| overrides::as_node(view).is_some()) {
        return Some(InspectorSubject::Alone(alone.instance));
    }
    if view.selection.is_empty() {
        return view.board().map(|board| InspectorSubject::Board(board.id));
    }
    let (nodes, edges) = (view.selected_nodes(), view.selected_edges());
    match (nodes.as_slice(), edges.as_slice()) {
        ([], [edge]) => Some(InspectorSubject::Edge(*edge)),
        ([_, ..], []) => {
            let mut types = nodes.iter().filter_map(|id| view.snapshot.node(*id)).map(|node| &node.type_id);
            let first = types.next();
            types.all(|other| Some(other) == first).then_some(InspectorSubject::Nodes(nodes))
        }
        _ => None,
    }
}

/// Properties by heading, in the order of the type. Properties hidden by their condition are left out.
fn groups<'a>(subjects: &InspectedNodes<'a>) -> Vec<(&'a str, Vec<&'a PropDef>)> {
    let mut groups: Vec<(&str, Vec<&PropDef>)> = Vec::new();
    for prop in &subjects.def.props {
        let visible = subjects.nodes.iter().all(|node| authority::is_visible(subjects.def, node, prop));
        // Slots belong to one node.
        let common = subjects.nodes.len() == 1 || prop.kind != PropKind::Slot;
        if !visible || !common {
            continue;
        }
        match groups.iter_mut().find(|(group, _)| *group == prop.group) {
            Some((_, props)) => props.push(prop),
            None => groups.push((prop.group.as_str(), vec![prop])),
        }
    }
    // Properties without a heading come first.
    groups.sort_by_key(|(group, _)| !group.is_empty());
    groups
}

impl InspectorSubject {
    fn field(&self, part: FieldPart) -> InspectorField {
        InspectorField { subject: self.clone(), part }
    }
}
