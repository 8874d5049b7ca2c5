//! `get_conformance_context`: the rules of a profile with their linked requirements and features.

use crate::{
    Bundle, Bundles, Data, Entity,
    arguments::Arguments,
    data::Members,
    envelope::{Answer, Code, Refusal},
};

pub(super) fn get(bundles: &Bundles, arguments: &Arguments<'_>) -> Result<Answer, Refusal> {
    let profile_id = arguments.text("profileId")?;
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    let Some(profile_id) = profile_id else {
        let profiles: Vec<Data> = bundle.entities_of("Profile").map(head).collect();
        let count = profiles.len();
        let data = Data::map([("profiles", profiles.into())]);
        return Ok(Answer::new(data).of(bundle.id()).meta([("count", count.into())]));
    };
    let profile = bundle.entity("Profile", profile_id).ok_or_else(|| {
        Refusal::new(Code::NotFound, format!("Profile not found: {profile_id}"))
            .with(Data::map([("bundleId", bundle.id().into()), ("profileId", profile_id.into())]))
    })?;
    let rules = rules(bundle, profile);
    let rule_count = rules.len();
    let data = Data::map_of_some([
        ("profile", Some(head(profile))),
        ("auditTemplate", profile.data().get("auditTemplate").cloned()),
        ("rules", Some(rules.into())),
        ("requiredFeatures", required_features(bundle, profile)),
        ("optionalFeatures", profile.data().get("optionalFeatures").cloned()),
    ]);
    Ok(Answer::new(data).of(bundle.id()).meta([("ruleCount", rule_count.into())]))
}

fn head(profile: &Entity) -> Data {
    Data::map_of_some([
        ("id", Some(profile.id().into())),
        ("title", profile.data().get("title").cloned()),
        ("description", profile.data().get("description").cloned()),
    ])
}

/// Returns a profile's rules, each with the description of its linked requirement.
pub(crate) fn rules(bundle: &Bundle, profile: &Entity) -> Vec<Data> {
    let rules = profile.data().get("conformanceRules").and_then(Data::as_list).unwrap_or_default();
    rules
        .iter()
        .map(|rule| {
            let Data::Map(members) = rule else { return rule.clone() };
            let mut members: Members = members.clone();
            let linked = rule.text("linkedRequirement").and_then(|id| bundle.entity("Requirement", id));
            if let Some(text) = linked.and_then(|requirement| requirement.data().get("description")) {
                members.set("requirementText", text.clone());
            }
            Data::Map(members)
        })
        .collect()
}

fn required_features(bundle: &Bundle, profile: &Entity) -> Option<Data> {
    let ids = profile.data().get("requiresFeatures")?.as_list()?;
    let features = ids.iter().map(|id| {
        let feature = id.as_text().and_then(|id| bundle.entity("Feature", id));
        feature.map_or_else(
            || Data::map([("id", id.clone()), ("_error", "Feature not found".into())]),
            |feature| feature.data().clone(),
        )
    });
    Some(features.collect::<Vec<_>>().into())
}
