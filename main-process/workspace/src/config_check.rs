//! The fields of `draftboard.toml` with their types and forms. An agent that proposes a change and a person who writes the file
//! by hand get the same message, with the key and the expected form.

use serde_json::{Map, Value};
use shared_protocol::{Refusal, RefusalCode, messages::ProblemSeverity};

/// The type of a field. Null is allowed everywhere: it removes the field.
enum ConfigFieldType {
    Text,
    TextList,
    Flag,
    Number,
    /// A version constraint of a program or provider.
    VersionConstraint,
    /// The type of a Terraform backend.
    BackendType,
    Currency,
    /// Any TOML value.
    Any,
    /// A table with these keys and no others.
    Table(&'static [(&'static str, ConfigFieldType)]),
    /// A table whose keys are names that people choose.
    Named(&'static ConfigFieldType),
    /// A table whose keys are boards.
    Boards(&'static ConfigFieldType),
    /// Arguments by provider. Those of the providers in the catalogue are known.
    Providers,
    /// Arguments of a provider by their type: these names, and others that a later version of it may have.
    Arguments(&'static [(ConfigFieldType, &'static str)]),
}

use ConfigFieldType::{
    Any, Arguments, BackendType, Boards, Currency, Flag, Named, Number, Providers, Table, Text, TextList,
    VersionConstraint,
};

static PROJECT: ConfigFieldType = Table(&[
    ("name", Text),
    ("description", Text),
    ("modules", TextList),
    ("bundles", TextList),
    ("types", Named(&TYPE)),
    ("infrastructure", Table(&INFRASTRUCTURE)),
]);

static TYPE: ConfigFieldType = Table(&[("disabled", Flag), ("title", Text), ("props", Named(&PROP))]);

static PROP: ConfigFieldType = Table(&[
    ("label", Text),
    ("description", Text),
    ("group", Text),
    ("exposure", Any),
    ("required", Flag),
    ("default", Any),
    ("min", Number),
    ("max", Number),
    ("options", TextList),
]);

static INFRASTRUCTURE: [(&str, ConfigFieldType); 9] = [
    ("tags", Named(&Text)),
    ("naming", Table(&[("template", Text), ("env", Text), ("region", Text), ("org", Text)])),
    ("backend", Table(&[("type", BackendType), ("config", Named(&Any))])),
    ("providers", Providers),
    ("values", Named(&Any)),
    ("required-version", VersionConstraint),
    ("program", Text),
    ("currency", Currency),
    ("boards", Boards(&BOARD)),
];

static BOARD: ConfigFieldType = Table(&INFRASTRUCTURE);

/// The backends of Terraform and OpenTofu.
const BACKENDS: [&str; 12] =
    ["local", "remote", "azurerm", "consul", "cos", "gcs", "http", "kubernetes", "oci", "oss", "pg", "s3"];

static OTHER_PROVIDER: ConfigFieldType = Named(&Any);

static AWS: ConfigFieldType = Arguments(&[
    (
        Text,
        "source region profile access_key secret_key token custom_ca_bundle \
         ec2_metadata_service_endpoint ec2_metadata_service_endpoint_mode http_proxy https_proxy \
         no_proxy retry_mode s3_us_east_1_regional_endpoint sts_region tag_policy_compliance",
    ),
    (VersionConstraint, "version"),
    (TextList, "allowed_account_ids forbidden_account_ids shared_config_files shared_credentials_files"),
    (
        Any,
        "assume_role assume_role_with_web_identity default_tags endpoints ignore_tags \
         skip_metadata_api_check user_agent",
    ),
    (
        Flag,
        "insecure s3_use_path_style skip_credentials_validation skip_region_validation \
         skip_requesting_account_id use_dualstack_endpoint use_fips_endpoint",
    ),
    (Number, "max_retries token_bucket_rate_limiter_capacity"),
]);

static AZURERM: ConfigFieldType = Arguments(&[
    (
        Text,
        "source location subscription_id tenant_id client_id client_id_file_path client_secret \
         client_secret_file_path client_certificate client_certificate_password \
         client_certificate_path ado_pipeline_service_connection_id environment metadata_host \
         msi_api_version msi_endpoint oidc_request_token oidc_request_url oidc_token \
         oidc_token_file_path partner_id resource_provider_registrations",
    ),
    (VersionConstraint, "version"),
    (TextList, "auxiliary_tenant_ids resource_providers_to_register"),
    (
        Flag,
        "disable_correlation_request_id disable_terraform_partner_id skip_provider_registration \
         storage_use_azuread use_aks_workload_identity use_cli use_msi use_oidc",
    ),
    (Any, "features"),
]);

