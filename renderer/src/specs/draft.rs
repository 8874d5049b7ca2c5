//! The draft of an entity form: edited values, the resulting changes, and conflicting changes from elsewhere. A draft has
//! no effect until main applies it. Must not know: widgets.

use super::{
    findings::EntityFindings,
    schema::{EntityFormSchema, SchemaFieldKind},
};
use shared_protocol::{OrderedMembers, OrderedValue, bundle::EntityRef};
use std::collections::BTreeMap;

/// The pause in typing, in seconds, before a dry run is requested.
pub(crate) const CHECK_DELAY_SECONDS: f64 = 0.35;

#[derive(Debug, Clone, Default)]
pub(crate) struct EntityFormDraft {
    /// The draft creates an entity; its id is one of the values.
    pub(crate) is_new: bool,
    /// The data in main.
    base: OrderedValue,
    pub(crate) values: OrderedValue,
    /// Raw text of number and JSON fields, by pointer.
    pub(crate) texts: BTreeMap<String, String>,
    /// Parse errors of raw text, by pointer.
    pub(crate) unread: BTreeMap<String, String>,
    /// Fields changed both here and elsewhere, with their value elsewhere.
    pub(crate) theirs: BTreeMap<String, Option<OrderedValue>>,
    /// Markdown fields in preview mode.
    pub(crate) previews: std::collections::BTreeSet<String>,
    /// The result of the last dry run.
    pub(crate) checked: Option<EntityDraftCheck>,
    /// Incremented with every edit.
    pub(crate) version: u64,
    /// The time of the last edit that has not been checked.
    pub(crate) touched: Option<f64>,
    /// A dry run is in progress.
    pub(crate) is_checking: bool,
    pub(crate) is_saving: bool,
    pub(crate) refused: Option<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct EntityDraftCheck {
    pub(crate) version: u64,
    pub(crate) possible: bool,
    pub(crate) findings: EntityFindings,
}

impl EntityFormDraft {
    pub(crate) fn from_data(data: &OrderedValue) -> Self {
        Self { base: data.clone(), values: data.clone(), ..Self::default() }
    }

    /// Creates a draft for a new entity with the fields that its schema requires.
    pub(crate) fn new(schema: &EntityFormSchema) -> Self {
        let mut values = OrderedValue::Map(OrderedMembers::default());
        for field in schema.fields.iter().filter(|field| field.required || field.name == schema.id_field) {
            let blank = match &field.kind {
                // Nothing is chosen yet.
                SchemaFieldKind::Choice(_) | SchemaFieldKind::Reference(_) => OrderedValue::from(""),
                kind => kind.blank(),
            };
            values.set(&field.name, Some(blank));
        }
        let start =
            schema.id_template.as_deref().map(|template| template.split('{').next().unwrap_or_default());
        values.set(&schema.id_field, Some(OrderedValue::from(start.unwrap_or_default())));
        Self { is_new: true, values, ..Self::default() }
    }

    pub(crate) fn touch(&mut self, now: f64) {
        self.version += 1;
        self.touched = Some(now);
        self.refused = None;
    }

    /// Returns the names of the fields that differ from the data in main.
    fn changed_fields(&self) -> Vec<&str> {
        let values = self.values.members().map(|(name, _)| name);
        let gone = self.base.members().map(|(name, _)| name);
        let gone = gone.filter(|name| self.values.get(name).is_none());
        values.chain(gone).filter(|name| self.values.get(name) != self.base.get(name)).collect()
    }

    pub(crate) fn is_changed(&self) -> bool {
        !self.unread.is_empty() || !self.changed_fields().is_empty()
    }

    /// The number of changed fields.
    pub(crate) fn count(&self) -> usize {
        self.changed_fields().len()
    }

    pub(crate) fn id(&self, id_field: &str) -> &str {
        self.values.text(id_field).unwrap_or_default()
    }

    /// Returns the changes in the format of `apply_changes`, or `None` when nothing changed.
    pub(crate) fn changes(&self, entity: &EntityRef) -> Option<String> {
        let change = |operation: &str, more: Vec<(&str, OrderedValue)>| {
            let (entity_type, id) = (entity.entity_type.as_str().into(), entity.id.as_str().into());
            let first = [("operation", operation.into()), ("entityType", entity_type), ("entityId", id)];
            OrderedValue::Map(first.into_iter().chain(more).collect())
        };
        if self.is_new {
            let data = vec![("data", self.values.clone())];
            return Some(OrderedValue::List(vec![change("create", data)]).to_string());
        }
        let updates: Vec<OrderedValue> = self
            .changed_fields()
            .into_iter()
            .map(|name| {
                let mut more = vec![("fieldPath", name.into())];
                more.extend(self.values.get(name).map(|value| ("value", value.clone())));
                change("update", more)
            })
            .collect();
        (!updates.is_empty()).then(|| OrderedValue::List(updates).to_string())
    }

