//! Deciding what changes would do. Pure: it reads the loaded bundle and nothing else.

use super::{
    draft::{Draft, Drafts},
    request::{Change, Operation, Policy, Request},
    result::{ChangeResult, Failure, Finding},
};
use crate::{
    Bundle, Bundles, Data,
    data::Members,
    diagnostic::Severity,
    envelope::{Answer, Code, Refusal},
    files::BundlePath,
    schema::EntitySchema,
    yaml,
};
use serde_json::Value;
use std::sync::Arc;

/// The longest id, in bytes; a file is named after it.
const LONGEST_ID: usize = 200;
/// How deep a dotted path may lead.
const LONGEST_FIELD_PATH: usize = 20;
/// How much text one batch may write.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// A file that a plan would write or remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    pub(crate) path: BundlePath,
    /// What it must hold for the plan to hold; nothing if it must not be there.
    pub before: Option<Arc<str>>,
    /// What it is to hold; nothing if it is to go.
    pub after: Option<String>,
}

impl FileEdit {
    /// Relative to the bundle.
    pub fn path(&self) -> &str {
        self.path.as_str()
    }
}

/// What a batch of changes would do.
#[derive(Debug, Clone)]
pub struct Plan {
    bundle_id: String,
    request: Request,
    results: Vec<ChangeResult>,
    edits: Vec<FileEdit>,
}

/// Plans the changes that the arguments of `apply_changes` ask for.
pub fn plan(bundles: &Bundles, arguments: &Value) -> Result<Plan, Refusal> {
    let request = Request::read(arguments)?;
    let bundle = bundles.resolve(request.bundle_id.as_deref())?;
    let mut planner = Planner { drafts: Drafts::new(bundle), request: &request };
    let mut results: Vec<ChangeResult> = Vec::new();
    for change in &request.changes {
        let mut result = ChangeResult::new(change);
        result.failure = planner.change(change, &mut result).err();
        results.push(result);
    }
    planner.check_references(&mut results);
    for result in &mut results {
        planner.show(result);
    }
    let edits = planner.edits()?;
    Ok(Plan { bundle_id: bundle.id().to_owned(), request, results, edits })
}

impl Plan {
    pub fn bundle_id(&self) -> &str {
        &self.bundle_id
    }

    pub fn is_dry_run(&self) -> bool {
        self.request.dry_run
    }

    /// Whether all changes can be made.
    pub fn is_possible(&self) -> bool {
        self.results.iter().all(|result| result.failure.is_none())
    }

    /// The files as the changes would leave them.
    pub fn edits(&self) -> &[FileEdit] {
        &self.edits
    }

    /// The answer of `apply_changes`: what would be done or, if it is no dry run, what was.
    pub fn answer(&self) -> Result<Answer, Refusal> {
        let is_written = !self.is_dry_run();
        let results = |applied: bool| -> Data {
            let numbered = self.results.iter().enumerate();
            numbered.map(|(index, result)| result.to_data(index, applied)).collect::<Vec<_>>().into()
        };
        let failed: Vec<Code> =
            self.results.iter().filter_map(|result| Some(result.failure.as_ref()?.code)).collect();
        let echo = [
            ("dryRun", self.is_dry_run().into()),
            ("validate", self.request.validate.as_str().into()),
            ("referencePolicy", self.request.references.as_str().into()),
        ];
        if !failed.is_empty() {
            let [dry_run, validate, references] = echo;
            let details = Data::map([dry_run, validate, references, ("results", results(false))]);
            let message = format!("{} change(s) failed", failed.len());
            return Err(Refusal::new(worst(&failed), message).with(details));
        }
        let files = |gone: bool| {
            let paths = self.edits.iter().filter(|edit| edit.after.is_none() == gone).map(FileEdit::path);
            Data::texts(paths)
        };
        let names = match is_written {
            true => ("applied", "modifiedFiles", "deletedFiles"),
            false => ("wouldApply", "wouldModify", "wouldDelete"),
        };
        let [dry_run, validate, references] = echo;
        let data = Data::map([
            dry_run,
            validate,
            references,
            (names.0, self.results.len().into()),
            (names.1, files(false)),
            (names.2, files(true)),
            ("results", results(is_written)),
        ]);
        let diagnostics = self.results.iter().flat_map(ChangeResult::finding_data).collect();
        let meta = [("changesCount", self.results.len().into())];
        Ok(Answer::new(data).of(&self.bundle_id).meta(meta).diagnostics(diagnostics))
    }
}

