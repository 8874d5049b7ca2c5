//! The inspector: what is selected and all that can be said about it.

mod choices;
mod colour;
mod controls;
mod deployment;
mod fields;
mod header;
mod history;
mod overrides;
mod pickers;
mod rows;
mod slider;
mod text;
mod variables;

use crate::{
    links,
    view::{Action, View},
    widgets::{disclosure_ui, empty_state_ui, muted_ui},
};
pub(crate) use controls::paint_combo_arrow;
use egui::{Context, Key, RichText, Ui};
use fields::{Editing, Field, Part, Subject, interpret};
pub(crate) use overrides::row_ui as row_of_override_ui;
use shared_protocol::{
    ElementId, Node, NodeId, PropKey, TypeDef,
    previews::SessionId,
    registry::{PropDef, PropKind},
};
use std::collections::BTreeSet;

#[derive(Default)]
pub(crate) struct Inspector {
    editing: Option<Editing>,
    /// Groups that are folded, by heading.
    folded: BTreeSet<String>,
    /// Sensitive values that are shown, until the selection changes.
    revealed: BTreeSet<PropKey>,
    /// A list or tags property with an empty row at its end.
    adding: Option<PropKey>,
    /// A colour that is being dragged to.
    picked: Option<(PropKey, egui::Color32)>,
    /// A number that is being dragged to.
    slid: Option<(PropKey, f64)>,
    /// The session that shows values which are not kept yet.
    trying: Option<SessionId>,
    shown: Option<Subject>,
    /// A property whose control should take the keyboard as soon as it is there.
    wanted: Option<PropKey>,
    pub(crate) operations: history::Operations,
}

/// What every control needs to know about its property.
pub(crate) struct Subjects<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) ids: &'a [NodeId],
    pub(crate) nodes: &'a [&'a Node],
    pub(crate) def: &'a TypeDef,
}

impl Inspector {
    /// Leads the keyboard to a property of what is, or will be, selected.
    pub(crate) fn go_to(&mut self, key: PropKey) {
        self.wanted = Some(key);
    }

    /// The text field that has the keyboard is one of these, and nothing has been typed into it.
    pub(crate) fn has_clean_focus(&self, context: &Context) -> bool {
        let focused = context.memory(|memory| memory.focused());
        self.editing.as_ref().is_some_and(|editing| Some(editing.widget) == focused && !editing.is_changed())
    }

    /// Ends what was typed once its field has lost the keyboard, wherever the field has gone: a click on another node
    /// takes it off the screen in the same frame. Esc gives up what was typed. A text that cannot be taken stays, with
    /// its message, until it is mended or left.
    pub(crate) fn settle(&mut self, context: &Context, view: &View<'_>, actions: &mut Vec<Action>) {
        let Some(editing) = &self.editing else { return };
        if context.memory(|memory| memory.focused()) == Some(editing.widget) {
            return;
        }
        if context.input(|input| input.key_pressed(Key::Escape)) {
            self.editing = None;
            self.adding = None;
            return;
        }
        let still_shown = subject_of(view).is_some_and(|subject| subject == editing.field.subject);
        if editing.problem.is_none() || !still_shown {
            self.finish(view, actions);
        }
    }

    /// Takes over what is typed now, before something that needs it, such as saving.
    pub(crate) fn finish(&mut self, view: &View<'_>, actions: &mut Vec<Action>) {
        let Some(editing) = self.editing.take() else { return };
        if matches!(editing.field.part, Part::NewListItem(_) | Part::NewTag(_)) {
            self.adding = None;
            if editing.text.trim().is_empty() {
                return;
            }
        }
        if editing.is_changed()
            && let Ok(command) = interpret(view, &editing.field, &editing.text)
        {
            actions.push(Action::Run(command));
        }
    }