    /// Rebases the draft on new data. Unedited fields take the new values. Edited fields keep theirs, and `theirs` records
    /// a conflicting new value.
    pub(crate) fn rebase(&mut self, data: &OrderedValue) {
        if self.is_new || *data == self.base {
            return;
        }
        let mine: Vec<String> = self.changed_fields().into_iter().map(str::to_owned).collect();
        let mut values = data.clone();
        for name in mine {
            let (mine, theirs) = (self.values.get(&name).cloned(), data.get(&name).cloned());
            if theirs != self.base.get(&name).cloned() && theirs != mine {
                self.theirs.insert(name.clone(), theirs);
            }
            values.set(&name, mine);
        }
        let follows = |pointer: &String| values.get(first_key(pointer)) != data.get(first_key(pointer));
        self.texts.retain(|pointer, _| follows(pointer));
        self.unread.retain(|pointer, _| follows(pointer));
        self.theirs.retain(|name, _| values.get(name) != data.get(name));
        self.base = data.clone();
        self.values = values;
        // The last check was made against the old data.
        self.version += 1;
        self.checked = None;
    }

    /// Replaces a field with its value from elsewhere.
    pub(crate) fn take_theirs(&mut self, name: &str) {
        if let Some(theirs) = self.theirs.remove(name) {
            self.values.set(name, theirs);
            self.forget_texts(&format!("/{name}"));
        }
    }

    /// Drops the raw text below a pointer, because items moved or the value was replaced.
    pub(crate) fn forget_texts(&mut self, pointer: &str) {
        self.texts.retain(|known, _| !known.starts_with(pointer));
        self.unread.retain(|known, _| !known.starts_with(pointer));
    }

    /// Returns whether the draft can be saved: every value parses, and the last dry run did not fail.
    pub(crate) fn can_be_saved(&self) -> bool {
        let refused =
            self.checked.as_ref().is_some_and(|checked| checked.version == self.version && !checked.possible);
        !self.is_saving && self.unread.is_empty() && self.is_changed() && !refused
    }
}

/// Returns the field of a pointer: `rules` for `/rules/0/id`.
pub(crate) fn first_key(pointer: &str) -> &str {
    pointer.trim_start_matches('/').split('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::bundle::SchemaView;

    fn entity() -> EntityRef {
        EntityRef { bundle: "b".into(), entity_type: "Task".into(), id: "TASK-1".into() }
    }

    fn json(text: &str) -> OrderedValue {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn only_what_differs_is_sent() {
        let mut draft =
            EntityFormDraft::from_data(&json(r#"{"id":"TASK-1","title":"Old","hours":3,"done":true}"#));
        assert_eq!((draft.changes(&entity()), draft.is_changed()), (None, false));
        draft.values.set("title", Some(OrderedValue::from("New")));
        draft.values.set("hours", None);
        let changes = draft.changes(&entity()).unwrap();
        assert_eq!(
            changes,
            r#"[{"operation":"update","entityType":"Task","entityId":"TASK-1","fieldPath":"title","value":"New"},{"operation":"update","entityType":"Task","entityId":"TASK-1","fieldPath":"hours"}]"#
        );
    }

    #[test]
    fn what_changes_elsewhere_follows_unless_it_was_touched_here() {
        let mut draft =
            EntityFormDraft::from_data(&json(r#"{"id":"TASK-1","title":"Old","state":"a","note":"n"}"#));
        draft.values.set("title", Some(OrderedValue::from("Mine")));
        draft.rebase(&json(r#"{"id":"TASK-1","title":"Theirs","state":"b","note":"n","extra":1}"#));
        assert_eq!(
            draft.values.to_string(),
            r#"{"id":"TASK-1","title":"Mine","state":"b","note":"n","extra":1}"#
        );
        assert_eq!(draft.theirs.get("title"), Some(&Some(OrderedValue::from("Theirs"))));
        assert_eq!(draft.count(), 1);
        draft.take_theirs("title");
        assert!(!draft.is_changed());
    }

    #[test]
    fn the_same_change_elsewhere_is_no_conflict() {
        let mut draft = EntityFormDraft::from_data(&json(r#"{"title":"Old"}"#));
        draft.values.set("title", Some(OrderedValue::from("Same")));
        draft.rebase(&json(r#"{"title":"Same"}"#));
        assert!(draft.theirs.is_empty() && !draft.is_changed());
    }

    #[test]
    fn a_new_one_begins_with_what_is_required() {
        let view = SchemaView {
            schema: r#"{"required":["id","title","kind"],"properties":{"id":{"type":"string","x-sdd-idTemplate":"TASK-{slug}"},"title":{"type":"string"},"kind":{"type":"string","enum":["a"]},"more":{"type":"string"}}}"#.into(),
            id_field: "id".into(),
            references: Vec::new(),
        };
        let draft = EntityFormDraft::new(&EntityFormSchema::from_view(&view));
        assert_eq!(draft.values.to_string(), r#"{"id":"TASK-","title":"","kind":""}"#);
        assert!(draft.changes(&entity()).unwrap().contains(r#""operation":"create""#));
    }
}
