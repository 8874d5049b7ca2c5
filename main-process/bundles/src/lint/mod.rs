//! Lint rules: requirements of a bundle's authors beyond its schemas. A broken rule disables only itself.

mod check;

use crate::{
    BundleFinding,
    diagnostic::{BundleFindingSeverity, BundleFindingSource},
    schema::MAX_BACKTRACK_STEPS,
};
use fancy_regex::{Regex, RegexBuilder};
use shared_protocol::OrderedValue;

#[derive(Debug, Clone)]
pub(crate) struct LintRule {
    /// The name, used as the code of its findings.
    name: String,
    severity: BundleFindingSeverity,
    check: LintCheck,
}

#[derive(Debug, Clone)]
enum LintCheck {
    Pattern {
        targets: Vec<String>,
        field: String,
        pattern: Box<Regex>,
    },
    HasLink {
        from: String,
        field: String,
        least: usize,
    },
    Coverage {
        from: String,
        to: String,
        field: String,
        least: usize,
    },
    NoBrokenReference,
    RequiredField {
        targets: Vec<String>,
        field: String,
        message: Option<String>,
    },
    EnumValue {
        targets: Vec<String>,
        field: String,
        allowed: Vec<String>,
        message: Option<String>,
    },
    Quality {
        targets: Vec<String>,
        atomic: bool,
        traceable: bool,
        complete: bool,
        verifiable: bool,
    },
    /// Applies to all types if `targets` is empty.
    DescriptiveId {
        targets: Vec<String>,
    },
    RedundantBidirectionalLink,
}

/// Returns the valid rules of a lint configuration, and the problems of the others.
pub(crate) fn parse_rules(config: &OrderedValue) -> (Vec<LintRule>, Vec<BundleFinding>) {
    let mut rules = Vec::new();
    let mut problems = Vec::new();
    let named = config.get("rules").and_then(OrderedValue::as_map);
    for (name, rule) in named.into_iter().flat_map(|rules| rules.iter()) {
        match LintRule::parse(name, rule) {
            Ok(Some(rule)) => rules.push(rule),
            Ok(None) => {}
            Err(problem) => problems.push(
                BundleFinding::error(format!("Lint rule \"{name}\" is left out: {problem}"))
                    .with_source(BundleFindingSource::Lint, "lint.rule.invalid"),
            ),
        }
    }
    (rules, problems)
}

impl LintRule {
    /// Parses a rule. Returns `None` for an entry that is not a rule or has an unknown type.
    fn parse(name: &str, rule: &OrderedValue) -> Result<Option<Self>, String> {
        let Some(kind) = rule.text("type") else { return Ok(None) };
        let text = |key: &str| rule.text(key).map(str::to_owned).ok_or_else(|| format!("{key} is missing"));
        let texts = |key: &str| {
            let list = rule
                .get(key)
                .and_then(OrderedValue::as_list)
                .ok_or_else(|| format!("{key} must be a list"))?;
            Ok::<_, String>(
                list.iter().filter_map(OrderedValue::as_text).map(str::to_owned).collect::<Vec<_>>(),
            )
        };
        let least = || match rule.get("minLinks") {
            Some(OrderedValue::Number(number)) => {
                let least = number.as_f64().unwrap_or(0.0).max(0.0).ceil();
                format!("{least}").parse::<usize>().map_err(|_| "minLinks is too large".to_owned())
            }
            _ => Err("minLinks must be a number".to_owned()),
        };
        let targets = || texts("targetEntities");
        let message = rule.text("message").map(str::to_owned);
        let check = match kind {
            "regex" => {
                let (targets, field, pattern) = (targets()?, text("field")?, text("pattern")?);
                let built = RegexBuilder::new(&pattern).backtrack_limit(MAX_BACKTRACK_STEPS).build();
                let pattern = Box::new(built.map_err(|error| format!("pattern: {error}"))?);
                LintCheck::Pattern { targets, field, pattern }
            }
            "has-link" => {
                LintCheck::HasLink { from: text("fromEntity")?, field: text("viaField")?, least: least()? }
            }
            "coverage" => LintCheck::Coverage {
                from: text("fromEntity")?,
                to: text("toEntity")?,
                field: text("viaField")?,
                least: least()?,
            },
            "no-broken-ref" => LintCheck::NoBrokenReference,
            "required-field" => {
                LintCheck::RequiredField { targets: targets()?, field: text("field")?, message }
            }
            "enum-value" => {
                let (targets, field, allowed) = (targets()?, text("field")?, texts("allowedValues")?);
                LintCheck::EnumValue { targets, field, allowed, message }
            }
            "quality-check" => {
                let on = |key: &str| {
                    rule.get("checks").and_then(|checks| checks.get(key)) == Some(&OrderedValue::Bool(true))
                };
                LintCheck::Quality {
                    targets: targets()?,
                    atomic: on("atomic"),
                    traceable: on("traceable"),
                    complete: on("complete"),
                    verifiable: on("verifiable"),
                }
            }
            "descriptive-id" => {
                LintCheck::DescriptiveId { targets: texts("targetEntities").unwrap_or_default() }
            }
            "redundant-bidirectional-link" => LintCheck::RedundantBidirectionalLink,
            _ => return Ok(None),
        };
        let usual = match check {
            LintCheck::DescriptiveId { .. } | LintCheck::RedundantBidirectionalLink => {
                BundleFindingSeverity::Warning
            }
            _ => BundleFindingSeverity::Error,
        };
        let severity = match rule.text("severity") {
            // A broken reference is always an error, regardless of the configured severity.
            _ if matches!(check, LintCheck::NoBrokenReference) => BundleFindingSeverity::Error,
            Some("warning") => BundleFindingSeverity::Warning,
            Some("error") => BundleFindingSeverity::Error,
            _ => usual,
        };
        Ok(Some(Self { name: name.to_owned(), severity, check }))
    }
}
