//! Answers protocol requests from the tables and one view. Protocol faults are JSON-RPC errors; everything that an
//! agent should read is an answer.

// Serves the legacy revisions as well, with methods that the newest one dropped.
#![allow(deprecated)]

use crate::{
    Call, Code, Failure, Progress, Reply, Service, Tool, View,
    clients::{Act, Key, Who},
    draft,
    envelope::{self, EncodedAnswer, Sealed},
    guests, offline,
    service::Inner,
    surface::{Completed, Completing, Run, Sampled, Step, Stepping, Written},
};
use authority::proposals::Client;
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
    mcp::{McpEra, McpMode, McpTransport},
    proposal::Proposer,
};
use std::{sync::Arc, time::Duration};

/// The cache lifetime of lists; subscribers are notified sooner.
const LIST_TTL_MS: u64 = 5_000;
const SLOW_LIMIT: Duration = Duration::from_secs(60);
/// The time limit for the client's model.
const SAMPLE_LIMIT: Duration = Duration::from_secs(60);
const MOST_TYPED: usize = 200;

/// The channel a client uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Via {
    Http,
    Bridge(u64),
}

/// Handles the requests of one client. Cheap to clone: HTTP creates one per request.
#[derive(Clone)]
pub struct Agent {
    service: Service,
    via: Via,
}

impl Agent {
    pub(crate) fn new(service: Service, via: Via) -> Self {
        Self { service, via }
    }

    fn inner(&self) -> &Arc<Inner> {
        &self.service.inner
    }

    /// Returns a tool of the surface or a forwarded tool; the surface takes precedence.
    fn tool(&self, name: &str) -> Option<Arc<Tool>> {
        let inner = self.inner();
        let own = inner.surface.tool(name, inner.mode()).cloned();
        own.or_else(|| {
            let view = inner.workbench.view();
            view.guests.tool(name, inner.mode()).filter(|_| !inner.surface.has_tool(name)).cloned()
        })
    }

    fn call(&self, arguments: Option<JsonObject>, cx: &RequestContext<RoleServer>) -> Call {
        let inner = self.inner();
        let (view, arguments) = (inner.workbench.view(), arguments.unwrap_or_default());
        Call {
            client: self.client(&self.who_asks(cx), &view, &arguments),
            view,
            mode: inner.mode(),
            workbench: Arc::clone(&inner.workbench),
            arguments,
            cancelled: cx.ct.clone(),
            progress: Progress::new(cx.peer.clone(), cx.meta.get_progress_token()),
            can_sample: false,
            sampled: None,
        }
    }

    /// Returns the caller as the review queue knows it. A proposal belongs to its connection. After that connection
    /// closes, a client with the same name that knows the random proposal id takes the proposal over.
    fn client(&self, who: &Who, view: &View, arguments: &JsonObject) -> Client {
        let Inner { clients, run, .. } = &**self.inner();
        let key = who.key.text(run);
        let named =
            ["proposal", "id", "runId"].iter().find_map(|name| arguments.get(*name)?.as_str()?.parse().ok());
        let inherits = named
            .and_then(|id| view.review.get(id))
            .map(|proposal| &proposal.proposer)
            .filter(|owner| owner.key != key && owner.name == who.name)
            .filter(|owner| !clients.has_connection(&owner.key, run))
            .map(|owner| owner.key.clone());
        let proposer = Proposer { key, name: who.name.clone(), version: who.version.clone() };
        Client { proposer, connected: who.key.is_connection(), inherits }
    }

    fn who(&self, extensions: &Extensions, info: Option<&Implementation>, is_modern: bool) -> Who {
        let (key, transport) = match self.via {
            Via::Bridge(number) => (Some(Key::Bridge(number)), McpTransport::Bridge),
            Via::Http => (session_of(extensions).map(Key::Session), McpTransport::Http),
        };
        let claims = info.map(|info| (info.name.as_str(), info.version.as_str()));
        Who::new(key, claims, transport, if is_modern { McpEra::Modern } else { McpEra::Legacy })
    }

