//! The user's settings for agents, for Terraform and for the window: `settings.toml` in the user's configuration folder. A
//! file that cannot be read is named and left alone; the defaults hold meanwhile.

use serde::{Deserialize, Serialize};
use shared_protocol::mcp::McpMode;
use std::{
    fs, io,
    net::{IpAddr, Ipv4Addr},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

pub const DEFAULT_PORT: u16 = 7777;
const MAX_SETTINGS_BYTES: u64 = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AgentSettings {
    pub(crate) mode: McpMode,
    pub(crate) port: u16,
    /// Anything but this machine's own address lets other machines try.
    pub(crate) bind: IpAddr,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self { mode: McpMode::default(), port: DEFAULT_PORT, bind: IpAddr::V4(Ipv4Addr::LOCALHOST) }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TerraformSettings {
    /// A name on the path, or a whole path; `terraform` or `tofu` on the path when absent.
    program: Option<String>,
}

impl TerraformSettings {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Values of the command line for one run.
#[derive(Debug, Clone, Copy, Default)]
pub struct SettingsOverrides {
    pub mode: Option<McpMode>,
    pub port: Option<u16>,
}

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("{path} cannot be read: {problem}; fix it or remove it")]
    Unreadable { path: PathBuf, problem: String },
    #[error("{path} could not be written: {source}; the setting holds until Draftboard is closed")]
    Unwritten { path: PathBuf, source: io::Error },
}

/// The whole file; tables that this version does not know are kept.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SettingsFile {
    #[serde(default)]
    mcp: AgentSettings,
    #[serde(default, skip_serializing_if = "TerraformSettings::is_default")]
    terraform: TerraformSettings,
    /// The window's own; it alone knows what they mean.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    window: toml::Table,
    #[serde(flatten)]
    others: toml::Table,
}

pub(crate) fn read(path: &Path) -> Result<AgentSettings, SettingsError> {
    read_file(path).map(|file| file.mcp)
}

/// The program that runs Terraform, where the user has set one.
pub fn terraform_program(path: &Path) -> Result<Option<String>, SettingsError> {
    read_file(path).map(|file| file.terraform.program)
}

/// The window's settings as JSON; empty when there are none.
pub fn window_settings(path: &Path) -> Result<String, SettingsError> {
    let window = read_file(path)?.window;
    Ok(if window.is_empty() { String::new() } else { serde_json::to_string(&window).unwrap_or_default() })
}

/// Keeps the window's settings, which come as JSON, and what else is in their table.
pub fn keep_window_settings(path: &Path, text: &str) -> Result<(), SettingsError> {
    let unwritten =
        |error| SettingsError::Unwritten { path: path.to_owned(), source: io::Error::other(error) };
    let window: toml::Table = serde_json::from_str(text).map_err(unwritten)?;
    let _turn = lock_settings();
    let mut file = read_file(path)?;
    file.window.extend(window);
    write_file(path, &file)
}

/// The writer and the agents' side both change a part of the file: one after the other, so that neither part is lost.
fn lock_settings() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_file(path: &Path) -> Result<SettingsFile, SettingsError> {
    let unreadable = |problem: String| SettingsError::Unreadable { path: path.to_owned(), problem };
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(SettingsFile::default()),
        Err(error) => return Err(unreadable(error.to_string())),
        Ok(found) if found.len() > MAX_SETTINGS_BYTES => {
            return Err(unreadable("it is too large".to_owned()));
        }
        Ok(_) => {}
    }
    let text = fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    toml::from_str(&text).map_err(|error| unreadable(error.to_string()))
}

pub(crate) fn write(path: &Path, settings: &AgentSettings) -> Result<(), SettingsError> {
    let _turn = lock_settings();
    write_file(path, &SettingsFile { mcp: settings.clone(), ..read_file(path)? })
}

fn write_file(path: &Path, file: &SettingsFile) -> Result<(), SettingsError> {
    let unwritten = |source| SettingsError::Unwritten { path: path.to_owned(), source };
    let text = toml::to_string_pretty(file).map_err(|error| unwritten(io::Error::other(error)))?;
    safe_fs::write_private(path, text.as_bytes()).map_err(unwritten)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_kept_and_foreign_tables_with_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("below/settings.toml");
        assert_eq!(read(&path).unwrap(), AgentSettings::default());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "[window]\ntheme = 'dark'\n[terraform]\nprogram = 'tofu'\n").unwrap();
        let settings = AgentSettings { mode: McpMode::Guarded, port: 9000, ..AgentSettings::default() };
        write(&path, &settings).unwrap();
        assert_eq!(read(&path).unwrap(), settings);
        assert!(fs::read_to_string(&path).unwrap().contains("theme = \"dark\""));
        assert_eq!(terraform_program(&path).unwrap().as_deref(), Some("tofu"));
    }

    #[test]
    fn the_windows_settings_are_kept_beside_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("below/settings.toml");
        assert_eq!(window_settings(&path).unwrap(), "");
        keep_window_settings(&path, r#"{"theme":"dark","scale":150,"reduced_motion":false}"#).unwrap();
        let settings = AgentSettings { port: 9000, ..AgentSettings::default() };
        write(&path, &settings).unwrap();
        keep_window_settings(&path, r#"{"theme":"light"}"#).unwrap();
        assert_eq!(read(&path).unwrap(), settings);
        let kept: serde_json::Value = serde_json::from_str(&window_settings(&path).unwrap()).unwrap();
        assert_eq!(kept, serde_json::json!({ "theme": "light", "scale": 150, "reduced_motion": false }));
        assert!(keep_window_settings(&path, "[1]").is_err());
        fs::write(&path, "nonsense").unwrap();
        assert!(keep_window_settings(&path, r#"{"theme":"dark"}"#).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "nonsense", "left alone");
    }

    #[test]
    fn a_wrong_file_is_named_and_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.toml");
        for text in ["[mcp]\nmode = 'fly'\n", "[mcp]\nport = 70000\n", "[mcp]\ncolour = 1\n", "nonsense"] {
            fs::write(&path, text).unwrap();
            assert!(read(&path).unwrap_err().to_string().contains("settings.toml"), "{text}");
            assert!(write(&path, &AgentSettings::default()).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
