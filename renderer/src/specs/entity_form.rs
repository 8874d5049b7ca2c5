//! The form of an entity: a control for each schema field, findings at their fields, and conflicting changes from
//! elsewhere.

use super::{
    answers::SpecAnswers,
    draft::{CHECK_DELAY_SECONDS, EntityFormDraft},
    entity::{SpecReaderState, finding_ui, groups_ui, is_in_group, jump_ui},
    entity_picker::EntityPicker,
    findings::EntityFindings,
    form_controls::{EntityForm, FormFieldRef},
    history::SpecPage,
    schema::{EntityFormSchema, SchemaField, phrase},
    values::in_line,
};
use crate::{
    view::{FrameView, SpecResponse},
    widgets::{copyable_text_ui, muted_ui, severity_mark_ui},
};
use canvas::theme::WorkbenchTheme;
use egui::{Id, RichText, Ui, Vec2};
use shared_protocol::{
    bundle::EntityRef,
    messages::ProblemSeverity,
    requests::{ChangeBundle, CheckBundle},
};
use std::time::Duration;

pub(super) struct EntityFormSubject<'a> {
    pub(super) page: &'a SpecPage,
    /// For a new entity, the id is the typed one.
    pub(super) entity: EntityRef,
    pub(super) schema: &'a EntityFormSchema,
    pub(super) findings: &'a EntityFindings,
}

pub(super) fn form_ui(
    ui: &mut Ui,
    view: &FrameView<'_>,
    subject: &EntityFormSubject<'_>,
    draft: &mut EntityFormDraft,
    answers: &SpecAnswers,
    picking: &mut EntityPicker,
    reading: &mut SpecReaderState,
) {
    let (theme, schema) = (view.theme, subject.schema);
    if let Some(why) = &draft.refused {
        finding_text_ui(ui, theme, ProblemSeverity::Error, why);
    }
    if draft.is_new && !schema.description.is_empty() {
        muted_ui(ui, theme, schema.description.as_str());
    }
    let findings =
        draft.checked.as_ref().map_or_else(|| subject.findings.clone(), |checked| checked.findings.clone());
    let fields = form_fields(schema, draft);
    let has_field = |name: &str| fields.iter().any(|field| field.name == name);
    for finding in findings.elsewhere(has_field) {
        finding_ui(ui, theme, finding);
    }
    let group = groups_ui(ui, theme, schema, &subject.entity.entity_type, reading);
    ui.spacing_mut().item_spacing.y = 4.0;
    let mut values = std::mem::take(&mut draft.values);
    let list = answers.entities.get(&subject.entity.bundle).and_then(|known| known.value.as_ref());
    let id = Id::unique(("spec form", format!("{:?}", subject.page)));
    let focus = reading.scroll_target.as_ref().map(|name| format!("/{name}"));
    let mut form = EntityForm { theme, draft, list, picking, id, focus, changed: false };
    let mut taken = None;
    for field in fields.iter().filter(|field| is_in_group(schema, field, group.as_deref())) {
        let top = ui.cursor().min;
        ui.add_space(8.0);
        let known = schema.field(&field.name).is_some() || schema.is_open;
        let mut value = values.lend(&field.name);
        let pointer = format!("/{}", field.name);
        let worst = findings.worst_severity(&field.name);
        let at = FormFieldRef { pointer: &pointer, name: &field.label, required: field.required, worst };
        form.label_ui(ui, field, at);
        ui.add_enabled_ui(known, |ui| form.value_ui(ui, &field.kind, at, &mut value));
        if !known {
            muted_ui(ui, theme, "The schema does not define this field. Edit it in the file.");
        }
        values.set(&field.name, value);
        for finding in findings.at_field(&field.name) {
            finding_ui(ui, theme, finding);
        }
        if theirs_ui(ui, theme, field, form.draft) {
            taken = Some(field.name.clone());
        }
        jump_ui(ui, theme, field, top, reading);
    }
    let changed = form.changed || taken.is_some();
    if let Some(pointer) = form.focus.filter(|pointer| pointer.matches('/').count() > 1) {
        // A newly added item is drawn in the next frame.
        ui.memory_mut(|memory| memory.request_focus(id.with(pointer.as_str())));
    }
    draft.values = values;
    if let Some(name) = taken {
        draft.take_theirs(&name);
    }
    if changed {
        draft.touch(ui.input(|input| input.time));
    }
    ui.add_space(40.0);
}

