//! Literal or variable: whether the value of a property is set here or given from outside. A variable keeps the value
//! as its default.

use super::{InspectedNodes, controls::PropField};
use crate::widgets::muted_ui;
use authority::may_vary;
use egui::{RichText, Role, Ui, WidgetInfo};
use shared_protocol::{Command, registry::PropDef};

/// The number of nodes that have it as a variable.
fn state(subjects: &InspectedNodes<'_>, prop: &PropDef) -> (usize, usize) {
    let on = subjects.nodes.iter().filter(|node| node.variables.contains(&prop.key)).count();
    (on, subjects.nodes.len())
}

/// A small switch beside the label of a property that can be a variable.
pub(super) fn variable_ui(ui: &mut Ui, field: PropField<'_>) {
    let PropField { cx, subjects, prop } = field;
    let (on, of) = state(subjects, prop);
    if on == 0 && may_vary(subjects.def, &prop.key).is_err() {
        return;
    }
    let (all, some) = (on == of, on > 0);
    let color = if some { cx.view.theme.accent } else { cx.view.theme.text_subtle };
    let text = RichText::new(if some && !all { "var…" } else { "var" }).small().color(color);
    let response = ui.add(egui::Button::new(text).frame_when_inactive(false));
    let name = format!("{} as a variable", prop.label);
    response.widget_info(|| WidgetInfo::selected(Role::Switch, ui.is_enabled(), all, &name));
    let why = if all {
        "The value comes from a variable. Click to use the value set here."
    } else {
        "Click to use a variable. The value set here becomes its default."
    };
    if response.on_hover_text(why).clicked() {
        let nodes = subjects.ids.iter().copied().map(Into::into).collect();
        cx.act(Command::SetVariable { nodes, key: prop.key.clone(), variable: !all });
    }
}

/// The name of the variable below its control, with the remark that the value is its default.
pub(super) fn default_note_ui(ui: &mut Ui, field: PropField<'_>) {
    let PropField { cx, subjects, prop } = field;
    let (on, of) = state(subjects, prop);
    if on == 0 {
        return;
    }
    let text = match subjects.nodes {
        [node] if prop.sensitive => format!("Variable {}_{}, without a default", node.name, prop.key),
        [node] => format!("Default of variable {}_{}", node.name, prop.key),
        _ if on == of => "Default of one variable per node".to_owned(),
        _ => format!("Variable on {on} of {of} nodes"),
    };
    muted_ui(ui, cx.view.theme, text);
}
