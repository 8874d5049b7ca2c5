//! `validate_bundle`: the findings about a bundle in its current state on disk.

use crate::{
    Bundle, BundleFinding, Bundles,
    arguments::CallArguments,
    envelope::{BundleToolResponse, ToolResult},
};
use shared_protocol::{OrderedValue, Refusal, RefusalCode};
use std::borrow::Cow;

pub(super) fn validate(bundles: &Bundles, arguments: &CallArguments<'_>) -> ToolResult {
    let bundle_id = arguments.text("bundleId")?;
    if bundle_id == Some("all") || (bundle_id.is_none() && bundles.iter().len() > 1) {
        return validate_all(bundles);
    }
    let bundle = reload(bundles.resolve(bundle_id)?)?;
    let found = bundle.diagnostics();
    let errors = found.iter().filter(|diagnostic| diagnostic.is_error()).count();
    let summary = OrderedValue::map([
        ("totalErrors", errors.into()),
        ("totalWarnings", (found.len() - errors).into()),
        ("isValid", (errors == 0).into()),
    ]);
    let diagnostics = found.iter().map(BundleFinding::to_data).collect();
    Ok(BundleToolResponse::new(OrderedValue::map([("summary", summary)]))
        .with_bundle_id(bundle.id())
        .diagnostics(diagnostics))
}

fn validate_all(bundles: &Bundles) -> ToolResult {
    let mut errors = 0;
    let mut diagnostics = Vec::new();
    for bundle in bundles.iter() {
        let bundle = reload(bundle)?;
        errors += bundle.diagnostics().iter().filter(|diagnostic| diagnostic.is_error()).count();
        diagnostics.extend(
            bundle.diagnostics().iter().map(|diagnostic| diagnostic.to_data_with_bundle(bundle.id())),
        );
    }
    let count = bundles.iter().len();
    let summary = OrderedValue::map([
        ("bundlesChecked", count.into()),
        ("totalErrors", errors.into()),
        ("totalWarnings", (diagnostics.len() - errors).into()),
        ("isValid", (errors == 0).into()),
    ]);
    let answer = BundleToolResponse::new(OrderedValue::map([("summary", summary)]))
        .meta([("bundleCount", count.into())]);
    Ok(answer.diagnostics(diagnostics))
}

/// Returns the bundle with the changes on disk since it was read.
fn reload(bundle: &Bundle) -> Result<Cow<'_, Bundle>, Refusal> {
    match bundle.reload_if_changed() {
        Ok(None) => Ok(Cow::Borrowed(bundle)),
        Ok(Some(fresh)) => Ok(Cow::Owned(fresh)),
        Err(error) => Err(Refusal::new(RefusalCode::Internal, error.to_string())),
    }
}
