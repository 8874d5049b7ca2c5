//! Imports a folder of Terraform files or a TerraStudio project as a board: one operation, and the settings of that board at
//! the end of `draftboard.toml`.

use super::workspace_inputs::storage;
use authority::Snapshot;
use journal::{WorkspaceFiles, WorkspacePath, read_config};
use rustix::fs::FileType;
use safe_fs::{PathProblem, SafeFolder};
use shared_protocol::{
    BoardId, BoardName, Change, Refusal, RefusalCode,
    messages::{AppliedCommand, ProblemSeverity},
    requests::ImportedBoard,
    terraform::TerraformFindingView,
};
use std::path::Path;
use terraform::{
    GenerateInput, HclGenerator, TerraformProjectSettings,
    import::{self, ImportError, read_terraform, read_terrastudio},
};
use workspace::{Mutation, TimeAndSeed};

const MAX_FILES: usize = 2_000;
const MAX_BYTES: u64 = 32 << 20;
const MAX_NOTES: usize = 1_000;

/// The content of a folder.
enum ImportFolder {
    TerraStudio { project: String, diagram: String },
    Terraform(Vec<(String, String)>),
}

pub fn import(
    files: &WorkspaceFiles,
    snapshot: &Snapshot,
    folder: &Path,
    name: Option<&str>,
    moment: TimeAndSeed,
    apply: impl FnOnce(Mutation) -> Result<AppliedCommand, Refusal>,
) -> Result<ImportedBoard, Refusal> {
    let title = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let name = board_name(snapshot, name, &title)?;
    let imported = match read(folder)? {
        ImportFolder::TerraStudio { project, diagram } => {
            read_terrastudio(snapshot, &project, &diagram, name.clone(), moment.seed)
        }
        ImportFolder::Terraform(texts) => read_terraform(snapshot, &texts, name.clone(), &title, moment.seed),
    };
    let import::ImportedBoard { changes, mut settings, notes } = imported.map_err(|error| refusal(&error))?;
    let board = board_of(&changes)?;
    let secrets = drop_secrets(snapshot, &changes, board, &mut settings);
    let summary = format!("Import {name} from {title}");
    let applied = apply(Mutation::Import { summary, changes })?;
    let mut findings: Vec<TerraformFindingView> =
        notes.into_iter().take(MAX_NOTES).map(|note| finding(note.node, note.message)).collect();
    findings.extend(secrets.into_iter().map(|name| {
        finding(
            None,
            format!("The value of {name} is a secret and was not imported. Enter it when you run Terraform."),
        )
    }));
    if settings != TerraformProjectSettings::default() {
        findings.push(finding(None, keep_settings(files, &name, &title, settings)));
    }
    Ok(ImportedBoard { board, revision: applied.revision, notes: findings })
}

fn finding(node: Option<shared_protocol::NodeId>, message: String) -> TerraformFindingView {
    TerraformFindingView {
        severity: ProblemSeverity::Warning,
        node,
        prop: None,
        message,
        detail: String::new(),
    }
}

fn refusal(error: &ImportError) -> Refusal {
    let code = match error {
        ImportError::Malformed { .. } | ImportError::Drawing(_) => RefusalCode::ValidationError,
        ImportError::TooMuch { .. } => RefusalCode::LimitExceeded,
    };
    Refusal::new(code, error.to_string()).field("path")
}

/// The requested name, or a free one like the folder's.
fn board_name(snapshot: &Snapshot, asked: Option<&str>, title: &str) -> Result<BoardName, Refusal> {
    if let Some(asked) = asked {
        let name = BoardName::parse(asked)
            .map_err(|error| Refusal::new(RefusalCode::BadRequest, error.to_string()).field("name"))?;
        return match snapshot.board_named(&name) {
            None => Ok(name),
            Some(_) => {
                Err(Refusal::new(RefusalCode::Conflict, format!("A board named {name} already exists."))
                    .field("name")
                    .hint("Choose another name; an import creates a new board."))
            }
        };
    }
    let base = BoardName::from_words(title)
        .unwrap_or_else(|| BoardName::of_kind(shared_protocol::BoardKind::Infrastructure));
    let numbered = (2..).map(|number| base.numbered(number));
    let free =
        std::iter::once(base.clone()).chain(numbered).find(|name| snapshot.board_named(name).is_none());
    free.ok_or_else(|| {
        Refusal::new(RefusalCode::Conflict, "There is no free name for the board.").field("name")
    })
}

fn board_of(changes: &[Change]) -> Result<BoardId, Refusal> {
    let board = changes.iter().find_map(|change| match change {
        Change::Board { id, after: Some(_), .. } => Some(*id),
        _ => None,
    });
    board.ok_or_else(|| Refusal::new(RefusalCode::Internal, "The import created no board."))
}

