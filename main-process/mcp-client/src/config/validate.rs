//! Validates configurations: the contract's rules, and rules that keep secrets out of unsafe places.

use super::{EnvVarConfig, HttpAuth, ManagedServerConfig, ManagedServerTransport, limits};
use shared_protocol::{Refusal, managed_servers::PackageKind};

const MAX_NAME_CHARS: usize = 100;
const MAX_TEXT_BYTES: usize = 4_096;
const MAX_ARGUMENTS: usize = 256;
const MAX_VARIABLES: usize = 128;
/// Leaves room for a tool name within 64 characters.
const MAX_SLUG_CHARS: usize = 24;

pub(crate) fn check(config: &ManagedServerConfig) -> Result<(), Refusal> {
    let name = config.name.trim();
    if name.is_empty() {
        return Err(Refusal::validation("name", "Name is required"));
    }
    if name.chars().count() > MAX_NAME_CHARS || name.chars().any(char::is_control) {
        let message = format!("The name must have at most {MAX_NAME_CHARS} printable characters");
        return Err(Refusal::validation("name", message));
    }
    check_package(config)?;
    check_transport(config)?;
    check_arguments(config)?;
    for (name, variable) in &config.env_vars {
        check_variable(name, variable)?;
    }
    if config.env_vars.len() > MAX_VARIABLES {
        let message = format!("A server can have at most {MAX_VARIABLES} environment variables");
        return Err(Refusal::validation("env_vars", message));
    }
    check_limits(config)
}

fn check_package(config: &ManagedServerConfig) -> Result<(), Refusal> {
    let package = &config.package;
    let identifier = package.identifier.trim();
    if identifier.is_empty() {
        return Err(Refusal::validation("package.identifier", "Package identifier required"));
    }
    // The identifier becomes an argument of a package runner, so it must not look like an option.
    let plain = !identifier.starts_with('-') && !identifier.chars().any(|c| c.is_control());
    let one_word = matches!(package.package_type, PackageKind::Binary | PackageKind::Http)
        || !identifier.contains(char::is_whitespace);
    if !plain || !one_word || identifier.len() > MAX_TEXT_BYTES {
        let message = "The package identifier must be one name without spaces; put arguments into args";
        return Err(Refusal::validation("package.identifier", message));
    }
    let runners: &[&str] = match package.package_type {
        PackageKind::Npm => &["npx"],
        PackageKind::Pypi => &["uvx", "venv"],
        PackageKind::Docker => &["docker", "podman"],
        PackageKind::Binary | PackageKind::Http => &[],
    };
    match package.runtime_hint.as_deref() {
        Some(hint) if !runners.contains(&hint) => {
            let message = match runners {
                [] => "This package type has no runner: omit runtime_hint".to_owned(),
                _ => format!("{hint} cannot run this package type: use {}", runners.join(" or ")),
            };
            Err(Refusal::validation("package.runtime_hint", message))
        }
        _ => Ok(()),
    }
}

fn check_transport(config: &ManagedServerConfig) -> Result<(), Refusal> {
    let over_http = config.package.package_type == PackageKind::Http;
    match &config.transport {
        ManagedServerTransport::Stdio if over_http => {
            Err(Refusal::validation("transport", "Transport required: an HTTP server needs a URL"))
        }
        ManagedServerTransport::Stdio => Ok(()),
        ManagedServerTransport::Http { .. } if !over_http => {
            let message = "A local package uses the transport stdio; for a URL use the package type http";
            Err(Refusal::validation("transport", message))
        }
        ManagedServerTransport::Http { url, auth } => check_url(url, auth),
    }
}

