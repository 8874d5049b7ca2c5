//! Answers protocol requests from the tables and one view. Protocol faults are JSON-RPC errors; everything that an
//! agent should read is an answer.

// Serves the legacy revisions as well, with methods that the newest one dropped.
#![allow(deprecated)]

use crate::{
    AgentCall, AgentService, AgentView, ProgressReporter, SurfaceTool, ToolReply,
    clients::{ClientActivity, ClientIdentity, ClientKey},
    draft,
    envelope::{self, EncodedEnvelope, SealedEnvelope},
    offline, proxied_tools,
    refusal::{AgentRefusalDetails, agent_code},
    service::AgentServiceState,
    surface::{
        ClientModelReply, CompletionRequest, CompletionValues, RawEnvelope, RawStepFuture, RawToolStep,
        ToolHandler,
    },
};
use authority::proposals::CallingClient;
use bytes::Bytes;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
        CompleteResult, CompletionInfo, ContentBlock, Extensions, GetPromptRequestParams, GetPromptResponse,
        GetPromptResult, Implementation, InputRequiredResult, InputResponses, JsonObject, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        PromptMessage, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        Reference, ResourceContents, Role, ServerConfig, SubscribeRequestParams, SubscriptionFilter,
        Tool as ToolDefinition, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use shared_protocol::{
    Refusal, RefusalCode,
    mcp::{AgentTransport, McpMode, McpProtocolEra},
    proposal::Proposer,
};
use std::{sync::Arc, time::Duration};

/// The cache lifetime of lists; subscribers are notified sooner.
const LIST_TTL_MS: u64 = 5_000;
const MAX_SLOW_TIME: Duration = Duration::from_secs(60);
/// The time limit for the client's model.
const MAX_SAMPLING_TIME: Duration = Duration::from_secs(60);
const MAX_TYPED_CHARS: usize = 200;

/// The channel a client uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientChannel {
    Http,
    Bridge(u64),
}

/// Handles the requests of one client. Cheap to clone: HTTP creates one per request.
#[derive(Clone)]
pub struct AgentHandler {
    service: AgentService,
    channel: ClientChannel,
}

impl AgentHandler {
    pub(crate) fn new(service: AgentService, via: ClientChannel) -> Self {
        Self { service, channel: via }
    }

    fn state(&self) -> &Arc<AgentServiceState> {
        &self.service.inner
    }

    /// Returns a tool of the surface or a forwarded tool; the surface takes precedence.
    fn tool(&self, name: &str) -> Option<Arc<SurfaceTool>> {
        let inner = self.state();
        let own = inner.surface.tool(name, inner.mode()).cloned();
        own.or_else(|| {
            let view = inner.workbench.view();
            view.proxied_tools.tool(name, inner.mode()).filter(|_| !inner.surface.has_tool(name)).cloned()
        })
    }

    fn call(&self, arguments: Option<JsonObject>, cx: &RequestContext<RoleServer>) -> AgentCall {
        let inner = self.state();
        let (view, arguments) = (inner.workbench.view(), arguments.unwrap_or_default());
        AgentCall {
            client: self.client(&self.identify_caller(cx), &view, &arguments),
            view,
            mode: inner.mode(),
            workbench: Arc::clone(&inner.workbench),
            review: Arc::clone(&inner.review),
            arguments,
            cancelled: cx.ct.clone(),
            progress: ProgressReporter::new(cx.peer.clone(), cx.meta.get_progress_token()),
            can_sample: false,
            sampled: None,
        }
    }

    /// Returns the caller as the review queue knows it. A proposal belongs to its connection. After that connection
    /// closes, a client with the same name that knows the random proposal id takes the proposal over.
    fn client(&self, who: &ClientIdentity, view: &AgentView, arguments: &JsonObject) -> CallingClient {
        let AgentServiceState { clients, run_id: run, .. } = &**self.state();
        let key = who.key.storage_key(run);
        let named =
            ["proposal", "id", "runId"].iter().find_map(|name| arguments.get(*name)?.as_str()?.parse().ok());
        let inherits = named
            .and_then(|id| view.review.get(id))
            .map(|proposal| &proposal.proposer)
            .filter(|owner| owner.key != key && owner.name == who.name)
            .filter(|owner| !clients.has_connection(&owner.key, run))
            .map(|owner| owner.key.clone());
        let proposer = Proposer { key, name: who.name.clone(), version: who.version.clone() };
        CallingClient { proposer, connected: who.key.is_connection(), inherited_key: inherits }
    }

