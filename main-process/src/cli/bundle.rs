//! `draftboard bundle`: spec bundles from a terminal, read from their folders.

use super::{WorkspaceArguments, format, workspace_at};
use agents::standalone;
use bundles::{Bundle, BundleEntity, BundleFinding, BundleSource, Bundles};
use clap::Subcommand;
use journal::{WorkspaceFiles, WorkspacePath, read_config};
use safe_fs::SafeFolder;
use serde_json::{Map, Value, json};
use shared_protocol::{OrderedValue, Refusal, RefusalCode, SourcePath};
use std::{path::PathBuf, process::ExitCode};

pub(super) const HELP: &str = "Examples:\n  draftboard bundle validate specs/lockers\n  \
    draftboard bundle coverage --config bundles.yaml --json\n  \
    draftboard bundle list --type Requirement\n  \
    draftboard bundle read REQ-pickup-001\n  \
    draftboard bundle search \"door stays open\" specs/lockers";

const MAX_ENTITY_BYTES: u64 = 4 << 20;

#[derive(Debug, Subcommand)]
pub(super) enum BundleSubcommand {
    /// Lists findings; exit code 1 if there is an error
    #[command(after_help = "Example: draftboard bundle validate specs/lockers --json")]
    Validate(BundleSelection),
    /// Shows how many targets of each relation are referenced
    #[command(after_help = "Example: draftboard bundle coverage specs/lockers")]
    Coverage(BundleSelection),
    /// Lists entities
    #[command(after_help = "Example: draftboard bundle list --type Requirement")]
    List {
        /// Only entities of this type
        #[arg(long = "type", value_name = "TYPE")]
        entity_type: Option<String>,
        #[command(flatten)]
        which: BundleSelection,
    },
    /// Prints the file of one entity
    #[command(after_help = "Examples:\n  draftboard bundle read REQ-pickup-001\n  \
            draftboard bundle read REQ-pickup-001 specs/lockers --json")]
    Read {
        /// The entity's id
        id: String,
        #[command(flatten)]
        which: BundleSelection,
    },
    /// Searches entities, best match first
    #[command(after_help = "Example: draftboard bundle search \"door\" --limit 5")]
    Search {
        /// The words to search for
        query: String,
        /// The maximum number of results
        #[arg(long, default_value_t = 20)]
        limit: usize,
        #[command(flatten)]
        which: BundleSelection,
    },
}

/// The bundles of a command.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct BundleSelection {
    /// Bundle folders [default: those of the workspace]
    #[arg(value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// A bundles.yaml that lists bundles
    #[arg(long, value_name = "FILE", conflicts_with = "folders")]
    config: Option<PathBuf>,
    #[command(flatten)]
    at: WorkspaceArguments,
}

impl BundleSelection {
    fn sources(&self) -> Result<Vec<BundleSource>, Refusal> {
        if !self.folders.is_empty() || self.config.is_some() {
            return standalone::sources(&self.folders, self.config.as_ref());
        }
        let root = workspace_at::find(self.at.workspace.as_deref())?;
        let failed = |error: journal::FileError| Refusal::new(RefusalCode::StorageError, error.to_string());
        let files = WorkspaceFiles::open(&root).map_err(failed)?;
        let config =
            files.read_text(&WorkspacePath::config()).and_then(|text| read_config(&text)).map_err(failed)?;
        let patterns: Vec<SourcePath> =
            config.bundles.iter().filter_map(|pattern| SourcePath::parse(pattern.as_str()).ok()).collect();
        let folders = files.list_folders(&patterns).map_err(failed)?;
        let folders: Vec<PathBuf> = folders.iter().map(|folder| files.root().join(folder.as_str())).collect();
        if folders.is_empty() {
            let message = format!("{} has no bundles", root.display());
            return Err(Refusal::new(RefusalCode::NotFound, message)
                .hint("Pass a bundle folder, or list the folders under `bundles` in draftboard.toml."));
        }
        Ok(BundleSource::of_folders(&folders))
    }
}

/// The result of a command: words, JSON, and whether the command fails.
struct BundleResult {
    words: String,
    data: Value,
    failed: bool,
}

