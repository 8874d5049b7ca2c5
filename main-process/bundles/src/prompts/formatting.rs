//! Formats entities for prompts.

use crate::{Bundle, BundleEntity};
use shared_protocol::{OrderedValue, Refusal};

/// The maximum characters of a prompt.
pub(super) const MAX_PROMPT_CHARS: usize = 60_000;
const MAX_ENTITY_CHARS: usize = 8_000;
const MAX_TITLE_CHARS: usize = 200;
pub(super) const READ_MORE: &str = "**Note:** Use `read_entities` tool for full entity details.";

/// Truncates a text to `most` characters.
pub(super) fn truncate_chars(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Returns an entity as JSON in a code block.
pub(super) fn json(entity: &BundleEntity) -> String {
    format!("```json\n{}\n```", truncate_chars(&entity.data().to_pretty_json(), MAX_ENTITY_CHARS))
}

pub(super) fn title(entity: &BundleEntity) -> Option<String> {
    entity.title().map(|title| truncate_chars(title, MAX_TITLE_CHARS))
}

/// Returns ` [state]` or ` (priority)` if the field is set.
fn marked_field(entity: &BundleEntity, field: &str, open: char, close: char) -> String {
    entity.data().text(field).map_or(String::new(), |value| format!(" {open}{value}{close}"))
}

/// `- **name** - "title" [state] (priority)`
pub(super) fn bullet(name: &str, entity: &BundleEntity, with_priority: bool) -> String {
    let title = title(entity).map_or(String::new(), |title| format!(" - \"{title}\""));
    let priority = if with_priority { marked_field(entity, "priority", '(', ')') } else { String::new() };
    format!("- **{name}**{title}{}{priority}", marked_field(entity, "state", '[', ']'))
}

/// `- id: title [state] (priority)`
pub(super) fn entity_line(entity: &BundleEntity) -> String {
    let title = title(entity).map_or(String::new(), |title| format!(": {title}"));
    let (state, priority) =
        (marked_field(entity, "state", '[', ']'), marked_field(entity, "priority", '(', ')'));
    format!("- {}{title}{state}{priority}", entity.id())
}

/// Returns up to `most` lines, and the number of omitted ones.
pub(super) fn list<T>(items: &[T], most: usize, line: impl Fn(&T) -> String) -> String {
    let mut lines: Vec<String> = items.iter().take(most).map(line).collect();
    if items.len() > most {
        lines.push(format!("- … and {} more", items.len() - most));
    }
    lines.join("\n")
}

pub(super) fn list_or_none<T>(items: &[T], most: usize, line: impl Fn(&T) -> String) -> String {
    if items.is_empty() { "None".to_owned() } else { list(items, most, line) }
}

pub(super) fn counts(bundle: &Bundle) -> String {
    let lines: Vec<String> =
        bundle.kinds.iter().map(|kind| format!("- {}: {}", kind.name, kind.ids().len())).collect();
    lines.join("\n")
}

pub(super) fn find<'a>(bundle: &'a Bundle, entity_type: &str, id: &str) -> Result<&'a BundleEntity, Refusal> {
    bundle.entity(entity_type, id).ok_or_else(|| {
        let mut refusal = crate::envelope::entity_not_found(bundle.id(), entity_type, id);
        refusal.message = format!("{entity_type} {id} not found in bundle {}", bundle.id());
        refusal
    })
}

pub(super) fn domain_knowledge(bundle: &Bundle, most: usize) -> String {
    bundle
        .domain_knowledge()
        .map_or("No domain knowledge file provided.".to_owned(), |text| truncate_chars(text, most))
}

/// Returns the texts of a field, joined with commas.
pub(super) fn joined_texts(data: &OrderedValue, field: &str) -> String {
    let found: Vec<&str> = crate::model::checks::referenced_ids(data, field).take(20).collect();
    if found.is_empty() { "None".to_owned() } else { found.join(", ") }
}