/// A problem of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The key, with the keys of its tables.
    path: String,
    message: String,
    suggestions: Vec<String>,
    hint: &'static str,
    /// In a file: a warning where no version, or only a later one, reads the setting.
    pub severity: ProblemSeverity,
}

impl ConfigProblem {
    /// The message for a person.
    pub fn describe(&self) -> String {
        match self.suggestions.first() {
            Some(nearest) => format!("{}. Did you mean `{nearest}`?", self.message),
            None => self.message.clone(),
        }
    }

    fn into_refusal(self) -> Refusal {
        Refusal::new(RefusalCode::ValidationError, self.message)
            .field(format!("config.{}", self.path))
            .suggest(self.suggestions)
            .hint(self.hint)
    }
}

struct ConfigChecker<'a> {
    boards: &'a [&'a str],
    problems: Vec<ConfigProblem>,
}

impl ConfigFieldType {
    fn describe(&self) -> String {
        match self {
            Text => "a text",
            TextList => "a list of texts",
            Flag => "true or false",
            Number => "a number",
            VersionConstraint => "a version constraint such as \"~> 1.9\" or \">= 1.5, < 2.0\"",
            BackendType => return format!("a backend of Terraform: {}", BACKENDS.join(", ")),
            Currency => "a currency such as EUR",
            Any => "a value",
            Table(_) | Named(_) | Boards(_) | Providers | Arguments(_) => "an object",
        }
        .to_owned()
    }

    fn fits(&self, value: &Value) -> bool {
        match (self, value) {
            (_, Value::Null)
            | (Any, _)
            | (Text, Value::String(_))
            | (Flag, Value::Bool(_))
            | (Number, Value::Number(_))
            | (Table(_) | Named(_) | Boards(_) | Providers | Arguments(_), Value::Object(_)) => true,
            (TextList, Value::Array(items)) => items.iter().all(Value::is_string),
            (VersionConstraint, Value::String(text)) => is_version_constraint(text),
            (BackendType, Value::String(text)) => BACKENDS.contains(&text.as_str()),
            (Currency, Value::String(text)) => {
                text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())
            }
            _ => false,
        }
    }
}

