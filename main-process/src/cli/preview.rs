//! `draftboard preview`: sessions of a running Draftboard, and pictures of them.

use super::{
    At, format,
    workspace_at::{self, Reached},
};
use serde_json::json;
use shared_protocol::{
    BoardKind, Code, Document, Node, Refusal,
    messages::{Answer, Request},
    preview::Screen,
    previews::{LogLevel, PreviewAnswer, PreviewRequest, PreviewsView, SessionId, SessionState, Shown},
};
use std::{path::PathBuf, process::ExitCode};

pub(super) const HELP: &str = "Previews run in a Draftboard that is open: its window, or `draftboard serve`.\n\n\
    Examples:\n  draftboard preview list\n  draftboard preview start home\n  \
    draftboard preview start --component ui.button --variant danger\n  \
    draftboard preview shot home --to home.png --width 390 --height 844 --dark";

#[derive(Debug, clap::Subcommand)]
pub(super) enum PreviewVerb {
    /// The sessions that there are
    List,
    /// Starts a session
    Start(What),
    /// Ends the process of a session; the session stays, with its log
    Stop { session: SessionId },
    /// Starts a session again, also one that crashed
    Restart { session: SessionId },
    /// Stops a session and forgets it
    Close { session: SessionId },
    /// Shows another page in a session
    Navigate {
        session: SessionId,
        /// A page: its name, id or path
        page: String,
    },
    /// What a session logged
    Log { session: SessionId },
    /// A picture of a session, or of a page or component by itself
    Shot {
        /// Of this session, as it looks now
        #[arg(long)]
        session: Option<SessionId>,
        #[command(flatten)]
        what: What,
        /// Ends in .png
        #[arg(long)]
        to: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct What {
    /// A page: its name, id or path [default: the only one]
    page: Option<String>,
    /// A component by itself
    #[arg(long, conflicts_with = "page")]
    component: Option<String>,
    /// With this named set of props
    #[arg(long, requires = "component")]
    variant: Option<String>,
    #[arg(long, default_value_t = 1280)]
    width: u32,
    #[arg(long, default_value_t = 800)]
    height: u32,
    /// Pixels per point, in quarters
    #[arg(long, default_value_t = 1.0)]
    scale: f32,
    #[arg(long)]
    dark: bool,
}

pub(super) fn run(verb: PreviewVerb, at: &At) -> ExitCode {
    match answer(verb, at) {
        Ok(code) => code,
        Err(refusal) => format::refuse(&refusal, at.json),
    }
}

fn answer(verb: PreviewVerb, at: &At) -> Result<ExitCode, Refusal> {
    let root = workspace_at::find(at.workspace.as_deref())?;
    let mut reached = Reached::workspace(&root)?;
    let request = match verb {
        PreviewVerb::List => PreviewRequest::List,
        PreviewVerb::Start(what) => {
            let (shows, screen) = what.meant(&mut reached)?;
            PreviewRequest::Start { shows, screen }
        }
        PreviewVerb::Stop { session } => PreviewRequest::Stop(session),
        PreviewVerb::Restart { session } => PreviewRequest::Restart(session),
        PreviewVerb::Close { session } => PreviewRequest::Close(session),
        PreviewVerb::Navigate { session, page } => {
            let route = find_page(&*document(&mut reached)?, Some(&page))?;
            PreviewRequest::Navigate { session, route }
        }
        PreviewVerb::Log { session } => PreviewRequest::Log { session, after: 0 },
        PreviewVerb::Shot { session: Some(session), to, .. } => {
            PreviewRequest::Shot { session, path: absolute(to)? }
        }
        PreviewVerb::Shot { session: None, what, to } => {
            let to = absolute(to)?;
            let (shows, screen) = what.meant(&mut reached)?;
            let session = match reached.request(Request::Preview(PreviewRequest::Start { shows, screen }))? {
                Answer::Preview(PreviewAnswer::Started(session)) => session,
                _ => return Err(unasked()),
            };
            let shot = reached.request(Request::Preview(PreviewRequest::Shot { session, path: to }));
            reached.request(Request::Preview(PreviewRequest::Close(session)))?;
            return Ok(format::answer(&shot?, at.json));
        }
    };
    let answer = reached.request(Request::Preview(request))?;
    if at.json {
        return Ok(format::answer(&answer, true));
    }
    match answer {
        Answer::Preview(PreviewAnswer::Started(session)) => format::print(&session.to_string()),
        Answer::Preview(PreviewAnswer::All(view)) => format::print_visible(&sessions(&view)),
        Answer::Preview(PreviewAnswer::Log(lines)) => {
            for line in lines {
                format::print_visible(&format!("{:>5} {}", word(line.level), line.message));
            }
        }
        other => return Ok(format::answer(&other, false)),
    }
    Ok(ExitCode::SUCCESS)
}

impl What {
    fn meant(&self, reached: &mut Reached) -> Result<(Shown, Screen), Refusal> {
        let screen = Screen::new(self.width, self.height, self.scale, self.dark).ok_or_else(|| {
            Refusal::new(Code::BadRequest, "there is no screen of this size")
                .hint("Use sides from 1 to 4096 and a scale in quarters.")
        })?;
        let shows = match (&self.component, &self.variant) {
            (Some(component), Some(variant)) => {
                Shown::Variant { component: component.clone(), variant: variant.clone() }
            }
            (Some(component), None) => Shown::Component { component: component.clone() },
            (None, _) => Shown::Route(find_page(&*document(reached)?, self.page.as_deref())?),
        };
        Ok((shows, screen))
    }
}

fn document(reached: &mut Reached) -> Result<Box<Document>, Refusal> {
    match reached.request(Request::Document)? {
        Answer::Document(document) => Ok(document),
        _ => Err(unasked()),
    }
}

fn find_page(document: &Document, named: Option<&str>) -> Result<shared_protocol::NodeId, Refusal> {
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
                _ => "several pages are meant".to_owned(),
            };
            let refusal = Refusal::new(Code::NotFound, message).field("page");
            Err(refusal.suggest(pages.iter().map(|page| page.name.to_string())))
        }
    }
}

fn absolute(path: PathBuf) -> Result<String, Refusal> {
    let whole = std::path::absolute(&path);
    whole.map(|path| path.display().to_string()).map_err(|error| {
        Refusal::new(Code::BadRequest, format!("{} is no place for a file: {error}", path.display()))
    })
}

fn sessions(view: &PreviewsView) -> String {
    if let Some(why) = &view.unavailable {
        return why.clone();
    }
    if view.sessions.is_empty() {
        return "No preview is running".to_owned();
    }
    let line = |session: &shared_protocol::previews::SessionView| {
        let state = match &session.state {
            SessionState::Failed(failed) => failed.what.clone(),
            other => json!(other).as_str().unwrap_or_default().to_lowercase(),
        };
        let Screen { width, height, .. } = session.screen;
        format!("{}  {}  {width} × {height}  {state}", session.id, session.title)
    };
    view.sessions.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn word(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Debug => "debug",
        LogLevel::Info => "info",
        LogLevel::Warn => "warn",
        LogLevel::Error => "error",
    }
}

fn unasked() -> Refusal {
    Refusal::new(Code::Internal, "an answer that was not asked for")
}
