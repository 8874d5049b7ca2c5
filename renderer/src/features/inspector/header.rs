//! The header of the inspector: type, label and name; and the whole content for boards and edges.

use super::{
    InspectedNodes, InspectorFeature,
    deployment::findings_ui,
    fields::{FieldPart, InspectorField, InspectorSubject},
    text::TextFieldStyle,
};
use crate::{
    commands::CommandId,
    dialogs::kind_title,
    features::{inspector::InspectorContext, terraform::findings},
    view::{FrameView, IsolatedComponent, WindowAction},
    widgets::{icon_ui, kind_icon, muted_ui, paint_type_mark, severity_mark_ui, small_text_ui},
};
use egui::{RichText, Sense, Ui, Vec2};
use shared_protocol::text::count_noun;
use shared_protocol::{EdgeId, ElementId, Node, NodeId, TypeDef, messages::BoardProblem};

impl InspectorFeature {
    pub(super) fn header_ui(
        &mut self,
        ui: &mut Ui,
        cx: &InspectorContext<'_>,
        subjects: &InspectedNodes<'_>,
    ) {
        let (theme, def) = (cx.view.theme, subjects.def);
        let title = match subjects.nodes.len() {
            1 => def.title.clone(),
            count => format!("{count} × {}", def.title),
        };
        type_ui(ui, cx.view, def, title);
        if !def.description.is_empty() {
            muted_ui(ui, theme, def.description.as_str());
        }
        ui.add_space(4.0);
        if let [node] = subjects.nodes {
            let (label, name) = (FieldPart::Label, FieldPart::Name);
            self.labelled_text_ui(ui, cx, "Label", subjects.subject.field(label), &node.label);
            self.labelled_text_ui(ui, cx, "Name", subjects.subject.field(name), node.name.as_str());
            problems_ui(ui, cx.view, cx.view.problems.of_node(node.id));
            findings_ui(ui, cx.view, findings::of_node(cx.view, node.id));
        } else {
            muted_ui(ui, theme, "A change here applies to all of them.");
        }
    }

    /// The header for a component in its own preview.
    pub(super) fn alone_header_ui(
        &self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        alone: &IsolatedComponent<'_>,
        def: &TypeDef,
    ) {
        type_ui(ui, view, def, def.title.clone());
        let what = match (alone.part, alone.instance.split_once('@')) {
            // Built-in components have no file to open.
            (Some(part), _) if part.file.is_empty() => "Part of the component".to_owned(),
            (Some(part), _) => format!("Part of the component · {}:{}", part.file, part.line),
            (None, Some((_, variant))) => format!("Variant {variant}"),
            (None, None) => "Component with its defaults".to_owned(),
        };
        muted_ui(ui, view.theme, what);
        let text =
            "Values set here override the component in previews. Save to source writes them to its file.";
        muted_ui(ui, view.theme, text);
        ui.add_space(4.0);
    }

    pub(super) fn unknown_type_ui(
        &mut self,
        ui: &mut Ui,
        cx: &InspectorContext<'_>,
        node: &Node,
        ids: &[NodeId],
    ) {
        ui.label(RichText::new("Unknown type").strong());
        let text =
            format!("No module provides `{}`. Its values are kept and return with the type.", node.type_id);
        muted_ui(ui, cx.view.theme, text);
        if let [_] = ids {
            let field = InspectorSubject::Nodes(ids.to_vec()).field(FieldPart::Label);
            self.labelled_text_ui(ui, cx, "Label", field, &node.label);
        }
        for (key, value) in &node.props {
            ui.horizontal(|ui| {
                muted_ui(ui, cx.view.theme, key.as_str());
                ui.add(egui::Label::new(value.to_string()).truncate());
            });
        }
    }