    fn who_asks(&self, cx: &RequestContext<RoleServer>) -> Who {
        self.who(&cx.extensions, cx.client_info().as_ref(), is_modern(cx))
    }

    /// Records the activity. Refuses a paused client.
    fn admit(&self, cx: &RequestContext<RoleServer>, act: Act<'_>) -> Result<(), Failure> {
        let inner = self.inner();
        if inner.mode() == McpMode::Off {
            return Err(Failure::new(Code::ServiceUnavailable, "The designer has turned agent access off")
                .hint("Ask the designer to turn it on in the status bar."));
        }
        if inner.clients.note(&self.who_asks(cx), act, inner.workbench.now()) {
            return Ok(());
        }
        Err(Failure::new(Code::ServiceUnavailable, "The designer has paused this client")
            .hint("Wait until the designer resumes it, or ask the designer to resume it."))
    }

    async fn run(&self, tool: &Tool, call: Call) -> Result<Reply, Failure> {
        match &tool.run {
            Run::Quick(run) => run(&call),
            // Handled in `call_tool`, because the tool writes its own envelope or none.
            Run::Own(_) | Run::Passed(_) => {
                Err(Failure::new(Code::Internal, "This tool writes its own envelope"))
            }
            // Has no timeout: the writer completes every request.
            Run::Asked(run) => run(call).await,
            Run::Slow(run) => {
                let cancelled = call.cancelled.clone();
                let work = async {
                    let _place = self.inner().slow.acquire().await;
                    run(call).await
                };
                tokio::select! {
                    () = cancelled.cancelled() => Err(Failure::new(Code::Timeout, "The call was cancelled")),
                    done = tokio::time::timeout(SLOW_LIMIT, work) => done.unwrap_or_else(|_| {
                        Err(Failure::new(Code::Timeout, format!("The tool did not finish within {SLOW_LIMIT:?}"))
                            .hint("Request less: one board, a selection, a smaller image."))
                    }),
                }
            }
        }
    }

    /// Runs a tool that writes its own envelope. The tool may use the client's model: in the legacy protocol the
    /// server sends a request, in the modern one the client calls again with the reply.
    async fn own(
        &self,
        run: impl Fn(Call) -> Stepping,
        mut call: Call,
        responses: Option<&InputResponses>,
        cx: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        call.can_sample = cx.client_capabilities().is_some_and(|can| can.sampling.is_some());
        call.sampled = responses.and_then(|responses| responses.get(MODEL)).map(sampled);
        let parameters = match in_time(&call, run(call.clone())).await? {
            Step::Answer(written) => return Ok(self.written(written, cx).into()),
            Step::Sample(parameters) => parameters,
        };
        if is_modern(cx) {
            let request = json!({ "method": "sampling/createMessage", "params": parameters });
            let asks = json!({ "resultType": "input_required", "inputRequests": { MODEL: request } });
            let asks: InputRequiredResult = serde_json::from_value(asks).map_err(unwritable)?;
            return Ok(asks.into());
        }
        call.sampled = Some(ask_model(parameters, cx).await);
        match in_time(&call, run(call.clone())).await? {
            Step::Answer(written) => Ok(self.written(written, cx).into()),
            Step::Sample(_) => Err(ErrorData::internal_error("The tool requested sampling twice", None)),
        }
    }

    fn written(&self, written: Written, cx: &RequestContext<RoleServer>) -> CallToolResult {
        let Written { json, is_error } = written;
        self.result(EncodedAnswer::new(json), Vec::new(), is_error, cx)
    }

    async fn answer(
        &self,
        tool: &Tool,
        call: Call,
        is_draft: bool,
        cx: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let inner = self.inner();
        let generation = call.view.generation;
        let question = (tool.lasting && !is_draft).then(|| question(tool.name(), &call.arguments));
        if let Some(kept) = question.as_ref().and_then(|question| inner.cache.get(generation, question)) {
            return self.result(kept, Vec::new(), false, cx);
        }
        let Sealed { answer, content, is_error } = envelope::seal(tool.name(), self.run(tool, call).await);
        if let Some(question) = question.filter(|_| !is_error) {
            inner.cache.put(generation, question, answer.clone());
        }
        self.result(answer, content, is_error, cx)
    }