    fn identify(
        &self,
        extensions: &Extensions,
        info: Option<&Implementation>,
        is_modern: bool,
    ) -> ClientIdentity {
        let (key, transport) = match self.channel {
            ClientChannel::Bridge(number) => (Some(ClientKey::Bridge(number)), AgentTransport::Bridge),
            ClientChannel::Http => (legacy_session(extensions).map(ClientKey::Session), AgentTransport::Http),
        };
        let claims = info.map(|info| (info.name.as_str(), info.version.as_str()));
        ClientIdentity::new(
            key,
            claims,
            transport,
            if is_modern { McpProtocolEra::Modern } else { McpProtocolEra::Legacy },
        )
    }

    fn identify_caller(&self, cx: &RequestContext<RoleServer>) -> ClientIdentity {
        self.identify(&cx.extensions, cx.client_info().as_ref(), is_modern(cx))
    }

    /// Records the activity. Refuses a paused client.
    fn admit(&self, cx: &RequestContext<RoleServer>, act: ClientActivity<'_>) -> Result<(), Refusal> {
        let inner = self.state();
        if inner.mode() == McpMode::Off {
            return Err(Refusal::new(
                RefusalCode::ServiceUnavailable,
                "The designer has turned agent access off",
            )
            .hint("Ask the designer to turn it on in the status bar."));
        }
        if inner.clients.record_activity(&self.identify_caller(cx), act, inner.workbench.now()) {
            return Ok(());
        }
        Err(Refusal::new(RefusalCode::ServiceUnavailable, "The designer has paused this client")
            .hint("Wait until the designer resumes it, or ask the designer to resume it."))
    }

    async fn run(&self, tool: &SurfaceTool, call: AgentCall) -> Result<ToolReply, Refusal> {
        match &tool.handler {
            ToolHandler::Immediate(run) => run(&call),
            // Handled in `call_tool`, because the tool writes its own envelope or none.
            ToolHandler::Raw(_) | ToolHandler::Forwarded(_) => {
                Err(Refusal::new(RefusalCode::Internal, "This tool writes its own envelope"))
            }
            // Has no timeout: the writer completes every request.
            ToolHandler::Writer(run) => run(call).await,
            ToolHandler::Slow(run) => {
                let cancelled = call.cancelled.clone();
                let work = async {
                    let _place = self.state().slow.acquire().await;
                    run(call).await
                };
                tokio::select! {
                    () = cancelled.cancelled() => Err(Refusal::new(RefusalCode::Timeout, "The call was cancelled")),
                    done = tokio::time::timeout(MAX_SLOW_TIME, work) => done.unwrap_or_else(|_| {
                        Err(Refusal::new(RefusalCode::Timeout, format!("The tool did not finish within {MAX_SLOW_TIME:?}"))
                            .hint("Request less: one board, a selection, a smaller image."))
                    }),
                }
            }
        }
    }

