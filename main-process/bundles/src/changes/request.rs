//! The request of `apply_changes`.

use crate::{
    Data,
    arguments::Arguments,
    envelope::{Code, Refusal},
};
use serde_json::Value;

/// The maximum number of changes in one call.
const MOST_CHANGES: usize = 1_000;

/// The reaction to a failed check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Policy {
    /// Refuses the change.
    Strict,
    /// Reports a warning and applies the change.
    Warn,
    None,
}

impl Policy {
    fn read(arguments: &Arguments<'_>, name: &str) -> Result<Self, Refusal> {
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
pub(super) struct Request {
    pub(super) bundle_id: Option<String>,
    pub(super) changes: Vec<Change>,
    pub(super) dry_run: bool,
    pub(super) validate: Policy,
    pub(super) references: Policy,
    /// Allows deleting an entity that others reference.
    pub(super) may_orphan: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) operation: Operation,
    pub(super) entity_type: String,
    pub(super) entity_id: String,
}

#[derive(Debug, Clone)]
pub(super) enum Operation {
    Create {
        data: Option<Data>,
    },
    /// Removes the field if there is no value.
    Update {
        field_path: Option<String>,
        value: Option<Data>,
    },
    Delete,
}

impl Operation {
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Update { .. } => "update",
            Self::Delete => "delete",
        }
    }
}

impl Request {
    pub(super) fn read(arguments: &Value) -> Result<Self, Refusal> {
        let arguments = Arguments::of(arguments)?;
        let changes = arguments.objects("changes")?;
        if changes.len() > MOST_CHANGES {
            let message =
                format!("changes may hold {MOST_CHANGES} at most, not {}: split them", changes.len());
            return Err(Refusal::new(Code::LimitExceeded, message).about("changes"));
        }
        Ok(Self {
            bundle_id: arguments.text("bundleId")?.map(str::to_owned),
            changes: changes.iter().map(Change::read).collect::<Result<_, _>>()?,
            dry_run: arguments.flag("dryRun", true)?,
            validate: Policy::read(&arguments, "validate")?,
            references: Policy::read(&arguments, "referencePolicy")?,
            may_orphan: arguments.one_of("deleteMode", &["restrict", "orphan"], "restrict")? == "orphan",
        })
    }
}

impl Change {
    fn read(arguments: &Arguments<'_>) -> Result<Self, Refusal> {
        let kinds = ["create", "update", "delete"];
        let operation = arguments.one_of("operation", &kinds, "")?;
        let operation = match operation {
            "create" => Operation::Create { data: arguments.get("data").map(Data::from) },
            "update" => Operation::Update {
                field_path: arguments.text("fieldPath")?.map(str::to_owned),
                value: arguments.get("value").map(Data::from),
            },
            "delete" => Operation::Delete,
            _ => {
                let message = format!("operation must be one of {}", kinds.join(", "));
                return Err(Refusal::new(Code::BadRequest, message).about("operation"));
            }
        };
        Ok(Self {
            operation,
            entity_type: arguments.required_text("entityType")?.to_owned(),
            entity_id: arguments.required_text("entityId")?.to_owned(),
        })
    }
}