    /// Sends the whole envelope as text, which every protocol version shows, and as `structuredContent` for versions
    /// that know it.
    fn result(
        &self,
        answer: EncodedAnswer,
        content: Vec<ContentBlock>,
        is_error: bool,
        cx: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let EncodedAnswer { json, text } = answer;
        let text = match self.inner().splices.leave(text) {
            Some(placeholder) => placeholder,
            None => String::from_utf8_lossy(&json).into_owned(),
        };
        let mut blocks = vec![ContentBlock::text(text)];
        blocks.extend(content);
        let mut result = CallToolResult::success(blocks);
        result.is_error = Some(is_error);
        result.structured_content = knows_structured_content(cx).then(|| self.spliced(json));
        result
    }

    /// Returns a placeholder for encoded JSON, or the JSON itself when no placeholder is free.
    fn spliced(&self, json: Bytes) -> Value {
        match self.inner().splices.leave(json.clone()) {
            Some(placeholder) => Value::String(placeholder),
            None => serde_json::from_slice(&json).unwrap_or_default(),
        }
    }

    fn failed(&self, tool: &str, failure: Failure, cx: &RequestContext<RoleServer>) -> CallToolResult {
        let Sealed { answer, .. } = envelope::seal(tool, Err(failure));
        self.result(answer, Vec::new(), true, cx)
    }

    /// Reads a resource. Returns its text or a placeholder for it.
    fn document(
        &self,
        uri: &str,
        cx: &RequestContext<RoleServer>,
    ) -> Result<(String, &'static str), Failure> {
        let inner = self.inner();
        let Some((resource, parts)) = inner.surface.resource(uri) else {
            let known = inner.surface.resources().map(|resource| resource.uri);
            return Err(Failure::new(Code::NotFound, format!("Resource {uri} does not exist"))
                .suggest(authority::similar(uri, known)));
        };
        let call = self.call(Some(parts), cx);
        let document = (resource.read)(&call, uri)?;
        let text =
            match serde_json::to_vec(&document.text).ok().and_then(|json| inner.splices.leave(json.into())) {
                Some(placeholder) => placeholder,
                None => document.text,
            };
        Ok((text, document.mime))
    }
}