/// The code of the whole batch.
fn worst(failed: &[Code]) -> Code {
    [Code::NotFound, Code::DeleteBlocked, Code::ReferenceError]
        .into_iter()
        .find(|code| failed.contains(code))
        .unwrap_or(Code::ValidationError)
}

struct Planner<'a> {
    drafts: Drafts<'a>,
    request: &'a Request,
}

impl<'a> Planner<'a> {
    fn bundle(&self) -> &'a Bundle {
        self.drafts.bundle
    }

    fn change(&mut self, change: &Change, result: &mut ChangeResult) -> Result<(), Failure> {
        let kind = self.bundle().kind_index(&change.entity_type);
        let unknown_type =
            || Failure::new(Code::NotFound, format!("Unknown entity type: {}", change.entity_type));
        let unknown = || {
            let message = format!("Entity not found: {}/{}", change.entity_type, change.entity_id);
            Failure::new(Code::NotFound, message)
        };
        match &change.operation {
            Operation::Create { data } => {
                self.create(kind.ok_or_else(unknown_type)?, change, data.as_ref(), result)
            }
            Operation::Update { field_path, value } => {
                let Some(field_path) = field_path else {
                    return Err(Failure::new(Code::BadRequest, "Update operation requires fieldPath"));
                };
                let draft =
                    kind.and_then(|kind| self.drafts.of(kind, &change.entity_id)).ok_or_else(unknown)?;
                self.update(draft, change, field_path, value.as_ref(), result)
            }
            Operation::Delete => {
                let draft =
                    kind.and_then(|kind| self.drafts.of(kind, &change.entity_id)).ok_or_else(unknown)?;
                self.delete(draft, change, result)
            }
        }
    }

    fn create(
        &mut self,
        kind: usize,
        change: &Change,
        data: Option<&Data>,
        result: &mut ChangeResult,
    ) -> Result<(), Failure> {
        let id = change.entity_id.as_str();
        let known = &self.bundle().kinds[kind];
        check_id(id)?;
        if let Some(other) = self.drafts.type_of(id) {
            return Err(Failure::invalid(if other == change.entity_type {
                format!("Entity {other}:{id} already exists in bundle.")
            } else {
                format!("The id {id} is taken by {other}:{id}; ids are unique in the whole bundle.")
            }));
        }
        let data = entity_data(data, &known.info.id_field, id, self.schema(kind))?;
        let folder = known.folder.as_ref().ok_or_else(|| {
            Failure::invalid(format!("{} has no folder inside the bundle; correct its directory", known.name))
        })?;
        let name = known.info.file_name(self.bundle().manifest(), id);
        let path = folder.join(&name).map_err(|problem| Failure::invalid(problem.to_string()))?;
        if path.split().0 != folder.parts() || !(name.ends_with(".yaml") || name.ends_with(".yml")) {
            return Err(Failure::invalid(format!(
                "{path} would not be read as {}; correct its filePattern",
                known.name
            )));
        }
        if self.drafts.is_taken(kind, &path) {
            return Err(Failure::invalid(format!("The file {path} is there already; choose another id")));
        }
        let before =
            self.drafts.deleted(id).filter(|draft| draft.path == path).and_then(|draft| draft.before.clone());
        self.check_schema(kind, &data, result, "Schema validation failed")?;
        result.file = Some(path.to_string());
        let draft = Draft { kind, path, before, data: Some(data), is_new: true, references: Vec::new() };
        self.drafts.set(id, draft);
        Ok(())
    }

    fn update(
        &mut self,
        mut draft: Draft,
        change: &Change,
        field_path: &str,
        value: Option<&Data>,
        result: &mut ChangeResult,
    ) -> Result<(), Failure> {
        let parts: Vec<&str> = field_path.split('.').collect();
        let known = &self.bundle().kinds[draft.kind];
        if parts.len() > LONGEST_FIELD_PATH || parts.iter().any(|part| part.is_empty()) {
            return Err(Failure::invalid(format!(
                "{field_path:?} is not a path of field names with dots between"
            )));
        }
        if parts == [known.info.id_field.as_str()] {
            let message = "The id cannot be changed: delete the entity and create it under the new id";
            return Err(Failure::invalid(message));
        }
        let declared = self.schema(draft.kind).is_none_or(|schema| schema.declares(&parts));
        if !declared && self.request.validate != Policy::None {
            let finding = Finding::new(
                Severity::Error,
                Code::ValidationError.as_str(),
                format!("Unknown field: {field_path}"),
            );
            result.findings.push(finding.at(field_path));
            if self.request.validate == Policy::Strict {
                return Err(Failure::invalid(format!(
                    "Field '{field_path}' does not exist in {} schema. Updates cannot create new fields.",
                    known.name
                )));
            }
        }
        let Some(data) = draft.data.as_mut() else { return Ok(()) };
        set_field(data, &parts, value, self.schema(draft.kind)).map_err(Failure::invalid)?;
        let data = data.clone();
        self.check_schema(draft.kind, &data, result, "Schema validation failed after update")?;
        result.file = Some(draft.path.to_string());
        self.drafts.set(&change.entity_id, draft);
        Ok(())
    }

    fn delete(
        &mut self,
        mut draft: Draft,
        change: &Change,
        result: &mut ChangeResult,
    ) -> Result<(), Failure> {
        let referrers = self.drafts.referrers(&change.entity_id);
        if !referrers.is_empty() {
            let names: Vec<String> =
                referrers.iter().map(|(kind, id, field)| format!("{kind}:{id}.{field}")).collect();
            let (severity, code) = if self.request.may_orphan {
                (Severity::Warning, Code::ReferenceError)
            } else {
                (Severity::Error, Code::DeleteBlocked)
            };
            let message = format!("Referenced by: {}", names.join(", "));
            result.findings.push(Finding::new(severity, code.as_str(), message));
            if !self.request.may_orphan {
                let (count, kind) = (names.len(), &change.entity_type);
                let message = format!("Cannot delete: {count} entity/entities reference this {kind}");
                return Err(Failure::new(Code::DeleteBlocked, message));
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
        data: &Data,
        result: &mut ChangeResult,
        refusal: &str,
    ) -> Result<(), Failure> {
        if self.request.validate == Policy::None {
            return Ok(());
        }
        let name = &self.bundle().kinds[kind].name;
        match self.schema(kind) {
            Some(schema) if schema.is_compiled() => {
                let findings = schema.findings(data);
                result.findings.extend(findings.iter().map(Finding::of_schema));
                match self.request.validate {
                    Policy::Strict if !findings.is_empty() => Err(Failure::invalid(refusal)),
                    _ => Ok(()),
                }
            }
            None if self.bundle().manifest().schema_path(name).is_none() => Ok(()),
            _ if self.request.validate == Policy::Warn => Ok(()),
            _ => Err(Failure::invalid(format!(
                "The schema of {name} cannot be used, so nothing can be checked: correct it (see validate_bundle), or ask for validate: \"none\""
            ))),
        }
    }

    /// References are looked at when all changes are made, so that new entities may refer to each other.
    fn check_references(&self, results: &mut [ChangeResult]) {
        if self.request.references == Policy::None {
            return;
        }
        for index in 0..results.len() {
            let id = results[index].change.entity_id.clone();
            let is_last = !results[index + 1..]
                .iter()
                .any(|later| later.change.entity_id == id && later.failure.is_none());
            let writes = !matches!(results[index].change.operation, Operation::Delete);
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
                let is_strict = self.request.references == Policy::Strict;
                let severity = if is_strict { Severity::Error } else { Severity::Warning };
                let finding = Finding::new(severity, Code::ReferenceError.as_str(), problem).at(&rule.field);
                results[index].findings.push(finding);
                if is_strict {
                    let message = format!("Broken reference: {} -> {target}", rule.field);
                    results[index].failure = Some(Failure::new(Code::ReferenceError, message));
                }
            }
        }
    }

    /// Puts the entity as the batch leaves it into a result.
    fn show(&self, result: &mut ChangeResult) {
        let made = matches!(result.change.operation, Operation::Create { .. } | Operation::Update { .. });
        if made && result.file.is_some() {
            result.entity = self.drafts.get(&result.change.entity_id).and_then(|draft| draft.data.clone());
        }
    }

    fn edits(&self) -> Result<Vec<FileEdit>, Refusal> {
        let mut edits = Vec::new();
        let mut bytes = 0;
        for (id, draft) in self.drafts.touched() {
            let after = match (&draft.data, &draft.before) {
                (None, None) => continue,
                (None, Some(_)) => None,
                (Some(data), Some(before)) if !draft.is_new => {
                    let text = yaml::rewrite(before, data).map_err(|error| {
                        Refusal::new(Code::Internal, format!("{} cannot be changed: {error}", draft.path))
                            .with(Data::map([("entityId", id.into())]))
                    })?;
                    Some(text)
                }
                (Some(data), _) => Some(yaml::write(data)),
            };
            bytes += after.as_ref().map_or(0, String::len);
            edits.push(FileEdit { path: draft.path.clone(), before: draft.before.clone(), after });
        }
        if bytes > MOST_BYTES {
            let message = format!("The changes would write more than {MOST_BYTES} bytes: split them");
            return Err(Refusal::new(Code::LimitExceeded, message));
        }
        Ok(edits)
    }
}