    /// Runs a tool that writes its own envelope. The tool may use the client's model: in the legacy protocol the
    /// server sends a request, in the modern one the client calls again with the reply.
    async fn run_raw(
        &self,
        run: impl Fn(AgentCall) -> RawStepFuture,
        mut call: AgentCall,
        responses: Option<&InputResponses>,
        cx: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        call.can_sample = cx.client_capabilities().is_some_and(|can| can.sampling.is_some());
        call.sampled = responses.and_then(|responses| responses.get(SAMPLING_KEY)).map(parse_sampled_reply);
        let parameters = match run_step_with_timeout(&call, run(call.clone())).await? {
            RawToolStep::Answer(written) => return Ok(self.raw_result(written, cx).into()),
            RawToolStep::Sample(parameters) => parameters,
        };
        if is_modern(cx) {
            let request = json!({ "method": "sampling/createMessage", "params": parameters });
            let asks = json!({ "resultType": "input_required", "inputRequests": { SAMPLING_KEY: request } });
            let asks: InputRequiredResult = serde_json::from_value(asks).map_err(encoding_error)?;
            return Ok(asks.into());
        }
        call.sampled = Some(sample_model(parameters, cx).await);
        match run_step_with_timeout(&call, run(call.clone())).await? {
            RawToolStep::Answer(written) => Ok(self.raw_result(written, cx).into()),
            RawToolStep::Sample(_) => {
                Err(ErrorData::internal_error("The tool requested sampling twice", None))
            }
        }
    }

    fn raw_result(&self, written: RawEnvelope, cx: &RequestContext<RoleServer>) -> CallToolResult {
        let RawEnvelope { json, is_error } = written;
        self.result(EncodedEnvelope::new(json), Vec::new(), is_error, cx)
    }

    async fn run_and_seal(
        &self,
        tool: &SurfaceTool,
        call: AgentCall,
        is_draft: bool,
        cx: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let inner = self.state();
        let generation = call.view.generation;
        let question = (tool.cacheable && !is_draft).then(|| cache_key(tool.name(), &call.arguments));
        if let Some(kept) = question.as_ref().and_then(|question| inner.cache.get(generation, question)) {
            return self.result(kept, Vec::new(), false, cx);
        }
        let SealedEnvelope { answer, content, is_error } =
            envelope::seal(tool.name(), self.run(tool, call).await);
        if let Some(question) = question.filter(|_| !is_error) {
            inner.cache.insert(generation, question, answer.clone());
        }
        self.result(answer, content, is_error, cx)
    }

    /// Sends the whole envelope as text, which every protocol version shows, and as `structuredContent` for versions
    /// that know it.
    fn result(
        &self,
        answer: EncodedEnvelope,
        content: Vec<ContentBlock>,
        is_error: bool,
        cx: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let EncodedEnvelope { json, text } = answer;
        let text = match self.state().splices.insert(text) {
            Some(placeholder) => placeholder,
            None => String::from_utf8_lossy(&json).into_owned(),
        };
        let mut blocks = vec![ContentBlock::text(text)];
        blocks.extend(content);
        let mut result = CallToolResult::success(blocks);
        result.is_error = Some(is_error);
        result.structured_content = knows_structured_content(cx).then(|| self.splice_or_inline(json));
        result
    }

    /// Returns a placeholder for encoded JSON, or the JSON itself when no placeholder is free.
    fn splice_or_inline(&self, json: Bytes) -> Value {
        match self.state().splices.insert(json.clone()) {
            Some(placeholder) => Value::String(placeholder),
            None => serde_json::from_slice(&json).unwrap_or_default(),
        }
    }

    fn failure_result(
        &self,
        tool: &str,
        failure: Refusal,
        cx: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let SealedEnvelope { answer, .. } = envelope::seal(tool, Err(failure));
        self.result(answer, Vec::new(), true, cx)
    }

    /// Reads a resource. Returns its text or a placeholder for it.
    fn read_document(
        &self,
        uri: &str,
        cx: &RequestContext<RoleServer>,
    ) -> Result<(String, &'static str), Refusal> {
        let inner = self.state();
        let Some((resource, parts)) = inner.surface.resource(uri) else {
            let known = inner.surface.resources().map(|resource| resource.uri);
            return Err(Refusal::new(RefusalCode::NotFound, format!("Resource {uri} does not exist"))
                .suggest(authority::similar(uri, known)));
        };
        let call = self.call(Some(parts), cx);
        let document = (resource.read)(&call, uri)?;
        let text = match serde_json::to_vec(&document.text)
            .ok()
            .and_then(|json| inner.splices.insert(json.into()))
        {
            Some(placeholder) => placeholder,
            None => document.text,
        };
        Ok((text, document.mime))
    }
}

