//! The reader: shows one page at a time in the centre of the window, with back and forward navigation.

use super::{
    SpecAction, SpecsFeature,
    answers::{CachedSpecAnswer, SpecQuestion},
    draft::EntityFormDraft,
    entity::{column_ui, entity_ui, title_ui},
    entity_form::{EntityFormSubject, check, form_ui, new_title},
    entity_look::arrow_button_ui,
    findings::EntityFindings,
    history::SpecPage,
    schema::humanise,
};
use crate::{
    commands::{CommandId, find},
    view::{ActionQueue, FrameView},
    widgets::{empty_state_ui, muted_ui, severity_mark_ui},
};
use egui::{Align, Button, Layout, Panel, RichText, ScrollArea, Ui, vec2};
use shared_protocol::bundle::EntityRef;

impl SpecsFeature {
    pub(crate) fn reader_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>) {
        let Some(page) = view.history.current() else {
            ui.add_space(ui.available_height() * 0.3);
            return empty_state_ui(
                ui,
                view.theme,
                "No page is open",
                "Open an entity in Specs, or search for one with Ctrl+K.",
            );
        };
        let frame =
            egui::Frame::new().fill(view.theme.surface_panel).inner_margin(egui::Margin::symmetric(12, 5));
        Panel::top("spec toolbar").frame(frame).show(ui, |ui| self.toolbar_ui(ui, view, page));
        if !view.bundles.bundles.iter().any(|bundle| bundle.id == page.bundle()) {
            ui.add_space(ui.available_height() * 0.3);
            let text = format!("The folder of the bundle {} was moved or cannot be read.", page.bundle());
            return empty_state_ui(ui, view.theme, "Bundle not found", &text);
        }
        match page {
            SpecPage::Entity(entity) => self.entity_page_ui(ui, view, page, entity),
            SpecPage::New { bundle, entity_type } => self.new_page_ui(ui, view, page, bundle, entity_type),
            SpecPage::Knowledge(bundle) => {
                self.answers.want(view.bundles, SpecQuestion::Knowledge(bundle.clone()));
                let known = self.answers.knowledge.get(bundle);
                match known.and_then(|known| Some((known.value.as_deref()?, known.version))) {
                    Some(text) => self.knowledge.show_ui(ui, view.theme, bundle, text),
                    None => waiting_ui(ui, view, known),
                }
            }
            SpecPage::Coverage(bundle) => {
                self.answers.want(view.bundles, SpecQuestion::Coverage(bundle.clone()));
                let known = self.answers.coverage.get(bundle);
                match known.and_then(|known| known.value.as_deref()) {
                    Some(all) => {
                        let coverage = &mut self.coverage;
                        page_ui(ui, page, |ui| coverage.show_ui(ui, view, bundle, all));
                    }
                    None => waiting_ui(ui, view, known),
                }
            }
        }
    }

    fn toolbar_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, page: &SpecPage) {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            for (on, towards, id) in [
                (view.history.can_go_back(), -1.0, CommandId::SpecBack),
                (view.history.can_go_forward(), 1.0, CommandId::SpecForward),
            ] {
                let name = find(id).map_or("", |def| def.text);
                let arrow = |ui: &mut Ui| arrow_button_ui(ui, view.theme, vec2(towards, 0.0), name);
                if ui.add_enabled_ui(on, arrow).inner.clicked() {
                    view.act(id);
                }
            }
            ui.add_space(4.0);
            let bundle = view.bundles.bundles.iter().find(|bundle| bundle.id == page.bundle());
            let bundle = bundle.map_or(page.bundle(), |bundle| bundle.title.as_str());
            let trail = match page {
                SpecPage::Entity(entity) => format!("{bundle}  /  {}", humanise(&entity.entity_type)),
                _ => bundle.to_owned(),
            };
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                self.buttons_ui(ui, view, page);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add(
                        egui::Label::new(RichText::new(trail).small().color(view.theme.text_muted))
                            .truncate(),
                    );
                });
            });
        });
    }

    /// Draws the actions of the page, from the right.
    fn buttons_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, page: &SpecPage) {
        let theme = view.theme;
        if let Some(draft) = self.drafts.get(page) {
            let ready = draft.can_be_saved() || (draft.is_new && !draft.is_saving && draft.unread.is_empty());
            let word = match (draft.is_saving, draft.is_new) {
                (true, _) => "Saving…",
                (false, true) => "Create",
                (false, false) => "Save",
            };
            let text = RichText::new(word).color(if ready { theme.accent_text } else { theme.text_subtle });
            let button = Button::new(text).min_size(vec2(72.0, 26.0));
            let button = if ready { button.fill(theme.accent) } else { button };
            if ui.add_enabled(ready, button).accessible_name(format!("{word} entity")).clicked() {
                view.act(SpecAction::Save);
            }
            let word = if draft.is_changed() { "Discard" } else { "Close" };
            if ui.button(word).accessible_name("Discard changes").clicked() {
                self.discard(page, view.actions);
                return;
            }
            muted_ui(ui, theme, state_of(draft));
            return;
        }
        let SpecPage::Entity(entity) = page else { return };
        ui.menu_button("More", |ui| {
            for (id, action) in [
                (CommandId::ShowOnMap, SpecAction::ShowOnMap(entity.clone())),
                (CommandId::DrawMap, SpecAction::AskMap(entity.bundle.clone(), Some(entity.clone()))),
                (CommandId::DeleteEntity, SpecAction::AskDelete(entity.clone())),
            ] {
                if ui.button(find(id).map_or("", |def| def.text)).clicked() {
                    view.act(action);
                }
            }
        })
        .response
        .accessible_name("More actions for this entity");
        let known = self.answers.entity.get(entity).is_some_and(|known| known.value.is_some());
        if ui.add_enabled(known, Button::new("Edit")).accessible_name("Edit entity").clicked() {
            view.act(SpecAction::Edit(entity.clone()));
        }
    }

    fn discard(&mut self, page: &SpecPage, actions: &ActionQueue) {
        self.drafts.remove(page);
        if matches!(page, SpecPage::New { .. }) {
            actions.push(SpecAction::Close(page.clone()));
        }
    }

    fn entity_page_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, page: &SpecPage, of: &EntityRef) {
        let Self { answers, drafts, picking, reading, .. } = self;
        answers.want(view.bundles, SpecQuestion::Entity(of.clone()));
        let known = answers.entity.get(of);
        let Some(entity) = known.and_then(|known| known.value.as_ref()) else {
            return waiting_ui(ui, view, known);
        };
        let gone = known.and_then(|known| known.refused.as_ref()).map(ToString::to_string);
        let Some(draft) = drafts.get_mut(page) else {
            return page_ui(ui, page, |ui| {
                missing_entity_ui(ui, view, gone.as_deref());
                entity_ui(ui, view, entity, reading);
            });
        };
        let known = EntityFindings::from_diagnostics(&entity.view.diagnostics);
        // Cloned, because `answers` is borrowed mutably below.
        let (schema, title) = (entity.schema.clone(), entity.view.title.clone());
        let subject = EntityFormSubject { page, entity: of.clone(), schema: &schema, findings: &known };
        page_ui(ui, page, |ui| {
            ui.add_space(16.0);
            missing_entity_ui(ui, view, gone.as_deref());
            title_ui(ui, view.theme, of, &title);
            form_ui(ui, view, &subject, draft, answers, picking, reading);
        });
        answers.want(view.bundles, SpecQuestion::Entities(of.bundle.clone()));
        check(ui, &subject, draft, answers);
    }

    fn new_page_ui(
        &mut self,
        ui: &mut Ui,
        view: &FrameView<'_>,
        page: &SpecPage,
        bundle: &str,
        entity_type: &str,
    ) {
        let key = (bundle.to_owned(), entity_type.to_owned());
        self.answers.want(view.bundles, SpecQuestion::Schema(key.0.clone(), key.1.clone()));
        self.answers.want(view.bundles, SpecQuestion::Entities(bundle.to_owned()));
        let known = self.answers.schemas.get(&key);
        let Some(schema) = known.and_then(|known| known.value.as_ref()).cloned() else {
            return waiting_ui(ui, view, known);
        };
        let Self { answers, drafts, picking, reading, .. } = self;
        if !drafts.contains_key(page) {
            reading.scroll_target = Some(schema.id_field.clone());
        }
        let draft = drafts.entry(page.clone()).or_insert_with(|| EntityFormDraft::new(&schema));
        let entity = EntityRef {
            bundle: bundle.to_owned(),
            entity_type: entity_type.to_owned(),
            id: draft.id(&schema.id_field).to_owned(),
        };
        let known = EntityFindings::default();
        let subject = EntityFormSubject { page, entity, schema: &schema, findings: &known };
        page_ui(ui, page, |ui| {
            ui.add_space(16.0);
            title_ui(ui, view.theme, &subject.entity, &new_title(entity_type));
            form_ui(ui, view, &subject, draft, answers, picking, reading);
        });
        check(ui, &subject, draft, answers);
    }
}