fn check_id(id: &str) -> Result<(), Failure> {
    let odd = |c: char| c.is_control() || matches!(c, '/' | '\\' | '\u{2028}' | '\u{2029}');
    if id.trim().is_empty()
        || id != id.trim()
        || id.len() > LONGEST_ID
        || id.starts_with('.')
        || id.contains(odd)
    {
        return Err(Failure::invalid(format!(
            "{id:?} cannot be an id, which also names a file: at most {LONGEST_ID} bytes, no slashes or control characters, no dot in front, no blanks around"
        )));
    }
    Ok(())
}

/// The data of a new entity, with its id in it and its fields in the order of the schema.
fn entity_data(
    data: Option<&Data>,
    id_field: &str,
    id: &str,
    schema: Option<&EntitySchema>,
) -> Result<Data, Failure> {
    let mut members = match data {
        None => Members::default(),
        Some(Data::Map(members)) => members.clone(),
        Some(_) => return Err(Failure::invalid("data must be an object")),
    };
    match members.get(id_field) {
        None => {
            members.set(id_field, id.into());
            members.sort_by_rank(|key| usize::from(key != id_field));
        }
        Some(given) if given.as_text() == Some(id) => {}
        Some(given) => {
            let given = serde_json::to_string(given).unwrap_or_default();
            return Err(Failure::invalid(format!(
                "entityId is {id:?} but data.{id_field} is {given}: they must be equal"
            )));
        }
    }
    let mut data = Data::Map(members);
    if let Some(schema) = schema {
        order_by(&mut data, &schema.data);
    }
    if let Data::Map(members) = &mut data {
        members.sort_by_rank(|key| usize::from(key != id_field));
    }
    Ok(data)
}

