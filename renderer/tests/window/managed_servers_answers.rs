//! Managed servers as main would tell of them, what it answers about them, and what a person has decided.

use crate::shop::{Response, Shop, response};
use shared_protocol::{
    Refusal, RefusalCode,
    decisions::{ApproveTools, EnableServer, ManagedServerDecision, SetServerSecret, SetTool, UpdateServer},
    managed_servers::{
        ImportSource, ManagedServersView, ManifestBrief, ManifestCredential, ManifestFolderBrief,
        ManifestOrigin, ManifestToolBrief, PackageKind, RegistryServer, ServerBrief, ServerDetails,
        ServerForm, ServerId, ServerImportPreview, ServerLogChunk, ServerState, ToolApproval, ToolCallPolicy,
        ToolCallResult, ToolView, VariableForm, VariableValue,
    },
    messages::ToRenderer,
    requests::{
        AddServer, DisableServer, ImportServers, ImportedServers, ReadServerLog, RestartServer, ShowServer,
        StartServer, StopServer, WithdrawTool, WorkbenchRequest,
    },
};

#[derive(Default)]
pub(crate) struct ManagedServers {
    pub(crate) servers: Vec<ServerDetails>,
    pub(crate) log: Vec<String>,
    pub(crate) sources: Vec<ImportSource>,
    pub(crate) import: Option<ServerImportPreview>,
    pub(crate) registry: Option<Result<Vec<RegistryServer>, Refusal>>,
    /// What a person has decided.
    pub(crate) decided: Vec<ManagedServerDecision>,
    /// What the next call answers.
    pub(crate) called: Option<ToolCallResult>,
    /// The next decision is not carried out.
    pub(crate) refuse: Option<Refusal>,
}

impl ManagedServers {
    fn server(&self, id: &ServerId) -> Response {
        let found = self.servers.iter().find(|server| server.brief.id == *id);
        response(found.ok_or_else(|| Refusal::new(RefusalCode::NotFound, "there is no such server")))
    }

    /// Answers a request about managed servers; none for another.
    pub(crate) fn answer(&mut self, request: &WorkbenchRequest) -> Option<Response> {
        use WorkbenchRequest as R;
        Some(match request {
            R::ShowServer(ShowServer { server })
            | R::StartServer(StartServer { server })
            | R::StopServer(StopServer { server })
            | R::RestartServer(RestartServer { server })
            | R::DisableServer(DisableServer { server })
            | R::WithdrawTool(WithdrawTool { server, .. }) => self.server(server),
            R::ReadServerLog(ReadServerLog { from, .. }) => {
                let lines: Vec<String> = self.log.iter().skip(*from as usize).cloned().collect();
                response(Ok(ServerLogChunk { first: *from, lines, dropped: 0 }))
            }
            R::AddServer(AddServer { form }) => {
                if let Some(refusal) = self.refuse.take() {
                    return Some(Err(refusal));
                }
                let brief = ServerBrief { name: form.name.clone(), ..brief("new", ServerState::Disabled) };
                let details = ServerDetails { brief, form: (**form).clone(), tools: Vec::new() };
                self.servers.push(details.clone());
                response(Ok(details))
            }
            R::ListImportSources(_) => response(Ok(&self.sources)),
            R::PreviewServerImport(_) => response(self.import.as_ref().ok_or_else(|| {
                let refusal = Refusal::new(RefusalCode::ValidationError, "line 1 is not JSON");
                refusal.hint("Paste all of the file.")
            })),
            R::ImportServers(ImportServers { names, .. }) => response(Ok(ImportedServers {
                servers: names.iter().map(|name| brief(name, ServerState::Disabled)).collect(),
                refused: Vec::new(),
            })),
            R::SearchServerRegistry(_) => response(self.registry.clone().unwrap_or_else(|| Ok(Vec::new()))),
            _ => return None,
        })
    }

    pub(crate) fn decide(&mut self, decision: ManagedServerDecision) -> Response {
        use ManagedServerDecision as D;
        self.decided.push(decision.clone());
        if let Some(refusal) = self.refuse.take() {
            return Err(refusal);
        }
        match decision {
            D::EnableServer(EnableServer { server })
            | D::ApproveTools(ApproveTools { server, .. })
            | D::SetTool(SetTool { server, .. })
            | D::UpdateServer(UpdateServer { server, .. })
            | D::SetServerSecret(SetServerSecret { server, .. }) => self.server(&server),
            D::CallTool(_) => {
                let nothing = || Refusal::new(RefusalCode::NotFound, "no call is expected");
                response(self.called.take().ok_or_else(nothing))
            }
            D::DeleteServer(_)
            | D::ApproveManifest(_)
            | D::SetManifestPolicy(_)
            | D::SetManifestSecret(_) => response(Ok(())),
        }
    }
}

