//! `draftboard hcl`: a board as Terraform files.

use super::{WorkspaceArguments, board_at::BoardAt, format};
use authority::unified_diff;
use safe_fs::{PathError, PathProblem, SafeFolder};
use serde_json::json;
use shared_protocol::{
    Refusal, RefusalCode,
    messages::ProblemSeverity,
    requests::{GenerateHcl, WriteHcl, WrittenHcl},
    terraform::{HclView, TerraformFindingView},
};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

pub(super) const HELP: &str = "Examples:\n  draftboard hcl\n  draftboard hcl network --diff\n  \
    draftboard hcl network --write\n  draftboard hcl network --check   # in CI: exit code 1 when files and board differ";

/// The largest file that is looked at before it is replaced.
const MAX_GENERATED_BYTES: u64 = 64 << 20;

#[derive(Debug, clap::Args)]
pub(super) struct HclArguments {
    /// The board [default: the only infrastructure board]
    board: Option<String>,
    /// Exit code 1 when the files in the workspace are not as the board says
    #[arg(long, group = "what")]
    check: bool,
    /// Shows how the files in the workspace would change
    #[arg(long, group = "what")]
    diff: bool,
    /// Writes the files to terraform/BOARD
    #[arg(long, group = "what")]
    write: bool,
    /// Writes the files to another folder
    #[arg(long, group = "what", value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    at: WorkspaceArguments,
}

pub(super) fn run(asked: &HclArguments) -> ExitCode {
    format::exit(answer(asked), asked.at.json)
}

fn answer(asked: &HclArguments) -> Result<ExitCode, Refusal> {
    let mut at = BoardAt::find(&asked.at, asked.board.as_deref())?;
    let board = at.board.id;
    let view = at.request(GenerateHcl { board })?;
    let mut data = json!({ "board": at.board.name, "findings": view.findings });
    let mut words = String::new();
    let mut differs = false;
    if asked.write {
        let WrittenHcl { written, removed, in_the_way } = at.request(WriteHcl { board })?;
        data["written"] = json!(written);
        data["removed"] = json!(removed);
        data["inTheWay"] = json!(in_the_way);
        differs = !in_the_way.is_empty();
        words = listed(&[("wrote", &written), ("removed", &removed), ("left alone, not ours", &in_the_way)]);
    } else if let Some(folder) = &asked.out {
        let written = write_to(folder, &view)?;
        data["written"] = json!(written);
        words = listed(&[("wrote", &written)]);
    } else if asked.check {
        let changed: Vec<String> = changed(&view).map(|(path, _, _)| path.to_owned()).collect();
        differs = !(changed.is_empty() && view.removed.is_empty() && view.in_the_way.is_empty());
        data["changed"] = json!(changed);
        data["removed"] = json!(view.removed);
        data["inTheWay"] = json!(view.in_the_way);
        words = listed(&[
            ("differs", &changed),
            ("no longer needed", &view.removed),
            ("not ours", &view.in_the_way),
        ]);
    } else if asked.diff {
        for (path, before, after) in changed(&view) {
            words.push_str(&unified_diff(path, before, after));
        }
        words.push_str(&listed(&[("no longer needed", &view.removed)]));
        data["diff"] = json!(words);
    } else {
        let files: BTreeMap<&str, &str> = view.files.iter().map(|file| (&*file.path, &*file.text)).collect();
        words = files.iter().map(|(path, text)| format!("==> {path} <==\n{text}\n")).collect();
        data["files"] = json!(files);
    }
    let is_wrong = |finding: &TerraformFindingView| finding.severity == ProblemSeverity::Error;
    if asked.at.json {
        let ok = !differs && !view.findings.iter().any(is_wrong);
        format::print_json(&json!({ "ok": ok, "data": data }));
    } else if words.is_empty() {
        format::print("The files are as the board says");
    } else {
        format::print_visible(&words);
    }
    let failed = at.complain(&view.findings) || differs;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Files that are not in the workspace as they would be written: path, what is there, what would be.
fn changed(view: &HclView) -> impl Iterator<Item = (&str, &str, &str)> {
    view.files.iter().filter_map(|file| Some((&*file.path, file.on_disk.as_deref()?, &*file.text)))
}

fn listed(groups: &[(&str, &[String])]) -> String {
    let lines =
        groups.iter().flat_map(|(word, paths)| paths.iter().map(move |path| format!("{word}: {path}\n")));
    lines.collect()
}

/// Into a folder that is not ours to keep: nothing there is replaced that was not made by Draftboard.
fn write_to(folder: &Path, view: &HclView) -> Result<Vec<String>, Refusal> {
    let failed = |path: &Path, error: &dyn std::fmt::Display| {
        Refusal::new(RefusalCode::StorageError, format!("{} could not be written: {error}", path.display()))
    };
    // A person named the folder, so a link to it is meant; what lies in it may be somebody else's.
    let root = fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
    let root = root.map_err(|error| failed(folder, &error))?;
    let root = SafeFolder::open(&root).map_err(|error| failed(folder, &error.problem))?;
    for file in &view.files {
        let path = folder.join(&file.path);
        match root.read(&file.path, MAX_GENERATED_BYTES) {
            Err(error) if error.problem.is_missing() => {}
            Err(error @ PathError { problem: PathProblem::Link | PathProblem::System(_), .. }) => {
                return Err(failed(&path, &error.problem));
            }
            Ok(bytes) if first_line(&bytes) == first_line(file.text.as_bytes()) => {}
            _ => {
                let message = format!("{} was not made by Draftboard; nothing was written", path.display());
                return Err(Refusal::new(RefusalCode::Conflict, message).hint("Choose another folder."));
            }
        }
    }
    let mut written = Vec::new();
    for file in &view.files {
        let path = folder.join(&file.path);
        root.write_atomic(&file.path, file.text.as_bytes()).map_err(|error| failed(&path, &error.problem))?;
        written.push(path.display().to_string());
    }
    Ok(written)
}

fn first_line(bytes: &[u8]) -> Option<&[u8]> {
    bytes.split(|byte| *byte == b'\n').next()
}