/// Puts members in the order of a schema's properties, at every level. JSON has lost the order they were given in.
fn order_by(data: &mut Data, schema: &Data) {
    match data {
        Data::Map(members) => {
            let Some(properties) = schema.get("properties").and_then(Data::as_map) else { return };
            let rank = |key: &str| properties.iter().position(|(name, _)| name == key).unwrap_or(usize::MAX);
            members.sort_by_rank(rank);
            for (name, property) in properties.iter() {
                if let Some(value) = members.get_mut(name) {
                    order_by(value, property);
                }
            }
        }
        Data::List(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| order_by(item, schema));
            }
        }
        _ => {}
    }
}

/// Sets the field at the end of a path, making the mappings on the way; without a value it is removed.
fn set_field(
    data: &mut Data,
    parts: &[&str],
    value: Option<&Data>,
    schema: Option<&EntitySchema>,
) -> Result<(), String> {
    let Some((first, rest)) = parts.split_first() else { return Ok(()) };
    let wrong = |found: &str| Err(format!("{first} cannot be set inside {found}"));
    match data {
        Data::Map(members) if rest.is_empty() => {
            match value {
                Some(value) => {
                    let mut value = value.clone();
                    if let Some(property) =
                        schema.and_then(|schema| schema.properties()).and_then(|all| all.get(first))
                    {
                        order_by(&mut value, property);
                    }
                    members.set(first, value);
                }
                None => members.remove(first),
            }
            Ok(())
        }
        Data::Map(members) => {
            if members.get(first).is_none_or(Data::is_null) {
                if value.is_none() {
                    return Ok(());
                }
                members.set(first, Data::Map(Members::default()));
            }
            members.get_mut(first).map_or(Ok(()), |inside| set_field(inside, rest, value, None))
        }
        Data::List(items) => {
            let index: usize = first.parse().map_err(|_| format!("{first:?} is not a position in a list"))?;
            match (items.get_mut(index), rest.is_empty(), value) {
                (Some(item), false, _) => set_field(item, rest, value, None),
                (Some(item), true, Some(value)) => {
                    *item = value.clone();
                    Ok(())
                }
                (Some(_), true, None) => {
                    items.remove(index);
                    Ok(())
                }
                (None, ..) => Err(format!("The list has no item {index}")),
            }
        }
        Data::Text(_) => wrong("a text"),
        _ => wrong("a value that is no mapping"),
    }
}
