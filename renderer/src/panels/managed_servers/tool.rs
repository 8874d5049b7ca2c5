//! One tool: its row with switch and policy, and its definition. Annotations from a server are unverified unless a person
//! trusts the server.

use super::{
    definition_diff::changes_ui,
    form::seconds_ui,
    pending_requests::{ManagedServersContext, PendingServerAction},
    tool_call::ToolCallForm,
};
use crate::{
    view::FrameView,
    widgets::{
        body_font, copyable_text_ui, disclosure_ui, focus_ring, inset_ui, muted_ui, named_text_ui,
        paint_disclosure, paint_line, primary_button, small_font,
    },
    wording::{line, paragraph},
};
use egui::{Align2, Color32, CornerRadius, Margin, Rect, RichText, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use shared_protocol::{
    decisions::{ApproveTools, SetTool},
    managed_servers::{ServerDetails, ToolApproval, ToolCallPolicy, ToolView},
    requests::WithdrawTool,
};

const ROW_HEIGHT: f32 = 30.0;
/// The width of the switch and the policy at the end of a row.
const CONTROLS_WIDTH: f32 = 236.0;
/// The maximum number of characters shown of a description or schema.
const MAX_SHOWN_CHARS: usize = 16_000;

/// The name and definition hash that an approval applies to.
pub(super) fn pin(tool: &ToolView) -> (String, String) {
    (tool.name.clone(), tool.hash.clone())
}

pub(super) struct OpenToolPage {
    /// The name and hash when the tool was opened. An approval applies to that definition.
    pub(super) opened_definition: (String, String),
    pub(super) exposed: String,
    pub(super) call_form: ToolCallForm,
    /// Timeouts being edited, in milliseconds: idle, total.
    times: Option<(u64, u64)>,
}

impl OpenToolPage {
    fn from_view(tool: &ToolView) -> Self {
        Self {
            opened_definition: pin(tool),
            exposed: tool.exposed.clone(),
            call_form: ToolCallForm::default(),
            times: None,
        }
    }
}

fn approval_words(approval: &ToolApproval) -> &'static str {
    match approval {
        ToolApproval::Approved => "approved",
        ToolApproval::New => "+ new",
        ToolApproval::Changed(_) => "~ changed",
    }
}

pub(super) fn tool_ui(
    ui: &mut Ui,
    cx: &ManagedServersContext<'_>,
    details: &ServerDetails,
    tool: &ToolView,
    is_wide: bool,
    open: &mut Option<OpenToolPage>,
) {
    ui.push_id(&tool.name, |ui| {
        let is_approved = tool.approval == ToolApproval::Approved;
        let in_row = is_wide && is_approved;
        let rect = row_ui(ui, cx.view, tool, in_row, open);
        if let Some(rect) = rect.filter(|_| in_row) {
            let room = Rect::from_min_max(
                pos2(rect.right() - CONTROLS_WIDTH, rect.top() + 2.0),
                rect.max - vec2(4.0, 2.0),
            );
            let layout = egui::Layout::right_to_left(egui::Align::Center);
            let mut child =
                ui.new_child(egui::UiBuilder::new().max_rect(room).id_salt("controls").layout(layout));
            controls_ui(&mut child, details, tool, cx);
        }
        let Some(opened) = open else { return };
        let mut again = false;
        let margin = Margin { left: 12, right: 8, top: 6, bottom: 8 };
        inset_ui(ui, cx.view.theme, margin, |ui| {
            ui.spacing_mut().item_spacing.y = 5.0;
            if is_approved && !is_wide {
                ui.horizontal_wrapped(|ui| controls_ui(ui, details, tool, cx));
            }
            if let ToolApproval::Changed(changes) = &tool.approval {
                ui.label("This definition differs from the approved one. The tool is hidden from agents.");
                changes_ui(ui, cx.view, changes);
            }
            definition_ui(ui, cx.view, details, tool);
            if is_approved {
                times_ui(ui, cx, details, tool, &mut opened.times);
                if tool.enabled {
                    opened.call_form.show_ui(ui, cx, tool);
                }
            }
            again = decide_ui(ui, cx, details, tool, opened.opened_definition == pin(tool));
        });
        if again {
            opened.opened_definition = pin(tool);
        }
    });
}