pub(crate) fn id(name: &str) -> ServerId {
    ServerId(format!("id-of-{name}"))
}

pub(crate) fn brief(name: &str, state: ServerState) -> ServerBrief {
    let enabled = state != ServerState::Disabled;
    ServerBrief {
        id: id(name),
        slug: name.to_lowercase(),
        name: name.to_owned(),
        enabled,
        kind: PackageKind::Npm,
        runs: format!("npx @modelcontextprotocol/server-{} /srv/shared", name.to_lowercase()),
        state,
        reason: None,
        exit: None,
        last_lines: Vec::new(),
        offered: 0,
        tools: 0,
        waiting: 0,
        protocol: None,
        calls_itself: None,
        stamp: 1,
    }
}

pub(crate) fn tool(name: &str, approval: ToolApproval) -> ToolView {
    ToolView {
        name: name.to_owned(),
        exposed: format!("files__{name}"),
        title: None,
        description: format!("What {name} does, in the words of the server."),
        input_schema:
            "{\n  \"type\": \"object\",\n  \"properties\": { \"path\": { \"type\": \"string\" } }\n}"
                .to_owned(),
        output_schema: None,
        hints: vec!["readOnlyHint".to_owned()],
        read_only: false,
        hash: format!("hash-of-{name}"),
        approval,
        enabled: true,
        policy: ToolCallPolicy::Ask,
        idle_ms: None,
        total_ms: None,
    }
}

pub(crate) fn form(name: &str) -> ServerForm {
    let mut form = ServerForm::new(PackageKind::Npm);
    form.name = name.to_owned();
    form.identifier = "@modelcontextprotocol/server-files@2026.8.31".to_owned();
    form.args = vec!["/srv/shared".to_owned()];
    let variable =
        |name: &str, value| VariableForm { name: name.to_owned(), value, required: true, description: None };
    form.variables = vec![
        variable("REGION", VariableValue::Plain("eu-west-1".to_owned())),
        variable("API_KEY", VariableValue::Secret { set: true }),
    ];
    form
}

/// With these tools, running.
pub(crate) fn running(name: &str, tools: Vec<ToolView>) -> ServerDetails {
    let waiting = tools.iter().filter(|tool| tool.approval != ToolApproval::Approved).count() as u64;
    let brief = ServerBrief {
        tools: tools.len() as u64,
        offered: tools.len() as u64 - waiting,
        waiting,
        protocol: Some("2025-11-25".to_owned()),
        calls_itself: Some("secure-filesystem-server 0.2".to_owned()),
        ..brief(name, ServerState::Running)
    };
    ServerDetails { brief, form: form(name), tools }
}

pub(crate) fn of(brief: ServerBrief) -> ServerDetails {
    ServerDetails { form: form(&brief.name), brief, tools: Vec::new() }
}

pub(crate) fn manifest(path: &str, origin: ManifestOrigin) -> ManifestBrief {
    let tool = |name: &str, hidden: Option<&str>| ManifestToolBrief {
        name: name.to_owned(),
        does: "runs the script weather.py with the arguments as JSON".to_owned(),
        hidden: hidden.map(str::to_owned),
        is_mistake: false,
        policy: ToolCallPolicy::Ask,
    };
    ManifestBrief {
        path: path.to_owned(),
        origin,
        id: Some("weather".to_owned()),
        hash: Some("a1b2c3d4".to_owned()),
        problem: None,
        needs_approval: origin == ManifestOrigin::Workspace,
        tools: vec![tool("weather_now", None), tool("weather_admin", Some("mcpExpose is false"))],
        credentials: vec![ManifestCredential { id: "key".to_owned(), optional: false, set: false }],
    }
}

pub(crate) fn view(shop: &Shop) -> ManagedServersView {
    ManagedServersView {
        servers: shop.main.managed_servers.servers.iter().map(|server| server.brief.clone()).collect(),
        manifest_folders: vec![
            ManifestFolderBrief {
                path: "/home/ada/.config/draftboard/manifests".to_owned(),
                origin: ManifestOrigin::User,
            },
            ManifestFolderBrief {
                path: "/home/ada/shop/manifests".to_owned(),
                origin: ManifestOrigin::Workspace,
            },
        ],
        config_file: "/home/ada/.config/draftboard/upstreams.json".to_owned(),
        secrets_place: "the keyring of this system".to_owned(),
        registry: "https://registry.example.org".to_owned(),
        ..ManagedServersView::default()
    }
}

/// Main tells the window how its servers stand now.
pub(crate) fn tell(shop: &mut Shop, change: impl FnOnce(&mut ManagedServersView)) {
    let mut view = view(shop);
    change(&mut view);
    shop.main.send(ToRenderer::ManagedServers(Box::new(view)));
    shop.settle();
}
