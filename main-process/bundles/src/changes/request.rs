//! The request of `apply_changes`.

use crate::arguments::CallArguments;
use serde_json::Value;
use shared_protocol::{OrderedValue, Refusal, RefusalCode};

/// The maximum number of changes in one call.
const MAX_CHANGES: usize = 1_000;

/// The reaction to a failed check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailedCheckPolicy {
    /// Refuses the change.
    Strict,
    /// Reports a warning and applies the change.
    Warn,
    None,
}

impl FailedCheckPolicy {
    fn read(arguments: &CallArguments<'_>, name: &str) -> Result<Self, Refusal> {
        // A dry run is strict too, so that a clean dry run guarantees a successful write.
        Ok(match arguments.one_of(name, &["strict", "warn", "none"], "strict")? {
            "strict" => Self::Strict,
            "warn" => Self::Warn,
            _ => Self::None,
        })
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Warn => "warn",
            Self::None => "none",
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct ApplyChangesRequest {
    pub(super) bundle_id: Option<String>,
    pub(super) changes: Vec<EntityChange>,
    pub(super) dry_run: bool,
    pub(super) validate: FailedCheckPolicy,
    pub(super) references: FailedCheckPolicy,
    /// Allows deleting an entity that others reference.
    pub(super) allow_orphans: bool,
}

#[derive(Debug, Clone)]
pub(super) struct EntityChange {
    pub(super) operation: EntityOperation,
    pub(super) entity_type: String,
    pub(super) entity_id: String,
}

#[derive(Debug, Clone)]
pub(super) enum EntityOperation {
    Create {
        data: Option<OrderedValue>,
    },
    /// Removes the field if there is no value.
    Update {
        field_path: Option<String>,
        value: Option<OrderedValue>,
    },
    Delete,
}

impl EntityOperation {
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Update { .. } => "update",
            Self::Delete => "delete",
        }
    }
}

impl ApplyChangesRequest {
    pub(super) fn read(arguments: &Value) -> Result<Self, Refusal> {
        let arguments = CallArguments::parse(arguments)?;
        let changes = arguments.objects("changes")?;
        if changes.len() > MAX_CHANGES {
            let message =
                format!("changes may hold {MAX_CHANGES} at most, not {}: split them", changes.len());
            return Err(Refusal::new(RefusalCode::LimitExceeded, message).field("changes"));
        }
        Ok(Self {
            bundle_id: arguments.text("bundleId")?.map(str::to_owned),
            changes: changes.iter().map(EntityChange::read).collect::<Result<_, _>>()?,
            dry_run: arguments.flag("dryRun", true)?,
            validate: FailedCheckPolicy::read(&arguments, "validate")?,
            references: FailedCheckPolicy::read(&arguments, "referencePolicy")?,
            allow_orphans: arguments.one_of("deleteMode", &["restrict", "orphan"], "restrict")? == "orphan",
        })
    }
}

impl EntityChange {
    fn read(arguments: &CallArguments<'_>) -> Result<Self, Refusal> {
        let kinds = ["create", "update", "delete"];
        let operation = arguments.one_of("operation", &kinds, "")?;
        let operation = match operation {
            "create" => EntityOperation::Create { data: arguments.get("data").map(OrderedValue::from) },
            "update" => EntityOperation::Update {
                field_path: arguments.text("fieldPath")?.map(str::to_owned),
                value: arguments.get("value").map(OrderedValue::from),
            },
            "delete" => EntityOperation::Delete,
            _ => {
                let message = format!("operation must be one of {}", kinds.join(", "));
                return Err(Refusal::new(RefusalCode::BadRequest, message).field("operation"));
            }
        };
        Ok(Self {
            operation,
            entity_type: arguments.required_text("entityType")?.to_owned(),
            entity_id: arguments.required_text("entityId")?.to_owned(),
        })
    }
}
