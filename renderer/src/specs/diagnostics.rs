//! The list of findings of all bundles in the problems panel. Each row opens its entity and field.

use super::{SpecAction, answers::SpecAnswers, findings::EntityFindings};
use crate::{
    view::FrameView,
    widgets::{
        ListRow, ROW_HEIGHT, empty_state_ui, list_rows_ui, paint_finding, row_ui, search_field_ui,
        severity_filter_ui,
    },
};
use egui::{RichText, Sense, Ui};
use shared_protocol::{
    bundle::{BundleDiagnostic, EntityRef},
    messages::ProblemSeverity,
};
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(crate) struct SpecFindingsList {
    filters: SpecFindingFilters,
    /// The inputs of the cached rows.
    made_from: Option<(Vec<(String, u64)>, SpecFindingFilters)>,
    /// The rows, by bundle and index.
    rows: Vec<(String, usize)>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct SpecFindingFilters {
    only: Option<ProblemSeverity>,
    entity_type: Option<String>,
    source: Option<String>,
    text: String,
}

impl SpecFindingFilters {
    fn matches_filter(&self, diagnostic: &BundleDiagnostic, words: &[String]) -> bool {
        let text = || {
            let id = diagnostic.entity_id.as_deref().unwrap_or_default();
            let code = diagnostic.code.as_deref().unwrap_or_default();
            format!("{} {id} {code}", diagnostic.message).to_lowercase()
        };
        self.only.is_none_or(|only| only == diagnostic.severity)
            && self.entity_type.as_ref().is_none_or(|kind| diagnostic.entity_type.as_ref() == Some(kind))
            && self.source.as_ref().is_none_or(|source| source_of(diagnostic) == source)
            && (words.is_empty() || words.iter().all(|word| text().contains(word.as_str())))
    }
}

/// The source of a finding. A finding without a source comes from reading the files.
fn source_of(diagnostic: &BundleDiagnostic) -> &str {
    diagnostic.source.as_deref().unwrap_or("reading")
}

impl SpecFindingsList {
    pub(crate) fn show_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, answers: &SpecAnswers) {
        let all = known_findings(view, answers);
        if all.iter().all(|(.., found)| found.is_empty()) {
            return empty_state_ui(
                ui,
                view.theme,
                "No findings",
                "Every bundle matches its schemas and rules.",
            );
        }
        let versions = all.iter().map(|(bundle, version, _)| ((*bundle).to_owned(), *version)).collect();
        let now = (versions, self.filters.clone());
        if self.made_from.as_ref() != Some(&now) {
            let words: Vec<String> =
                self.filters.text.to_lowercase().split_whitespace().map(str::to_owned).collect();
            let mut rows: Vec<(ProblemSeverity, &str, usize)> = Vec::new();
            for (bundle, _, found) in &all {
                let fitting =
                    found.iter().enumerate().filter(|(_, each)| self.filters.matches_filter(each, &words));
                rows.extend(fitting.map(|(place, each)| (each.severity, *bundle, place)));
            }
            // The sort is stable: errors first, otherwise in the order of the findings.
            rows.sort_by_key(|(severity, ..)| *severity);
            self.rows = rows.into_iter().map(|(_, bundle, place)| (bundle.to_owned(), place)).collect();
            self.made_from = Some(now);
        }
        if self.rows.is_empty() {
            return empty_state_ui(
                ui,
                view.theme,
                "No matching findings",
                "Change the filters to see other findings.",
            );
        }
        let many = view.bundles.bundles.len() > 1;
        list_rows_ui(ui, ROW_HEIGHT, self.rows.len(), |ui, range| {
            for (bundle, place) in self.rows.get(range).unwrap_or_default() {
                let found =
                    all.iter().find(|(known, ..)| known == bundle).and_then(|(.., found)| found.get(*place));
                if let Some(found) = found {
                    finding_row_ui(ui, view, found, many);
                }
            }
        });
    }

    pub(crate) fn filters_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, answers: &SpecAnswers) {
        let all = known_findings(view, answers);
        let found = || all.iter().flat_map(|(.., found)| found.iter());
        let count = |severity| found().filter(|each| each.severity == severity).count();
        let (errors, warnings) = (count(ProblemSeverity::Error), count(ProblemSeverity::Warning));
        if errors + warnings == 0 {
            return;
        }
        severity_filter_ui(ui, &mut self.filters.only, errors, warnings);
        let types: BTreeSet<&str> = found().filter_map(|each| each.entity_type.as_deref()).collect();
        filter_ui(ui, "Type", "All types", &types, &mut self.filters.entity_type);
        let sources: BTreeSet<&str> = found().map(source_of).collect();
        filter_ui(ui, "Source", "All sources", &sources, &mut self.filters.source);
        if ui.available_width() > 90.0 {
            search_field_ui(ui, view.theme, &mut self.filters.text, "Filter", "Filter findings");
        }
    }
}

type BundleFindings<'a> = Vec<(&'a str, u64, &'a [BundleDiagnostic])>;

/// Returns the known findings of each bundle, in bundle order.
fn known_findings<'a>(view: &FrameView<'a>, answers: &'a SpecAnswers) -> BundleFindings<'a> {
    let of = |bundle: &'a str| {
        let known = answers.diagnostics.get(bundle)?;
        Some((bundle, known.version, known.value.as_deref().unwrap_or_default()))
    };
    view.bundles.bundles.iter().filter_map(|bundle| of(bundle.id.as_str())).collect()
}

fn filter_ui(ui: &mut Ui, name: &str, all: &str, words: &BTreeSet<&str>, chosen: &mut Option<String>) {
    let text = chosen.clone().unwrap_or_else(|| all.to_owned());
    let combo =
        egui::ComboBox::from_id_salt(name).selected_text(RichText::new(text).small()).width(110.0).truncate();
    let response = combo.show_ui(ui, |ui| {
        ui.selectable_value(chosen, None, all);
        for word in words {
            ui.selectable_value(chosen, Some((*word).to_owned()), *word);
        }
    });
    response.response.accessible_name(name);
}

fn finding_row_ui(ui: &mut Ui, view: &FrameView<'_>, found: &BundleDiagnostic, many: bool) {
    let theme = view.theme;
    let entity = match (&found.entity_type, &found.entity_id) {
        (Some(entity_type), Some(id)) => {
            Some(EntityRef { bundle: found.bundle.clone(), entity_type: entity_type.clone(), id: id.clone() })
        }
        _ => None,
    };
    let place = found.entity_id.clone().or_else(|| found.file.clone()).unwrap_or_default();
    let place = if many { format!("{place} · {}", found.bundle) } else { place };
    let word = if found.severity == ProblemSeverity::Error { "Error" } else { "Warning" };
    let name = format!("{word}: {} ({place})", found.message);
    let sense = if entity.is_some() { Sense::click() } else { Sense::hover() };
    let row = row_ui(ui, theme, ListRow { name: &name, selected: false, sense }, |ui, room| {
        paint_finding(ui, theme, room, found.severity, (&found.message, &place), 0.6);
    });
    let code =
        found.code.as_deref().map(|code| format!("\n{} · {code}", source_of(found))).unwrap_or_default();
    let file = found.file.as_deref().map(|file| format!("\n{file}")).unwrap_or_default();
    let row = row.on_hover_text(format!("{}{file}{code}", found.message));
    if let Some(entity) = entity.filter(|_| row.clicked()) {
        let field = EntityFindings::field_of(found);
        view.act(SpecAction::OpenAt(entity, field));
    }
}
