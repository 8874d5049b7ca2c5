//! `get_conformance_context`: the rules of a profile with their linked requirements and features.

use crate::{
    Bundle, BundleEntity, BundleValue, Bundles,
    arguments::CallArguments,
    envelope::{BundleErrorCode, BundleRefusal, BundleToolResponse},
    value::BundleValueMembers,
};

pub(super) fn get(
    bundles: &Bundles,
    arguments: &CallArguments<'_>,
) -> Result<BundleToolResponse, BundleRefusal> {
    let profile_id = arguments.text("profileId")?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let Some(profile_id) = profile_id else {
        let profiles: Vec<BundleValue> = bundle.entities_of("Profile").map(profile_summary).collect();
        let count = profiles.len();
        let data = BundleValue::map([("profiles", profiles.into())]);
        return Ok(BundleToolResponse::new(data).with_bundle_id(bundle.id()).meta([("count", count.into())]));
    };
    let profile = bundle.entity("Profile", profile_id).ok_or_else(|| {
        BundleRefusal::new(BundleErrorCode::NotFound, format!("Profile not found: {profile_id}"))
            .with_details(BundleValue::map([
                ("bundleId", bundle.id().into()),
                ("profileId", profile_id.into()),
            ]))
    })?;
    let rules = rules(bundle, profile);
    let rule_count = rules.len();
    let data = BundleValue::map_of_present([
        ("profile", Some(profile_summary(profile))),
        ("auditTemplate", profile.data().get("auditTemplate").cloned()),
        ("rules", Some(rules.into())),
        ("requiredFeatures", required_features(bundle, profile)),
        ("optionalFeatures", profile.data().get("optionalFeatures").cloned()),
    ]);
    Ok(BundleToolResponse::new(data).with_bundle_id(bundle.id()).meta([("ruleCount", rule_count.into())]))
}

fn profile_summary(profile: &BundleEntity) -> BundleValue {
    BundleValue::map_of_present([
        ("id", Some(profile.id().into())),
        ("title", profile.data().get("title").cloned()),
        ("description", profile.data().get("description").cloned()),
    ])
}

/// Returns a profile's rules, each with the description of its linked requirement.
pub(crate) fn rules(bundle: &Bundle, profile: &BundleEntity) -> Vec<BundleValue> {
    let rules = profile.data().get("conformanceRules").and_then(BundleValue::as_list).unwrap_or_default();
    rules
        .iter()
        .map(|rule| {
            let BundleValue::Map(members) = rule else { return rule.clone() };
            let mut members: BundleValueMembers = members.clone();
            let linked = rule.text("linkedRequirement").and_then(|id| bundle.entity("Requirement", id));
            if let Some(text) = linked.and_then(|requirement| requirement.data().get("description")) {
                members.set("requirementText", text.clone());
            }
            BundleValue::Map(members)
        })
        .collect()
}

fn required_features(bundle: &Bundle, profile: &BundleEntity) -> Option<BundleValue> {
    let ids = profile.data().get("requiresFeatures")?.as_list()?;
    let features = ids.iter().map(|id| {
        let feature = id.as_text().and_then(|id| bundle.entity("Feature", id));
        feature.map_or_else(
            || BundleValue::map([("id", id.clone()), ("_error", "Feature not found".into())]),
            |feature| feature.data().clone(),
        )
    });
    Some(features.collect::<Vec<_>>().into())
}