pub(super) fn run(verb: BundleSubcommand) -> ExitCode {
    let which = match &verb {
        BundleSubcommand::Validate(which) | BundleSubcommand::Coverage(which) => which,
        BundleSubcommand::List { which, .. }
        | BundleSubcommand::Read { which, .. }
        | BundleSubcommand::Search { which, .. } => which,
    };
    let json = which.at.json;
    let loaded = which.sources().and_then(|sources| standalone::load(&sources, format::print_warning));
    let found = loaded.and_then(|bundles| {
        let left_out = !bundles.load_failures().is_empty();
        let found = match &verb {
            BundleSubcommand::Validate(_) => Ok(validate(&bundles)),
            BundleSubcommand::Coverage(_) => Ok(coverage(&bundles)),
            BundleSubcommand::List { entity_type, .. } => list(&bundles, entity_type.as_deref()),
            BundleSubcommand::Read { id, .. } => read(&bundles, id),
            BundleSubcommand::Search { query, limit, .. } => search(&bundles, query, *limit),
        };
        found.map(|found| BundleResult { failed: found.failed || left_out, ..found })
    });
    match found {
        Err(refusal) => format::refuse(&refusal, json),
        Ok(BundleResult { words, data, failed }) => {
            match json {
                true => format::print_json(&json!({ "ok": true, "data": data })),
                false => format::print_visible(&words),
            }
            if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
    }
}

/// Names the bundle in each line when there are several.
fn prefix_bundle(bundles: &Bundles, bundle: &Bundle, line: &str) -> String {
    if bundles.iter().len() > 1 { format!("{}: {line}", bundle.id()) } else { line.to_owned() }
}

fn validate(bundles: &Bundles) -> BundleResult {
    let (mut lines, mut data, mut failed) = (Vec::new(), Vec::new(), false);
    for bundle in bundles.iter() {
        for finding in bundle.diagnostics() {
            failed |= finding.is_error();
            lines.push(prefix_bundle(bundles, bundle, &finding.to_line()));
            data.push(with_bundle(bundle, finding));
        }
    }
    let words = if lines.is_empty() { "No findings".to_owned() } else { lines.join("\n") };
    BundleResult { words, data: Value::Array(data), failed }
}

fn with_bundle(bundle: &Bundle, finding: &BundleFinding) -> Value {
    let mut value = finding.to_data().to_json();
    value["bundleId"] = json!(bundle.id());
    value
}

fn coverage(bundles: &Bundles) -> BundleResult {
    let (mut lines, mut data) = (Vec::new(), Map::new());
    for bundle in bundles.iter() {
        let mut relations = Map::new();
        for relation in bundle.coverage() {
            lines.push(prefix_bundle(bundles, bundle, &relation.to_line()));
            relations.insert(relation.relation.clone(), relation.to_data().to_json());
        }
        data.insert(bundle.id().to_owned(), Value::Object(relations));
    }
    let words = if lines.is_empty() { "No relations".to_owned() } else { lines.join("\n") };
    BundleResult { words, data: Value::Object(data), failed: false }
}

fn brief(bundle: &Bundle, entity: &BundleEntity) -> Value {
    json!({
        "bundleId": bundle.id(),
        "entityType": entity.entity_type(),
        "id": entity.id(),
        "title": entity.title(),
    })
}

fn entities<'a>(
    bundles: &Bundles,
    found: impl Iterator<Item = (&'a Bundle, &'a BundleEntity)>,
    nothing: &str,
) -> BundleResult {
    let (mut lines, mut data) = (Vec::new(), Vec::new());
    for (bundle, entity) in found {
        let line =
            format!("{} {}  {}", entity.entity_type(), entity.id(), entity.title().unwrap_or_default());
        lines.push(prefix_bundle(bundles, bundle, line.trim_end()));
        data.push(brief(bundle, entity));
    }
    let words = if lines.is_empty() { nothing.to_owned() } else { lines.join("\n") };
    BundleResult { words, data: Value::Array(data), failed: false }
}

fn list(bundles: &Bundles, entity_type: Option<&str>) -> Result<BundleResult, Refusal> {
    let mut types = bundles.iter().flat_map(Bundle::entity_types);
    if let Some(wanted) = entity_type.filter(|wanted| !types.any(|known| known == *wanted)) {
        let known = bundles.iter().flat_map(Bundle::entity_types);
        return Err(Refusal::new(RefusalCode::NotFound, format!("there is no entity type {wanted}"))
            .suggest(authority::similar(wanted, known)));
    }
    let all = bundles.iter().flat_map(|bundle| bundle.entities().map(move |entity| (bundle, entity)));
    let of_type = |entity: &BundleEntity| entity_type.is_none_or(|wanted| entity.entity_type() == wanted);
    Ok(entities(bundles, all.filter(|(_, entity)| of_type(entity)), "No entities"))
}

fn search(bundles: &Bundles, query: &str, limit: usize) -> Result<BundleResult, Refusal> {
    let found = bundles.search(None, query);
    let found = found.map_err(|refusal| Refusal::new(RefusalCode::BadRequest, refusal.message))?;
    Ok(entities(bundles, found.into_iter().take(limit), "No results"))
}

fn read(bundles: &Bundles, id: &str) -> Result<BundleResult, Refusal> {
    let found: Vec<(&Bundle, &BundleEntity)> =
        bundles.iter().filter_map(|bundle| Some((bundle, bundle.entity_by_id(id)?))).collect();
    match &found[..] {
        [] => {
            let known = bundles.iter().flat_map(|bundle| bundle.entities().map(BundleEntity::id));
            Err(Refusal::new(RefusalCode::NotFound, format!("there is no entity {id}"))
                .suggest(authority::similar(id, known)))
        }
        [(bundle, entity)] => {
            let file = bundle.root().join(entity.path());
            let text = SafeFolder::open(bundle.root())
                .and_then(|root| root.read(entity.path(), MAX_ENTITY_BYTES))
                .map_err(|error| Refusal::new(RefusalCode::StorageError, error.to_string()))?;
            let text = String::from_utf8(text).map_err(|error| {
                Refusal::new(RefusalCode::StorageError, format!("{}: {error}", file.display()))
            })?;
            let mut data = brief(bundle, entity);
            data["file"] = json!(entity.path());
            data["data"] = OrderedValue::to_json(entity.data());
            Ok(BundleResult { words: text, data, failed: false })
        }
        several => {
            let ids: Vec<&str> = several.iter().map(|(bundle, _)| bundle.id()).collect();
            Err(Refusal::new(
                RefusalCode::Conflict,
                format!("{id} is in several bundles: {}", ids.join(", ")),
            )
            .hint("Pass the folder of one bundle."))
        }
    }
}
