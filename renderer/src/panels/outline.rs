//! The outline panel: the board as a tree that is fully usable by keyboard.

use crate::{
    view::{FrameView, WindowAction},
    widgets::{
        ROW_HEIGHT, body_font, empty_state_ui, paint_disclosure, paint_line, paint_severity, paint_type_mark,
        row_background, small_font,
    },
};
use egui::{Align2, EventFilter, Key, Modifiers, Rect, Sense, Ui, Vec2, pos2};
use shared_protocol::{BoardId, ElementId, Node, NodeId, Revision};
use std::collections::BTreeSet;

const INDENT: f32 = 14.0;

#[derive(Default)]
pub(crate) struct OutlinePanel {
    folded: BTreeSet<NodeId>,
    /// The row with keyboard focus.
    cursor: Option<NodeId>,
    /// The selection that the list last scrolled to.
    followed: Option<NodeId>,
    /// The board and revision of `lines`, which are rebuilt only when either changes.
    lines_source: Option<(BoardId, Revision)>,
    lines: Vec<OutlineRow>,
}

/// One visible line of the tree.
struct OutlineRow {
    node: NodeId,
    depth: usize,
    children: usize,
}

impl OutlinePanel {
    pub(crate) fn show_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        let Some(board) = view.board else {
            empty_state_ui(ui, view.theme, "No board", "Open or create a board first.");
            return;
        };
        self.unfold_to_selection(view);
        let now = (board, view.snapshot.revision());
        if self.lines_source != Some(now) {
            self.lines = self.walk(view, board);
            self.lines_source = Some(now);
        }
        // Taken out because drawing a row may fold it; put back below.
        let lines = std::mem::take(&mut self.lines);
        self.tree_ui(ui, view, &lines);
        if self.lines_source.is_some() {
            self.lines = lines;
        }
    }

    fn tree_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, lines: &[OutlineRow]) {
        if lines.is_empty() {
            empty_state_ui(ui, view.theme, "No nodes yet", "Nodes that you add to the board appear here.");
            return;
        }
        self.keys(ui, view, lines);
        let follow = self.line_to_follow(view, lines);
        let mut area = egui::ScrollArea::vertical().auto_shrink([false, false]);
        if let Some(index) = follow {
            let middle = (index as f32 * ROW_HEIGHT - ui.available_height() / 2.0).max(0.0);
            area = area.vertical_scroll_offset(middle);
        }
        ui.spacing_mut().item_spacing.y = 0.0;
        area.show_rows(ui, ROW_HEIGHT, lines.len(), |ui, range| {
            for line in lines.get(range).unwrap_or_default() {
                self.line_ui(ui, view, line);
            }
        });
    }

    /// The tree as rows, ordered top to bottom, then left to right.
    fn walk(&self, view: &FrameView<'_>, board: BoardId) -> Vec<OutlineRow> {
        let mut lines = Vec::new();
        let mut stack: Vec<(NodeId, usize)> =
            sorted_children(view, board, None).into_iter().rev().map(|id| (id, 0)).collect();
        while let Some((node, depth)) = stack.pop() {
            let children = sorted_children(view, board, Some(node));
            lines.push(OutlineRow { node, depth, children: children.len() });
            if !self.folded.contains(&node) {
                stack.extend(children.into_iter().rev().map(|id| (id, depth + 1)));
            }
        }
        lines
    }

    fn fold(&mut self, node: NodeId) -> bool {
        self.lines_source = None;
        self.folded.insert(node)
    }

    fn unfold(&mut self, node: NodeId) -> bool {
        self.lines_source = None;
        self.folded.remove(&node)
    }

    fn unfold_to_selection(&mut self, view: &FrameView<'_>) {
        for node in view.selected_nodes() {
            let parent = view.snapshot.node(node).and_then(|node| node.parent);
            for container in view.snapshot.ancestors(parent).map(|node| node.id) {
                if self.folded.remove(&container) {
                    self.lines_source = None;
                }
            }
        }
    }

    /// Returns the row to scroll to after a selection outside the outline, once per selection.
    fn line_to_follow(&mut self, view: &FrameView<'_>, lines: &[OutlineRow]) -> Option<usize> {
        let selected = view.selected_nodes().first().copied();
        let moved = selected != self.followed && selected != self.cursor;
        self.followed = selected;
        let selected = selected.filter(|_| moved)?;
        lines.iter().position(|line| line.node == selected)
    }

    fn keys(&mut self, ui: &Ui, view: &FrameView<'_>, lines: &[OutlineRow]) {
        let Some(cursor) = self.cursor else { return };
        if !ui.memory(|memory| memory.has_focus(row_id(cursor))) {
            return;
        }
        let Some(place) = lines.iter().position(|line| line.node == cursor) else { return };
        let pressed = |key: Key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let line = &lines[place];
        let parent = view.snapshot.node(cursor).and_then(|node| node.parent);
        let next = if pressed(Key::ArrowDown) {
            lines.get(place + 1).map(|line| line.node)
        } else if pressed(Key::ArrowUp) {
            place.checked_sub(1).and_then(|above| lines.get(above)).map(|line| line.node)
        } else if pressed(Key::ArrowRight) && line.children > 0 {
            if self.unfold(cursor) { None } else { lines.get(place + 1).map(|line| line.node) }
        } else if pressed(Key::ArrowLeft) {
            if line.children > 0 && self.fold(cursor) { None } else { parent }
        } else if pressed(Key::Enter) {
            view.act(WindowAction::Reveal(ElementId::Node(cursor)));
            None
        } else {
            None
        };
        if let Some(next) = next {
            self.cursor = Some(next);
            ui.memory_mut(|memory| memory.request_focus(row_id(next)));
            view.act(WindowAction::Select([ElementId::Node(next)].into()));
        }
    }

    fn line_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, line: &OutlineRow) {
        let Some(node) = view.snapshot.node(line.node) else { return };
        let element = ElementId::Node(node.id);
        let selected = view.selection.contains(&element);
        let folded = self.folded.contains(&node.id);
        let name = format!("{} in outline", node.label);
        // A stable id keeps keyboard focus on the row when the tree changes.
        let id = row_id(node.id);
        let (rect, _) = ui.allocate_exact_size(egui::vec2(ui.available_width(), ROW_HEIGHT), Sense::hover());
        let child = ui.new_child(egui::UiBuilder::new().max_rect(rect));
        let response = child.interact(rect, id, Sense::click());
        row_background(&child, view.theme, rect, &response, selected);
        paint_row(&child, view, node, line, folded);
        response.widget_info(|| egui::WidgetInfo::selected(egui::Role::TreeItem, true, selected, &name));
        if response.has_focus() {
            // Arrow keys move within the tree and not between widgets.
            let filter =
                EventFilter { vertical_arrows: true, horizontal_arrows: true, ..EventFilter::default() };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
            self.cursor = Some(node.id);
        }
        if response.clicked() {
            let left = rect.left() + 4.0 + line.depth as f32 * INDENT;
            let on_arrow = line.children > 0
                && response.interact_pointer_pos().is_some_and(|at| (left..left + 16.0).contains(&at.x));
            if on_arrow {
                if !self.unfold(node.id) {
                    self.fold(node.id);
                }
                return;
            }
            self.cursor = Some(node.id);
            response.request_focus();
            let many = ui.input(|input| input.modifiers.shift || input.modifiers.command);
            view.act(WindowAction::Select(if many {
                toggle_selection(view.selection, element)
            } else {
                [element].into()
            }));
        }
        if response.double_clicked() {
            view.act(WindowAction::Reveal(element));
        }
    }
}

