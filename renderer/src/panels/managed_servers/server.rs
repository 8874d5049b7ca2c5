//! The page of one server: its command, state and failures, and tabs for tools, log and configuration.

use super::{
    box_ui, brief, configuration,
    delete::DeleteServerPrompt,
    describe,
    form::{ServerFormEditor, ServerFormOutcome},
    is_failing, lines_ui,
    log::ServerLogTab,
    notice_ui,
    pending_requests::{
        ManagedServersContext, PendingServerAction, ServerPanelOutcome, ServerRequestPurpose,
    },
    secret_field::SecretField,
    server_status,
    tools::ToolList,
};
use crate::{
    panels::notices::capitalised,
    view::{FrameView, ManagedServerResponse},
    widgets::{copyable_text_ui, muted_ui, named_text_ui, small_text_ui},
    wording::{line, paragraph, unix_millis},
};
use egui::{Button, RichText, Ui, vec2};
use shared_protocol::{
    Refusal,
    decisions::{DeleteServer, EnableServer, UpdateServer},
    managed_servers::{ServerBrief, ServerDetails, ServerId, ServerState, StartPhase},
    messages::ProblemSeverity,
    requests::{DisableServer, RestartServer, ShowServer, StartServer, StopServer},
    text::count_noun,
};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ServerTab {
    #[default]
    Tools,
    Log,
    Configuration,
}

/// The state of the server page: loaded details and unfinished input.
#[derive(Default)]
pub(super) struct ServerPage {
    details: Option<ServerDetails>,
    /// The server and stamp of the last request for details.
    last_request: Option<(ServerId, u64)>,
    /// A new server that may not be in the list yet.
    pub(super) new: Option<ServerId>,
    /// The last refused action and its reason.
    refused: Option<(ServerId, String)>,
    tab: ServerTab,
    pub(super) tools: ToolList,
    pub(super) log: ServerLogTab,
    secret_field: SecretField,
    deleting: DeleteServerPrompt,
    editing: Option<(ServerId, ServerFormEditor)>,
}

impl ServerPage {
    /// Stores details of the open server. Details in an answer are current, so they are not requested again.
    pub(super) fn receive(&mut self, details: ServerDetails) {
        let id = &details.brief.id;
        if self.log.is_for(id) || self.new.as_ref() == Some(id) {
            self.last_request = Some((id.clone(), details.brief.stamp));
            self.details = Some(details);
        }
    }

    pub(super) fn is_new(&self, id: &ServerId) -> bool {
        self.new.as_ref() == Some(id) || self.details.as_ref().is_some_and(|details| details.brief.id == *id)
    }

    pub(super) fn close_server(&mut self, id: &ServerId) {
        if self.is_new(id) {
            *self = Self::default();
        }
    }

    /// Clears refusals and forms after a completed action, and reloads the details.
    pub(super) fn handle_success(&mut self, purpose: &ServerRequestPurpose) {
        match purpose {
            ServerRequestPurpose::Server { .. } => self.refused = None,
            ServerRequestPurpose::Update(id) => {
                if self.editing.as_ref().is_some_and(|(editing, _)| editing == id) {
                    self.editing = None;
                }
            }
            ServerRequestPurpose::Secret { .. } => {}
            _ => return,
        }
        self.last_request = None;
    }

    pub(super) fn refuse(&mut self, purpose: &ServerRequestPurpose, refusal: Refusal) -> ServerPanelOutcome {
        match purpose {
            ServerRequestPurpose::Log(id) => self.log.clear_request(id),
            ServerRequestPurpose::Server { id, doing } => {
                let why = describe(&refusal);
                let why = match doing {
                    PendingServerAction::Enabling => format!("The server was disabled again. {why}"),
                    _ => why,
                };
                self.refused = Some((id.clone(), why));
                self.last_request = None;
                return ServerPanelOutcome::Refused(refusal);
            }
            ServerRequestPurpose::Update(id) => match &mut self.editing {
                Some((editing, form)) if editing == id => form.refuse(refusal),
                _ => return ServerPanelOutcome::Refused(refusal),
            },
            _ => {}
        }
        ServerPanelOutcome::Nothing
    }

