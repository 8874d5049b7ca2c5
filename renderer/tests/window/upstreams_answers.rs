//! Managed servers as main would tell of them, what it answers about them, and what a person has decided.

use crate::shop::Shop;
use shared_protocol::{
    Refusal, RefusalCode,
    messages::{ToRenderer, WorkbenchResponse},
    upstreams::{
        ImportSource, ManagedServerDecision, ManagedServerRequest, ManagedServerResponse, ManagedServersView,
        ManifestBrief, ManifestCredential, ManifestFolderBrief, ManifestOrigin, ManifestToolBrief,
        PackageKind, RegistryServer, ServerBrief, ServerDetails, ServerForm, ServerId, ServerImportPreview,
        ServerLogChunk, ServerState, ToolApproval, ToolCallPolicy, ToolCallResult, ToolView, VariableForm,
        VariableValue,
    },
};

#[derive(Default)]
pub(crate) struct Upstreams {
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

impl Upstreams {
    fn server(&self, id: &ServerId) -> Result<WorkbenchResponse, Refusal> {
        let found = self.servers.iter().find(|server| server.brief.id == *id).cloned();
        let found = found.ok_or_else(|| Refusal::new(RefusalCode::NotFound, "there is no such server"))?;
        Ok(WorkbenchResponse::Upstream(ManagedServerResponse::Server(Box::new(found))))
    }

    pub(crate) fn answer(&mut self, request: &ManagedServerRequest) -> Result<WorkbenchResponse, Refusal> {
        let answer = match request {
            ManagedServerRequest::Show { server }
            | ManagedServerRequest::Start { server }
            | ManagedServerRequest::Stop { server }
            | ManagedServerRequest::Restart { server }
            | ManagedServerRequest::Disable { server }
            | ManagedServerRequest::Withdraw { server, .. } => return self.server(server),
            ManagedServerRequest::Log { from, .. } => {
                let lines: Vec<String> = self.log.iter().skip(*from as usize).cloned().collect();
                ManagedServerResponse::Log(ServerLogChunk { first: *from, lines, dropped: 0 })
            }
            ManagedServerRequest::Add { form } => {
                if let Some(refusal) = self.refuse.take() {
                    return Err(refusal);
                }
                let brief = ServerBrief { name: form.name.clone(), ..brief("new", ServerState::Disabled) };
                let details = ServerDetails { brief, form: (**form).clone(), tools: Vec::new() };
                self.servers.push(details.clone());
                ManagedServerResponse::Server(Box::new(details))
            }
            ManagedServerRequest::Sources => ManagedServerResponse::Sources(self.sources.clone()),
            ManagedServerRequest::PreviewImport { .. } => match &self.import {
                Some(view) => ManagedServerResponse::Import(Box::new(view.clone())),
                None => {
                    let refusal = Refusal::new(RefusalCode::ValidationError, "line 1 is not JSON");
                    return Err(refusal.hint("Paste all of the file."));
                }
            },
            ManagedServerRequest::Import { names, .. } => ManagedServerResponse::Imported {
                servers: names.iter().map(|name| brief(name, ServerState::Disabled)).collect(),
                refused: Vec::new(),
            },
            ManagedServerRequest::SearchRegistry { .. } => match self.registry.clone() {
                Some(found) => ManagedServerResponse::Registry(found?),
                None => ManagedServerResponse::Registry(Vec::new()),
            },
            _ => ManagedServerResponse::Done,
        };
        Ok(WorkbenchResponse::Upstream(answer))
    }

    pub(crate) fn decide(&mut self, decision: ManagedServerDecision) -> Result<WorkbenchResponse, Refusal> {
        self.decided.push(decision);
        match self.refuse.take() {
            Some(refusal) => Err(refusal),
            None => Ok(WorkbenchResponse::Upstream(
                self.called.take().map_or(ManagedServerResponse::Done, ManagedServerResponse::Called),
            )),
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
        servers: shop.main.upstreams.servers.iter().map(|server| server.brief.clone()).collect(),
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
    shop.main.send(ToRenderer::Upstreams(Box::new(view)));
    shop.settle();
}