fn state_of(draft: &EntityFormDraft) -> String {
    let wrong =
        draft.checked.as_ref().is_some_and(|checked| checked.version == draft.version && !checked.possible);
    match draft.count() {
        _ if !draft.unread.is_empty() || wrong => "Fix the errors to save".to_owned(),
        _ if draft.is_new => String::new(),
        0 => "No changes".to_owned(),
        count => format!("{} changed", shared_protocol::text::count_noun(count, "field")),
    }
}

/// A scrolling page that remembers its scroll position.
fn page_ui(ui: &mut Ui, page: &SpecPage, content: impl FnOnce(&mut Ui)) {
    let salt = format!("{page:?}");
    ScrollArea::vertical().id_salt(salt).auto_shrink([false, false]).show(ui, |ui| column_ui(ui, content));
}

/// Shows a notice when the entity can no longer be loaded.
fn missing_entity_ui(ui: &mut Ui, view: &FrameView<'_>, why: Option<&str>) {
    if let Some(why) = why {
        ui.add_space(8.0);
        ui.horizontal_top(|ui| {
            severity_mark_ui(
                ui,
                view.theme,
                vec2(14.0, 18.0),
                shared_protocol::messages::ProblemSeverity::Warning,
            );
            let text = format!("Showing the last loaded version: {why}");
            ui.add(egui::Label::new(RichText::new(text).color(view.theme.text)).wrap());
        });
    }
}

/// Shows the loading state or the refusal.
fn waiting_ui<T>(ui: &mut Ui, view: &FrameView<'_>, known: Option<&CachedSpecAnswer<T>>) {
    ui.add_space(ui.available_height() * 0.3);
    match known.and_then(|known| known.refused.as_ref()) {
        Some(refusal) => empty_state_ui(ui, view.theme, "Cannot load this page", &refusal.to_string()),
        None => empty_state_ui(ui, view.theme, "Loading…", ""),
    }
}
