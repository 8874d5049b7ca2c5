//! Comments on a proposal or on one of its elements. Agents read them.

use super::{ProposalReview, ReviewInput, words};
use crate::{
    features::review::{ReviewContext, ReviewReply},
    view::FrameView,
    widgets::{focus_stroke, muted_ui},
    wording::{ago, unix_millis},
};
use egui::{RichText, TextEdit, Ui};
use shared_protocol::{ProposalSubject, decisions::CommentOnProposal};

impl ProposalReview {
    pub(super) fn comments_ui(&mut self, ui: &mut Ui, cx: &ReviewContext<'_>, typed: &mut ReviewInput) {
        let count = self.proposal().comments.len();
        let count = Some(count).filter(|count| *count > 0);
        if typed.section_ui(ui, cx.view.theme, "Comments", count) {
            if self.focus.is_none() {
                self.comments_on_ui(ui, cx, None, typed);
            } else {
                muted_ui(ui, cx.view.theme, "Comments on the selected change are shown with it.");
            }
            for comment in self.proposal().comments.iter().filter(|comment| comment.about.is_some()) {
                let about = comment.about.as_ref().and_then(|about| self.element(about));
                let what = about.map_or("a removed element", |element| element.text.as_str());
                comment_text_ui(
                    ui,
                    cx.view,
                    &format!("{} on {what}", comment.by),
                    comment.time,
                    &comment.text,
                );
            }
        }
    }

    pub(super) fn comments_on_ui(
        &self,
        ui: &mut Ui,
        cx: &ReviewContext<'_>,
        about: Option<&ProposalSubject>,
        typed: &mut ReviewInput,
    ) {
        for comment in self.proposal().comments.iter().filter(|comment| comment.about.as_ref() == about) {
            comment_text_ui(ui, cx.view, &comment.by, comment.time, &comment.text);
        }
        // Drafts and decided proposals accept no comments.
        if !self.proposal().brief.needs_decision() {
            return;
        }
        ui.horizontal(|ui| {
            let room = (ui.available_width() - 76.0).max(80.0);
            let edit = TextEdit::singleline(&mut typed.comment)
                .hint_text("Comment for the agent")
                .desired_width(room);
            let field = focus_stroke(ui, cx.view.theme, |ui| ui.add(edit)).accessible_name("Comment");
            let entered = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
            let says = !typed.comment.trim().is_empty();
            let send = ui.add_enabled(says, egui::Button::new("Send")).accessible_name("Send the comment");
            if (send.clicked() || entered) && says {
                let text = std::mem::take(&mut typed.comment).trim().to_owned();
                typed.restored_comment = Some(text.clone());
                let (proposal, about) = (self.id(), about.cloned());
                cx.request(CommentOnProposal { proposal, about, text }, ReviewReply::Commented);
            }
        });
    }
}

fn comment_text_ui(ui: &mut Ui, view: &FrameView<'_>, who: &str, time: u64, text: &str) {
    muted_ui(ui, view.theme, format!("{} · {}", words::line(who), ago(unix_millis(), time)));
    ui.add(egui::Label::new(RichText::new(text).color(view.theme.text)).wrap());
}