/// The error for a tool that the current mode or version does not offer.
fn actuation_disabled(name: &str, mode: McpMode) -> Refusal {
    let failure = |message: String| Refusal::new(RefusalCode::ActuationDisabled, message);
    match mode {
        McpMode::Guarded => failure(format!("`{name}` is not available in this version"))
            .hint("Describe the change to the designer instead."),
        McpMode::Off | McpMode::Observe => {
            failure(format!("`{name}` proposes changes, and agents can only read in mode observe")).hint(
                "Ask the designer to switch to mode guarded in the status bar or with `draftboard serve --mode guarded`.",
            )
        }
    }
}

fn cache_key(tool: &str, arguments: &JsonObject) -> String {
    // Keys are sorted, so equal arguments give equal text.
    format!("{tool} {}", serde_json::to_string(arguments).unwrap_or_default())
}

/// Returns the legacy session of an HTTP request.
fn legacy_session(extensions: &Extensions) -> Option<String> {
    let parts = extensions.get::<http::request::Parts>()?;
    parts.headers.get("mcp-session-id")?.to_str().ok().map(str::to_owned)
}

/// The key of the sampling request in the modern protocol.
const SAMPLING_KEY: &str = "model";

fn is_modern(cx: &RequestContext<RoleServer>) -> bool {
    cx.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Protocol versions since 2025-06-18 know `structuredContent`.
fn knows_structured_content(cx: &RequestContext<RoleServer>) -> bool {
    cx.protocol_version().is_none_or(|version| version >= ProtocolVersion::V_2025_06_18)
}

async fn run_step_with_timeout(call: &AgentCall, step: RawStepFuture) -> Result<RawToolStep, ErrorData> {
    tokio::select! {
        () = call.cancelled.cancelled() => Err(ErrorData::internal_error("The call was cancelled", None)),
        done = tokio::time::timeout(MAX_SLOW_TIME, step) => {
            done.map_err(|_| ErrorData::internal_error(format!("The tool did not finish within {MAX_SLOW_TIME:?}"), None))
        }
    }
}

async fn sample_model(
    parameters: Value,
    cx: &RequestContext<RoleServer>,
) -> Result<ClientModelReply, String> {
    let request = serde_json::from_value(parameters).map_err(|error| error.to_string())?;
    let asked = tokio::time::timeout(MAX_SAMPLING_TIME, cx.peer.create_message(request)).await;
    let reply = asked
        .map_err(|_| format!("no reply within {MAX_SAMPLING_TIME:?}"))?
        .map_err(|error| error.to_string())?;
    parse_sampled_reply(&serde_json::to_value(&reply).unwrap_or_default())
}

/// Returns the text of a model's reply, which has one or several pieces of content.
fn parse_sampled_reply(reply: &Value) -> Result<ClientModelReply, String> {
    let content = &reply["content"];
    let pieces = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
    let text = pieces.iter().find_map(|piece| piece["text"].as_str());
    let text = text.ok_or("Unexpected response format: the reply has no text")?.to_owned();
    Ok(ClientModelReply { text, model: reply["model"].as_str().unwrap_or("unknown").to_owned() })
}

fn encoding_error(error: serde_json::Error) -> ErrorData {
    ErrorData::internal_error(format!("Encoding a request to the client failed: {error}"), None)
}

/// The JSON-RPC error for a resource or prompt, which have no envelope.
fn protocol_error(failure: &Refusal, uri: &str) -> ErrorData {
    let data = Some(
        json!({ "uri": uri, "code": agent_code(failure.code), "details": AgentRefusalDetails::from(failure) }),
    );
    match failure.code {
        RefusalCode::NotFound => ErrorData::resource_not_found(failure.message.clone(), data),
        RefusalCode::Internal => ErrorData::internal_error(failure.message.clone(), data),
        _ => ErrorData::invalid_params(failure.message.clone(), data),
    }
}

fn no_cursor(request: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor.as_ref()) {
        Some(_) => Err(ErrorData::invalid_params("This list has one page: omit cursor", None)),
        None => Ok(()),
    }
}

