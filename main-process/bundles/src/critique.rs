//! `critique_bundle`: builds the request for the client's model and evaluates its reply. Does not send the request.
//!
//! The request contains no entity content; the model can read it with the other tools. The reply is untrusted input and
//! is validated.

use crate::{
    Bundle, Bundles,
    arguments::CallArguments,
    envelope::{BundleToolEnvelope, BundleToolResponse, ToolResult},
};
use serde_json::Value;
use shared_protocol::{OrderedValue, Refusal, RefusalCode};
use std::fmt::Write as _;

const TOOL: &str = "critique_bundle";
const MAX_REPLY_TOKENS: usize = 2000;
/// The maximum size of a reply, and the maximum number of findings in it.
const MAX_REPLY_BYTES: usize = 256 * 1024;
const MAX_FINDINGS: usize = 500;
const VERDICTS: [&str; 3] = ["APPROVED", "NEEDS_WORK", "REJECTED"];
const CATEGORIES: [&str; 5] = ["completeness", "clarity", "connectivity", "consistency", "consumability"];

/// A critique that waits for the reply of the client's model.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingCritique {
    bundle_id: String,
    threshold: usize,
    /// The parameters of `sampling/createMessage`.
    pub request: OrderedValue,
}

/// Starts a critique. Returns the request for the client's model, or the error envelope.
pub fn begin_critique(
    bundles: &Bundles,
    arguments: &Value,
) -> Result<PendingCritique, Box<BundleToolEnvelope>> {
    begin(bundles, arguments).map_err(|refusal| Box::new(envelope(Err(refusal))))
}

fn begin(bundles: &Bundles, arguments: &Value) -> Result<PendingCritique, Refusal> {
    let arguments = CallArguments::parse(arguments)?;
    let threshold = arguments.count("threshold", 5, 10)?;
    if threshold == 0 {
        return Err(
            Refusal::new(RefusalCode::BadRequest, "threshold must be from 1 to 10").field("threshold")
        );
    }
    let bundle = bundles.resolve(arguments.text("bundleId")?)?;
    Ok(PendingCritique { bundle_id: bundle.id().to_owned(), threshold, request: request(bundle) })
}

/// Returns the refusal for clients without sampling.
pub(crate) fn unsupported(bundles: &Bundles, arguments: &Value) -> ToolResult {
    let critique = begin(bundles, arguments)?;
    let message = "MCP sampling is not supported by this client. The critique_bundle tool requires sampling capability.";
    Err(Refusal::new(RefusalCode::UnsupportedCapability, message).details([
        ("bundleId", critique.bundle_id.into()),
        ("hint", "Use Claude Desktop or another MCP client that supports sampling.".into()),
        ("alternative", "Use the bundle-health prompt instead.".into()),
    ]))
}

impl PendingCritique {
    /// Evaluates the model's reply.
    pub fn answer(&self, reply: &str, model: &str) -> BundleToolEnvelope {
        let result = self.evaluate_reply(reply).map(|data| {
            let meta = [("samplingUsed", true.into()), ("model", model.into())];
            BundleToolResponse::new(data).with_bundle_id(&self.bundle_id).meta(meta)
        });
        envelope(result.map_err(|problem| {
            let shown: String = reply.chars().take(2000).collect();
            let details = [("bundleId", self.bundle_id.as_str().into()), ("rawResponse", shown.into())];
            Refusal::new(RefusalCode::Internal, format!("Failed to parse critique response: {problem}"))
                .details(details)
        }))
    }

    /// Returns the error envelope when the client did not reply.
    pub fn failure_envelope(&self, problem: &str) -> BundleToolEnvelope {
        let details = [("bundleId", self.bundle_id.as_str().into())];
        let message = format!("Sampling request failed: {problem}");
        envelope(Err(Refusal::new(RefusalCode::Internal, message).details(details)))
    }

