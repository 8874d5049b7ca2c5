//! Imports servers from the configurations of Claude Desktop, Claude Code, VS Code and Cursor. Plain-text secrets go
//! to the secret store; imported servers are disabled until a person enables them.

mod exposed;

use crate::{
    config::{EnvVarConfig, HttpAuth, ManagedServerConfig, check},
    secrets::{Secret, secret_name},
};
use serde_json::{Map, Value};
use shared_protocol::{Refusal, managed_servers::PackageKind};

const MAX_IMPORT_BYTES: usize = 4 << 20;
const MAX_IMPORT_DEPTH: usize = 100;

/// An imported server.
#[derive(Debug, Clone)]
pub struct ServerImport {
    pub config: ManagedServerConfig,
    /// Secrets with the part each belongs to; see [`crate::ManagedServersService::create_with_secrets`].
    pub secrets: Vec<(String, Secret)>,
    /// Notes for the person who starts it.
    pub notes: Vec<String>,
}

#[derive(Debug, Default)]
pub struct ImportReport {
    pub servers: Vec<ServerImport>,
    /// Servers that cannot be imported, with the reason.
    pub refused: Vec<(String, String)>,
    /// Entries that are ignored on purpose, with the reason.
    pub skipped: Vec<(String, String)>,
}

/// Parses `mcpServers` (Claude Desktop, Claude Code also per project, Cursor), `servers` (VS Code's `mcp.json`),
/// `mcp.servers` (VS Code's settings), bare entries and a single server, with comments and trailing commas.
pub fn import(text: &str) -> Result<ImportReport, Refusal> {
    if text.len() > MAX_IMPORT_BYTES {
        return Err(Refusal::validation("text", format!("The text is larger than {MAX_IMPORT_BYTES} bytes")));
    }
    if nesting_depth(text) > MAX_IMPORT_DEPTH {
        return Err(Refusal::validation(
            "text",
            format!("The text is nested more than {MAX_IMPORT_DEPTH} levels deep"),
        ));
    }
    let value = parse_text(text)?;
    let mut import = ImportReport::default();
    for (name, entry) in entries(&value) {
        if is_draftboard_entry(&name, entry) {
            let why = "this entry is Draftboard itself".to_owned();
            import.skipped.push((name, why));
            continue;
        }
        match read(&name, entry) {
            Ok(server) => import.servers.push(server),
            Err(reason) => import.refused.push((name, reason)),
        }
    }
    if import.servers.is_empty() && import.refused.is_empty() && import.skipped.is_empty() {
        let message = "The text contains no servers: expected mcpServers, servers, mcp.servers, or one server with command or \
                       url";
        return Err(Refusal::validation("text", message));
    }
    Ok(import)
}

fn parse_text(text: &str) -> Result<Value, Refusal> {
    let parse = |text: &str| -> Result<Value, _> {
        jsonc_parser::parse_to_serde_value(text, &jsonc_parser::ParseOptions::default())
    };
    // An entry copied from the middle of a file: its name without the surrounding braces.
    let entry = text.trim().trim_end_matches(',');
    let value = if entry.starts_with('"') { parse(&format!("{{{entry}}}")) } else { parse(text) };
    value.map_err(|error| Refusal::validation("text", format!("The text is not valid JSON: {error}")))
}

/// Returns every server of a configuration with its name.
fn entries(value: &Value) -> Vec<(String, &Value)> {
    let is_server = |entry: &Value| {
        entry.as_object().is_some_and(|entry| {
            entry.get("command").is_some_and(Value::is_string) || url_of(entry).is_some()
        })
    };
    if is_server(value) {
        return vec![(name_of(value), value)];
    }
    let projects =
        value.get("projects").and_then(Value::as_object).into_iter().flatten().map(|(_, project)| project);
    let lists = [
        value.get("mcpServers"),
        value.get("servers"),
        value.pointer("/mcp/servers"),
        value.get("mcp.servers"),
    ];
    let lists = lists.into_iter().chain(projects.map(|project| project.get("mcpServers")));
    let named: Vec<(String, &Value)> = lists
        .flatten()
        .filter_map(Value::as_object)
        .flatten()
        .map(|(name, entry)| (name.clone(), entry))
        .collect();
    if !named.is_empty() {
        return named;
    }
    let bare = value.as_object().into_iter().flatten().filter(|(_, entry)| is_server(entry));
    bare.map(|(name, entry)| (name.clone(), entry)).collect()
}