/// Returns the rectangle of the row if it is visible.
fn row_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    tool: &ToolView,
    has_controls: bool,
    open: &mut Option<OpenToolPage>,
) -> Option<Rect> {
    let theme = view.theme;
    let (rect, row) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_HEIGHT), Sense::click());
    if row.gained_focus() {
        row.scroll_to_me(None);
    }
    if row.clicked() {
        *open = if open.is_some() { None } else { Some(OpenToolPage::from_view(tool)) };
    }
    if !ui.is_rect_visible(rect) {
        return None;
    }
    let word = approval_words(&tool.approval);
    let name = format!("Tool {}, {}", line(&tool.name), word.trim_start_matches(['+', '~', ' ']));
    row.widget_info(|| {
        WidgetInfo::selected(Role::DisclosureTriangle, ui.is_enabled(), open.is_some(), &name)
    });
    if row.hovered() {
        ui.painter().rect_filled(rect, CornerRadius::same(4), theme.hover);
    }
    focus_ring(ui, theme, rect, &row);
    let arrow = Rect::from_min_size(rect.min, vec2(16.0, rect.height()));
    paint_disclosure(ui.painter(), arrow, open.is_some(), theme.text_subtle);
    let right = rect.right() - if has_controls { CONTROLS_WIDTH } else { 6.0 };
    let room = Rect::from_min_max(pos2(rect.left() + 18.0, rect.top()), pos2(right, rect.bottom()));
    let colour: Color32 = match tool.approval {
        ToolApproval::Approved => theme.text_subtle,
        ToolApproval::New | ToolApproval::Changed(_) => theme.warning,
    };
    let width = match has_controls {
        true => 0.0,
        false => paint_line(ui, room, Align2::RIGHT_CENTER, word, small_font(ui), colour) + 8.0,
    };
    let room = room.with_max_x(room.right() - width);
    let width = paint_line(ui, room, Align2::LEFT_CENTER, &line(&tool.name), body_font(ui), theme.text);
    let room = room.with_min_x(room.left() + width + 10.0);
    if room.width() > 60.0 {
        let first = line(tool.description.lines().next().unwrap_or_default());
        paint_line(ui, room, Align2::LEFT_CENTER, &first, small_font(ui), theme.text_muted);
    }
    Some(rect)
}

fn controls_ui(ui: &mut Ui, details: &ServerDetails, tool: &ToolView, cx: &ManagedServersContext<'_>) {
    let name = line(&tool.name);
    let (mut enabled, mut policy) = (tool.enabled, tool.policy);
    policy_ui(ui, &name, &mut policy);
    let switch = ui.checkbox(&mut enabled, RichText::new("Offered").small());
    switch.accessible_name(format!("{name} offered to agents"));
    if (enabled, policy) != (tool.enabled, tool.policy) {
        let times = (tool.idle_ms, tool.total_ms);
        set_tool(cx, details, tool, (enabled, policy), times);
    }
}

/// The timeouts of the tool, which default to those of its server.
fn times_ui(
    ui: &mut Ui,
    cx: &ManagedServersContext<'_>,
    details: &ServerDetails,
    tool: &ToolView,
    times: &mut Option<(u64, u64)>,
) {
    let limits = &details.form.limits;
    let kept = (tool.idle_ms.unwrap_or(limits.idle_ms), tool.total_ms.unwrap_or(limits.total_ms));
    let has_own = tool.idle_ms.is_some() || tool.total_ms.is_some();
    let set = times.get_or_insert(kept);
    let mut decided = None;
    ui.horizontal_wrapped(|ui| {
        for (name, milliseconds) in [("Call idle timeout", &mut set.0), ("Call total timeout", &mut set.1)] {
            seconds_ui(ui, milliseconds).accessible_name(format!("{name}, {}", line(&tool.name)));
            muted_ui(ui, cx.view.theme, name);
        }
        if *set != kept && ui.button("Save timeouts").clicked() {
            decided = Some((Some(set.0), Some(set.1)));
        }
        if has_own && ui.button("Use server timeouts").clicked() {
            decided = Some((None, None));
        }
    });
    if let Some(decided) = decided {
        *times = None;
        set_tool(cx, details, tool, (tool.enabled, tool.policy), decided);
    }
}

fn set_tool(
    cx: &ManagedServersContext<'_>,
    details: &ServerDetails,
    tool: &ToolView,
    (enabled, policy): (bool, ToolCallPolicy),
    (idle_ms, total_ms): (Option<u64>, Option<u64>),
) {
    let (server, tool) = (details.brief.id.clone(), tool.name.clone());
    let decision = SetTool { server, tool, enabled, policy, idle_ms, total_ms };
    cx.control(&details.brief.id, PendingServerAction::Deciding, decision);
}

pub(super) fn policy_ui(ui: &mut Ui, tool: &str, policy: &mut ToolCallPolicy) {
    let is_backwards = ui.layout().prefer_right_to_left();
    let mut all = ToolCallPolicy::ALL;
    if is_backwards {
        all.reverse();
    }
    ui.spacing_mut().item_spacing.x = 2.0;
    ui.spacing_mut().button_padding = vec2(6.0, 2.0);
    for each in all {
        let (word, hint) = match each {
            ToolCallPolicy::Ask => ("Ask", "Each call waits in the review queue"),
            ToolCallPolicy::Allow => ("Allow", "Calls are sent immediately and recorded in the audit log"),
            ToolCallPolicy::Deny => ("Deny", "Hides the tool from agents"),
        };
        let choice = ui.selectable_label(*policy == each, RichText::new(word).small());
        if choice.on_hover_text(hint).accessible_name(format!("{word} for {tool}")).clicked() {
            *policy = each;
        }
    }
    ui.add_space(6.0);
}