    fn evaluate_reply(&self, reply: &str) -> Result<OrderedValue, String> {
        if reply.len() > MAX_REPLY_BYTES {
            return Err(format!("The response is longer than {MAX_REPLY_BYTES} bytes"));
        }
        let object = reply.find('{').zip(reply.rfind('}')).filter(|(start, end)| start < end);
        let (start, end) = object.ok_or("No JSON object found in response")?;
        let reply: OrderedValue =
            serde_json::from_str(&reply[start..=end]).map_err(|error| error.to_string())?;
        let verdict = reply.text("verdict").filter(|verdict| VERDICTS.contains(verdict));
        let verdict = verdict.ok_or_else(|| format!("verdict must be one of {}", VERDICTS.join(", ")))?;
        let overall = score(&reply, "overallScore")?;
        let findings =
            reply.get("findings").and_then(OrderedValue::as_list).ok_or("findings must be a list")?;
        if findings.len() > MAX_FINDINGS {
            return Err(format!("More than {MAX_FINDINGS} findings"));
        }
        let mut kept = Vec::new();
        for finding in findings {
            if score(finding, "score")? >= self.threshold as f64 {
                kept.push(validated_finding(finding)?);
            }
        }
        let filtered_out = findings.len() - kept.len();
        Ok(OrderedValue::map([
            ("verdict", verdict.into()),
            ("overallScore", serde_json::Number::from_f64(overall).map_or(OrderedValue::Null, number)),
            ("threshold", self.threshold.into()),
            ("findings", kept.into()),
            ("totalFindings", findings.len().into()),
            ("filteredOut", filtered_out.into()),
        ]))
    }
}

/// Writes whole numbers without a fraction.
fn number(number: serde_json::Number) -> OrderedValue {
    let whole = number.as_f64().filter(|value| value.fract() == 0.0);
    whole
        .and_then(|value| format!("{value}").parse::<usize>().ok())
        .map_or(OrderedValue::Number(number), OrderedValue::from)
}

fn score(data: &OrderedValue, key: &str) -> Result<f64, String> {
    let score = match data.get(key) {
        Some(OrderedValue::Number(number)) => number.as_f64(),
        _ => None,
    };
    score.filter(|score| (1.0..=10.0).contains(score)).ok_or_else(|| format!("{key} must be from 1 to 10"))
}

/// Validates a finding and drops unknown members.
fn validated_finding(finding: &OrderedValue) -> Result<OrderedValue, String> {
    let text = |key: &str| finding.text(key).map(OrderedValue::from);
    let category = finding.text("category").filter(|category| CATEGORIES.contains(category));
    let category = category.ok_or_else(|| format!("category must be one of {}", CATEGORIES.join(", ")))?;
    Ok(OrderedValue::map_of_present([
        ("score", finding.get("score").cloned()),
        ("category", Some(category.into())),
        ("entityId", text("entityId")),
        ("issue", Some(text("issue").ok_or("issue must be a text")?)),
        ("suggestion", text("suggestion")),
    ]))
}

fn envelope(result: ToolResult) -> BundleToolEnvelope {
    BundleToolEnvelope { tool: TOOL.to_owned(), result }
}

fn request(bundle: &Bundle) -> OrderedValue {
    let message = OrderedValue::map([
        ("role", "user".into()),
        ("content", OrderedValue::map([("type", "text".into()), ("text", prompt(bundle).into())])),
    ]);
    let hints = ["claude-3-sonnet", "claude-3", "gpt-4o", "gpt-4"];
    let hints: Vec<OrderedValue> =
        hints.into_iter().map(|name| OrderedValue::map([("name", name.into())])).collect();
    let priority = serde_json::Number::from_f64(0.8).map_or(OrderedValue::Null, OrderedValue::Number);
    OrderedValue::map([
        ("messages", vec![message].into()),
        ("maxTokens", MAX_REPLY_TOKENS.into()),
        ("includeContext", "thisServer".into()),
        (
            "modelPreferences",
            OrderedValue::map([("hints", hints.into()), ("intelligencePriority", priority)]),
        ),
    ])
}

fn prompt(bundle: &Bundle) -> String {
    let metadata = |key: &str| bundle.manifest().metadata(key).unwrap_or("N/A");
    let mut counts = String::new();
    for kind in bundle.entity_types() {
        let _ = writeln!(counts, "- {kind}: {}", bundle.entities_of(kind).count());
    }
    let samples: Vec<String> = ["Feature", "Requirement", "Component"]
        .into_iter()
        .flat_map(|kind| {
            bundle.entities_of(kind).take(3).map(move |entity| format!("{kind}:{}", entity.id()))
        })
        .collect();
    let issues: Vec<String> = bundle
        .diagnostics()
        .iter()
        .take(5)
        .map(|finding| {
            let entity_type = finding.entity_type.as_deref().unwrap_or("Bundle");
            let entity =
                finding.entity_id.as_ref().map_or(entity_type.to_owned(), |id| format!("{entity_type}:{id}"));
            format!("[{}] {entity} - {}", finding.severity.as_str(), finding.message)
        })
        .collect();
    let issues = if issues.is_empty() { "None".to_owned() } else { issues.join("\n") };
    format!(
        include_str!("prompts/text/critique.txt"),
        id = bundle.id(),
        name = metadata("name"),
        kind = metadata("bundleType"),
        counts = counts,
        samples = samples.join(", "),
        issues = issues,
    )
}
