//! Display information about entity types.

use super::Bundle;
use shared_protocol::OrderedValue;

impl Bundle {
    /// Returns the display name of a type: the schema's title, otherwise its name.
    pub fn type_title(&self, entity_type: &str) -> String {
        let schema = self.schemas.get(entity_type).map(|schema| &*schema.data);
        let shown = schema.and_then(|schema| schema.get("x-sdd-ui"));
        let shown = shown.and_then(|ui| ui.text("displayName").or_else(|| ui.text("title")));
        let title = shown.or_else(|| schema.and_then(|schema| schema.text("title")));
        title.unwrap_or(entity_type).to_owned()
    }

    /// Returns the display name of the category that the definition assigns to a type.
    pub fn type_category(&self, entity_type: &str) -> Option<String> {
        let definition = self.definition()?.data();
        let named = |list: &'static str, key: &'static str, name: &str| {
            let items = definition.get(list).and_then(OrderedValue::as_list).unwrap_or_default();
            items.iter().find(|item| item.text(key) == Some(name))
        };
        let category = named("entities", "entityType", entity_type)?.text("category")?;
        let title = named("categories", "name", category).and_then(|known| known.text("displayName"));
        Some(title.unwrap_or(category).to_owned())
    }

    /// Returns the text of a type's schema, as in its file.
    pub fn schema_text(&self, entity_type: &str) -> Option<&str> {
        self.schemas.get(entity_type).map(|schema| &*schema.text)
    }

    /// Returns the field that contains the id of a type's entities.
    pub fn id_field(&self, entity_type: &str) -> Option<&str> {
        self.kind(entity_type).map(|kind| kind.info.id_field.as_str())
    }

    /// Returns the reference fields of a type, dotted for nested ones, each with the allowed target types.
    pub fn reference_fields(&self, entity_type: &str) -> Vec<(String, Vec<String>)> {
        let Some(kind) = self.kind_index(entity_type) else { return Vec::new() };
        let rules = self.rules_of(kind).into_iter();
        rules
            .map(|(_, rule)| {
                let allowed = match rule.allowed.is_empty() {
                    true => vec![rule.to.clone()],
                    false => rule.allowed.clone(),
                };
                (rule.field.clone(), allowed)
            })
            .collect()
    }
}
