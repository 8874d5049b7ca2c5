//! Plans each change of a batch on top of the previous ones.

use super::{
    draft::{EntityDraft, EntityDrafts},
    fields::{check_id, entity_data, set_field},
    plan::PlannedFileEdit,
    request::{ApplyChangesRequest, EntityChange, EntityOperation, FailedCheckPolicy},
    result::{ChangeFinding, ChangeResult, invalid},
};
use crate::{Bundle, diagnostic::BundleFindingSeverity, schema::EntitySchema, yaml};
use shared_protocol::{OrderedValue, Refusal, RefusalCode};

/// The maximum number of parts in a dotted field path.
const MAX_FIELD_PATH_PARTS: usize = 20;
/// The maximum bytes that one batch writes.
const MAX_BATCH_BYTES: usize = 16 * 1024 * 1024;

pub(super) struct ChangePlanner<'a> {
    drafts: EntityDrafts<'a>,
    request: &'a ApplyChangesRequest,
}

impl<'a> ChangePlanner<'a> {
    pub(super) fn new(bundle: &'a Bundle, request: &'a ApplyChangesRequest) -> Self {
        Self { drafts: EntityDrafts::new(bundle), request }
    }

    fn bundle(&self) -> &'a Bundle {
        self.drafts.bundle
    }

    pub(super) fn plan_change(
        &mut self,
        change: &EntityChange,
        result: &mut ChangeResult,
    ) -> Result<(), Refusal> {
        let kind = self.bundle().kind_index(&change.entity_type);
        let unknown_type =
            || Refusal::new(RefusalCode::NotFound, format!("Unknown entity type: {}", change.entity_type));
        let unknown = || {
            let message = format!("Entity not found: {}/{}", change.entity_type, change.entity_id);
            Refusal::new(RefusalCode::NotFound, message)
        };
        match &change.operation {
            EntityOperation::Create { data } => {
                self.create(kind.ok_or_else(unknown_type)?, change, data.as_ref(), result)
            }
            EntityOperation::Update { field_path, value } => {
                let Some(field_path) = field_path else {
                    return Err(Refusal::new(RefusalCode::BadRequest, "Update operation requires fieldPath"));
                };
                let draft = kind
                    .and_then(|kind| self.drafts.get_or_load(kind, &change.entity_id))
                    .ok_or_else(unknown)?;
                self.update(draft, change, field_path, value.as_ref(), result)
            }
            EntityOperation::Delete => {
                let draft = kind
                    .and_then(|kind| self.drafts.get_or_load(kind, &change.entity_id))
                    .ok_or_else(unknown)?;
                self.delete(draft, change, result)
            }
        }
    }

    fn create(
        &mut self,
        kind: usize,
        change: &EntityChange,
        data: Option<&OrderedValue>,
        result: &mut ChangeResult,
    ) -> Result<(), Refusal> {
        let id = change.entity_id.as_str();
        let known = &self.bundle().kinds[kind];
        check_id(id)?;
        if let Some(other) = self.drafts.type_of(id) {
            return Err(invalid(if other == change.entity_type {
                format!("Entity {other}:{id} already exists in bundle.")
            } else {
                format!("The id {id} is taken by {other}:{id}; ids are unique in the whole bundle.")
            }));
        }
        let data = entity_data(data, &known.info.id_field, id, self.schema(kind))?;
        let folder = known.folder.as_ref().ok_or_else(|| {
            invalid(format!("{} has no folder inside the bundle; correct its directory", known.name))
        })?;
        let name = known.info.file_name(self.bundle().manifest(), id);
        let path = folder.join(&name).map_err(|problem| invalid(problem.to_string()))?;
        if path.split().0 != folder.parts() || !(name.ends_with(".yaml") || name.ends_with(".yml")) {
            return Err(invalid(format!(
                "{path} would not be read as {}; correct its filePattern",
                known.name
            )));
        }
        if self.drafts.is_taken(kind, &path) {
            return Err(invalid(format!("The file {path} is there already; choose another id")));
        }
        let before = self
            .drafts
            .find_deleted(id)
            .filter(|draft| draft.path == path)
            .and_then(|draft| draft.before.clone());
        self.check_schema(kind, &data, result, "Schema validation failed")?;
        result.file = Some(path.to_string());
        let draft =
            EntityDraft { kind, path, before, data: Some(data), is_new: true, references: Vec::new() };
        self.drafts.set(id, draft);
        Ok(())
    }

    fn update(
        &mut self,
        mut draft: EntityDraft,
        change: &EntityChange,
        field_path: &str,
        value: Option<&OrderedValue>,
        result: &mut ChangeResult,
    ) -> Result<(), Refusal> {
        let parts: Vec<&str> = field_path.split('.').collect();
        let known = &self.bundle().kinds[draft.kind];
        if parts.len() > MAX_FIELD_PATH_PARTS || parts.iter().any(|part| part.is_empty()) {
            return Err(invalid(format!("{field_path:?} is not a path of field names with dots between")));
        }
        if parts == [known.info.id_field.as_str()] {
            let message = "The id cannot be changed: delete the entity and create it under the new id";
            return Err(invalid(message));
        }
        let declared = self.schema(draft.kind).is_none_or(|schema| schema.declares(&parts));
        if !declared && self.request.validate != FailedCheckPolicy::None {
            let finding = ChangeFinding::new(
                BundleFindingSeverity::Error,
                RefusalCode::ValidationError.as_str(),
                format!("Unknown field: {field_path}"),
            );
            result.findings.push(finding.with_field(field_path));
            if self.request.validate == FailedCheckPolicy::Strict {
                return Err(invalid(format!(
                    "Field '{field_path}' does not exist in {} schema. Updates cannot create new fields.",
                    known.name
                )));
            }
        }
        let Some(data) = draft.data.as_mut() else { return Ok(()) };
        set_field(data, &parts, value, self.schema(draft.kind)).map_err(invalid)?;
        let data = data.clone();
        self.check_schema(draft.kind, &data, result, "Schema validation failed after update")?;
        result.file = Some(draft.path.to_string());
        self.drafts.set(&change.entity_id, draft);
        Ok(())
    }

    fn delete(
        &mut self,
        mut draft: EntityDraft,
        change: &EntityChange,
        result: &mut ChangeResult,
    ) -> Result<(), Refusal> {
        let referrers = self.drafts.referrers(&change.entity_id);
        if !referrers.is_empty() {
            let names: Vec<String> =
                referrers.iter().map(|(kind, id, field)| format!("{kind}:{id}.{field}")).collect();
            let (severity, code) = if self.request.allow_orphans {
                (BundleFindingSeverity::Warning, RefusalCode::ReferenceError)
            } else {
                (BundleFindingSeverity::Error, RefusalCode::DeleteBlocked)
            };
            let message = format!("Referenced by: {}", names.join(", "));
            result.findings.push(ChangeFinding::new(severity, code.as_str(), message));
            if !self.request.allow_orphans {
                let (count, kind) = (names.len(), &change.entity_type);
                let message = format!("Cannot delete: {count} entity/entities reference this {kind}");
                return Err(Refusal::new(RefusalCode::DeleteBlocked, message));
            }
        }
        result.file = Some(draft.path.to_string());
        draft.data = None;
        self.drafts.set(&change.entity_id, draft);
        Ok(())
    }

    fn schema(&self, kind: usize) -> Option<&'a EntitySchema> {
        self.bundle().schemas.get(&*self.bundle().kinds[kind].name)
    }

    fn check_schema(
        &self,
        kind: usize,
        data: &OrderedValue,
        result: &mut ChangeResult,
        refusal: &str,
    ) -> Result<(), Refusal> {
        if self.request.validate == FailedCheckPolicy::None {
            return Ok(());
        }
        let name = &self.bundle().kinds[kind].name;
        match self.schema(kind) {
            Some(schema) if schema.is_compiled() => {
                let findings = schema.findings(data);
                result.findings.extend(findings.iter().map(ChangeFinding::of_schema));
                match self.request.validate {
                    FailedCheckPolicy::Strict if !findings.is_empty() => Err(invalid(refusal)),
                    _ => Ok(()),
                }
            }
            None if self.bundle().manifest().schema_path(name).is_none() => Ok(()),
            _ if self.request.validate == FailedCheckPolicy::Warn => Ok(()),
            _ => Err(invalid(format!(
                "The schema of {name} cannot be used, so nothing can be checked: correct it (see validate_bundle), or ask for validate: \"none\""
            ))),
        }
    }

    /// Checks references after all changes, so that new entities may refer to each other.
    pub(super) fn check_references(&self, results: &mut [ChangeResult]) {
        if self.request.references == FailedCheckPolicy::None {
            return;
        }
        for index in 0..results.len() {
            let id = results[index].change.entity_id.clone();
            let is_last = !results[index + 1..]
                .iter()
                .any(|later| later.change.entity_id == id && later.failure.is_none());
            let writes = !matches!(results[index].change.operation, EntityOperation::Delete);
            if !is_last || !writes || results[index].failure.is_some() {
                continue;
            }
            let Some(draft) = self.drafts.get(&id) else { continue };
            for reference in &draft.references {
                let rule = &self.bundle().rules[reference.rule as usize];
                let target = &reference.target;
                let problem = match self.drafts.type_of(target) {
                    None => format!("Reference to non-existent entity: {target}"),
                    Some(kind)
                        if !rule.allowed.is_empty() && !rule.allowed.iter().any(|name| name == kind) =>
                    {
                        format!(
                            "Reference to an entity of another type: {target} is a {kind}, {} is expected",
                            rule.allowed.join(" or ")
                        )
                    }
                    Some(_) => continue,
                };
                let is_strict = self.request.references == FailedCheckPolicy::Strict;
                let severity =
                    if is_strict { BundleFindingSeverity::Error } else { BundleFindingSeverity::Warning };
                let finding = ChangeFinding::new(severity, RefusalCode::ReferenceError.as_str(), problem)
                    .with_field(&rule.field);
                results[index].findings.push(finding);
                if is_strict {
                    let message = format!("Broken reference: {} -> {target}", rule.field);
                    results[index].failure = Some(Refusal::new(RefusalCode::ReferenceError, message));
                }
            }
        }
    }

    /// Adds the entity in its final state to a result.
    pub(super) fn attach_final_entity(&self, result: &mut ChangeResult) {
        let made = matches!(
            result.change.operation,
            EntityOperation::Create { .. } | EntityOperation::Update { .. }
        );
        if made && result.file.is_some() {
            result.entity = self.drafts.get(&result.change.entity_id).and_then(|draft| draft.data.clone());
        }
    }

    pub(super) fn edits(&self) -> Result<Vec<PlannedFileEdit>, Refusal> {
        let mut edits = Vec::new();
        let mut bytes = 0;
        for (id, draft) in self.drafts.touched_entities() {
            let after = match (&draft.data, &draft.before) {
                (None, None) => continue,
                (None, Some(_)) => None,
                (Some(data), Some(before)) if !draft.is_new => {
                    let text = yaml::rewrite(before, data).map_err(|error| {
                        Refusal::new(
                            RefusalCode::Internal,
                            format!("{} cannot be changed: {error}", draft.path),
                        )
                        .details([("entityId", id.into())])
                    })?;
                    Some(text)
                }
                (Some(data), _) => Some(yaml::write(data)),
            };
            bytes += after.as_ref().map_or(0, String::len);
            edits.push(PlannedFileEdit { path: draft.path.clone(), before: draft.before.clone(), after });
        }
        if bytes > MAX_BATCH_BYTES {
            let message = format!("The changes would write more than {MAX_BATCH_BYTES} bytes: split them");
            return Err(Refusal::new(RefusalCode::LimitExceeded, message));
        }
        Ok(edits)
    }
}
