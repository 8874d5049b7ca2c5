//! Converts between forms that a person fills in and configurations of servers.

use mcp_client::{
    EnvVarConfig, HttpAuth, ManagedServerConfig, ManagedServerSource, ManagedServerTransport, Secret,
    ServerLimits, ServerPackage,
};
use shared_protocol::{
    Refusal, RefusalCode,
    managed_servers::{
        AuthForm, PackageKind, ServerForm, ServerLimitsForm, TypedSecret, VariableForm, VariableValue,
    },
};
use std::collections::{BTreeMap, BTreeSet};

/// The part of a configuration that holds the secret of an HTTP address.
const AUTH: &str = "auth";

/// The configuration of a form, and the secrets that were typed into it. An update keeps the id, the settings of tools, the
/// switch and the unchanged secrets of `before`.
pub(super) fn config(
    form: ServerForm,
    before: Option<&ManagedServerConfig>,
) -> Result<(ManagedServerConfig, Vec<(String, Secret)>), Refusal> {
    let mut secrets = Vec::new();
    let (auth, auth_is_secret) = auth(&form.auth, &mut secrets)?;
    let mut config = match form.kind {
        PackageKind::Http => ManagedServerConfig::http(&form.name, form.identifier.trim(), auth),
        kind => ManagedServerConfig::stdio(&form.name, kind, form.identifier.trim()),
    };
    if let Some(before) = before {
        config.id = before.id;
        config.slug.clone_from(&before.slug);
        config.tools.clone_from(&before.tools);
        config.config = before.config.clone();
    }
    config.enabled = before.is_some_and(|before| before.enabled);
    config.source = match form.registry {
        Some((name, version)) => ManagedServerSource::Official { name, version },
        None => ManagedServerSource::Manual,
    };
    config.package = ServerPackage { runtime_hint: form.runtime, command: form.command, ..config.package };
    config.args = form.args;
    config.folder = form.folder.map(Into::into);
    config.trusted = form.trusted;
    config.limits = limits(&form.limits);
    if auth_is_secret {
        config.refer_to_own_secret(AUTH);
    }
    for variable in form.variables {
        add_variable(&mut config, variable, &mut secrets)?;
    }
    Ok((config, secrets))
}

fn auth(form: &AuthForm, secrets: &mut Vec<(String, Secret)>) -> Result<(HttpAuth, bool), Refusal> {
    let secret_ref = String::new();
    let (auth, value) = match form {
        AuthForm::None => return Ok((HttpAuth::None, false)),
        AuthForm::Bearer(value) => (HttpAuth::Bearer { secret_ref }, value),
        AuthForm::Header { name, value } => (HttpAuth::Header { name: name.clone(), secret_ref }, value),
    };
    match value {
        VariableValue::Plain(text) => {
            secrets.push((AUTH.to_owned(), typed_secret(AUTH, &TypedSecret(text.clone()))?))
        }
        VariableValue::Typed(text) => secrets.push((AUTH.to_owned(), typed_secret(AUTH, text)?)),
        VariableValue::Missing | VariableValue::Secret { .. } => {}
    }
    Ok((auth, true))
}

fn add_variable(
    config: &mut ManagedServerConfig,
    form: VariableForm,
    secrets: &mut Vec<(String, Secret)>,
) -> Result<(), Refusal> {
    let VariableForm { name, value, required, description } = form;
    let mut variable = EnvVarConfig { name: name.clone(), required, description, ..EnvVarConfig::default() };
    let is_secret = match value {
        VariableValue::Missing => false,
        VariableValue::Plain(text) => {
            variable.value = Some(text);
            false
        }
        VariableValue::Secret { .. } => true,
        VariableValue::Typed(text) => {
            secrets.push((name.clone(), typed_secret(&name, &text)?));
            true
        }
    };
    if config.env_vars.insert(name.clone(), variable).is_some() {
        return Err(Refusal::new(RefusalCode::ValidationError, format!("The variable {name} is set twice."))
            .field(format!("variables.{name}")));
    }
    if is_secret {
        config.refer_to_own_secret(&name);
    }
    Ok(())
}

pub(super) fn typed_secret(part: &str, text: &TypedSecret) -> Result<Secret, Refusal> {
    Secret::new(&text.0)
        .map_err(|failure| Refusal::new(RefusalCode::ValidationError, failure.message).field(part.to_owned()))
}

/// The form of a configuration. `set` are the parts whose secrets are in the store.
pub(super) fn form(config: &ManagedServerConfig, set: &BTreeSet<String>) -> ServerForm {
    let secret = |part: &str| VariableValue::Secret { set: set.contains(part) };
    let auth = match &config.transport {
        ManagedServerTransport::Http { auth: HttpAuth::Bearer { .. }, .. } => AuthForm::Bearer(secret(AUTH)),
        ManagedServerTransport::Http { auth: HttpAuth::Header { name, .. }, .. } => {
            AuthForm::Header { name: name.clone(), value: secret(AUTH) }
        }
        _ => AuthForm::None,
    };
    let variable = |(name, variable): (&String, &EnvVarConfig)| VariableForm {
        name: name.clone(),
        value: match (&variable.value, variable.is_secret || variable.secret_ref.is_some()) {
            (_, true) => secret(name),
            (Some(text), false) => VariableValue::Plain(text.clone()),
            (None, false) => VariableValue::Missing,
        },
        required: variable.required,
        description: variable.description.clone(),
    };
    ServerForm {
        name: config.name.clone(),
        kind: config.package.package_type,
        identifier: config.package.identifier.clone(),
        runtime: config.package.runtime_hint.clone(),
        command: config.package.command.clone(),
        auth,
        args: config.args.clone(),
        variables: config.env_vars.iter().map(variable).collect(),
        folder: config.folder.as_ref().map(|folder| folder.display().to_string()),
        trusted: config.trusted,
        limits: limits_form(&config.limits),
        registry: match &config.source {
            ManagedServerSource::Official { name, version } => Some((name.clone(), version.clone())),
            ManagedServerSource::Smithery { .. } | ManagedServerSource::Manual => None,
        },
    }
}

