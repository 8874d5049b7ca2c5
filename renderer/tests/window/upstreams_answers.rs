//! Managed servers as main would tell of them, what it answers about them, and what a person has decided.

use crate::shop::Shop;
use shared_protocol::{
    Code, Refusal,
    messages::{Answer, ToRenderer},
    upstreams::{
        CallResult, ImportSource, ImportView, LogPart, ManifestBrief, ManifestCredential,
        ManifestFolderBrief, ManifestOrigin, ManifestToolBrief, PackageKind, Policy, RegistryFound,
        ServerBrief, ServerDetails, ServerForm, ServerId, ServerState, ToolApproval, ToolView,
        UpstreamAnswer, UpstreamDecision, UpstreamRequest, UpstreamsView, VariableForm, VariableValue,
    },
};

#[derive(Default)]
pub(crate) struct Upstreams {
    pub(crate) servers: Vec<ServerDetails>,
    pub(crate) log: Vec<String>,
    pub(crate) sources: Vec<ImportSource>,
    pub(crate) import: Option<ImportView>,
    pub(crate) registry: Option<Result<Vec<RegistryFound>, Refusal>>,
    /// What a person has decided.
    pub(crate) decided: Vec<UpstreamDecision>,
    /// What the next call answers.
    pub(crate) called: Option<CallResult>,
    /// The next decision is not carried out.
    pub(crate) refuse: Option<Refusal>,
}

impl Upstreams {
    fn server(&self, id: &ServerId) -> Result<Answer, Refusal> {
        let found = self.servers.iter().find(|server| server.brief.id == *id).cloned();
        let found = found.ok_or_else(|| Refusal::new(Code::NotFound, "there is no such server"))?;
        Ok(Answer::Upstream(UpstreamAnswer::Server(Box::new(found))))
    }

    pub(crate) fn answer(&mut self, request: &UpstreamRequest) -> Result<Answer, Refusal> {
        let answer = match request {
            UpstreamRequest::Show { server }
            | UpstreamRequest::Start { server }
            | UpstreamRequest::Stop { server }
            | UpstreamRequest::Restart { server }
            | UpstreamRequest::Disable { server }
            | UpstreamRequest::Withdraw { server, .. } => return self.server(server),
            UpstreamRequest::Log { from, .. } => {
                let lines: Vec<String> = self.log.iter().skip(*from as usize).cloned().collect();
                UpstreamAnswer::Log(LogPart { first: *from, lines, dropped: 0 })
            }
            UpstreamRequest::Add { form } => {
                if let Some(refusal) = self.refuse.take() {
                    return Err(refusal);
                }
                let brief = ServerBrief { name: form.name.clone(), ..brief("new", ServerState::Disabled) };
                let details = ServerDetails { brief, form: (**form).clone(), tools: Vec::new() };
                self.servers.push(details.clone());
                UpstreamAnswer::Server(Box::new(details))
            }
            UpstreamRequest::Sources => UpstreamAnswer::Sources(self.sources.clone()),
            UpstreamRequest::PreviewImport { .. } => match &self.import {
                Some(view) => UpstreamAnswer::Import(Box::new(view.clone())),
                None => {
                    let refusal = Refusal::new(Code::ValidationError, "line 1 is not JSON");
                    return Err(refusal.hint("Paste all of the file."));
                }
            },
            UpstreamRequest::Import { names, .. } => UpstreamAnswer::Imported {
                servers: names.iter().map(|name| brief(name, ServerState::Disabled)).collect(),
                refused: Vec::new(),
            },
            UpstreamRequest::SearchRegistry { .. } => match self.registry.clone() {
                Some(found) => UpstreamAnswer::Registry(found?),
                None => UpstreamAnswer::Registry(Vec::new()),
            },
            _ => UpstreamAnswer::Done,
        };
        Ok(Answer::Upstream(answer))
    }

    pub(crate) fn decide(&mut self, decision: UpstreamDecision) -> Result<Answer, Refusal> {
        self.decided.push(decision);
        match self.refuse.take() {
            Some(refusal) => Err(refusal),
            None => {
                Ok(Answer::Upstream(self.called.take().map_or(UpstreamAnswer::Done, UpstreamAnswer::Called)))
            }
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
        policy: Policy::Ask,
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
        policy: Policy::Ask,
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

pub(crate) fn view(shop: &Shop) -> UpstreamsView {
    UpstreamsView {
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
        ..UpstreamsView::default()
    }
}

/// Main tells the window how its servers stand now.
pub(crate) fn tell(shop: &mut Shop, change: impl FnOnce(&mut UpstreamsView)) {
    let mut view = view(shop);
    change(&mut view);
    shop.main.send(ToRenderer::Upstreams(Box::new(view)));
    shop.settle();
}
