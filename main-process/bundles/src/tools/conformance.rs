//! `get_conformance_context`: the rules of a profile with their linked requirements and features.

use crate::{
    Bundle, BundleEntity, Bundles,
    arguments::CallArguments,
    envelope::{BundleToolResponse, ToolResult},
};
use shared_protocol::{OrderedMembers, OrderedValue, Refusal, RefusalCode};

pub(super) fn get(bundles: &Bundles, arguments: &CallArguments<'_>) -> ToolResult {
    let profile_id = arguments.text("profileId")?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let Some(profile_id) = profile_id else {
        let profiles: Vec<OrderedValue> = bundle.entities_of("Profile").map(profile_summary).collect();
        let count = profiles.len();
        let data = OrderedValue::map([("profiles", profiles.into())]);
        return Ok(BundleToolResponse::new(data).with_bundle_id(bundle.id()).meta([("count", count.into())]));
    };
    let profile = bundle.entity("Profile", profile_id).ok_or_else(|| {
        Refusal::new(RefusalCode::NotFound, format!("Profile not found: {profile_id}"))
            .details([("bundleId", bundle.id().into()), ("profileId", profile_id.into())])
    })?;
    let rules = rules(bundle, profile);
    let rule_count = rules.len();
    let data = OrderedValue::map_of_present([
        ("profile", Some(profile_summary(profile))),
        ("auditTemplate", profile.data().get("auditTemplate").cloned()),
        ("rules", Some(rules.into())),
        ("requiredFeatures", required_features(bundle, profile)),
        ("optionalFeatures", profile.data().get("optionalFeatures").cloned()),
    ]);
    Ok(BundleToolResponse::new(data).with_bundle_id(bundle.id()).meta([("ruleCount", rule_count.into())]))
}

fn profile_summary(profile: &BundleEntity) -> OrderedValue {
    OrderedValue::map_of_present([
        ("id", Some(profile.id().into())),
        ("title", profile.data().get("title").cloned()),
        ("description", profile.data().get("description").cloned()),
    ])
}

/// Returns a profile's rules, each with the description of its linked requirement.
pub(crate) fn rules(bundle: &Bundle, profile: &BundleEntity) -> Vec<OrderedValue> {
    let rules = profile.data().get("conformanceRules").and_then(OrderedValue::as_list).unwrap_or_default();
    rules
        .iter()
        .map(|rule| {
            let OrderedValue::Map(members) = rule else { return rule.clone() };
            let mut members: OrderedMembers = members.clone();
            let linked = rule.text("linkedRequirement").and_then(|id| bundle.entity("Requirement", id));
            if let Some(text) = linked.and_then(|requirement| requirement.data().get("description")) {
                members.set("requirementText", text.clone());
            }
            OrderedValue::Map(members)
        })
        .collect()
}

fn required_features(bundle: &Bundle, profile: &BundleEntity) -> Option<OrderedValue> {
    let ids = profile.data().get("requiresFeatures")?.as_list()?;
    let features = ids.iter().map(|id| {
        let feature = id.as_text().and_then(|id| bundle.entity("Feature", id));
        feature.map_or_else(
            || OrderedValue::map([("id", id.clone()), ("_error", "Feature not found".into())]),
            |feature| feature.data().clone(),
        )
    });
    Some(features.collect::<Vec<_>>().into())
}
