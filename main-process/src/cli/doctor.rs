//! `draftboard doctor`: the requirements of Draftboard, and how to fix missing ones.

use super::format;
use agents::terraform_program;
use processes::{RuntimeDir, RuntimeDirs};
use std::{collections::BTreeSet, path::Path, process::ExitCode};
use system_fonts::{SCRIPT_SAMPLES, ScriptFontSample, SystemFontList};
use user_folders as paths;

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
enum CheckVerdict {
    Ok,
    /// Something is missing that not everybody needs.
    Optional,
    Missing,
}

#[derive(Debug, serde::Serialize)]
struct CheckResult {
    what: &'static str,
    verdict: CheckVerdict,
    found: String,
    /// The fix.
    fix: Option<String>,
}

pub(super) fn run(json: bool) -> ExitCode {
    let mut findings = vec![
        display(),
        keyboard_library(),
        graphics_library(),
        dialogs(),
        runtime_dir(),
        data_dir(),
        fonts(),
    ];
    findings.push(terraform());
    findings.push(program("git", &["git"], "file history"));
    let failed = findings.iter().any(|finding| finding.verdict == CheckVerdict::Missing);
    if json {
        format::print_json(&serde_json::json!({ "ok": !failed, "data": findings }));
    } else {
        format::print_visible(&findings.iter().map(line).collect::<Vec<_>>().join("\n"));
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn line(finding: &CheckResult) -> String {
    let mark = match finding.verdict {
        CheckVerdict::Ok => "ok      ",
        CheckVerdict::Optional => "optional",
        CheckVerdict::Missing => "missing ",
    };
    let fix = finding.fix.as_ref().map_or_else(String::new, |fix| format!("\n          {fix}"));
    format!("{mark}  {}: {}{fix}", finding.what, finding.found)
}

fn ok(what: &'static str, found: impl Into<String>) -> CheckResult {
    CheckResult { what, verdict: CheckVerdict::Ok, found: found.into(), fix: None }
}

fn lacking(
    what: &'static str,
    verdict: CheckVerdict,
    found: impl Into<String>,
    fix: impl Into<String>,
) -> CheckResult {
    CheckResult { what, verdict, found: found.into(), fix: Some(fix.into()) }
}

fn display() -> CheckResult {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    match (set("WAYLAND_DISPLAY"), set("DISPLAY")) {
        (Some(name), _) => ok("display", format!("Wayland ({name})")),
        (None, Some(name)) => ok("display", format!("X11 ({name})")),
        (None, None) => lacking(
            "display",
            CheckVerdict::Missing,
            "neither DISPLAY nor WAYLAND_DISPLAY is set",
            "Start Draftboard in a desktop session, or run it without a window: draftboard serve WORKSPACE",
        ),
    }
}

/// Libraries are loaded when the window starts, so a missing one shows only then.
fn library(what: &'static str, names: &[&str], packages: &str) -> CheckResult {
    const FOLDERS: [&str; 6] = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/lib/x86_64-linux-gnu",
        "/lib64",
    ];
    let there = |name: &&&str| FOLDERS.iter().any(|folder| Path::new(folder).join(name).exists());
    match names.iter().find(there) {
        Some(name) => ok(what, *name),
        None => lacking(
            what,
            CheckVerdict::Missing,
            format!("none of {}", names.join(", ")),
            format!("Install {packages} (Debian package names)"),
        ),
    }
}

fn graphics_library() -> CheckResult {
    library("OpenGL", &["libGL.so.1", "libEGL.so.1"], "libgl1 libgl1-mesa-dri")
}

fn keyboard_library() -> CheckResult {
    library("keyboard", &["libxkbcommon.so.0"], "libxkbcommon0 libxkbcommon-x11-0 xkb-data")
}

fn dialogs() -> CheckResult {
    let portal = ["/usr/libexec/xdg-desktop-portal", "/usr/lib/xdg-desktop-portal"];
    match portal.iter().find(|path| Path::new(path).exists()) {
        Some(path) => ok("native dialogs", *path),
        None => lacking(
            "native dialogs",
            CheckVerdict::Optional,
            "no desktop portal",
            "Install xdg-desktop-portal for system file dialogs; without it, Draftboard uses its own",
        ),
    }
}

fn runtime_dir() -> CheckResult {
    match RuntimeDir::of_user() {
        Ok(runtime) => {
            let unsafe_ones: Vec<String> = RuntimeDirs::of_user().unsafe_ones().map(str::to_owned).collect();
            match unsafe_ones.is_empty() {
                true => ok("runtime folder", runtime.path().display().to_string()),
                false => lacking(
                    "runtime folder",
                    CheckVerdict::Optional,
                    format!("{}; {}", runtime.path().display(), unsafe_ones.join("; ")),
                    "Draftboard instances in a skipped folder are not found; start them with the same XDG_RUNTIME_DIR",
                ),
            }
        }
        Err(error) => lacking(
            "runtime folder",
            CheckVerdict::Missing,
            error.to_string(),
            "Terminals and agents find a running Draftboard there",
        ),
    }
}

fn data_dir() -> CheckResult {
    let example = paths::example();
    let folder = example.parent().unwrap_or(&example);
    match std::fs::create_dir_all(folder) {
        Ok(()) => ok("data folder", folder.display().to_string()),
        Err(error) => lacking(
            "data folder",
            CheckVerdict::Missing,
            format!("{}: {error}", folder.display()),
            "Make it writable, or set XDG_DATA_HOME",
        ),
    }
}

/// The program that the user's settings name, or the first one on the path.
fn terraform() -> CheckResult {
    const NEEDED_FOR: &str = "Terraform runs";
    match terraform_program(&paths::settings()) {
        Ok(None) => program("terraform or tofu", &["terraform", "tofu"], NEEDED_FOR),
        // Joined to a folder of the path, a whole path stays what it is.
        Ok(Some(set)) => program("terraform program in settings.toml", &[&set], NEEDED_FOR),
        Err(error) => lacking(
            "terraform program in settings.toml",
            CheckVerdict::Optional,
            error.to_string(),
            "Fix settings.toml",
        ),
    }
}

/// Scripts beside Latin, Greek and Cyrillic are drawn with fonts of the system.
fn fonts() -> CheckResult {
    let list = SystemFontList::of_system();
    let missing: Vec<&ScriptFontSample> =
        SCRIPT_SAMPLES.iter().filter(|script| !list.covers(script.sample)).collect();
    if missing.is_empty() {
        return ok("fonts", format!("for all of {} scripts", SCRIPT_SAMPLES.len()));
    }
    let names: Vec<&str> = missing.iter().map(|script| script.name).collect();
    let packages: BTreeSet<&str> = missing.iter().map(|script| script.package).collect();
    let packages: Vec<&str> = packages.into_iter().collect();
    lacking(
        "fonts",
        CheckVerdict::Optional,
        format!("no font for {}; their characters appear as boxes", names.join(", ")),
        format!("Install {} (Debian package names)", packages.join(", ")),
    )
}

fn program(what: &'static str, names: &[&str], needed_for: &str) -> CheckResult {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|file| file.is_file());
    match found {
        Some(file) => ok(what, file.display().to_string()),
        None => lacking(what, CheckVerdict::Optional, "not on PATH", format!("Install it for {needed_for}")),
    }
}
