//! `draftboard preview`: sessions of a running Draftboard, and pictures of them.

use super::{WorkspaceArguments, format, workspace_at::ReachedWorkspace};
use serde_json::json;
use shared_protocol::{
    BoardKind, GraphDocument, Node, Refusal, RefusalCode,
    preview_sessions::{LogLevel, PreviewId, PreviewSessionStatus, PreviewTarget, PreviewsView},
    preview_wire::PreviewScreen,
    requests::{
        CapturePreview, ClosePreview, ListPreviews, NavigatePreview, ReadDocument, ReadPreviewLog,
        RestartPreview, StartPreview, StopPreview,
    },
};
use std::{path::PathBuf, process::ExitCode};

pub(super) const HELP: &str = "Previews need a running Draftboard: its window, or `draftboard serve`.\n\n\
    Examples:\n  draftboard preview list\n  draftboard preview start home\n  \
    draftboard preview start --component ui.button --variant danger\n  \
    draftboard preview shot home --to home.png --width 390 --height 844 --dark";

#[derive(Debug, clap::Subcommand)]
pub(super) enum PreviewSubcommand {
    /// Lists the preview sessions
    #[command(after_help = "Example: draftboard preview list")]
    List,
    /// Starts a session
    #[command(after_help = "Example: draftboard preview start home --width 390 --height 844")]
    Start(PreviewArguments),
    /// Stops the process of a session and keeps the session with its log
    #[command(after_help = "Example: draftboard preview stop 1")]
    Stop {
        /// The id of the session
        session: PreviewId,
    },
    /// Restarts a session, also after a crash
    #[command(after_help = "Example: draftboard preview restart 1")]
    Restart {
        /// The id of the session
        session: PreviewId,
    },
    /// Closes a session
    #[command(after_help = "Example: draftboard preview close 1")]
    Close {
        /// The id of the session
        session: PreviewId,
    },
    /// Shows another page in a session
    #[command(after_help = "Example: draftboard preview navigate 1 checkout")]
    Navigate {
        /// The id of the session
        session: PreviewId,
        /// The name, id or path of the page
        page: String,
    },
    /// Shows the log of a session
    #[command(after_help = "Example: draftboard preview log 1")]
    Log {
        /// The id of the session
        session: PreviewId,
    },
    /// Saves an image of a session, a page or a component
    #[command(after_help = "Example: draftboard preview shot home --to home.png --dark")]
    Shot {
        /// The id of an open session to capture [default: opens a new one]
        #[arg(long)]
        session: Option<PreviewId>,
        #[command(flatten)]
        what: PreviewArguments,
        /// The image file to write; its name ends in .png
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct PreviewArguments {
    /// The name, id or path of the page [default: the only page]
    page: Option<String>,
    /// The name of a component to show by itself
    #[arg(long, conflicts_with = "page")]
    component: Option<String>,
    /// A variant of the component
    #[arg(long, requires = "component")]
    variant: Option<String>,
    /// The width of the screen, in points
    #[arg(long, default_value_t = 1280)]
    width: u32,
    /// The height of the screen, in points
    #[arg(long, default_value_t = 800)]
    height: u32,
    /// Pixels per point, in steps of 0.25
    #[arg(long, default_value_t = 1.0)]
    scale: f32,
    /// Uses the dark theme
    #[arg(long)]
    dark: bool,
}

pub(super) fn run(verb: PreviewSubcommand, at: &WorkspaceArguments) -> ExitCode {
    format::exit(run_verb(verb, at), at.json)
}

fn run_verb(verb: PreviewSubcommand, at: &WorkspaceArguments) -> Result<ExitCode, Refusal> {
    let mut reached = ReachedWorkspace::resolve(at.workspace.as_deref())?;
    let json = at.json;
    match verb {
        PreviewSubcommand::List => {
            let view = reached.send_to_running(ListPreviews {})?;
            // The JSON names the kind of the response.
            Ok(format::print_result(&json!({ "all": view }), json, || sessions(&view)))
        }
        PreviewSubcommand::Start(what) => {
            let (shows, screen) = what.resolve(&mut reached)?;
            let session = reached.send_to_running(StartPreview { shows, screen })?;
            Ok(format::print_result(&json!({ "started": session }), json, || session.to_string()))
        }
        PreviewSubcommand::Stop { session } => {
            Ok(format::print_response(&reached.send_to_running(StopPreview { session })?, json))
        }
        PreviewSubcommand::Restart { session } => {
            Ok(format::print_response(&reached.send_to_running(RestartPreview { session })?, json))
        }
        PreviewSubcommand::Close { session } => {
            Ok(format::print_response(&reached.send_to_running(ClosePreview { session })?, json))
        }
        PreviewSubcommand::Navigate { session, page } => {
            let route = find_page(&reached.request(ReadDocument {})?, Some(&page))?;
            Ok(format::print_response(&reached.send_to_running(NavigatePreview { session, route })?, json))
        }
        PreviewSubcommand::Log { session } => {
            let lines = reached.send_to_running(ReadPreviewLog { session, after: 0 })?;
            if json {
                return Ok(format::print_result(&json!({ "log": lines }), true, String::new));
            }
            for line in lines {
                format::print_visible(&format!("{:>5} {}", level_label(line.level), line.message));
            }
            Ok(ExitCode::SUCCESS)
        }
        PreviewSubcommand::Shot { session: Some(session), to, .. } => {
            let path = absolute_path(to)?;
            Ok(format::print_response(&reached.send_to_running(CapturePreview { session, path })?, json))
        }
        PreviewSubcommand::Shot { session: None, what, to } => {
            let path = absolute_path(to)?;
            let (shows, screen) = what.resolve(&mut reached)?;
            let session = reached.send_to_running(StartPreview { shows, screen })?;
            let shot = reached.send_to_running(CapturePreview { session, path });
            reached.send_to_running(ClosePreview { session })?;
            Ok(format::print_response(&shot?, json))
        }
    }
}

impl PreviewArguments {
    fn resolve(&self, reached: &mut ReachedWorkspace) -> Result<(PreviewTarget, PreviewScreen), Refusal> {
        let screen = PreviewScreen::new(self.width, self.height, self.scale, self.dark).ok_or_else(|| {
            Refusal::new(RefusalCode::BadRequest, "the screen size or scale is out of range")
                .hint("Use a width and height of 1 to 4096 and a scale in steps of 0.25.")
        })?;
        let shows = match (&self.component, &self.variant) {
            (Some(component), Some(variant)) => {
                PreviewTarget::Variant { component: component.clone(), variant: variant.clone() }
            }
            (Some(component), None) => PreviewTarget::Component { component: component.clone() },
            (None, _) => {
                PreviewTarget::Route(find_page(&reached.request(ReadDocument {})?, self.page.as_deref())?)
            }
        };
        Ok((shows, screen))
    }
}

fn find_page(document: &GraphDocument, named: Option<&str>) -> Result<shared_protocol::NodeId, Refusal> {
    let on_interface = |node: &&Node| {
        let board = document.boards.iter().find(|board| board.id == node.board);
        board.is_some_and(|board| board.kind == BoardKind::Interface) && node.type_id.as_str() == "ui.route"
    };
    let pages: Vec<&Node> = document.nodes.iter().filter(on_interface).collect();
    let path = |node: &Node| {
        node.props.iter().find(|(key, _)| key.as_str() == "path").map(|(_, value)| value.to_string())
    };
    let is_meant = |node: &&&Node| match named {
        Some(named) => {
            node.name.as_str() == named
                || node.id.to_string() == named
                || path(node).as_deref() == Some(named)
        }
        None => true,
    };
    let found: Vec<&&Node> = pages.iter().filter(is_meant).collect();
    match (found[..].first(), found.len()) {
        (Some(page), 1) => Ok(page.id),
        (_, count) => {
            let message = match (named, count) {
                (Some(named), 0) => format!("there is no page {named:?}"),
                (None, 0) => "there is no page on an interface board".to_owned(),
                _ => "there are several pages: name one".to_owned(),
            };
            let refusal = Refusal::new(RefusalCode::NotFound, message).field("page");
            Err(refusal.suggest(pages.iter().map(|page| page.name.to_string())))
        }
    }
}

fn absolute_path(path: PathBuf) -> Result<String, Refusal> {
    let whole = std::path::absolute(&path);
    whole.map(|path| path.display().to_string()).map_err(|error| {
        Refusal::new(RefusalCode::BadRequest, format!("{} is not a valid path: {error}", path.display()))
    })
}

fn sessions(view: &PreviewsView) -> String {
    if let Some(why) = &view.unavailable {
        return why.clone();
    }
    if view.sessions.is_empty() {
        return "No previews are open".to_owned();
    }
    let line = |session: &shared_protocol::preview_sessions::PreviewSessionView| {
        let state = match &session.state {
            PreviewSessionStatus::Failed(failed) => failed.what.clone(),
            other => json!(other).as_str().unwrap_or_default().to_lowercase(),
        };
        let PreviewScreen { width, height, .. } = session.screen;
        format!("{}  {}  {width} × {height}  {state}", session.id, session.title)
    };
    view.sessions.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn level_label(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Debug => "debug",
        LogLevel::Info => "info",
        LogLevel::Warn => "warn",
        LogLevel::Error => "error",
    }
}