    pub(super) fn show_ui(&mut self, ui: &mut Ui, cx: &ManagedServersContext<'_>, id: &ServerId) {
        let Some(server) = brief(cx.view, id) else {
            muted_ui(ui, cx.view.theme, "Loading the server…");
            return;
        };
        self.new.take_if(|new| new == id);
        self.turn_to(server);
        let wanted = (server.id.clone(), server.stamp);
        let details = ServerRequestPurpose::Details(id.clone());
        if self.last_request.as_ref() != Some(&wanted) && !cx.is_open(&details) {
            self.last_request = Some(wanted);
            cx.send(ShowServer { server: id.clone() }, details, ManagedServerResponse::Server);
        }
        egui::ScrollArea::vertical().id_salt(("server", &id.0)).auto_shrink([false, false]).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 5.0;
            self.header_ui(ui, cx, server);
            if let Some((_, form)) = &mut self.editing {
                let update = ServerRequestPurpose::Update(id.clone());
                return match form.show_ui(ui, cx.view, "Save changes", cx.is_open(&update)) {
                    ServerFormOutcome::Nothing => {}
                    ServerFormOutcome::Left => self.editing = None,
                    ServerFormOutcome::Filled(form) => {
                        let decision = UpdateServer { server: id.clone(), form };
                        cx.send(decision, update, ManagedServerResponse::Server);
                    }
                };
            }
            if self.deleting.show_ui(ui, cx.view, server) {
                let (deleted, decision) = (id.clone(), DeleteServer { server: id.clone() });
                let respond = move |()| ManagedServerResponse::Deleted(deleted.clone());
                cx.send(decision, ServerRequestPurpose::Delete(id.clone()), respond);
            }
            self.attention_ui(ui, cx, server);
            self.tabs_ui(ui, server);
            let details = self.details.as_ref().filter(|details| details.brief.id == *id);
            match (self.tab, details) {
                (ServerTab::Log, _) => self.log.show_ui(ui, cx, server),
                (_, None) => drop(muted_ui(ui, cx.view.theme, "Loading details…")),
                (ServerTab::Tools, Some(details)) => self.tools.show_ui(ui, cx, details),
                (ServerTab::Configuration, Some(details)) => {
                    if configuration::show_ui(ui, cx, details, &mut self.secret_field) {
                        self.editing = Some((id.clone(), ServerFormEditor::from_form(&details.form)));
                    }
                }
            }
        });
    }

    /// Clears the page when another server is opened.
    fn turn_to(&mut self, server: &ServerBrief) {
        if self.log.is_for(&server.id) {
            return;
        }
        self.log = ServerLogTab::for_server(&server.id);
        (self.tools, self.secret_field, self.deleting) =
            (ToolList::default(), SecretField::default(), DeleteServerPrompt::default());
        (self.editing, self.tab) = (None, ServerTab::default());
    }

    fn header_ui(&mut self, ui: &mut Ui, cx: &ManagedServersContext<'_>, server: &ServerBrief) {
        let theme = cx.view.theme;
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(6.0, 4.0);
            server_status::state_ui(ui, cx.view, &server.state);
            ui.label(RichText::new(line(&server.name)).heading());
            let words = server_status::describe_status(server, unix_millis());
            ui.label(RichText::new(words).color(server_status::colour(theme, &server.state)));
        });
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing = vec2(6.0, 4.0);
            ui.spacing_mut().button_padding = vec2(8.0, 2.0);
            ui.spacing_mut().interact_size.y = 24.0;
            ui.horizontal_wrapped(|ui| {
                switch_ui(ui, server, cx);
                start_stop_ui(ui, server, false, cx);
                if server.state.is_connected() {
                    let restart = ui.add_enabled(cx.doing(&server.id).is_none(), Button::new("Restart"));
                    if restart.clicked() {
                        let restart = RestartServer { server: server.id.clone() };
                        cx.control(&server.id, PendingServerAction::Starting, restart);
                    }
                }
                let details = self.details.as_ref().filter(|details| details.brief.id == server.id);
                let edit = ui.add_enabled(details.is_some() && self.editing.is_none(), Button::new("Edit…"));
                if let Some(details) = details.filter(|_| edit.clicked()) {
                    self.editing = Some((server.id.clone(), ServerFormEditor::from_form(&details.form)));
                }
                if ui.button(RichText::new("Delete…").color(theme.danger)).clicked() {
                    self.deleting.begin();
                }
            });
        });
        named_text_ui(ui, theme, &format!("Runs ({})", server.kind.as_str()), &line(&server.runs));
        let mut about = Vec::new();
        about.extend(server.protocol.as_ref().map(|protocol| format!("protocol {}", line(protocol))));
        about.extend(server.calls_itself.as_ref().map(|name| format!("{} (unverified)", line(name))));
        if !about.is_empty() {
            small_text_ui(ui, theme.text_muted, about.join(" · "));
        }
    }

    /// Boxes that need attention: refusals, start progress, missing secrets, approvals, failures.
    fn attention_ui(&mut self, ui: &mut Ui, cx: &ManagedServersContext<'_>, server: &ServerBrief) {
        let theme = cx.view.theme;
        if let Some((_, why)) = self.refused.as_ref().filter(|(id, _)| *id == server.id) {
            notice_ui(ui, cx.view, ProblemSeverity::Error, &paragraph(why));
        }
        match &server.state {
            ServerState::Starting(phase) => {
                box_ui(ui, cx.view, |ui| {
                    steps_ui(ui, cx.view, *phase);
                    if !server.last_lines.is_empty() {
                        lines_ui(ui, cx.view, &server.last_lines);
                    }
                });
            }
            ServerState::NeedsCredentials { missing } => {
                box_ui(ui, cx.view, |ui| {
                    ui.label("The server cannot start until these secrets are set.");
                    for part in missing {
                        self.secret_field.secret_ui(ui, cx.view, part, false, |secret| {
                            cx.set_server_secret(&server.id, part, secret);
                        });
                    }
                    muted_ui(ui, theme, "Then start the server.");
                });
            }
            ServerState::NeedsApproval => {
                box_ui(ui, cx.view, |ui| {
                    let tools = count_noun(usize::try_from(server.waiting).unwrap_or(usize::MAX), "tool");
                    ui.label(format!(
                        "The server is running. Agents cannot use it until you review {tools}."
                    ));
                    if ui.button("Review tools").clicked() {
                        self.tab = ServerTab::Tools;
                        self.tools.focus_review = true;
                    }
                });
            }
            _ => self.failure_ui(ui, cx.view, server),
        }
    }

    fn failure_ui(&mut self, ui: &mut Ui, view: &FrameView<'_>, server: &ServerBrief) {
        let is_said = self.refused.as_ref().is_some_and(|(id, _)| *id == server.id);
        if server.reason.is_none() && !is_said && !is_failing(&server.state) {
            return;
        }
        box_ui(ui, view, |ui| {
            if let Some(reason) = server.reason.as_ref().filter(|_| !is_said) {
                let text = RichText::new(capitalised(&paragraph(reason))).color(view.theme.text);
                copyable_text_ui(ui, text);
            }
            if let Some(exit) = &server.exit {
                muted_ui(ui, view.theme, format!("The process ended with {exit}."));
            }
            if !server.last_lines.is_empty() {
                muted_ui(ui, view.theme, "Last log lines");
                lines_ui(ui, view, &server.last_lines);
            }
            if ui.button("Show full log").clicked() {
                self.tab = ServerTab::Log;
            }
        });
    }

    fn tabs_ui(&mut self, ui: &mut Ui, server: &ServerBrief) {
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            ui.spacing_mut().button_padding = vec2(8.0, 2.0);
            ui.horizontal_wrapped(|ui| {
                let tools = match server.waiting {
                    0 => format!("Tools ({})", server.tools),
                    waiting => format!("Tools ({} · {waiting} to approve)", server.tools),
                };
                ui.selectable_value(&mut self.tab, ServerTab::Tools, tools);
                ui.selectable_value(&mut self.tab, ServerTab::Log, "Server log");
                ui.selectable_value(&mut self.tab, ServerTab::Configuration, "Configuration");
            });
        });
    }
}

