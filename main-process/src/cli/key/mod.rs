//! `draftboard key`: the key of this device and the keys that it knows.

mod export;
mod forget;
mod import;
mod list;
mod rotate;
mod show;
mod trust;

use super::{format, review};
use clap::Subcommand;
use device_key::{KeyError, KnownKey, Zeroizing};
use serde_json::{Value, json};
use shared_protocol::{Refusal, RefusalCode, v0::UtcTimestamp};
use std::{io::IsTerminal as _, path::PathBuf, process::ExitCode};

pub(super) const HELP: &str = "Each device has one key. It signs decisions, standing approvals and the head of the audit.\n\n\
    Examples:\n  draftboard key show\n  draftboard key export draftboard-key.json\n  draftboard key import draftboard-key.json\n  \
    draftboard key rotate\n  draftboard key list --json\n  draftboard key trust ed25519:11qYAYKx… --name laptop\n  \
    draftboard key forget 0123456789abcdef";

#[derive(Debug, clap::Args)]
pub(super) struct KeyArguments {
    #[command(subcommand)]
    verb: KeyVerb,
    /// Prints JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum KeyVerb {
    /// Shows the key of this device, and how another device trusts it
    #[command(after_help = "Example: draftboard key show")]
    Show,
    /// Writes a backup of the key, encrypted with a passphrase
    #[command(after_help = export::HELP)]
    Export {
        /// The new file
        file: PathBuf,
    },
    /// Restores the key from a backup
    #[command(after_help = import::HELP)]
    Import {
        /// The backup file that `draftboard key export` wrote
        file: PathBuf,
        /// Replaces a different key of this device
        #[arg(long)]
        replace: bool,
    },
    /// Replaces the key by a new one, which the old one signs
    #[command(after_help = rotate::HELP)]
    Rotate {
        /// Starts a new key although the old one is lost; other devices must trust it by hand
        #[arg(long)]
        lost: bool,
    },
    /// Lists the known keys: this device's own and those of others
    #[command(after_help = "Example: draftboard key list --json")]
    List,
    /// Trusts the key of another device: lines that it signed are no findings
    #[command(after_help = trust::HELP)]
    Trust(trust::TrustArguments),
    /// Forgets a known key
    #[command(after_help = "Example: draftboard key forget 0123456789abcdef")]
    Forget {
        /// The key as `draftboard key list` shows it
        key: String,
    },
}

pub(super) fn run(arguments: KeyArguments) -> ExitCode {
    let done = match arguments.verb {
        KeyVerb::Show => show::run(),
        KeyVerb::Export { file } => export::run(&file),
        KeyVerb::Import { file, replace } => import::run(&file, replace),
        KeyVerb::Rotate { lost } => rotate::run(lost),
        KeyVerb::List => list::run(),
        KeyVerb::Trust(arguments) => trust::run(&arguments),
        KeyVerb::Forget { key } => forget::run(&key),
    };
    match done {
        Ok(done) if arguments.json => {
            format::print_json(&json!({ "ok": true, "data": done.data }));
            ExitCode::SUCCESS
        }
        Ok(done) => {
            format::print_visible(&done.words);
            ExitCode::SUCCESS
        }
        Err(refusal) => format::refuse(&refusal, arguments.json),
    }
}

/// The result of a verb: for people, and as JSON.
struct KeyResult {
    words: String,
    data: Value,
}

fn refused(error: KeyError) -> Refusal {
    let code = match &error {
        KeyError::Unreadable { .. } | KeyError::Unwritten { .. } | KeyError::Store(_) => {
            RefusalCode::StorageError
        }
        KeyError::NoKey | KeyError::Unknown(_) | KeyError::Lost { .. } | KeyError::NoKeyring { .. } => {
            RefusalCode::NotFound
        }
        KeyError::HasKey(_) | KeyError::InUse(_) => RefusalCode::Conflict,
        _ => RefusalCode::BadRequest,
    };
    let refusal = Refusal::new(code, error.to_string());
    match error {
        KeyError::NoKey => refusal.hint("Open a workspace with `draftboard WORKSPACE`."),
        _ => refusal,
    }
}

/// A passphrase without echo at a terminal; else one line of standard input.
fn ask_passphrase(question: &str) -> Result<Zeroizing<String>, Refusal> {
    let question = if std::io::stdin().is_terminal() { question } else { "" };
    review::prompt_secret(question).map(Zeroizing::new)
}

/// The other device's command that trusts this key.
fn trust_command(key: &KnownKey) -> String {
    let replaces = key.replaces.as_ref().and_then(trust::replaces_text);
    let replaces = replaces.map(|text| format!(" --replaces {text}")).unwrap_or_default();
    let name: String = key.name.chars().filter(|c| c.is_alphanumeric() || "-_.".contains(*c)).collect();
    format!("draftboard key trust {} --name {name}{replaces}", key.public_key.to_text())
}

fn date(millis: u64) -> String {
    UtcTimestamp::of_millis(millis).as_str().chars().take(10).collect()
}
