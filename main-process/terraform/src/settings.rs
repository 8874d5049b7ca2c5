//! The infrastructure settings of a project: the `[infrastructure]` table of `draftboard.toml`.
//!
//! Owns: the format of that table and the merge for one board. Must not know: the rest of the file.

use serde::{Deserialize, Serialize};
use shared_protocol::PropValue;
use std::collections::BTreeMap;

/// The notice for a workspace that sets a program.
pub const IGNORED_PROGRAM_NOTICE: &str =
    "`program` in draftboard.toml is ignored. Set it in your settings: [terraform] program in settings.toml.";

/// The settings of a project or of one board.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TerraformProjectSettings {
    /// Tags of every resource.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    pub naming: Option<NamingConvention>,
    /// The backend of the Terraform state; a local file in the folder of the board when absent.
    pub backend: Option<Backend>,
    /// Provider arguments, by provider; `version` constrains the provider version.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub providers: BTreeMap<String, BTreeMap<String, PropValue>>,
    /// Variable values, written to `terraform.tfvars`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, PropValue>,
    /// The required Terraform version.
    pub required_version: Option<String>,
    /// Ignored, because a workspace must not choose the program that runs. Accepted, so that files of earlier
    /// versions still parse.
    #[serde(default, skip_serializing)]
    program: Option<toml::Value>,
    /// The currency of cost estimates.
    pub currency: Option<String>,
    /// Overrides for single boards, by board name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub boards: BTreeMap<String, TerraformProjectSettings>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NamingConvention {
    /// Text with `{type}`, `{env}`, `{name}`, `{region}` and `{org}`.
    pub template: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub env: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub region: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub org: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Backend {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub config: BTreeMap<String, PropValue>,
}

#[derive(Debug, thiserror::Error)]
pub enum TerraformProjectSettingsError {
    #[error("draftboard.toml, [infrastructure]: {0}")]
    Malformed(String),
}

impl TerraformProjectSettings {
    /// Reads the settings from the text of `draftboard.toml`. A file without the table has default settings.
    pub fn read(text: &str) -> Result<Self, TerraformProjectSettingsError> {
        #[derive(Deserialize)]
        struct File {
            #[serde(default)]
            infrastructure: TerraformProjectSettings,
        }
        let malformed = |error: toml::de::Error| TerraformProjectSettingsError::Malformed(error.to_string());
        let file: File = toml::from_str(text).map_err(malformed)?;
        if let Some(naming) = &file.infrastructure.naming {
            naming.check()?;
        }
        Ok(file.infrastructure)
    }

    /// Returns whether the table or one of its boards sets `program`, which is ignored.
    pub fn names_program(&self) -> bool {
        self.program.is_some() || self.boards.values().any(Self::names_program)
    }

    /// Serializes the settings as the entries of one board in `draftboard.toml`.
    pub fn to_toml(&self, board: &str) -> Result<String, TerraformProjectSettingsError> {
        #[derive(Serialize)]
        struct File<'a> {
            infrastructure: Boards<'a>,
        }
        #[derive(Serialize)]
        struct Boards<'a> {
            boards: BTreeMap<&'a str, &'a TerraformProjectSettings>,
        }
        let file = File { infrastructure: Boards { boards: BTreeMap::from([(board, self)]) } };
        toml::to_string(&file).map_err(|error| TerraformProjectSettingsError::Malformed(error.to_string()))
    }

    /// Returns the settings of a board: its own entries override those of the project.
    #[must_use]
    pub fn for_board(&self, name: &str) -> Self {
        let mut all = Self { boards: BTreeMap::new(), ..self.clone() };
        let Some(own) = self.boards.get(name).cloned() else { return all };
        all.tags.extend(own.tags);
        all.values.extend(own.values);
        for (provider, arguments) in own.providers {
            all.providers.entry(provider).or_default().extend(arguments);
        }
        all.naming = own.naming.or(all.naming);
        all.backend = own.backend.or(all.backend);
        all.required_version = own.required_version.or(all.required_version);
        all.program = own.program.or(all.program);
        all.currency = own.currency.or(all.currency);
        all
    }
}

impl NamingConvention {
    fn check(&self) -> Result<(), TerraformProjectSettingsError> {
        const TOKENS: [&str; 5] = ["{type}", "{env}", "{name}", "{region}", "{org}"];
        let rest = TOKENS.iter().fold(self.template.clone(), |rest, token| rest.replace(token, ""));
        if !self.template.contains("{name}") || rest.contains(['{', '}']) {
            return Err(TerraformProjectSettingsError::Malformed(format!(
                "naming.template {:?}: expected text with {{name}} and, optionally, {{type}}, {{env}}, {{region}} and {{org}}",
                self.template
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_can_differ_from_the_project() {
        let text = r#"
            format = 1
            name = "Shop"
            [infrastructure]
            tags = { team = "shop", stage = "test" }
            [infrastructure.providers.aws]
            region = "eu-west-1"
            [infrastructure.boards.live]
            tags = { stage = "live" }
            providers.aws = { profile = "live" }
        "#;
        let settings = TerraformProjectSettings::read(text).unwrap();
        let live = settings.for_board("live");
        assert_eq!(live.tags["stage"], "live");
        assert_eq!(live.tags["team"], "shop");
        assert_eq!(live.providers["aws"].len(), 2);
        assert_eq!(settings.for_board("other").tags["stage"], "test");
    }

    #[test]
    fn settings_of_a_board_come_back_as_they_were() {
        let text = r#"
            tags = { team = "shop" }
            required-version = ">= 1.5"
            [naming]
            template = "{type}-{name}"
            [backend]
            type = "azurerm"
            config = { key = "shop", retries = 3, tags = ["a", "b"] }
            [providers.aws]
            region = "eu-west-1"
        "#;
        let settings: TerraformProjectSettings = toml::from_str(text).unwrap();
        let written = settings.to_toml("live").unwrap();
        assert!(written.starts_with("[infrastructure.boards.live]"), "{written}");
        assert_eq!(TerraformProjectSettings::read(&written).unwrap().for_board("live"), settings);
    }

    #[test]
    fn what_is_misspelt_is_named() {
        let wrong = TerraformProjectSettings::read("[infrastructure]\ntag = {}").unwrap_err().to_string();
        assert!(wrong.contains("tag"), "{wrong}");
        assert!(TerraformProjectSettings::read("[infrastructure.naming]\ntemplate = \"{nam}\"").is_err());
        assert_eq!(
            TerraformProjectSettings::read("name = \"x\"").unwrap(),
            TerraformProjectSettings::default()
        );
        for text in ["[infrastructure]\nprogram = './x'", "[infrastructure.boards.live]\nprogram = 1"] {
            let settings = TerraformProjectSettings::read(text).unwrap();
            assert!(settings.for_board("live").names_program());
            assert!(settings.names_program() && !settings.to_toml("live").unwrap().contains("program"));
        }
        assert!(!TerraformProjectSettings::default().names_program());
    }
}