/// Independent of the row's position.
fn row_id(node: NodeId) -> egui::Id {
    egui::Id::unique(("outline row", node.bits()))
}

fn toggle_selection(selection: &BTreeSet<ElementId>, element: ElementId) -> BTreeSet<ElementId> {
    let mut selection = selection.clone();
    if !selection.remove(&element) {
        selection.insert(element);
    }
    selection
}

fn sorted_children(view: &FrameView<'_>, board: BoardId, parent: Option<NodeId>) -> Vec<NodeId> {
    let mut children: Vec<NodeId> = view.snapshot.children(board, parent).collect();
    children.sort_by_key(|&id| view.snapshot.placement(id).map(|place| (place.y, place.x, id)));
    children
}

fn paint_row(ui: &Ui, view: &FrameView<'_>, node: &Node, line: &OutlineRow, folded: bool) {
    let (theme, depth) = (view.theme, line.depth as f32 * INDENT);
    let full = ui.max_rect();
    let room = full.shrink2(egui::vec2(4.0, 0.0)).with_min_x(full.left() + 4.0 + depth);
    if line.children > 0 {
        let arrow = Rect::from_min_size(room.min, egui::vec2(14.0, room.height()));
        paint_disclosure(ui.painter(), arrow, !folded, theme.text_subtle);
    }
    let def = view.type_of(node);
    let mark = Rect::from_center_size(pos2(room.left() + 24.0, room.center().y), Vec2::splat(16.0));
    paint_type_mark(ui.painter(), mark, theme, def);
    let mut room = room.with_min_x(mark.right() + 6.0);
    if let Some(worst) = view.problems.of_node(node.id).iter().map(|problem| problem.severity).min() {
        paint_severity(ui.painter(), pos2(room.right() - 8.0, room.center().y), theme, worst);
        room.max.x -= 18.0;
    } else if folded && line.children > 0 {
        let count = line.children.to_string();
        room.max.x -=
            paint_line(ui, room, Align2::RIGHT_CENTER, &count, small_font(ui), theme.text_subtle) + 6.0;
    }
    let label = if node.label.is_empty() { node.name.as_str() } else { node.label.as_str() };
    paint_line(ui, room, Align2::LEFT_CENTER, label, body_font(ui), theme.text);
}
