//! `draftboard hcl`: a board as Terraform files.

use super::{
    At,
    board_at::{BoardAt, unasked},
    format,
};
use authority::difference;
use serde_json::json;
use shared_protocol::{
    Code, Refusal,
    terraform::{HclView, TerraformAnswer, TerraformRequest},
};
use std::{
    collections::BTreeMap,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    process::ExitCode,
};

pub(super) const HELP: &str = "Examples:\n  draftboard hcl\n  draftboard hcl network --diff\n  \
    draftboard hcl network --write\n  draftboard hcl network --check   # in CI: exit code 1 when files and board differ";

#[derive(Debug, clap::Args)]
pub(super) struct Hcl {
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
    at: At,
}

pub(super) fn run(asked: &Hcl) -> ExitCode {
    answer(asked).unwrap_or_else(|refusal| format::refuse(&refusal, asked.at.json))
}

fn answer(asked: &Hcl) -> Result<ExitCode, Refusal> {
    let mut at = BoardAt::find(&asked.at, asked.board.as_deref())?;
    let board = at.board.id;
    let TerraformAnswer::Hcl(view) = at.ask(TerraformRequest::Hcl { board })? else { return Err(unasked()) };
    let mut data = json!({ "board": at.board.name, "findings": view.findings });
    let mut words = String::new();
    let mut differs = false;
    if asked.write {
        let TerraformAnswer::Written { written, removed, in_the_way } =
            at.ask(TerraformRequest::Write { board })?
        else {
            return Err(unasked());
        };
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
            words.push_str(&difference(path, before, after));
        }
        words.push_str(&listed(&[("no longer needed", &view.removed)]));
        data["diff"] = json!(words);
    } else {
        let files: BTreeMap<&str, &str> = view.files.iter().map(|file| (&*file.path, &*file.text)).collect();
        words = files.iter().map(|(path, text)| format!("==> {path} <==\n{text}\n")).collect();
        data["files"] = json!(files);
    }
    if asked.at.json {
        format::print_json(&json!({ "ok": true, "data": data }));
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
    let failed = |path: &Path, error: std::io::Error| {
        Refusal::new(Code::StorageError, format!("{} could not be written: {error}", path.display()))
    };
    for file in &view.files {
        let path = folder.join(&file.path);
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Ok(text) if text.lines().next() == file.text.lines().next() => {}
            _ => {
                let message = format!("{} was not made by Draftboard; nothing was written", path.display());
                return Err(Refusal::new(Code::Conflict, message).hint("Choose another folder."));
            }
        }
    }
    let mut written = Vec::new();
    for file in &view.files {
        let path = folder.join(&file.path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
        fs::write(&path, &file.text).map_err(|error| failed(&path, error))?;
        written.push(path.display().to_string());
    }
    Ok(written)
}
