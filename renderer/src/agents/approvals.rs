//! Standing approvals: rules that accept matching proposals automatically. The window lists, grants and revokes them; main
//! decides which proposals match.

use crate::{
    view::{FrameView, WindowAction},
    widgets::{focus_stroke, muted_ui},
    wording::{ago, line, unix_millis},
};
use canvas::theme::WorkbenchTheme;
use egui::{RichText, TextEdit, Ui};
use shared_protocol::{
    BoardId,
    decisions::{GrantApproval, RevokeApproval},
    proposal::Risk,
    review::{ApprovalArea, ApprovalGrant, ApprovalScope, StandingApproval},
    text::count_noun,
};
use std::collections::{BTreeMap, BTreeSet};

const HOUR_MILLIS: u64 = 3_600_000;

/// The choices for the duration of an approval.
const APPROVAL_TERMS: [(&str, Option<u64>); 4] = [
    ("1 hour", Some(HOUR_MILLIS)),
    ("1 day", Some(24 * HOUR_MILLIS)),
    ("7 days", Some(168 * HOUR_MILLIS)),
    ("Until revoked", None),
];

#[derive(Debug, Default)]
pub(crate) struct ApprovalsSection {
    form: Option<ApprovalForm>,
}

#[derive(Debug, Default)]
struct ApprovalForm {
    client: String,
    areas: BTreeMap<ApprovalArea, Risk>,
    boards: BTreeSet<BoardId>,
    term: usize,
}

impl ApprovalsSection {
    pub(crate) fn show_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        let theme = view.theme;
        ui.add_space(6.0);
        ui.label("Standing approvals");
        muted_ui(
            ui,
            theme,
            "Accepts matching proposals automatically. They are checked and recorded like any other proposal, and can \
                         be undone or reverted.",
        );
        for approval in &view.review.approvals {
            approval_ui(ui, view, approval);
        }
        if view.review.approvals.is_empty() && self.form.is_none() {
            muted_ui(ui, theme, "None. Every proposal needs your decision.");
        }
        match &mut self.form {
            None => {
                if ui.button("Grant…").accessible_name("Grant a standing approval…").clicked() {
                    self.form = Some(ApprovalForm { term: 1, ..ApprovalForm::default() });
                }
            }
            Some(form) => {
                let mut done = false;
                form.show_ui(ui, view);
                ui.horizontal(|ui| {
                    let grant = ui.add_enabled(!form.areas.is_empty(), egui::Button::new("Grant"));
                    if grant.on_disabled_hover_text("Select at least one area").clicked() {
                        view.act(WindowAction::request_then(GrantApproval { grant: form.grant() }, |_| {
                            WindowAction::notify("Standing approval granted", Vec::new())
                        }));
                        done = true;
                    }
                    done |= ui.button("Cancel").clicked();
                });
                if done {
                    self.form = None;
                }
            }
        }
    }
}

fn approval_ui(ui: &mut Ui, view: &FrameView<'_>, approval: &StandingApproval) {
    let StandingApproval { id, grant, by, granted, for_this_run, used } = approval;
    let who = grant.client.as_deref().map_or_else(|| "Any client".to_owned(), line);
    ui.push_id(id, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.label(format!("{who} · {}", grant.scope));
            let name = format!("Revoke the approval of {who}");
            if ui.small_button("Revoke").accessible_name(name).clicked() {
                view.act(WindowAction::request(RevokeApproval { approval: *id }));
            }
        });
        let boards: Vec<String> = grant.boards.iter().map(|board| board_title(view, *board)).collect();
        let boards = if boards.is_empty() { "all boards".to_owned() } else { boards.join(", ") };
        let until = match (for_this_run, grant.expires) {
            (true, _) => "for this run".to_owned(),
            (false, Some(expires)) => crate::features::review::words::expiry(unix_millis(), expires),
            (false, None) => "until revoked".to_owned(),
        };
        let used = if *used == 0 {
            "not used yet".to_owned()
        } else {
            format!("used {}", count_noun(*used as usize, "time"))
        };
        let given = format!("granted by {} {}", line(by), ago(unix_millis(), *granted));
        muted_ui(ui, view.theme, format!("{boards} · {until} · {used} · {given}"));
    });
}

fn board_title(view: &FrameView<'_>, board: BoardId) -> String {
    view.snapshot.board(board).map_or_else(|| board.to_string(), |board| board.title.clone())
}

impl ApprovalForm {
    fn show_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        let theme = view.theme;
        ui.add_space(4.0);
        let edit = TextEdit::singleline(&mut self.client).hint_text("Any client").desired_width(240.0);
        focus_stroke(ui, theme, |ui| ui.add(edit)).accessible_name("Client");
        muted_ui(ui, theme, "The name that the client reports. It is not verified.");
        for area in ApprovalArea::ALL {
            self.area_ui(ui, theme, area);
        }
        muted_ui(ui, theme, "Terraform apply and destroy always need your decision.");
        ui.label("Boards");
        ui.horizontal_wrapped(|ui| {
            for board in view.snapshot.boards() {
                let mut on = self.boards.contains(&board.id);
                if ui.checkbox(&mut on, &board.title).changed() {
                    if on {
                        self.boards.insert(board.id)
                    } else {
                        self.boards.remove(&board.id)
                    };
                }
            }
        });
        muted_ui(ui, theme, "Covers all boards when none is selected.");
        ui.horizontal_wrapped(|ui| {
            for (place, (word, _)) in APPROVAL_TERMS.iter().enumerate() {
                ui.selectable_value(&mut self.term, place, *word);
            }
        });
    }

    fn area_ui(&mut self, ui: &mut Ui, theme: &WorkbenchTheme, area: ApprovalArea) {
        let (title, word) = match area {
            ApprovalArea::Diagram => ("Diagrams", "diagrams"),
            ApprovalArea::Bundles => ("Spec bundles", "spec bundles"),
            ApprovalArea::Interface => ("Interfaces and overrides", "interfaces"),
            ApprovalArea::TerraformPlan => ("Terraform plans", "Terraform plans"),
        };
        ui.horizontal(|ui| {
            let mut on = self.areas.contains_key(&area);
            if ui.checkbox(&mut on, title).changed() {
                if on {
                    self.areas.insert(area, Risk::Security)
                } else {
                    self.areas.remove(&area)
                };
            }
            if let Some(most) = self.areas.get_mut(&area).filter(|_| area != ApprovalArea::TerraformPlan) {
                let mut grave = *most == Risk::Destructive;
                let text = RichText::new("include removals").small().color(theme.danger);
                let tick = ui.checkbox(&mut grave, text);
                let tick = tick.accessible_name(format!("Include removals in {word}"));
                if tick.changed() {
                    *most = if grave { Risk::Destructive } else { Risk::Security };
                }
            }
        });
    }

    fn grant(&self) -> ApprovalGrant {
        let client = Some(self.client.trim().to_owned()).filter(|client| !client.is_empty());
        let expires =
            APPROVAL_TERMS.get(self.term).and_then(|(_, term)| *term).map(|term| unix_millis() + term);
        let boards = self.boards.iter().copied().collect();
        ApprovalGrant { client, scope: ApprovalScope(self.areas.clone()), boards, expires }
    }
}