/// Returns the schema fields, required ones first for a new entity, followed by fields that only the entity has.
fn form_fields(schema: &EntityFormSchema, draft: &EntityFormDraft) -> Vec<SchemaField> {
    let mut fields: Vec<SchemaField> = schema
        .fields
        .iter()
        // The id names the file and cannot change.
        .filter(|field| draft.is_new || field.name != schema.id_field)
        .cloned()
        .collect();
    if draft.is_new {
        fields.sort_by_key(|field| (field.name != schema.id_field, !field.required));
    }
    let known = |name: &str| schema.field(name).is_some() || name == schema.id_field;
    fields.extend(
        draft.values.members().filter(|(name, _)| !known(name)).map(|(name, _)| SchemaField::unknown(name)),
    );
    fields
}

/// Shows a conflicting change from elsewhere. Returns whether the person takes it.
fn theirs_ui(ui: &mut Ui, theme: &WorkbenchTheme, field: &SchemaField, draft: &EntityFormDraft) -> bool {
    let Some(theirs) = draft.theirs.get(&field.name) else { return false };
    let text = theirs.as_ref().map_or_else(|| "(no value)".to_owned(), in_line);
    ui.horizontal_wrapped(|ui| {
        severity_mark_ui(ui, theme, Vec2::splat(14.0), ProblemSeverity::Warning);
        let short: String = text.chars().take(80).collect();
        ui.label(
            RichText::new(format!("Changed elsewhere to “{short}”. Saving keeps your value."))
                .small()
                .color(theme.text),
        );
        ui.small_button("Take theirs").accessible_name(format!("Take theirs for {}", field.label)).clicked()
    })
    .inner
}

fn finding_text_ui(ui: &mut Ui, theme: &WorkbenchTheme, severity: ProblemSeverity, text: &str) {
    egui::Frame::new().fill(theme.hover).corner_radius(6).inner_margin(10).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal_top(|ui| {
            severity_mark_ui(ui, theme, Vec2::splat(14.0), severity);
            copyable_text_ui(ui, RichText::new(text).color(theme.text));
        });
    });
}

/// Requests a dry run after a pause in typing, one at a time.
pub(super) fn check(
    ui: &Ui,
    subject: &EntityFormSubject<'_>,
    draft: &mut EntityFormDraft,
    answers: &mut SpecAnswers,
) {
    let Some(touched) = draft.touched else { return };
    if draft.is_checking {
        return;
    }
    let left = touched + CHECK_DELAY_SECONDS - ui.input(|input| input.time);
    if left > 0.0 {
        ui.request_repaint_after(Duration::from_secs_f64(left + 0.01));
        return;
    }
    draft.touched = None;
    // A new entity is checked once it has an id.
    let named = !draft.is_new || !subject.entity.id.is_empty();
    let Some(changes) = draft.changes(&subject.entity).filter(|_| named && draft.unread.is_empty()) else {
        draft.checked = None;
        return;
    };
    draft.is_checking = true;
    let request = CheckBundle { bundle: subject.entity.bundle.clone(), changes };
    answers.request(request, (subject.page.clone(), draft.version), SpecResponse::Checked);
}

/// Sends the draft as one change.
pub(super) fn save(
    page: &SpecPage,
    entity: &EntityRef,
    draft: &mut EntityFormDraft,
    answers: &mut SpecAnswers,
) {
    if !draft.can_be_saved() {
        return;
    }
    let Some(changes) = draft.changes(entity) else { return };
    draft.is_saving = true;
    draft.refused = None;
    let request = ChangeBundle { bundle: entity.bundle.clone(), changes };
    answers.request(request, page.clone(), SpecResponse::Saved);
}

pub(super) fn new_title(entity_type: &str) -> String {
    format!("New {}", phrase(entity_type))
}