/// Resets what a new server may not bring along: the switch, the trust in its annotations, and the settings of its tools.
pub(super) fn reset_trust(config: &mut ManagedServerConfig) {
    config.enabled = false;
    config.trusted = false;
    config.tools = BTreeMap::new();
}

/// The command line or the address, which a person reads before enabling the server.
pub(super) fn runs(config: &ManagedServerConfig) -> String {
    let ServerPackage { package_type, identifier, runtime_hint, command } = &config.package;
    let runtime = runtime_hint.as_deref();
    let mut words: Vec<&str> = match package_type {
        PackageKind::Http => return identifier.clone(),
        PackageKind::Npm => vec![runtime.unwrap_or("npx"), identifier],
        PackageKind::Pypi => {
            let mut words = vec![runtime.unwrap_or("uvx"), identifier];
            words.extend(command.as_deref());
            words
        }
        PackageKind::Docker => vec![runtime.unwrap_or("docker"), "run", identifier],
        PackageKind::Binary => vec![identifier],
    };
    words.extend(config.args.iter().map(String::as_str));
    let quoted = words.iter().map(|word| match word.contains(char::is_whitespace) || word.is_empty() {
        true => format!("{word:?}"),
        false => (*word).to_owned(),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

fn limits(form: &ServerLimitsForm) -> ServerLimits {
    let ServerLimitsForm {
        install_ms,
        connect_ms,
        handshake_ms,
        idle_ms,
        total_ms,
        grace_ms,
        result_bytes,
        calls,
    } = *form;
    // A value that does not fit is over every limit and refused as such.
    let (result_bytes, calls) =
        (usize::try_from(result_bytes).unwrap_or(usize::MAX), usize::try_from(calls).unwrap_or(usize::MAX));
    ServerLimits { install_ms, connect_ms, handshake_ms, idle_ms, total_ms, grace_ms, result_bytes, calls }
}

fn limits_form(limits: &ServerLimits) -> ServerLimitsForm {
    let ServerLimits {
        install_ms,
        connect_ms,
        handshake_ms,
        idle_ms,
        total_ms,
        grace_ms,
        result_bytes,
        calls,
    } = *limits;
    let (result_bytes, calls) = (result_bytes as u64, calls as u64);
    ServerLimitsForm {
        install_ms,
        connect_ms,
        handshake_ms,
        idle_ms,
        total_ms,
        grace_ms,
        result_bytes,
        calls,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> VariableValue {
        VariableValue::Typed(TypedSecret(text.to_owned()))
    }

    fn variable(name: &str, value: VariableValue) -> VariableForm {
        VariableForm { name: name.to_owned(), value, required: true, description: None }
    }

    #[test]
    fn a_form_and_its_configuration_say_the_same_and_the_secret_is_in_neither() {
        let mut filled = ServerForm::new(PackageKind::Npm);
        filled.name = "Files".to_owned();
        filled.identifier = "@scope/files@1.0".to_owned();
        filled.args = vec!["/tmp".to_owned(), "with space".to_owned()];
        filled.variables = vec![
            variable("REGION", VariableValue::Plain("eu".to_owned())),
            variable("TOKEN", secret("hunter2-hunter2")),
        ];
        let (config, secrets) = config(filled.clone(), None).unwrap();
        assert!(!config.enabled);
        assert_eq!(secrets.len(), 1);
        assert!(!serde_json::to_string(&config).unwrap().contains("hunter2"));
        let back = form(&config, &BTreeSet::from(["TOKEN".to_owned()]));
        assert_eq!(back.variables[1].value, VariableValue::Secret { set: true });
        filled.variables[1].value = VariableValue::Secret { set: true };
        assert_eq!(back, filled);
        assert_eq!(runs(&config), "npx @scope/files@1.0 /tmp \"with space\"");
    }

    #[test]
    fn an_update_keeps_the_switch_the_id_and_what_was_said_about_tools() {
        let mut before = ManagedServerConfig::http("Web", "https://example.org/mcp", HttpAuth::None);
        before.slug = "web".to_owned();
        before.tools.insert("x".to_owned(), mcp_client::ToolSettings::default());
        let mut filled = form(&before, &BTreeSet::new());
        filled.auth = AuthForm::Header { name: "X-Key".to_owned(), value: secret("hunter2-hunter2") };
        let (after, secrets) = config(filled, Some(&before)).unwrap();
        assert_eq!((after.id, after.enabled, &after.tools), (before.id, true, &before.tools));
        assert_eq!(secrets[0].0, "auth");
        let ManagedServerTransport::Http { auth: HttpAuth::Header { secret_ref, .. }, .. } = &after.transport
        else {
            panic!("{after:?}")
        };
        assert!(secret_ref.ends_with("/auth"), "{secret_ref}");
        let mut twice = form(&before, &BTreeSet::new());
        twice.variables = vec![variable("A", VariableValue::Missing), variable("A", VariableValue::Missing)];
        assert!(config(twice, None).is_err());
    }
}