impl ConfigChecker<'_> {
    fn check_value(&mut self, field: &ConfigFieldType, path: &str, value: &Value) {
        if !field.fits(value) {
            let found = match value {
                Value::String(text) if !matches!(field, Text) => format!("{text:?}"),
                other => kind_of(other).to_owned(),
            };
            let hint = "Use the expected form, or null to remove it.";
            let message = format!("`{path}` is {found}; expected {}", field.describe());
            let near = match (field, value) {
                (BackendType, Value::String(text)) => authority::similar(text, BACKENDS.into_iter()),
                _ => Vec::new(),
            };
            return self.add(path, message, near, hint, ProblemSeverity::Error);
        }
        let Value::Object(given) = value else { return };
        for (key, value) in given {
            let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            match field {
                Table(fields) => match fields.iter().find(|(name, _)| name == key) {
                    Some((_, known)) => self.check_value(known, &inner, value),
                    None => self.add_unknown(fields, &inner, key, value),
                },
                Arguments(known) => {
                    match known.iter().find(|(_, names)| names.split(' ').any(|name| name == key)) {
                        Some((known, _)) => self.check_value(known, &inner, value),
                        None => {
                            let provider = path.rsplit('.').next().unwrap_or_default();
                            let message =
                                format!("`{inner}`: the provider {provider} has no argument `{key}`");
                            let names = known.iter().flat_map(|(_, names)| names.split(' '));
                            let near = authority::similar(key, names);
                            let hint = "Use an argument of the provider.";
                            self.add(&inner, message, near, hint, ProblemSeverity::Warning);
                        }
                    }
                }
                Named(known) => self.check_value(known, &inner, value),
                Boards(known) => {
                    if !self.boards.contains(&key.as_str()) && !value.is_null() {
                        let boards = self.boards.join(", ");
                        let message =
                            format!("`{inner}`: there is no board `{key}`; the boards are {boards}");
                        let near = authority::similar(key, self.boards.iter().copied());
                        let hint = "Use the name of a board; list_boards shows them.";
                        self.add(&inner, message, near, hint, ProblemSeverity::Warning);
                    }
                    self.check_value(known, &inner, value);
                }
                Providers => {
                    let arguments = match key.as_str() {
                        "aws" => &AWS,
                        "azurerm" => &AZURERM,
                        _ => &OTHER_PROVIDER,
                    };
                    self.check_value(arguments, &inner, value);
                    for (argument, form) in [("version", &VersionConstraint), ("source", &Text)] {
                        // The known providers have both among their arguments.
                        if let Some(value) = value.get(argument).filter(|_| matches!(arguments, Named(_))) {
                            self.check_value(form, &format!("{inner}.{argument}"), value);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn add_unknown(&mut self, fields: &[(&str, ConfigFieldType)], path: &str, key: &str, value: &Value) {
        let near = authority::similar(key, fields.iter().map(|(name, _)| *name));
        let known: Vec<String> =
            fields.iter().map(|(name, field)| format!("{name} ({})", field.describe())).collect();
        let known = known.join(", ");
        let message = format!("`{path}` is not a setting of draftboard.toml; expected one of {known}");
        // An unknown table at the top level may belong to a later version.
        let is_later = path == key && near.is_empty() && (value.is_object() || value.is_array());
        let severity = if is_later { ProblemSeverity::Warning } else { ProblemSeverity::Error };
        self.add(path, message, near, "get_project_config lists the available settings.", severity);
    }

    fn add(
        &mut self,
        path: &str,
        message: String,
        suggestions: Vec<String>,
        hint: &'static str,
        severity: ProblemSeverity,
    ) {
        self.problems.push(ConfigProblem { path: path.to_owned(), message, suggestions, hint, severity });
    }
}

/// Refuses unknown fields and values that do not have the expected form.
pub fn check(fields: &Map<String, Value>, boards: &[&str]) -> Result<(), Refusal> {
    if fields.contains_key("format") {
        let message = "`format` is the version of the file; only Draftboard changes it";
        return Err(Refusal::new(RefusalCode::ValidationError, message)
            .field("config.format")
            .hint("Leave it out."));
    }
    match problems(fields, boards).into_iter().next() {
        Some(first) => Err(first.into_refusal()),
        None => Ok(()),
    }
}

/// All problems in the text of `draftboard.toml`, as far as it is TOML.
pub fn problems_of_file(text: &str, boards: &[&str]) -> Vec<ConfigProblem> {
    let json = toml::from_str::<toml::Table>(text).ok().and_then(|table| serde_json::to_value(table).ok());
    let Some(Value::Object(mut fields)) = json else { return Vec::new() };
    fields.remove("format");
    problems(&fields, boards)
}

fn problems(fields: &Map<String, Value>, boards: &[&str]) -> Vec<ConfigProblem> {
    let mut check = ConfigChecker { boards, problems: Vec::new() };
    check.check_value(&PROJECT, "", &Value::Object(fields.clone()));
    check.problems
}

/// A version constraint of Terraform: comparisons separated by commas, each an operator and a version of up to three numbers.
fn is_version_constraint(text: &str) -> bool {
    const OPERATORS: [&str; 7] = ["~>", ">=", "<=", "!=", "=", ">", "<"];
    let is_comparison = |part: &str| {
        let part = part.trim();
        let operator = OPERATORS.into_iter().find(|operator| part.starts_with(operator));
        let version = part.strip_prefix(operator.unwrap_or_default()).unwrap_or(part).trim();
        let (version, build) = version.split_once('+').unwrap_or((version, "0"));
        let (numbers, pre_release) = version.split_once('-').unwrap_or((version, "0"));
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let is_label = |text: &str| {
            let is_part = |part: &str| {
                !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            };
            text.split('.').all(is_part)
        };
        numbers.split('.').count() <= 3
            && numbers.split('.').all(is_number)
            && is_label(pre_release)
            && is_label(build)
    };
    text.split(',').all(is_comparison)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(items) if items.iter().all(Value::is_string) => "a list of texts",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_fits_is_taken() {
        for fields in [
            json!({ "name": "Shop", "description": null, "modules": ["modules/*.json"] }),
            json!({ "types": { "aws/compute/instance": { "props": { "size": { "default": 3, "min": 1.5, "required": true } } } } }),
            json!({ "infrastructure": { "tags": { "team": "core" }, "boards": { "main": { "required-version": ">= 1.9" } } } }),
            json!({ "infrastructure": { "providers": { "aws": { "region": "eu", "max_retries": 3 } }, "backend": null } }),
        ] {
            check(fields.as_object().unwrap(), &["main"])
                .unwrap_or_else(|refusal| panic!("{fields}: {refusal}"));
        }
    }

    #[test]
    fn a_refusal_names_the_key_and_the_expected_type() {
        for (fields, field, words) in [
            (json!({ "name": 3 }), "config.name", "`name` is a number; expected a text"),
            (json!({ "modules": "x" }), "config.modules", "expected a list of texts"),
            (json!({ "bundles": ["a", 1] }), "config.bundles", "is a list; expected a list of texts"),
            (json!({ "region": "eu" }), "config.region", "`region` is not a setting"),
            (json!({ "another": { "table": 1 } }), "config.another", "expected one of name (a text)"),
            (json!({ "format": 2 }), "config.format", "only Draftboard"),
            (json!({ "infrastructure": [] }), "config.infrastructure", "expected an object"),
            (
                json!({ "infrastructure": { "tags": { "team": 1 } } }),
                "config.infrastructure.tags.team",
                "is a number; expected a text",
            ),
            (
                json!({ "infrastructure": { "requiredVersion": "1" } }),
                "config.infrastructure.requiredVersion",
                "required-version",
            ),
            (
                json!({ "types": { "a/b": { "disabled": "yes" } } }),
                "config.types.a/b.disabled",
                "expected true or false",
            ),
            (
                json!({ "infrastructure": { "providers": { "aws": { "region": 5 } } } }),
                "config.infrastructure.providers.aws.region",
                "is a number; expected a text",
            ),
            (
                json!({ "infrastructure": { "providers": { "aws": { "regin": "eu" } } } }),
                "config.infrastructure.providers.aws.regin",
                "has no argument `regin`",
            ),
            (
                json!({ "infrastructure": { "providers": { "random": { "version": "not a version" } } } }),
                "config.infrastructure.providers.random.version",
                "\"not a version\"; expected a version constraint",
            ),
            (
                json!({ "infrastructure": { "backend": { "type": "nonexistent" } } }),
                "config.infrastructure.backend.type",
                "expected a backend of Terraform: local",
            ),
            (
                json!({ "infrastructure": { "required-version": "banana" } }),
                "config.infrastructure.required-version",
                "expected a version constraint",
            ),
            (
                json!({ "infrastructure": { "boards": { "man": { "currency": "EUR" } } } }),
                "config.infrastructure.boards.man",
                "there is no board `man`; the boards are main",
            ),
            (
                json!({ "infrastructure": { "boards": { "main": { "currency": "euro" } } } }),
                "config.infrastructure.boards.main.currency",
                "expected a currency",
            ),
        ] {
            let refusal = check(fields.as_object().unwrap(), &["main"]).unwrap_err();
            assert_eq!(refusal.field.as_deref(), Some(field), "{refusal}");
            assert!(refusal.message.contains(words), "{refusal}");
        }
    }

    #[test]
    fn a_file_written_by_hand_is_told_the_same() {
        let text = "format = 1\nname = 'x'\n[infrastucture]\ncurrency = 'EUR'\n[zzz]\na = 1\n\
                    [infrastructure]\nrequired-version = 'banana'\n[infrastructure.boards.gone]\ntags = {}\n";
        let found = problems_of_file(text, &["main"]);
        let severity = |words: &str| {
            found.iter().find(|problem| problem.describe().contains(words)).map(|problem| problem.severity)
        };
        assert_eq!(severity("Did you mean `infrastructure`?"), Some(ProblemSeverity::Error), "{found:?}");
        assert_eq!(severity("`zzz` is not a setting"), Some(ProblemSeverity::Warning), "{found:?}");
        assert_eq!(severity("`infrastructure.required-version` is \"banana\""), Some(ProblemSeverity::Error));
        assert_eq!(severity("there is no board `gone`"), Some(ProblemSeverity::Warning), "{found:?}");
        assert_eq!(found.len(), 4, "{found:?}");
        assert_eq!(problems_of_file(&journal::new_project("x"), &[]), []);
    }

    #[test]
    fn version_constraints_are_those_of_terraform() {
        for text in ["1", "1.9", "= 1.9.0", "~> 6.0", ">=1.5, < 2.0.0", "!= 1.2.3-beta.1", "> 1.0.0+build"] {
            assert!(is_version_constraint(text), "{text}");
        }
        for text in ["", "banana", "not a version", "~>", "1.2.3.4", "1.", ">= 1.0,", "latest", "=> 1", "v1"]
        {
            assert!(!is_version_constraint(text), "{text}");
        }
    }
}
