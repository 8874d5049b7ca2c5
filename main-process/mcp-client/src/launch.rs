//! Plans the launch of a server: the program for each package type, its environment, and the fetch steps before.
//! Secrets go into the environment, never into arguments.

use crate::{config::ManagedServerConfig, secrets::ResolvedSecrets};
use processes::{Environment, ProgramLaunch, StdStream};
use sha2::{Digest as _, Sha256};
use shared_protocol::{Refusal, managed_servers::PackageKind};
use std::{
    ffi::{OsStr, OsString},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

/// The variables a server inherits from the user's session; all others must be in its configuration.
const INHERITED: [&str; 17] = [
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "DOCKER_HOST",
];

/// Returns the inheritable variables of this process.
pub fn inherited_environment() -> Vec<(OsString, OsString)> {
    INHERITED.iter().filter_map(|name| std::env::var_os(name).map(|value| (name.into(), value))).collect()
}

/// The time that a server gets to end after this process ended without stopping it. Its configuration sets the time for an
/// ordinary stop.
const ORPHAN_GRACE_PERIOD: Duration = Duration::from_millis(300);

/// A program with pipes for all three standard streams and no environment but this one.
pub(crate) fn piped_launch(
    program: &Path,
    arguments: Vec<String>,
    folder: PathBuf,
    environment: Vec<(OsString, OsString)>,
) -> ProgramLaunch {
    ProgramLaunch {
        environment: Environment::exactly(environment),
        folder: Some(folder),
        stdin: StdStream::Pipe,
        stdout: StdStream::Pipe,
        stderr: StdStream::Pipe,
        grace_period: ORPHAN_GRACE_PERIOD,
        ..ProgramLaunch::new(program, arguments)
    }
}

/// The launch plan of a server.
pub(crate) struct LaunchPlan {
    /// Fetch steps before the first start, in order.
    pub(crate) install: Vec<ProgramLaunch>,
    /// The mark file that exists after installation.
    pub(crate) mark: Option<PathBuf>,
    pub(crate) launch: ProgramLaunch,
    /// The cleanup step after the end, because a container outlives the program that started it.
    pub(crate) clear: Option<ProgramLaunch>,
}

pub(crate) struct LaunchContext<'a> {
    pub(crate) environment: &'a [(OsString, OsString)],
    /// The folder for virtual environments and installation marks.
    pub(crate) data: &'a Path,
}