/// The complete definition of a tool as sent by the server.
pub(super) fn definition_ui(ui: &mut Ui, view: &FrameView<'_>, details: &ServerDetails, tool: &ToolView) {
    let theme = view.theme;
    named_text_ui(ui, theme, "Name for agents", &line(&tool.exposed));
    if let Some(title) = &tool.title {
        ui.label(line(title));
    }
    let description = if tool.description.trim().is_empty() {
        RichText::new("No description.").color(theme.text_muted)
    } else {
        RichText::new(paragraph(&bounded(&tool.description))).color(theme.text)
    };
    copyable_text_ui(ui, description);
    if !tool.hints.is_empty() {
        let hints: Vec<String> = tool.hints.iter().map(|hint| hint_words(hint)).collect();
        let text = if details.form.trusted {
            format!("Trusted annotations: {}.", hints.join(", "))
        } else {
            format!("Unverified annotations: {}.", hints.join(", "))
        };
        muted_ui(ui, theme, text);
    }
    schema_ui(ui, view, "Arguments", &tool.input_schema, true);
    if let Some(schema) = &tool.output_schema {
        schema_ui(ui, view, "Result", schema, false);
    }
}

fn schema_ui(ui: &mut Ui, view: &FrameView<'_>, title: &str, schema: &str, opens: bool) {
    let id = ui.make_persistent_id(("schema", title));
    let mut open = ui.data(|data| data.get_temp(id)).unwrap_or(opens && schema.lines().count() < 40);
    disclosure_ui(ui, view.theme, title, None, &mut open);
    ui.data_mut(|data| data.insert_temp(id, open));
    if open {
        let text = RichText::new(paragraph(&bounded(schema))).monospace().color(view.theme.text);
        copyable_text_ui(ui, text);
    }
}

fn bounded(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_SHOWN_CHARS).collect();
    if shown.len() < text.len() {
        shown.push_str("\n… (truncated)");
    }
    shown
}

/// Describes an annotation, followed by its protocol name.
fn hint_words(hint: &str) -> String {
    let (is_not, word) = hint.strip_prefix("not ").map_or((false, hint), |word| (true, word));
    let words = match (word, is_not) {
        ("readOnlyHint", false) => "read-only",
        ("readOnlyHint", true) => "makes changes",
        ("destructiveHint", false) => "destructive",
        ("destructiveHint", true) => "not destructive",
        ("idempotentHint", false) => "idempotent",
        ("idempotentHint", true) => "not idempotent",
        ("openWorldHint", false) => "accesses external systems",
        ("openWorldHint", true) => "no external access",
        _ => return line(hint),
    };
    format!("{words} ({})", line(hint))
}

/// The approve and withdraw buttons. Returns whether a person confirmed that they reviewed a newer definition.
fn decide_ui(
    ui: &mut Ui,
    cx: &ManagedServersContext<'_>,
    details: &ServerDetails,
    tool: &ToolView,
    is_as_seen: bool,
) -> bool {
    let server = details.brief.id.clone();
    if tool.approval == ToolApproval::Approved {
        let withdraw = ui.button("Withdraw approval");
        if withdraw.on_hover_text("Hides the tool from agents until it is approved again").clicked() {
            let withdraw = WithdrawTool { server, tool: tool.name.clone() };
            cx.control(&details.brief.id, PendingServerAction::Deciding, withdraw);
        }
        return false;
    }
    if !is_as_seen {
        ui.label("The definition changed while you were reviewing it.");
        return ui.button("I have reviewed the new version").clicked();
    }
    let is_free = cx.doing(&server).is_none();
    let approve = ui.add_enabled(is_free, primary_button(cx.view.theme, "Approve tool"));
    let approve = approve.on_hover_text(
        "Offers exactly this definition to agents. Each call asks first unless you change the policy",
    );
    if approve.accessible_name(format!("Approve {}", line(&tool.name))).clicked() {
        let tools = vec![pin(tool)];
        cx.control(&details.brief.id, PendingServerAction::Deciding, ApproveTools { server, tools });
    }
    false
}

#[cfg(test)]
mod tests {
    use super::hint_words;

    #[test]
    fn hints_are_told_in_words_and_unknown_ones_as_they_are() {
        assert_eq!(hint_words("readOnlyHint"), "read-only (readOnlyHint)");
        assert_eq!(hint_words("not destructiveHint"), "not destructive (not destructiveHint)");
        assert_eq!(hint_words("fancyHint\u{202e}"), "fancyHint\\u{202e}");
    }
}