/// Shows the start steps. Installing is a separate step, so that a slow download does not look like a hung server.
fn steps_ui(ui: &mut Ui, view: &FrameView<'_>, now: StartPhase) {
    let theme = view.theme;
    let steps = [StartPhase::Credentials, StartPhase::Installing, StartPhase::Connecting];
    let place = steps.iter().position(|step| *step == now).unwrap_or(0);
    ui.horizontal_wrapped(|ui| {
        for (at, step) in steps.into_iter().enumerate() {
            let (sign, colour) = match at.cmp(&place) {
                std::cmp::Ordering::Less => ("done", theme.text_muted),
                std::cmp::Ordering::Equal => ("now", theme.accent),
                std::cmp::Ordering::Greater => ("next", theme.text_subtle),
            };
            let text = RichText::new(format!("{}. {} ({sign})", at + 1, step.describe())).color(colour);
            ui.label(if at == place { text.strong() } else { text });
        }
    });
}

/// The switch. Enabling lets a program run, so it is a decision. Main disables the server again when the start fails.
pub(super) fn switch_ui(ui: &mut Ui, server: &ServerBrief, cx: &ManagedServersContext<'_>) {
    let doing = cx.doing(&server.id);
    let mut on = match doing {
        Some(PendingServerAction::Enabling) => true,
        Some(PendingServerAction::Disabling) => false,
        _ => server.enabled,
    };
    let is_free = !matches!(doing, Some(PendingServerAction::Enabling | PendingServerAction::Disabling));
    let text = RichText::new("On").small();
    let switch = ui.add_enabled(is_free, egui::Checkbox::new(&mut on, text));
    let switch = switch.accessible_name(format!("{} enabled", line(&server.name)));
    let hint = if server.enabled {
        "Disables and stops the server"
    } else {
        "Enables and starts the server. If it fails to start, it is disabled again"
    };
    if !switch.on_hover_text(hint).changed() {
        return;
    }
    if on {
        let enable = EnableServer { server: server.id.clone() };
        cx.control(&server.id, PendingServerAction::Enabling, enable);
    } else {
        cx.control(&server.id, PendingServerAction::Disabling, DisableServer { server: server.id.clone() });
    }
}