    pub(crate) fn show_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        let subject = subject_of(view);
        if self.shown != subject {
            self.revealed.clear();
            self.adding = None;
            self.picked = None;
            self.slid = None;
            self.tried(actions);
            self.shown.clone_from(&subject);
        }
        egui::ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            // Room for the scroll bar.
            ui.set_width(ui.available_width() - 4.0);
            ui.add_enabled_ui(!view.is_held(), |ui| match subject {
                None if view.board().is_none() => {
                    empty_state_ui(ui, view.theme, "Nothing to show", "Create a board to begin.");
                }
                None => self.several_ui(ui, view, actions),
                Some(Subject::Board(board)) => {
                    self.board_ui(ui, view, actions);
                    self.history_ui(ui, view, ElementId::Board(board), actions);
                }
                Some(Subject::Edge(edge)) => {
                    self.edge_ui(ui, view, edge, actions);
                    self.history_ui(ui, view, ElementId::Edge(edge), actions);
                }
                Some(Subject::Nodes(ids)) => self.nodes_ui(ui, view, &ids, actions),
                Some(Subject::Alone(_)) => self.alone_ui(ui, view, actions),
            });
        });
    }

    fn nodes_ui(&mut self, ui: &mut Ui, view: &View<'_>, ids: &[NodeId], actions: &mut Vec<Action>) {
        let nodes: Vec<&Node> = ids.iter().filter_map(|id| view.snapshot.node(*id)).collect();
        let Some(first) = nodes.first() else { return };
        let Some(def) = view.type_of(first) else {
            self.unknown_type_ui(ui, view, first, ids, actions);
            return;
        };
        let subject = &Subject::Nodes(ids.to_vec());
        self.header_ui(ui, view, &Subjects { subject, ids, nodes: &nodes, def }, actions);
        overrides::switch_ui(ui, view, def, actions);
        // While overrides are set, what is shown is what counts in the preview.
        let laid: Vec<Node> = nodes.iter().map(|node| overrides::as_shown(view, node)).collect();
        let nodes: Vec<&Node> = if view.is_overriding { laid.iter().collect() } else { nodes };
        let def = overrides::part_type(view).unwrap_or(def);
        let subjects = Subjects { subject, ids, nodes: &nodes, def };
        self.groups_ui(ui, view, &subjects, actions);
        if let [only] = ids {
            ui.add_space(4.0);
            ui.separator();
            overrides::section_ui(ui, view, *only, actions);
            links::section_ui(ui, view, &links::end_of(view, *only), actions);
            self.deployment_ui(ui, view, *only, actions);
            self.history_ui(ui, view, ElementId::Node(*only), actions);
        }
        ui.add_space(16.0);
    }

    /// A component in a preview of its own: what is set is laid over it.
    fn alone_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        let view = &View { is_overriding: true, ..*view };
        let (Some(alone), Some(node)) = (view.alone(), overrides::as_node(view)) else { return };
        let Some(def) = view.snapshot.type_of(&node) else { return };
        let subject = &Subject::Alone(alone.instance.clone());
        let (ids, nodes) = ([node.id], [&node]);
        let subjects = Subjects { subject, ids: &ids, nodes: &nodes, def };
        self.alone_header_ui(ui, view, &alone, def);
        self.groups_ui(ui, view, &subjects, actions);
        ui.add_space(4.0);
        ui.separator();
        overrides::section_ui(ui, view, node.id, actions);
        ui.add_space(16.0);
    }

    fn groups_ui(
        &mut self,
        ui: &mut Ui,
        view: &View<'_>,
        subjects: &Subjects<'_>,
        actions: &mut Vec<Action>,
    ) {
        for (group, props) in groups(subjects) {
            ui.add_space(4.0);
            ui.separator();
            let title = if group.is_empty() { "General" } else { group };
            let wanted = props.iter().any(|prop| Some(&prop.key) == self.wanted.as_ref());
            let mut open = wanted || !self.folded.contains(title);
            disclosure_ui(ui, view.theme, title, None, &mut open);
            if open {
                self.folded.remove(title);
                for prop in props {
                    self.prop_ui(ui, view, subjects, prop, actions);
                }
            } else {
                self.folded.insert(title.to_owned());
            }
        }
        self.wanted = None;
    }

    /// Several things that have no properties in common.
    fn several_ui(&mut self, ui: &mut Ui, view: &View<'_>, actions: &mut Vec<Action>) {
        use crate::{commands::CommandId, wording::counted};
        let (nodes, edges) = (view.selected_nodes().len(), view.selected_edges().len());
        ui.add_space(4.0);
        ui.label(RichText::new(format!("{} selected", counted(nodes + edges, "element"))).heading());
        let parts = [(nodes, "node"), (edges, "edge")];
        let parts: Vec<String> =
            parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| counted(*count, word)).collect();
        muted_ui(ui, view.theme, format!("{} of different types", parts.join(" and ")));
        ui.add_space(8.0);
        for id in [CommandId::Duplicate, CommandId::Tidy, CommandId::Delete] {
            let Some(def) = crate::commands::find(id) else { continue };
            if ui.button(def.text).clicked() {
                actions.push(Action::Do(id));
            }
        }
    }
}

/// What the inspector is about: the board when nothing is selected, nodes of one type, or one edge. `None`: a mixture.
fn subject_of(view: &View<'_>) -> Option<Subject> {
    if let Some(alone) = view.alone().filter(|_| overrides::as_node(view).is_some()) {
        return Some(Subject::Alone(alone.instance));
    }
    if view.selection.is_empty() {
        return view.board().map(|board| Subject::Board(board.id));
    }
    let (nodes, edges) = (view.selected_nodes(), view.selected_edges());
    match (nodes.as_slice(), edges.as_slice()) {
        ([], [edge]) => Some(Subject::Edge(*edge)),
        ([_, ..], []) => {
            let mut types = nodes.iter().filter_map(|id| view.snapshot.node(*id)).map(|node| &node.type_id);
            let first = types.next();
            types.all(|other| Some(other) == first).then_some(Subject::Nodes(nodes))
        }
        _ => None,
    }
}

/// Properties by heading, headings and properties in the order of the type; what its condition hides is left out.
fn groups<'a>(subjects: &Subjects<'a>) -> Vec<(&'a str, Vec<&'a PropDef>)> {
    let mut groups: Vec<(&str, Vec<&PropDef>)> = Vec::new();
    for prop in &subjects.def.props {
        let visible = subjects.nodes.iter().all(|node| authority::is_visible(subjects.def, node, prop));
        // Several nodes cannot share what is each one's own.
        let common = subjects.nodes.len() == 1 || prop.kind != PropKind::Slot;
        if !visible || !common {
            continue;
        }
        match groups.iter_mut().find(|(group, _)| *group == prop.group) {
            Some((_, props)) => props.push(prop),
            None => groups.push((prop.group.as_str(), vec![prop])),
        }
    }
    // What has no heading is what the type is about.
    groups.sort_by_key(|(group, _)| !group.is_empty());
    groups
}

impl Field {
    fn new(subject: Subject, part: Part) -> Self {
        Self { subject, part }
    }
}