/// Names a single server: by its own name, its package, its program or its URL.
fn name_of(entry: &Value) -> String {
    let text = |part: &str| entry.get(part).and_then(Value::as_str);
    let from_runner = || {
        let arguments = entry.get("args").and_then(Value::as_array)?;
        let package =
            arguments.iter().filter_map(Value::as_str).find(|argument| !argument.starts_with('-'))?;
        let package = package.rsplit('/').next().unwrap_or(package);
        Some(package.split(['@', '=']).next().unwrap_or(package))
    };
    let program = text("command").map(|command| command.rsplit('/').next().unwrap_or(command));
    let host = || entry.as_object().and_then(url_of)?.split("://").nth(1)?.split(['/', ':', '?']).next();
    let name = match program {
        _ if text("name").is_some() => text("name"),
        Some("npx" | "uvx") => from_runner().or(program),
        Some(_) => program,
        None => host(),
    };
    name.filter(|name| !name.trim().is_empty()).unwrap_or("server").to_owned()
}

/// Returns whether the entry is Draftboard's own bridge.
fn is_draftboard_entry(name: &str, entry: &Value) -> bool {
    let command = entry.get("command").and_then(Value::as_str).unwrap_or_default();
    let program = command.rsplit(['/', '\\']).next().unwrap_or(command).trim_end_matches(".exe");
    let is_bridge = entry.pointer("/args/0").and_then(Value::as_str) == Some("mcp");
    is_bridge && (program == "draftboard" || name == "draftboard")
}

/// Estimates the nesting depth; brackets in strings and comments count too, which is harmless.
fn nesting_depth(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    for byte in text.bytes() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn read(name: &str, entry: &Value) -> Result<ServerImport, String> {
    let entry = entry.as_object().ok_or("the entry is not an object")?;
    let mut server = match (entry.get("command").and_then(Value::as_str), url_of(entry)) {
        (Some(command), _) => from_command(name, command, texts(entry.get("args"))?)?,
        (None, Some(url)) => from_url(name, url, entry)?,
        (None, None) => return Err("the entry has neither command nor url".to_owned()),
    };
    for (variable, value) in entry.get("env").and_then(Value::as_object).into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        add_variable(&mut server, variable, &value);
    }
    if entry.contains_key("envFile") {
        server.notes.push("envFile was not read: add its variables manually".to_owned());
    }
    if let Some(folder) = entry.get("cwd").and_then(Value::as_str) {
        server.config.folder = Some(folder.into());
    }
    server.config.enabled = false;
    check(&server.config).map_err(|failure| failure.message)?;
    Ok(server)
}

fn url_of(entry: &Map<String, Value>) -> Option<&str> {
    entry.get("url").or_else(|| entry.get("serverUrl")).and_then(Value::as_str)
}

fn texts(value: Option<&Value>) -> Result<Vec<String>, String> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let items = value.as_array().ok_or("args is not a list")?;
    items
        .iter()
        .map(|item| {
            item.as_str().map(str::to_owned).ok_or_else(|| "args must contain only strings".to_owned())
        })
        .collect()
}

/// Recognises package runners, so that fetching becomes a separate step. All other commands run unchanged.
fn from_command(name: &str, command: &str, mut args: Vec<String>) -> Result<ServerImport, String> {
    let runner = command.rsplit('/').next().unwrap_or(command);
    let taken = match runner {
        "docker" | "podman" => exposed::extract_container_secrets(&mut args),
        _ => Vec::new(),
    };
    if let Some(place) = exposed::find_in_arguments(&args) {
        return Err(format!(
            "the arguments contain a secret that every program on this machine can read: {place}. Configure the server to read it \
             from an environment variable, then import it again"
        ));
    }
    let args = args.as_slice();
    let options = args
        .iter()
        .take_while(|argument| matches!(argument.as_str(), "-y" | "--yes" | "-q" | "--quiet"))
        .count();
    let rest = args.get(options..).unwrap_or_default();
    let package = |kind, identifier: &str, args: &[String]| {
        let mut config = ManagedServerConfig::stdio(name, kind, identifier);
        config.args = args.to_vec();
        config
    };
    let config = match (runner, rest) {
        ("npx", [identifier, rest @ ..]) if !identifier.starts_with('-') => {
            package(PackageKind::Npm, identifier, rest)
        }
        ("uvx", [from, identifier, program, rest @ ..]) if from == "--from" => {
            let mut config = package(PackageKind::Pypi, identifier, rest);
            config.package.command = Some(program.clone());
            config
        }
        ("uvx", [identifier, rest @ ..]) if !identifier.starts_with('-') => {
            package(PackageKind::Pypi, &identifier.replacen('@', "==", 1).replace("==latest", ""), rest)
        }
        _ => package(PackageKind::Binary, command, args),
    };
    let mut notes = Vec::new();
    if args.iter().any(|argument| is_placeholder(argument)) {
        notes.push("Some arguments are placeholders of the other program: replace them".to_owned());
    }
    let mut server = ServerImport { config, secrets: Vec::new(), notes };
    for (variable, value) in taken {
        server.notes.push(format!("{variable} was moved from the arguments to the secret store"));
        add_variable(&mut server, &variable, &value);
    }
    Ok(server)
}