/// Removes values of sensitive variables, which are in no file of ours. Returns their names.
fn drop_secrets(
    snapshot: &Snapshot,
    changes: &[Change],
    board: BoardId,
    settings: &mut TerraformProjectSettings,
) -> Vec<String> {
    let mut after = snapshot.clone();
    if settings.values.is_empty() || after.apply(after.revision().next(), changes).is_err() {
        return Vec::new();
    }
    let generated = HclGenerator::new().generate(&GenerateInput { snapshot: &after, board, settings });
    let sensitive = generated.variables.into_iter().filter(|variable| variable.sensitive);
    sensitive.map(|variable| variable.name).filter(|name| settings.values.remove(name).is_some()).collect()
}

// ---- reading ----------------------------------------------------------------------------------------------------------

fn read(folder: &Path) -> Result<ImportFolder, Refusal> {
    let unreadable = |path: &Path, error: &dyn std::fmt::Display| {
        let message = format!("{} could not be read: {error}", path.display());
        Refusal::new(RefusalCode::NotFound, message)
            .field("path")
            .hint("Choose a folder with a TerraStudio project or with .tf files.")
    };
    // A person named the folder, so a link to it is followed; links within it are not.
    let root = folder.canonicalize().map_err(|error| unreadable(folder, &error))?;
    let root = SafeFolder::open(&root).map_err(|error| unreadable(folder, &error.problem))?;
    let entries = root.list().map_err(|error| unreadable(folder, &error.problem))?;
    let names: Vec<&str> = entries
        .iter()
        .filter(|entry| entry.kind != FileType::Directory)
        .map(|entry| entry.name.as_str())
        .collect();
    let ends =
        |name: &str, ending: &str| Path::new(name).extension().is_some_and(|extension| extension == ending);
    let mut left = MAX_BYTES;
    let mut text = |name: &str| {
        let path = folder.join(name);
        let too_much = || {
            let message = format!("{} contains more than {MAX_BYTES} bytes", folder.display());
            Refusal::new(RefusalCode::LimitExceeded, message).hint("Import a part of it.")
        };
        let bytes = root.read(name, left).map_err(|error| match error.problem {
            PathProblem::TooLarge { .. } => too_much(),
            problem => unreadable(&path, &problem),
        })?;
        left = left.checked_sub(bytes.len() as u64).ok_or_else(too_much)?;
        String::from_utf8(bytes).map_err(|error| unreadable(&path, &error))
    };
    if let Some(project) = names.iter().find(|name| ends(name, "tstudio")) {
        return Ok(ImportFolder::TerraStudio {
            project: text(project)?,
            diagram: text("diagrams/main.json")?,
        });
    }
    let sources: Vec<&str> = names.into_iter().filter(|name| ends(name, "tf")).collect();
    if sources.is_empty() {
        let message = format!("{} contains neither .tf files nor a TerraStudio project", folder.display());
        return Err(Refusal::new(RefusalCode::NotFound, message).field("path"));
    }
    if sources.len() > MAX_FILES {
        let message = format!("{} contains more than {MAX_FILES} files", folder.display());
        return Err(Refusal::new(RefusalCode::LimitExceeded, message).hint("Import a part of it."));
    }
    let named = |name: &str| Ok((name.to_owned(), text(name)?));
    sources.into_iter().map(named).collect::<Result<_, Refusal>>().map(ImportFolder::Terraform)
}

// ---- settings ---------------------------------------------------------------------------------------------------------

/// Appends the settings of the new board to `draftboard.toml`, where they disturb nothing that a person wrote. Returns a note
/// about what was done, or about what is left to do.
fn keep_settings(
    files: &WorkspaceFiles,
    board: &BoardName,
    title: &str,
    settings: TerraformProjectSettings,
) -> String {
    let text = match settings.to_toml(board.as_str()) {
        Ok(text) => text,
        Err(error) => return format!("The settings could not be written: {error}."),
    };
    match append(files, title, &text) {
        Ok(()) => format!("its settings are in draftboard.toml, under [infrastructure.boards.{board}]"),
        Err(refusal) => {
            format!("its settings were not added to draftboard.toml ({}); add this:\n{text}", refusal.message)
        }
    }
}

fn append(files: &WorkspaceFiles, title: &str, addition: &str) -> Result<(), Refusal> {
    let path = WorkspacePath::config();
    let text = files.read_text(&path).map_err(|error| storage(&error))?;
    let title: String = title.chars().filter(|letter| !letter.is_control()).collect();
    let text = format!("{}\n\n# Imported from {title}\n{addition}", text.trim_end());
    // A file that would be invalid, because it has the table already for example, stays as it is.
    read_config(&text).map_err(|error| storage(&error))?;
    TerraformProjectSettings::read(&text)
        .map_err(|error| Refusal::new(RefusalCode::Conflict, error.to_string()))?;
    files.write_atomic(&path, text.as_bytes()).map_err(|error| storage(&error))
}