fn check_url(url: &str, auth: &HttpAuth) -> Result<(), Refusal> {
    let wrong = |message: &str| Refusal::validation("transport.url", message);
    let uri: http::Uri =
        url.parse().map_err(|_| wrong("The URL is not valid; use a form such as https://example.org/mcp"))?;
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let secure = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => false,
        _ => return Err(wrong("The URL must start with https:// or http://")),
    };
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(wrong("The URL must not contain a user or password: use auth with a secret instead"));
    }
    let local = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if !secure && !local && auth.secret_ref().is_some() {
        return Err(wrong("The URL must use https to send a secret, except to this machine"));
    }
    if auth.secret_ref() == Some("") {
        return Err(Refusal::validation(
            "transport.auth",
            "Missing required credentials: the URL needs a secret",
        ));
    }
    if let HttpAuth::Header { name, .. } = auth {
        let reserved =
            ["accept", "host", "content-length", "content-type", "mcp-session-id", "last-event-id"];
        let usable = http::HeaderName::try_from(name.as_str())
            .is_ok_and(|name| !reserved.contains(&name.as_str()) && !name.as_str().starts_with("mcp-"));
        if !usable {
            return Err(Refusal::validation(
                "transport.auth.name",
                format!("{name} cannot be used as an authentication header"),
            ));
        }
    }
    Ok(())
}

fn check_arguments(config: &ManagedServerConfig) -> Result<(), Refusal> {
    if config.args.len() > MAX_ARGUMENTS {
        let message = format!("A server can have at most {MAX_ARGUMENTS} arguments");
        return Err(Refusal::validation("args", message));
    }
    for (index, argument) in config.args.iter().enumerate() {
        if argument.len() > MAX_TEXT_BYTES || argument.contains('\0') {
            let message = format!("An argument must have at most {MAX_TEXT_BYTES} bytes and no zero byte");
            return Err(Refusal::validation(format!("args[{index}]"), message));
        }
    }
    Ok(())
}

fn check_variable(name: &str, variable: &EnvVarConfig) -> Result<(), Refusal> {
    let field = format!("env_vars.{name}");
    let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if !first || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') || name.len() > 128 {
        return Err(Refusal::validation(&field, format!("{name} is not a valid environment variable name")));
    }
    if !variable.name.is_empty() && variable.name != name {
        return Err(Refusal::validation(
            &field,
            format!("{name} has a different name inside: {}", variable.name),
        ));
    }
    let given = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
    if variable.is_secret && given(&variable.value) {
        let message = "A secret belongs in the secret store: set secret_ref instead of value";
        return Err(Refusal::validation(&field, message));
    }
    if variable.required && !given(&variable.value) && !given(&variable.secret_ref) {
        return Err(Refusal::validation(
            &field,
            format!("Missing required credentials: {name} has no value"),
        ));
    }
    let too_long =
        |text: &Option<String>| text.as_ref().is_some_and(|text| text.len() > 32_768 || text.contains('\0'));
    if too_long(&variable.value) || too_long(&variable.secret_ref) {
        return Err(Refusal::validation(&field, "The value is too long or contains a zero byte"));
    }
    Ok(())
}

fn check_limits(config: &ManagedServerConfig) -> Result<(), Refusal> {
    let limits = &config.limits;
    let times = [
        ("install_ms", limits.install_ms),
        ("connect_ms", limits.connect_ms),
        ("handshake_ms", limits.handshake_ms),
        ("idle_ms", limits.idle_ms),
        ("total_ms", limits.total_ms),
        ("grace_ms", limits.grace_ms),
    ];
    let of_tools = config.tools.values().flat_map(|tool| [tool.idle_ms, tool.total_ms]).flatten();
    for (name, time) in times.into_iter().chain(of_tools.map(|time| ("tools", time))) {
        if !(1..=limits::MAX_LIMIT_MS).contains(&time) {
            let message = format!("{name} must be between 1 and {} milliseconds", limits::MAX_LIMIT_MS);
            return Err(Refusal::validation(format!("limits.{name}"), message));
        }
    }
    if !(1..=limits::MAX_RESULT_BYTES).contains(&limits.result_bytes) {
        let message = format!("result_bytes must be between 1 and {}", limits::MAX_RESULT_BYTES);
        return Err(Refusal::validation("limits.result_bytes", message));
    }
    if !(1..=limits::MAX_CONCURRENT_CALLS).contains(&limits.calls) {
        let message = format!("calls must be between 1 and {}", limits::MAX_CONCURRENT_CALLS);
        return Err(Refusal::validation("limits.calls", message));
    }
    Ok(())
}