/// The error for a tool that the current mode or version does not offer.
fn not_now(name: &str, mode: McpMode) -> Failure {
    let failure = |message: String| Failure::new(Code::ActuationDisabled, message);
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

fn question(tool: &str, arguments: &JsonObject) -> String {
    // Keys are sorted, so equal arguments give equal text.
    format!("{tool} {}", serde_json::to_string(arguments).unwrap_or_default())
}

/// Returns the legacy session of an HTTP request.
fn session_of(extensions: &Extensions) -> Option<String> {
    let parts = extensions.get::<http::request::Parts>()?;
    parts.headers.get("mcp-session-id")?.to_str().ok().map(str::to_owned)
}

/// The key of the sampling request in the modern protocol.
const MODEL: &str = "model";

fn is_modern(cx: &RequestContext<RoleServer>) -> bool {
    cx.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Protocol versions since 2025-06-18 know `structuredContent`.
fn knows_structured_content(cx: &RequestContext<RoleServer>) -> bool {
    cx.protocol_version().is_none_or(|version| version >= ProtocolVersion::V_2025_06_18)
}

async fn in_time(call: &Call, step: Stepping) -> Result<Step, ErrorData> {
    tokio::select! {
        () = call.cancelled.cancelled() => Err(ErrorData::internal_error("The call was cancelled", None)),
        done = tokio::time::timeout(SLOW_LIMIT, step) => {
            done.map_err(|_| ErrorData::internal_error(format!("The tool did not finish within {SLOW_LIMIT:?}"), None))
        }
    }
}

async fn ask_model(parameters: Value, cx: &RequestContext<RoleServer>) -> Result<Sampled, String> {
    let request = serde_json::from_value(parameters).map_err(|error| error.to_string())?;
    let asked = tokio::time::timeout(SAMPLE_LIMIT, cx.peer.create_message(request)).await;
    let reply =
        asked.map_err(|_| format!("no reply within {SAMPLE_LIMIT:?}"))?.map_err(|error| error.to_string())?;
    sampled(&serde_json::to_value(&reply).unwrap_or_default())
}

/// Returns the text of a model's reply, which has one or several pieces of content.
fn sampled(reply: &Value) -> Result<Sampled, String> {
    let content = &reply["content"];
    let pieces = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
    let text = pieces.iter().find_map(|piece| piece["text"].as_str());
    let text = text.ok_or("Unexpected response format: the reply has no text")?.to_owned();
    Ok(Sampled { text, model: reply["model"].as_str().unwrap_or("unknown").to_owned() })
}

fn unwritable(error: serde_json::Error) -> ErrorData {
    ErrorData::internal_error(format!("Encoding a request to the client failed: {error}"), None)
}

/// The JSON-RPC error for a resource or prompt, which have no envelope.
fn protocol_error(failure: &Failure, uri: &str) -> ErrorData {
    let data = Some(json!({ "uri": uri, "code": failure.code, "details": failure.details }));
    match failure.code {
        Code::NotFound => ErrorData::resource_not_found(failure.message.clone(), data),
        Code::Internal => ErrorData::internal_error(failure.message.clone(), data),
        _ => ErrorData::invalid_params(failure.message.clone(), data),
    }
}

fn no_cursor(request: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor.as_ref()) {
        Some(_) => Err(ErrorData::invalid_params("This list has one page: omit cursor", None)),
        None => Ok(()),
    }
}

impl ServerHandler for Agent {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(offline::capabilities())
            .with_server_info(offline::implementation(&self.inner().version))
            .with_instructions(self.inner().surface.instructions)
    }

    async fn on_initialized(&self, cx: NotificationContext<RoleServer>) {
        let info = cx.peer.peer_info().map(|info| info.client_info.clone());
        let who = self.who(&cx.extensions, info.as_ref(), false);
        let inner = self.inner();
        inner.clients.note(&who, Act::Look("initialize"), inner.workbench.now());
        inner.notices.know(who.key, cx.peer);
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        no_cursor(request.as_ref())?;
        // A paused client may still list tools.
        let _ = self.admit(&cx, Act::Look("tools"));
        let inner = self.inner();
        let mut tools = inner.surface.listed_tools(inner.mode());
        let guests = &inner.workbench.view().guests;
        let is_own = |tool: &&Arc<Tool>| inner.surface.has_tool(tool.name());
        let passed_on = guests.tools(inner.mode()).filter(|tool| !is_own(tool));
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
        let inner = self.inner();
        if let Err(failure) = self.admit(&cx, Act::Call(&name)) {
            return Ok(self.failed(&name, failure, &cx).into());
        }
        let Some(tool) = self.tool(&name) else {
            if inner.surface.needs_guarded(&name) || inner.workbench.view().guests.has(&name) {
                return Ok(self.failed(&name, not_now(&name, inner.mode()), &cx).into());
            }
            let known = inner.surface.tools(inner.mode()).map(|tool| tool.name());
            let similar = authority::similar(&name, known);
            let message = format!("Unknown tool `{}`", crate::shown(&name));
            return Err(ErrorData::invalid_params(message, Some(json!({ "suggestions": similar }))));
        };
        let call = self.call(arguments, &cx);
        let (call, is_draft) = match tool.of_drafts.then(|| draft::resolve(call.clone())) {
            None => (call, false),
            Some(Ok(resolved)) => resolved,
            Some(Err(failure)) => return Ok(self.failed(&name, failure, &cx).into()),
        };
        match &tool.run {
            Run::Own(run) => self.own(|call| run(call), call, input_responses.as_ref(), &cx).await,
            Run::Passed(run) => {
                let passed = run(call).await;
                Ok(guests::result(&name, passed, knows_structured_content(&cx)).into())
            }
            _ => Ok(self.answer(&tool, call, is_draft, &cx).await.into()),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        no_cursor(request.as_ref())?;
        let _ = self.admit(&cx, Act::Look("resources"));
        let list = ListResourcesResult::with_all_items(self.inner().surface.listed_resources());
        Ok(list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        no_cursor(request.as_ref())?;
        let list = ListResourceTemplatesResult::with_all_items(self.inner().surface.listed_templates());
        Ok(list.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let read = self.admit(&cx, Act::Read(&uri)).and_then(|()| self.document(&uri, &cx));
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
        let inner = self.inner();
        let unknown = || Failure::new(Code::NotFound, format!("Resource {} does not exist", request.uri));
        inner.surface.resource(&request.uri).ok_or_else(|| protocol_error(&unknown(), &request.uri))?;
        let who = self.who_asks(&cx);
        inner.clients.note(&who, Act::Subscribe(&request.uri), inner.workbench.now());
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
        let inner = self.inner();
        let who = self.who_asks(&cx);
        if inner.notices.unsubscribe(&who.key, &request.uri) {
            inner.clients.note(&who, Act::Unsubscribe, inner.workbench.now());
        }
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| self.inner().surface.resource(uri).is_some());
            uris.truncate(crate::notices::MOST_SUBSCRIPTIONS);
        }
        Some(accepted)
    }

    async fn listen(&self, cx: SubscriptionContext) -> Result<(), ErrorData> {
        let inner = self.inner();
        let who = self.who_asks(cx.request_context());
        let what =
            cx.accepted().resource_subscriptions.iter().flatten().next().map_or("lists", String::as_str);
        inner.clients.note(&who, Act::Subscribe(what), inner.workbench.now());
        let end = inner.clients.end_of(&who.key).unwrap_or_default();
        let number = inner.notices.listen(cx.sink().clone());
        tokio::select! {
            () = cx.cancelled() => {}
            () = end.cancelled() => {}
            () = inner.stop.cancelled() => {}
        }
        inner.notices.stop_listening(number);
        inner.clients.note(&who, Act::Unsubscribe, inner.workbench.now());
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        no_cursor(request.as_ref())?;
        let _ = self.admit(&cx, Act::Look("prompts"));
        let prompts = self.inner().surface.listed_prompts();
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
            |failure: &Failure| ErrorData::invalid_params(failure.message.clone(), Some(json!(failure)));
        self.admit(&cx, Act::Look(&request.name)).map_err(|failure| invalid(&failure))?;
        let Some(prompt) = self.inner().surface.prompt(&request.name) else {
            let known = self.inner().surface.prompts().map(|prompt| prompt.definition.name.as_str());
            let similar = authority::similar(&request.name, known);
            let failure = Failure::new(Code::NotFound, "Unknown prompt").suggest(similar);
            return Err(invalid(&failure));
        };
        let call = self.call(request.arguments, &cx);
        let words = (prompt.words)(&call).map_err(|failure| invalid(&failure))?;
        let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, words)]);
        result.description.clone_from(&prompt.definition.description);
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _cx: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let inner = self.inner();
        let typed: String = request.argument.value.chars().take(MOST_TYPED).collect();
        let given = request.context.and_then(|context| context.arguments).unwrap_or_default();
        let asked = Completing {
            view: &inner.workbench.view(),
            argument: &request.argument.name,
            typed: &typed,
            given: &given.into_iter().collect(),
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
            _ => Completed::default(),
        };
        let Completed { values: mut fitting, total } = completed;
        fitting.truncate(CompletionInfo::MAX_VALUES);
        let has_more = fitting.len() < total;
        CompletionInfo::with_pagination(fitting, u32::try_from(total).ok(), has_more)
            .map(CompleteResult::new)
            .map_err(|error| ErrorData::internal_error(error, None))
    }
}
