//! The v0 workbench shapes that Draftboard reads or writes: props and their controls in component files, overrides in
//! calls of agents and in stored files.
//!
//! Decode with `serde_json::from_str` / `from_value`. As in v0, unknown keys are dropped, ids are free strings and an
//! absent optional field stays absent when written back. Decoding is stricter than plain serde derives: it refuses an
//! array for an object, a number for a tag, and `null` for an absent field. (Do not call `Shape::deserialize(..)` by
//! that path: the helper derive of the same name skips these checks.)
//!
//! Stricter than v0, where v0 had known errors: prop paths must be JSON Pointers, `min` must not exceed `max`, and
//! `pattern` must compile.

mod common;
mod overrides;
mod pointer;
mod registry;
mod strict;
mod time;

pub use common::{FiniteNumber, PreviewLogLevel, SchemaVersion, ValidationCode};
pub use overrides::{OverrideOp, PersistedOverride, PersistedOverrideList, PersistedOverridesFile};
pub use pointer::{JsonPointer, JsonPointerError};
pub use registry::{
    ColorFormat, ControlDefinition, DisplayHint, PropConstraints, PropExposure, SelectOption,
};
pub use strict::UnknownValue;
pub use time::{UtcTimestamp, UtcTimestampError};