impl ServerHandler for AgentHandler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(offline::capabilities())
            .with_server_info(offline::implementation(&self.state().version))
            .with_instructions(self.state().surface.instructions)
    }

    async fn on_initialized(&self, cx: NotificationContext<RoleServer>) {
        let info = cx.peer.peer_info().map(|info| info.client_info.clone());
        let who = self.identify(&cx.extensions, info.as_ref(), false);
        let inner = self.state();
        inner.clients.record_activity(&who, ClientActivity::List("initialize"), inner.workbench.now());
        inner.notices.add_session(who.key, cx.peer);
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        no_cursor(request.as_ref())?;
        // A paused client may still list tools.
        let _ = self.admit(&cx, ClientActivity::List("tools"));
        let inner = self.state();
        let mut tools = inner.surface.listed_tools(inner.mode());
        let proxied_tools = &inner.workbench.view().proxied_tools;
        let is_own = |tool: &&Arc<SurfaceTool>| inner.surface.has_tool(tool.name());
        let passed_on = proxied_tools.tools(inner.mode()).filter(|tool| !is_own(tool));
        tools.extend(passed_on.map(|tool| tool.definition.clone()));
        Ok(ListToolsResult::with_all_items(tools)
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<ToolDefinition> {
        self.tool(name).map(|tool| tool.definition.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let CallToolRequestParams { name, arguments, input_responses, .. } = request;
        let inner = self.state();
        if let Err(failure) = self.admit(&cx, ClientActivity::Call(&name)) {
            return Ok(self.failure_result(&name, failure, &cx).into());
        }
        let Some(tool) = self.tool(&name) else {
            if inner.surface.needs_guarded(&name) || inner.workbench.view().proxied_tools.has(&name) {
                return Ok(self.failure_result(&name, actuation_disabled(&name, inner.mode()), &cx).into());
            }
            let known = inner.surface.tools(inner.mode()).map(|tool| tool.name());
            let similar = authority::similar(&name, known);
            let message = format!("Unknown tool `{}`", crate::escape_hidden(&name));
            return Err(ErrorData::invalid_params(message, Some(json!({ "suggestions": similar }))));
        };
        let call = self.call(arguments, &cx);
        let (call, is_draft) = match tool.supports_drafts.then(|| draft::resolve(call.clone())) {
            None => (call, false),
            Some(Ok(resolved)) => resolved,
            Some(Err(failure)) => return Ok(self.failure_result(&name, failure, &cx).into()),
        };
        match &tool.handler {
            ToolHandler::Raw(run) => {
                self.run_raw(|call| run(call), call, input_responses.as_ref(), &cx).await
            }
            ToolHandler::Forwarded(run) => {
                let passed = run(call).await;
                Ok(proxied_tools::forwarded_result(&name, passed, knows_structured_content(&cx)).into())
            }
            _ => Ok(self.run_and_seal(&tool, call, is_draft, &cx).await.into()),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        no_cursor(request.as_ref())?;
        let _ = self.admit(&cx, ClientActivity::List("resources"));
        let list = ListResourcesResult::with_all_items(self.state().surface.listed_resources());
        Ok(list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        no_cursor(request.as_ref())?;
        let list = ListResourceTemplatesResult::with_all_items(self.state().surface.listed_templates());
        Ok(list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let read = self.admit(&cx, ClientActivity::Read(&uri)).and_then(|()| self.read_document(&uri, &cx));
        let (text, mime) = read.map_err(|failure| protocol_error(&failure, &uri))?;
        let contents = ResourceContents::text(text, uri).with_mime_type(mime);
        let result =
            ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private);
        Ok(result.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let inner = self.state();
        let unknown =
            || Refusal::new(RefusalCode::NotFound, format!("Resource {} does not exist", request.uri));
        inner.surface.resource(&request.uri).ok_or_else(|| protocol_error(&unknown(), &request.uri))?;
        let who = self.identify_caller(&cx);
        inner.clients.record_activity(&who, ClientActivity::Subscribe(&request.uri), inner.workbench.now());
        inner
            .notices
            .subscribe(who.key, cx.peer, request.uri.clone())
            .map_err(|failure| protocol_error(&failure, &request.uri))
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let inner = self.state();
        let who = self.identify_caller(&cx);
        if inner.notices.unsubscribe(&who.key, &request.uri) {
            inner.clients.record_activity(&who, ClientActivity::Unsubscribe, inner.workbench.now());
        }
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| self.state().surface.resource(uri).is_some());
            uris.truncate(crate::notifications::MAX_SUBSCRIPTIONS_PER_CLIENT);
        }
        Some(accepted)
    }

    async fn listen(&self, cx: SubscriptionContext) -> Result<(), ErrorData> {
        let inner = self.state();
        let who = self.identify_caller(cx.request_context());
        let what =
            cx.accepted().resource_subscriptions.iter().flatten().next().map_or("lists", String::as_str);
        inner.clients.record_activity(&who, ClientActivity::Subscribe(what), inner.workbench.now());
        let end = inner.clients.disconnect_token(&who.key).unwrap_or_default();
        let number = inner.notices.add_stream(cx.sink().clone());
        tokio::select! {
            () = cx.cancelled() => {}
            () = end.cancelled() => {}
            () = inner.stop.cancelled() => {}
        }
        inner.notices.remove_stream(number);
        inner.clients.record_activity(&who, ClientActivity::Unsubscribe, inner.workbench.now());
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        no_cursor(request.as_ref())?;
        let _ = self.admit(&cx, ClientActivity::List("prompts"));
        let prompts = self.state().surface.listed_prompts();
        Ok(ListPromptsResult::with_all_items(prompts)
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let invalid =
            |failure: &Refusal| ErrorData::invalid_params(failure.message.clone(), Some(json!(failure)));
        self.admit(&cx, ClientActivity::List(&request.name)).map_err(|failure| invalid(&failure))?;
        let Some(prompt) = self.state().surface.prompt(&request.name) else {
            let known = self.state().surface.prompts().map(|prompt| prompt.definition.name.as_str());
            let similar = authority::similar(&request.name, known);
            let failure = Refusal::new(RefusalCode::NotFound, "Unknown prompt").suggest(similar);
            return Err(invalid(&failure));
        };
        let call = self.call(request.arguments, &cx);
        let words = (prompt.text)(&call).map_err(|failure| invalid(&failure))?;
        let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, words)]);
        result.description.clone_from(&prompt.definition.description);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _cx: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let inner = self.state();
        let typed: String = request.argument.value.chars().take(MAX_TYPED_CHARS).collect();
        let given = request.context.and_then(|context| context.arguments).unwrap_or_default();
        let asked = CompletionRequest {
            view: &inner.workbench.view(),
            argument: &request.argument.name,
            prefix: &typed,
            filled_arguments: &given.into_iter().collect(),
        };
        let completed = match &request.r#ref {
            Reference::Prompt(prompt) => match inner.surface.prompt(&prompt.name) {
                Some(prompt) => (prompt.complete)(&asked),
                None => return Err(ErrorData::invalid_params("Unknown prompt", None)),
            },
            Reference::Resource(template) => {
                let known = inner.surface.resources().find(|resource| resource.uri == template.uri);
                let Some(known) = known else {
                    return Err(ErrorData::invalid_params("Unknown resource template", None));
                };
                known.complete.as_ref().map(|complete| complete(&asked)).unwrap_or_default()
            }
            _ => CompletionValues::default(),
        };
        let CompletionValues { values: mut fitting, total } = completed;
        fitting.truncate(CompletionInfo::MAX_VALUES);
        let has_more = fitting.len() < total;
        CompletionInfo::with_pagination(fitting, u32::try_from(total).ok(), has_more)
            .map(CompleteResult::new)
            .map_err(|error| ErrorData::internal_error(error, None))
    }
}