/// The next action. `named` adds the server name to the button's accessible name, for use in a list.
pub(super) fn start_stop_ui(ui: &mut Ui, server: &ServerBrief, named: bool, cx: &ManagedServersContext<'_>) {
    if !server.enabled {
        return;
    }
    let button = |ui: &mut Ui, word: &str| {
        let text = if named { RichText::new(word).small() } else { RichText::new(word) };
        let button = ui.button(text);
        let name = if named { format!("{word} {}", line(&server.name)) } else { word.to_owned() };
        button.accessible_name(name).clicked()
    };
    let is_free = cx.doing(&server.id).is_none();
    match &server.state {
        ServerState::Disabled | ServerState::Stopping => {}
        ServerState::Stopped | ServerState::Error | ServerState::NeedsCredentials { .. } => {
            if ui.add_enabled_ui(is_free, |ui| button(ui, "Start")).inner {
                cx.control(
                    &server.id,
                    PendingServerAction::Starting,
                    StartServer { server: server.id.clone() },
                );
            }
        }
        ServerState::Backoff { .. } => {
            if ui.add_enabled_ui(is_free, |ui| button(ui, "Try now")).inner {
                cx.control(
                    &server.id,
                    PendingServerAction::Starting,
                    RestartServer { server: server.id.clone() },
                );
            }
            if !named && button(ui, "Stop") {
                cx.control(
                    &server.id,
                    PendingServerAction::Stopping,
                    StopServer { server: server.id.clone() },
                );
            }
        }
        // Also during a start, because the start itself may hang.
        ServerState::Starting(_) | ServerState::Running | ServerState::NeedsApproval => {
            if button(ui, "Stop") {
                cx.control(
                    &server.id,
                    PendingServerAction::Stopping,
                    StopServer { server: server.id.clone() },
                );
            }
        }
    }
}