fn from_url(name: &str, url: &str, entry: &Map<String, Value>) -> Result<ServerImport, String> {
    if entry.get("type").and_then(Value::as_str) == Some("sse") {
        return Err(
            "the HTTP+SSE transport is not supported: use the Streamable HTTP URL of the server".to_owned()
        );
    }
    if let Some(place) = exposed::find_in_url(url) {
        return Err(format!(
            "the URL contains a secret that ends up in logs: {place}. Remove it from the URL, and enter it as a bearer token or a \
             header when you add the server"
        ));
    }
    let mut server = ServerImport {
        config: ManagedServerConfig::http(name, url, HttpAuth::None),
        secrets: Vec::new(),
        notes: Vec::new(),
    };
    let headers: Vec<_> = entry.get("headers").and_then(Value::as_object).into_iter().flatten().collect();
    let (header, value) = match headers.as_slice() {
        [] => return Ok(server),
        [(header, value)] => (*header, value.as_str().ok_or("the header value is not a string")?),
        _ => return Err("more than one header is not supported".to_owned()),
    };
    let secret_ref = secret_name(server.config.id, "auth");
    let bearer = value.strip_prefix("Bearer ").filter(|_| header.eq_ignore_ascii_case("authorization"));
    let auth = match bearer {
        Some(_) => HttpAuth::Bearer { secret_ref },
        None => HttpAuth::Header { name: header.clone(), secret_ref },
    };
    server.config =
        ManagedServerConfig { id: server.config.id, ..ManagedServerConfig::http(name, url, auth) };
    add_secret(&mut server, "auth", bearer.unwrap_or(value));
    Ok(server)
}

fn add_variable(server: &mut ServerImport, name: &str, value: &str) {
    let variable = if sounds_secret(name) || exposed::is_secret_name(name) || is_placeholder(value) {
        add_secret(server, name, value);
        EnvVarConfig::secret(name, &secret_name(server.config.id, name))
    } else {
        EnvVarConfig::plain(name, value)
    };
    server.config.env_vars.insert(name.to_owned(), variable);
}

/// Stores a literal value as a secret. A placeholder stays to be filled in by a person.
fn add_secret(server: &mut ServerImport, part: &str, value: &str) {
    match Secret::new(value) {
        Ok(secret) if !is_placeholder(value) => server.secrets.push((part.to_owned(), secret)),
        _ => server.notes.push(format!("{part} has no value: set it before you start the server")),
    }
}

fn is_placeholder(value: &str) -> bool {
    value.contains("${")
}

fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "_PAT", "AUTH"]
        .iter()
        .any(|sign| name.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ManagedServerTransport;

    fn only(text: &str) -> ServerImport {
        let mut found = import(text).expect("a configuration");
        assert_eq!((found.servers.len(), found.refused.len()), (1, 0), "{found:?}");
        found.servers.remove(0)
    }

    #[test]
    fn packages_are_recognised_and_secrets_taken_out() {
        let server = only(
            r#"{ // as Claude Desktop writes it
                "mcpServers": {"github": {"command": "npx", "args": ["-y", "@scope/github@1.0", "--all"],
                    "env": {"GITHUB_TOKEN": "ghp_secret", "REGION": "eu"}, }}}"#,
        );
        let config = &server.config;
        assert_eq!(
            (config.package.package_type, config.package.identifier.as_str()),
            (PackageKind::Npm, "@scope/github@1.0")
        );
        assert_eq!(config.args, ["--all"]);
        assert!(!config.enabled);
        assert_eq!(config.env_vars["REGION"].value.as_deref(), Some("eu"));
        assert_eq!(config.env_vars["GITHUB_TOKEN"].value, None);
        assert_eq!(
            (server.secrets[0].0.as_str(), server.secrets[0].1.reveal()),
            ("GITHUB_TOKEN", "ghp_secret")
        );
        assert!(!serde_json::to_string(config).expect("plain data").contains("ghp_secret"));
    }

    #[test]
    fn the_other_forms_are_understood() {
        let code = only(
            r#"{"servers": {"time": {"type": "stdio", "command": "uvx", "args": ["mcp-server-time@2.0", "--utc"]}}, "inputs": []}"#,
        );
        assert_eq!(
            (code.config.package.package_type, code.config.package.identifier.as_str()),
            (PackageKind::Pypi, "mcp-server-time==2.0")
        );
        let settings = only(
            r#"{"mcp": {"servers": {"own": {"command": "/opt/own", "env": {"API_KEY": "${input:key}"}}}}}"#,
        );
        assert_eq!(settings.config.package.package_type, PackageKind::Binary);
        assert!(settings.secrets.is_empty() && settings.notes[0].contains("API_KEY"), "{:?}", settings.notes);
        let project = only(
            r#"{"projects": {"/p": {"mcpServers": {"web": {"type": "http", "url": "https://example.org/mcp",
            "headers": {"Authorization": "Bearer abc-def"}}}}}}"#,
        );
        let ManagedServerTransport::Http { auth: HttpAuth::Bearer { .. }, .. } = &project.config.transport
        else {
            panic!("{project:?}")
        };
        assert_eq!(project.secrets[0].1.reveal(), "abc-def");
        let header = only(
            r#"{"mcpServers": {"x": {"url": "https://example.org/mcp", "headers": {"X-Key": "abc-def"}}}}"#,
        );
        assert!(
            matches!(&header.config.transport, ManagedServerTransport::Http { auth: HttpAuth::Header { name, .. }, .. } if name == "X-Key")
        );
    }

    #[test]
    fn one_server_by_itself_and_entries_without_what_is_around_them_are_understood() {
        for (text, name) in [
            (r#"{"command": "npx", "args": ["-y", "@scope/clock@1.0", "--utc"]}"#, "clock"),
            (r#"{"name": "Watch", "command": "/opt/watch"}"#, "Watch"),
            (r#"{"command": "/opt/watch"}"#, "watch"),
            (r#"{"type": "http", "url": "https://example.org/mcp"}"#, "example.org"),
            (r#"{"files": {"command": "/opt/files"}}"#, "files"),
            (r#""files": {"command": "/opt/files"},"#, "files"),
        ] {
            assert_eq!(only(text).config.name, name, "{text}");
        }
        assert!(import(r#"{"editor": {"fontSize": 12}}"#).is_err(), "settings without servers");
    }

    #[test]
    fn draftboard_itself_is_left_out_with_a_word() {
        let found = import(
            r#"{"mcpServers": {"draftboard": {"command": "/opt/db-1.0", "args": ["mcp", "--workspace", "/w"]},
                "mine": {"command": "/usr/bin/draftboard", "args": ["mcp"]}, "files": {"command": "/opt/files"}}}"#,
        )
        .expect("a configuration");
        assert_eq!((found.servers.len(), found.refused.len()), (1, 0), "{found:?}");
        let names: Vec<&str> = found.skipped.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["draftboard", "mine"]);
    }

    #[test]
    fn a_secret_in_the_open_is_refused_or_moved_and_repeated_nowhere() {
        let found = import(
            r#"{"mcpServers": {
                "flag": {"command": "npx", "args": ["-y", "@scope/x", "--api-key", "hunter2-hunter2"]},
                "address": {"url": "https://example.org/mcp?token=hunter2-hunter2"},
                "box": {"command": "docker", "args": ["run", "-i", "-e", "API_KEY=hunter2-hunter2", "example/x"]}}}"#,
        )
        .expect("a configuration");
        let why =
            |name: &str| found.refused.iter().find(|(other, _)| other == name).map(|(_, why)| why.as_str());
        assert!(why("flag").is_some_and(|why| why.contains("--api-key (argument 3)")), "{found:?}");
        assert!(why("address").is_some_and(|why| why.contains("token in its query")), "{found:?}");
        let [boxed] = found.servers.as_slice() else { panic!("{found:?}") };
        assert_eq!(boxed.config.args, ["run", "-i", "-e", "API_KEY", "example/x"]);
        assert!(boxed.config.env_vars["API_KEY"].is_secret);
        assert_eq!(boxed.secrets[0].1.reveal(), "hunter2-hunter2");
        assert!(!format!("{found:?}").contains("hunter2"), "{found:?}");
    }

    #[test]
    fn what_cannot_be_taken_over_is_named() {
        let found = import(
            r#"{"mcpServers": {"old": {"type": "sse", "url": "https://example.org/sse"}, "none": {}, "open": {"url": "http://example.org", "headers": {"X": "abcdef"}}}}"#,
        );
        let refused = found.expect("a configuration").refused;
        let why = |name: &str| {
            refused.iter().find(|(other, _)| other == name).map(|(_, why)| why.as_str()).unwrap_or_default()
        };
        assert!(
            why("old").contains("HTTP+SSE")
                && why("none").contains("neither")
                && why("open").contains("https"),
            "{refused:?}"
        );
        assert!(import("{}").is_err() && import("{").is_err() && import(&"[".repeat(1_000_000)).is_err());
    }
}
