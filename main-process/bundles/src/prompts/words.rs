//! Formats entities for prompts.

use crate::{Bundle, Data, Entity, envelope::Refusal};

/// The maximum characters of a prompt.
pub(super) const LONGEST_PROMPT: usize = 60_000;
const LONGEST_ENTITY: usize = 8_000;
const LONGEST_TITLE: usize = 200;
pub(super) const READ_MORE: &str = "**Note:** Use `read_entities` tool for full entity details.";

/// Truncates a text to `most` characters.
pub(super) fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Returns an entity as JSON in a code block.
pub(super) fn json(entity: &Entity) -> String {
    format!("```json\n{}\n```", clipped(&entity.data().to_pretty_json(), LONGEST_ENTITY))
}

pub(super) fn title(entity: &Entity) -> Option<String> {
    entity.title().map(|title| clipped(title, LONGEST_TITLE))
}

/// Returns ` [state]` or ` (priority)` if the field is set.
fn marked(entity: &Entity, field: &str, open: char, close: char) -> String {
    entity.data().text(field).map_or(String::new(), |value| format!(" {open}{value}{close}"))
}

/// `- **name** - "title" [state] (priority)`
pub(super) fn bullet(name: &str, entity: &Entity, with_priority: bool) -> String {
    let title = title(entity).map_or(String::new(), |title| format!(" - \"{title}\""));
    let priority = if with_priority { marked(entity, "priority", '(', ')') } else { String::new() };
    format!("- **{name}**{title}{}{priority}", marked(entity, "state", '[', ']'))
}

/// `- id: title [state] (priority)`
pub(super) fn line(entity: &Entity) -> String {
    let title = title(entity).map_or(String::new(), |title| format!(": {title}"));
    let (state, priority) = (marked(entity, "state", '[', ']'), marked(entity, "priority", '(', ')'));
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

pub(super) fn find<'a>(bundle: &'a Bundle, entity_type: &str, id: &str) -> Result<&'a Entity, Refusal> {
    bundle.entity(entity_type, id).ok_or_else(|| {
        let mut refusal = Refusal::entity_not_found(bundle.id(), entity_type, id);
        refusal.message = format!("{entity_type} {id} not found in bundle {}", bundle.id());
        refusal
    })
}

pub(super) fn domain_knowledge(bundle: &Bundle, most: usize) -> String {
    bundle
        .domain_knowledge()
        .map_or("No domain knowledge file provided.".to_owned(), |text| clipped(text, most))
}

/// Returns the texts of a field, joined with commas.
pub(super) fn joined(data: &Data, field: &str) -> String {
    let found: Vec<&str> = crate::model::checks::links(data, field).take(20).collect();
    if found.is_empty() { "None".to_owned() } else { found.join(", ") }
}