/// Returns whether a text is a valid slug. A slug must not contain the separator of tool names.
pub(crate) fn is_slug(text: &str) -> bool {
    (1..=MAX_SLUG_CHARS).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Returns a unique short name of letters, digits and single hyphens.
pub(crate) fn slug_for(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut slug = String::new();
    for character in name.chars().flat_map(char::to_lowercase) {
        if character.is_ascii_alphanumeric() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(MAX_SLUG_CHARS - 4);
    let slug = slug.trim_end_matches('-');
    let slug = if slug.is_empty() { "server" } else { slug };
    let candidates = std::iter::once(slug.to_owned()).chain((2..).map(|number| format!("{slug}-{number}")));
    candidates.into_iter().find(|candidate| !taken(candidate)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared_protocol::RefusalCode;

    fn binary() -> ManagedServerConfig {
        ManagedServerConfig::stdio("Clock", PackageKind::Binary, "/bin/clock")
    }

    #[track_caller]
    fn refused(config: &ManagedServerConfig, field: &str) {
        let failure = check(config).expect_err("it must be refused");
        assert_eq!(
            (failure.code, failure.field.as_deref()),
            (RefusalCode::ValidationError, Some(field)),
            "{failure:?}"
        );
    }

    #[test]
    fn each_rule_names_its_field() {
        assert_eq!(check(&binary()), Ok(()));
        refused(&ManagedServerConfig { name: "  ".to_owned(), ..binary() }, "name");
        refused(&ManagedServerConfig::stdio("x", PackageKind::Npm, " "), "package.identifier");
        refused(&ManagedServerConfig::stdio("x", PackageKind::Npm, "--evil"), "package.identifier");
        refused(&ManagedServerConfig::stdio("x", PackageKind::Npm, "one two"), "package.identifier");
        refused(
            &ManagedServerConfig {
                transport: ManagedServerTransport::Stdio,
                ..ManagedServerConfig::http("x", "http://a/", HttpAuth::None)
            },
            "transport",
        );
        let bearer = || HttpAuth::Bearer { secret_ref: "token".to_owned() };
        refused(&ManagedServerConfig::http("x", "http://example.org/mcp", bearer()), "transport.url");
        refused(
            &ManagedServerConfig::http("x", "https://me:pw@example.org/mcp", HttpAuth::None),
            "transport.url",
        );
        refused(&ManagedServerConfig::http("x", "ftp://example.org", HttpAuth::None), "transport.url");
        for url in [
            "https://example.org/mcp",
            "http://127.0.0.1:9/mcp",
            "http://[::1]:9/mcp",
            "http://localhost/mcp",
        ] {
            assert_eq!(check(&ManagedServerConfig::http("x", url, bearer())), Ok(()), "{url}");
        }
        let mut config = binary();
        config.limits.idle_ms = 0;
        refused(&config, "limits.idle_ms");
    }

    #[test]
    fn a_secret_has_no_value_of_its_own_and_a_required_one_is_given() {
        let mut config = binary();
        let variable = EnvVarConfig { required: true, is_secret: true, ..EnvVarConfig::default() };
        config.env_vars.insert("API_KEY".to_owned(), variable.clone());
        refused(&config, "env_vars.API_KEY");
        config.env_vars.insert(
            "API_KEY".to_owned(),
            EnvVarConfig { value: Some("hunter2".to_owned()), ..variable.clone() },
        );
        refused(&config, "env_vars.API_KEY");
        config
            .env_vars
            .insert("API_KEY".to_owned(), EnvVarConfig { secret_ref: Some("k".to_owned()), ..variable });
        assert_eq!(check(&config), Ok(()));
    }

    #[test]
    fn slugs_are_plain_and_different() {
        assert_eq!(slug_for("GitHub (work)", |_| false), "github-work");
        assert_eq!(slug_for("时间", |_| false), "server");
        assert_eq!(slug_for("files", |slug| slug == "files" || slug == "files-2"), "files-3");
        assert_eq!(slug_for("a__b", |_| false), "a-b");
        for slug in [slug_for(&"long ".repeat(30), |_| false), slug_for("files", |slug| slug == "files")] {
            assert!(is_slug(&slug), "{slug}");
        }
        assert!(!is_slug("a__b") && !is_slug(""));
    }
}