pub(crate) fn plan(
    config: &ManagedServerConfig,
    secrets: &ResolvedSecrets,
    place: &LaunchContext<'_>,
) -> Result<LaunchPlan, Refusal> {
    let mut environment = place.environment.to_vec();
    let home = value_of(&environment, "HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
    for (name, variable) in &config.env_vars {
        let secret = variable.secret_ref.as_deref().and_then(|reference| secrets.get(reference));
        let value = secret.map(|secret| secret.reveal().to_owned()).or_else(|| variable.value.clone());
        if let Some(value) = value {
            environment.retain(|(other, _)| other != name.as_str());
            environment.push((name.into(), value.into()));
        }
    }
    let folder = config.folder.clone().unwrap_or_else(|| home.clone());
    if !folder.is_dir() {
        return Err(
            Refusal::not_found(format!("The folder {} does not exist", folder.display())).field("folder")
        );
    }
    let run = |program: PathBuf, arguments: Vec<String>| {
        piped_launch(&program, arguments, folder.clone(), environment.clone())
    };
    // Fetching needs no secrets of the server.
    let fetch = |program: &Path, arguments: Vec<String>| {
        piped_launch(program, arguments, home.clone(), place.environment.to_vec())
    };
    let find = |name: &str| find_program(name, &environment);
    let package = &config.package;
    let identifier = package.identifier.trim();
    let mark = place.data.join("installed").join(digest(&[
        &format!("{:?}", package.package_type),
        identifier,
        package.runtime_hint.as_deref().unwrap_or_default(),
        &home.to_string_lossy(),
    ]));
    match package.package_type {
        PackageKind::Npm => {
            let npx = find("npx")?;
            let get = ["--yes", "--package", identifier, "--", "node", "--version"].map(str::to_owned);
            let mut arguments = ["--yes", "--offline", "--", identifier].map(str::to_owned).to_vec();
            arguments.extend(config.args.iter().cloned());
            Ok(LaunchPlan {
                install: vec![fetch(&npx, get.into())],
                mark: Some(mark),
                launch: run(npx, arguments),
                clear: None,
            })
        }
        PackageKind::Pypi => {
            let name = package.command.clone().unwrap_or_else(|| distribution(identifier).to_owned());
            let uvx = match package.runtime_hint.as_deref() {
                Some("venv") => None,
                Some(_) => Some(find("uvx")?),
                None => find("uvx").ok(),
            };
            if let Some(uvx) = uvx {
                let get = ["--from", identifier, "python", "-c", ""].map(str::to_owned);
                let mut arguments = ["--offline", "--from", identifier, &name].map(str::to_owned).to_vec();
                arguments.extend(config.args.iter().cloned());
                return Ok(LaunchPlan {
                    install: vec![fetch(&uvx, get.into())],
                    mark: Some(mark),
                    launch: run(uvx, arguments),
                    clear: None,
                });
            }
            let python = find("python3")?;
            let venv = place.data.join("pypi").join(digest(&[identifier]));
            let text = |path: PathBuf| path.to_string_lossy().into_owned();
            let make = vec!["-m".to_owned(), "venv".to_owned(), text(venv.clone())];
            let get = ["install", "--disable-pip-version-check", "--no-input", identifier].map(str::to_owned);
            let install = vec![fetch(&python, make), fetch(&venv.join("bin/pip"), get.into())];
            Ok(LaunchPlan {
                install,
                mark: Some(mark),
                launch: run(venv.join("bin").join(name), config.args.clone()),
                clear: None,
            })
        }
        PackageKind::Docker => {
            let docker = find(package.runtime_hint.as_deref().unwrap_or("docker"))?;
            let container = format!("draftboard-{}-{}", config.slug, uuid::Uuid::new_v4().simple());
            let mut arguments =
                ["run", "--rm", "-i", "--init", "--name", &container].map(str::to_owned).to_vec();
            for name in config.env_vars.keys() {
                // Passes only the name; the Docker client takes the value from its own environment.
                arguments.extend(["--env".to_owned(), name.clone()]);
            }
            arguments.push(identifier.to_owned());
            arguments.extend(config.args.iter().cloned());
            let clear = fetch(&docker, ["rm", "--force", &container].map(str::to_owned).into());
            let look =
                fetch(&docker, ["version", "--format", "{{.Server.Version}}"].map(str::to_owned).into());
            let pull = fetch(&docker, ["pull", "--quiet", identifier].map(str::to_owned).into());
            Ok(LaunchPlan {
                install: vec![look, pull],
                mark: Some(mark),
                launch: run(docker, arguments),
                clear: Some(clear),
            })
        }
        PackageKind::Binary => {
            let program = match identifier.strip_prefix("~/") {
                Some(rest) => executable(&home.join(rest))?,
                None if identifier.contains('/') => executable(&folder.join(identifier))?,
                None => find(identifier)?,
            };
            Ok(LaunchPlan {
                install: Vec::new(),
                mark: None,
                launch: run(program, config.args.clone()),
                clear: None,
            })
        }
        PackageKind::Http => {
            Err(Refusal::validation("package", "An HTTP server is not started by Draftboard"))
        }
    }
}

/// Returns `mcp-server-time` for `mcp-server-time[extra]==1.2`.
fn distribution(identifier: &str) -> &str {
    identifier.split(['=', '<', '>', '~', '!', '[', '@', ';']).next().unwrap_or(identifier).trim()
}

fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn value_of<'a>(environment: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    environment.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_os_str())
}

/// Searches the PATH of the server, not that of this process.
pub(crate) fn find_program(name: &str, environment: &[(OsString, OsString)]) -> Result<PathBuf, Refusal> {
    let path = value_of(environment, "PATH").unwrap_or_default();
    std::env::split_paths(path)
        .map(|folder| folder.join(name))
        .find(|program| is_executable(program))
        .ok_or_else(|| {
            let what = match name {
                "npx" => "install Node.js",
                "uvx" => "install uv",
                "python3" => "install Python",
                "docker" => "install Docker",
                _ => "install it or enter its full path",
            };
            let path = path.to_string_lossy();
            Refusal::not_found(format!("{name} was not found on PATH ({path}): {what}")).field("package")
        })
}

fn executable(path: &Path) -> Result<PathBuf, Refusal> {
    if is_executable(path) {
        return Ok(path.to_owned());
    }
    let message = format!("Package not found: {} is not an executable file", path.display());
    Err(Refusal::not_found(message).field("package.identifier"))
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