    pub(super) fn board_ui(&mut self, ui: &mut Ui, cx: &InspectorContext<'_>) {
        let Some(board) = cx.view.board() else { return };
        ui.add_space(2.0);
        ui.horizontal(|ui| {
            icon_ui(ui, kind_icon(board.kind), 20.0, cx.view.theme.accent);
            ui.label(RichText::new(format!("{} board", kind_title(board.kind))).strong());
        });
        let (nodes, edges) = cx.view.counts;
        muted_ui(ui, cx.view.theme, format!("{} · {}", count_noun(nodes, "node"), count_noun(edges, "edge")));
        ui.add_space(4.0);
        let subject = InspectorSubject::Board(board.id);
        self.labelled_text_ui(ui, cx, "Title", subject.field(FieldPart::Label), &board.title);
        self.labelled_text_ui(ui, cx, "Board name", subject.field(FieldPart::Name), board.name.as_str());
        muted_ui(ui, cx.view.theme, "The name is also the name of the board's file.");
        ui.add_space(8.0);
        if nodes == 0 {
            muted_ui(ui, cx.view.theme, "Drag a node from the palette, or press Tab.");
        } else {
            muted_ui(ui, cx.view.theme, "Select a node or an edge to edit its properties.");
        }
    }

    pub(super) fn edge_ui(&mut self, ui: &mut Ui, cx: &InspectorContext<'_>, id: EdgeId) {
        let Some(edge) = cx.view.snapshot.edge(id) else { return };
        ui.add_space(2.0);
        ui.horizontal(|ui| {
            icon_ui(ui, "arrow", 20.0, cx.view.theme.text_muted);
            ui.label(RichText::new("Connection").strong());
        });
        ui.add_space(4.0);
        let field = InspectorSubject::Edge(id).field(FieldPart::Label);
        self.labelled_text_ui(ui, cx, "Label", field, &edge.label);
        problems_ui(ui, cx.view, cx.view.problems.of_edge(id));
        for (word, end) in [("From", &edge.source), ("To", &edge.target)] {
            let Some(node) = cx.view.snapshot.node(end.node) else { continue };
            let def = cx.view.type_of(node);
            let port = def
                .and_then(|def| def.port(end.port.as_str()))
                .map_or(end.port.as_str(), |port| port.label.as_str());
            ui.add_space(4.0);
            muted_ui(ui, cx.view.theme, word);
            ui.horizontal(|ui| {
                let (mark, _) = ui.allocate_exact_size(Vec2::splat(20.0), Sense::hover());
                paint_type_mark(ui.painter(), mark, cx.view.theme, def);
                let button = ui.link(&node.label).on_hover_text("Show on the board");
                if button.clicked() {
                    cx.act(WindowAction::Reveal(ElementId::Node(node.id)));
                }
                muted_ui(ui, cx.view.theme, port);
            });
        }
        ui.add_space(12.0);
        if ui.button("Delete connection").clicked() {
            cx.act(CommandId::Delete);
        }
    }

    fn labelled_text_ui(
        &mut self,
        ui: &mut Ui,
        cx: &InspectorContext<'_>,
        label: &str,
        field: InspectorField,
        current: &str,
    ) {
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing.y = 3.0;
            muted_ui(ui, cx.view.theme, label);
            self.text_ui(ui, cx, label, field, current, &TextFieldStyle::default());
        });
    }
}

fn type_ui(ui: &mut Ui, view: &FrameView<'_>, def: &TypeDef, title: String) {
    let theme = view.theme;
    ui.add_space(2.0);
    ui.horizontal(|ui| {
        let (mark, _) = ui.allocate_exact_size(Vec2::splat(32.0), Sense::hover());
        paint_type_mark(ui.painter(), mark, theme, Some(def));
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.add(egui::Label::new(RichText::new(title).strong().color(theme.text)).truncate());
            let id = RichText::new(def.id.as_str()).small().color(theme.text_subtle);
            ui.add(egui::Label::new(id).truncate());
        });
    });
}

fn problems_ui(ui: &mut Ui, view: &FrameView<'_>, problems: &[BoardProblem]) {
    for problem in problems {
        ui.horizontal_top(|ui| {
            severity_mark_ui(ui, view.theme, Vec2::splat(14.0), problem.severity);
            small_text_ui(ui, view.theme.text, &problem.message);
        });
    }
}
