//! The tables of all tools, resources and prompts. The code that starts the server adds the entries of other parts of
//! the workbench; the server does not change for them.

use crate::{
    AgentView, AgentWorkbench, AgentWorkspaceView, ProgressReporter, ReviewSubmitter, ToolReply,
    draft::DraftArguments, schema,
};
use authority::proposals::CallingClient;
use rmcp::model::{
    JsonObject, Prompt as PromptDefinition, PromptArgument, Tool as ToolDefinition, ToolAnnotations,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use shared_protocol::{Refusal, RefusalCode, mcp::McpMode};
use std::{collections::BTreeMap, pin::Pin, sync::Arc};
use tokio_util::sync::CancellationToken;

/// One call of a tool. The tool reads all its data from `view`.
#[derive(Clone)]
pub struct AgentCall {
    pub view: Arc<AgentView>,
    pub mode: McpMode,
    pub workbench: Arc<dyn AgentWorkbench>,
    pub review: Arc<dyn ReviewSubmitter>,
    pub arguments: JsonObject,
    /// The caller. `inherits` holds the key of the closed connection that owns the proposal named in the arguments.
    pub client: CallingClient,
    /// Fires when the client cancels the call.
    pub cancelled: CancellationToken,
    /// Sends progress notifications to the client.
    pub progress: ProgressReporter,
    /// Whether the client supports sampling.
    pub can_sample: bool,
    /// The reply of the client's model or the reason it failed, set after a tool requested sampling.
    pub sampled: Option<Result<ClientModelReply, String>>,
}

/// A reply of the client's model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientModelReply {
    pub text: String,
    pub model: String,
}

impl AgentCall {
    pub fn workspace(&self) -> Result<&Arc<AgentWorkspaceView>, Refusal> {
        self.view.workspace.as_ref().ok_or_else(crate::refusal::no_workspace)
    }

    /// Parses the arguments and rejects unknown keys.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        parse_arguments(&self.arguments)
    }
}

/// Parses arguments and rejects unknown keys.
pub(crate) fn parse_arguments<T: DeserializeOwned>(arguments: &JsonObject) -> Result<T, Refusal> {
    // Clients may pass null for an omitted argument.
    let given: JsonObject =
        arguments.iter().filter(|(_, value)| !value.is_null()).map(|(k, v)| (k.clone(), v.clone())).collect();
    serde_json::from_value(Value::Object(given)).map_err(|error| invalid_arguments(&error))
}

fn invalid_arguments(error: &serde_json::Error) -> Refusal {
    let message = error.to_string();
    let failure = Refusal::new(RefusalCode::BadRequest, format!("Invalid arguments: {message}"))
        .hint("See the tool's inputSchema for every argument.");
    // "unknown field `x`", "missing field `x`"
    match message.split('`').nth(1).filter(|_| message.contains("field `")) {
        Some(field) => failure.field(field.to_owned()),
        None => failure,
    }
}

pub type ReplyFuture = Pin<Box<dyn Future<Output = Result<ToolReply, Refusal>> + Send>>;
type ImmediateToolFn = Arc<dyn Fn(&AgentCall) -> Result<ToolReply, Refusal> + Send + Sync>;
type AsyncToolFn = Arc<dyn Fn(AgentCall) -> ReplyFuture + Send + Sync>;

/// An envelope that the tool wrote itself.
#[derive(Debug, Clone)]
pub struct RawEnvelope {
    /// Compact JSON.
    pub json: String,
    pub is_error: bool,
}

/// The next step of a tool that writes its own envelope.
#[derive(Debug, Clone)]
pub enum RawToolStep {
    Answer(RawEnvelope),
    /// Sends these `sampling/createMessage` parameters to the client's model, then calls the tool again.
    Sample(Value),
}

pub type RawStepFuture = Pin<Box<dyn Future<Output = RawToolStep> + Send>>;
type RawToolFn = Arc<dyn Fn(AgentCall) -> RawStepFuture + Send + Sync>;
type ForwardToolCallFn = Arc<dyn Fn(AgentCall) -> crate::ForwardFuture + Send + Sync>;

#[derive(Clone)]
pub(crate) enum ToolHandler {
    /// Computed synchronously from the view.
    Immediate(ImmediateToolFn),
    Slow(AsyncToolFn),
    /// Waits only for the workbench's writer.
    Writer(AsyncToolFn),
    /// The tool writes its own envelope.
    Raw(RawToolFn),
    /// Forwarded to a managed server or a manifest, which also enforces its own timeout.
    Forwarded(ForwardToolCallFn),
}

/// Annotations that tell a client how a tool behaves.
#[derive(Debug, Clone, Copy)]
pub struct ToolHints {
    pub read_only: bool,
    pub idempotent: bool,
}

#[derive(Clone)]
pub struct SurfaceTool {
    pub group: &'static str,
    pub definition: ToolDefinition,
    /// Listed in guarded mode only.
    pub guarded: bool,
    /// The answer depends only on content, types and arguments, so it is computed once per generation.
    pub cacheable: bool,
    /// The tool accepts `view: "draft"`.
    pub supports_drafts: bool,
    pub(crate) handler: ToolHandler,
}

impl SurfaceTool {
    /// A read-only tool with the arguments `A`. `data` is the schema of the `data` field of its envelope.
    pub fn read<A: DeserializeOwned + JsonSchema>(
        group: &'static str,
        name: &'static str,
        title: &str,
        description: &'static str,
        data: Value,
        run: impl Fn(&AgentCall, A) -> Result<ToolReply, Refusal> + Send + Sync + 'static,
    ) -> Self {
        let run = move |call: &AgentCall| run(call, call.arguments()?);
        let handler = ToolHandler::Immediate(Arc::new(run));
        Self::new(group, name, title, description, schema::of::<A>(), data, handler)
    }

    /// As [`Self::read`], on a thread that may block, because the tool takes long.
    pub fn slow<A: DeserializeOwned + JsonSchema>(
        group: &'static str,
        name: &'static str,
        title: &str,
        description: &'static str,
        data: Value,
        run: impl Fn(&AgentCall, A) -> Result<ToolReply, Refusal> + Send + Sync + 'static,
    ) -> Self {
        let run = Arc::new(run);
        let work = move |call: AgentCall| -> ReplyFuture {
            let run = Arc::clone(&run);
            let work = tokio::task::spawn_blocking(move || run(&call, call.arguments()?));
            let failed = || Refusal::new(RefusalCode::Internal, "The tool failed unexpectedly");
            Box::pin(async move { work.await.unwrap_or_else(|_| Err(failed())) })
        };
        let handler = ToolHandler::Slow(Arc::new(work));
        Self::new(group, name, title, description, schema::of::<A>(), data, handler)
    }

    fn new(
        group: &'static str,
        name: &'static str,
        title: &str,
        description: &'static str,
        input: JsonObject,
        data: Value,
        run: ToolHandler,
    ) -> Self {
        let annotations =
            ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false);
        let definition = ToolDefinition::new(name, description, input)
            .with_title(title)
            .with_raw_output_schema(Arc::new(object(output_schema(data))))
            .with_annotations(annotations);
        Self { group, definition, guarded: false, cacheable: false, supports_drafts: false, handler: run }
    }

    /// A tool that proposes a change. `input` is the schema of the structs that parse its arguments.
    pub(crate) fn guarded<F>(
        group: &'static str,
        name: &'static str,
        title: &str,
        description: &'static str,
        input: JsonObject,
        data: Value,
        run: impl Fn(AgentCall) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<ToolReply, Refusal>> + Send + 'static,
    {
        let run = move |call| -> ReplyFuture { Box::pin(run(call)) };
        let mut tool =
            Self::new(group, name, title, description, input, data, ToolHandler::Writer(Arc::new(run)));
        // A proposal destroys nothing.
        let annotations =
            ToolAnnotations::new().read_only(false).destructive(false).idempotent(false).open_world(false);
        tool.definition = tool.definition.with_annotations(annotations);
        tool.guarded = true;
        tool
    }

    /// Marks a guarded tool as read-only.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        let annotations =
            ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false);
        self.definition = self.definition.with_annotations(annotations);
        self
    }

    /// Adds the arguments `view` and `proposal`, so that the tool can read the workspace with a draft applied.
    #[must_use]
    pub fn of_drafts(mut self) -> Self {
        let own = JsonObject::clone(&self.definition.input_schema);
        self.definition.input_schema = Arc::new(schema::join(own, schema::of::<DraftArguments>()));
        self.supports_drafts = true;
        self
    }

    /// A tool of another contract that writes its own envelope. `input` is the complete input schema; the tool
    /// validates its arguments itself.
    pub fn with_own_envelope(
        group: &'static str,
        [name, title, description]: [&'static str; 3],
        input: Value,
        hints: ToolHints,
        run: impl Fn(AgentCall) -> RawStepFuture + Send + Sync + 'static,
    ) -> Self {
        let annotations = ToolAnnotations::new()
            .read_only(hints.read_only)
            .destructive(!hints.read_only)
            .idempotent(hints.idempotent)
            .open_world(false);
        let definition = ToolDefinition::new(name, description, object(input))
            .with_title(title)
            .with_raw_output_schema(Arc::new(object(raw_output_schema())))
            .with_annotations(annotations);
        Self {
            group,
            definition,
            guarded: false,
            cacheable: false,
            supports_drafts: false,
            handler: ToolHandler::Raw(Arc::new(run)),
        }
    }

    #[must_use]
    pub fn cacheable(mut self) -> Self {
        self.cacheable = true;
        self
    }

    pub fn name(&self) -> &str {
        &self.definition.name
    }
}

/// The envelope around `data`. The server instructions explain its fields once for all tools.
fn output_schema(data: Value) -> Value {
    json!({
        "type": "object",
        "properties": { "ok": { "type": "boolean" }, "data": data },
        "required": ["ok", "tool"]
    })
}

/// The fields that envelopes of all contracts share.
fn raw_output_schema() -> Value {
    json!({ "type": "object", "required": ["ok", "tool"] })
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(fields) => fields,
        _ => JsonObject::default(),
    }
}

/// An input of a resource; when it changes, the resource changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceInput {
    Content,
    Types,
    Presence,
    Status,
    Mode,
    Config,
    /// The spec bundles.
    Specs,
    /// The deployment state.
    Deployment,
    /// Preview sessions.
    Previews,
    /// The review queue.
    Review,
}

/// The text of a resource as read once.
#[derive(Debug, Clone)]
pub struct ResourceDocument {
    pub mime: &'static str,
    pub text: String,
}

/// Receives the URI as the client requested it.
type ResourceReadFn = Arc<dyn Fn(&AgentCall, &str) -> Result<ResourceDocument, Refusal> + Send + Sync>;
/// Returns whether the resource at a URI differs between two views.
type ResourceDiffersFn = Arc<dyn Fn(&AgentView, &AgentView, &str) -> bool + Send + Sync>;

/// A resource, or a template when its URI has parts in braces; the call's arguments hold these parts under their
/// names.
#[derive(Clone)]
pub struct SurfaceResource {
    pub uri: &'static str,
    /// Legacy URIs that are accepted and not listed.
    pub aliases: Vec<&'static str>,
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub mime: &'static str,
    pub depends: &'static [ResourceInput],
    /// Refines a change of `depends`. Without it, every such change is a change of the resource.
    pub differs: Option<ResourceDiffersFn>,
    pub read: ResourceReadFn,
    /// Completes the template parts.
    pub complete: Option<CompletionFn>,
}

impl SurfaceResource {
    pub fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    /// Returns the template parts when the URI matches this resource.
    pub(crate) fn matches(&self, uri: &str) -> Option<JsonObject> {
        std::iter::once(&self.uri).chain(&self.aliases).find_map(|pattern| match_uri(pattern, uri))
    }
}

/// Compares segment by segment; each segment may have one part in braces.
fn match_uri(pattern: &str, uri: &str) -> Option<JsonObject> {
    let (mut pieces, mut parts) = (uri.split('/'), JsonObject::default());
    for wanted in pattern.split('/') {
        let piece = pieces.next()?;
        let Some((before, rest)) = wanted.split_once('{') else {
            if wanted != piece {
                return None;
            }
            continue;
        };
        let (name, after) = rest.split_once('}')?;
        let value = piece.strip_prefix(before)?.strip_suffix(after)?;
        if value.is_empty() || value.len() > 256 {
            return None;
        }
        parts.insert(name.to_owned(), Value::String(value.to_owned()));
    }
    pieces.next().is_none().then_some(parts)
}

type PromptTextFn = Arc<dyn Fn(&AgentCall) -> Result<String, Refusal> + Send + Sync>;
/// A partly typed argument to complete.
pub struct CompletionRequest<'a> {
    pub view: &'a AgentView,
    pub argument: &'a str,
    pub prefix: &'a str,
    /// The arguments already filled in.
    pub filled_arguments: &'a BTreeMap<String, String>,
}

/// Matching values, best first, and the total number of matches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompletionValues {
    pub values: Vec<String>,
    pub total: usize,
}

impl CompletionValues {
    /// Sorts values that start with the typed text before values that contain it.
    pub fn matching(all: Vec<String>, typed: &str) -> Self {
        let typed = typed.to_lowercase();
        let mut values: Vec<String> =
            all.into_iter().filter(|value| value.to_lowercase().contains(&typed)).collect();
        values.sort_by_key(|value| (!value.to_lowercase().starts_with(&typed), value.clone()));
        values.dedup();
        Self { total: values.len(), values }
    }
}

pub type CompletionFn = Arc<dyn Fn(&CompletionRequest<'_>) -> CompletionValues + Send + Sync>;

#[derive(Clone)]
pub struct SurfacePrompt {
    pub definition: PromptDefinition,
    /// The prompt text, sent as a user message.
    pub text: PromptTextFn,
    pub complete: CompletionFn,
}

impl SurfacePrompt {
    /// Arguments are `(name, description, required)`.
    pub fn new(
        name: &str,
        title: &str,
        description: &str,
        arguments: &[(&str, &str, bool)],
        words: impl Fn(&AgentCall) -> Result<String, Refusal> + Send + Sync + 'static,
        complete: impl Fn(&CompletionRequest<'_>) -> CompletionValues + Send + Sync + 'static,
    ) -> Self {
        let arguments = arguments.iter().map(|(name, description, required)| {
            PromptArgument::new(*name).with_description(*description).with_required(*required)
        });
        let definition =
            PromptDefinition::new(name, Some(description), Some(arguments.collect())).with_title(title);
        Self { definition, text: Arc::new(words), complete: Arc::new(complete) }
    }
}

/// All tools, resources and prompts that the server offers.
#[derive(Clone, Default)]
pub struct AgentSurface {
    pub(crate) instructions: &'static str,
    tools: BTreeMap<String, Arc<SurfaceTool>>,
    resources: Vec<Arc<SurfaceResource>>,
    prompts: BTreeMap<String, Arc<SurfacePrompt>>,
}

impl AgentSurface {
    /// An empty surface with these server instructions.
    pub fn new(instructions: &'static str) -> Self {
        Self { instructions, ..Self::default() }
    }

    /// The entries of the workbench itself.
    pub fn core() -> Self {
        let mut surface = Self::new(crate::INSTRUCTIONS);
        for tool in crate::tools::all() {
            surface.add_tool(tool);
        }
        for resource in crate::resources::all() {
            surface.add_resource(resource);
        }
        for prompt in crate::prompts::all() {
            surface.add_prompt(prompt);
        }
        surface
    }

    /// Replaces a tool of the same name.
    pub fn add_tool(&mut self, tool: SurfaceTool) {
        self.tools.insert(tool.name().to_owned(), Arc::new(tool));
    }

    pub fn add_resource(&mut self, resource: SurfaceResource) {
        self.resources.retain(|known| known.uri != resource.uri);
        self.resources.push(Arc::new(resource));
    }

    pub fn add_prompt(&mut self, prompt: SurfacePrompt) {
        self.prompts.insert(prompt.definition.name.clone(), Arc::new(prompt));
    }

    /// Sorted by name, so that the list is stable.
    pub fn tools(&self, mode: McpMode) -> impl Iterator<Item = &Arc<SurfaceTool>> {
        self.tools.values().filter(move |tool| is_offered(tool, mode))
    }

    pub fn tool(&self, name: &str, mode: McpMode) -> Option<&Arc<SurfaceTool>> {
        self.tools.get(name).filter(|tool| is_offered(tool, mode))
    }

    /// Returns whether the surface has a tool of this name in any mode.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// Returns whether the tool exists only in guarded mode.
    pub(crate) fn needs_guarded(&self, name: &str) -> bool {
        self.tools.get(name).is_some_and(|tool| tool.guarded)
    }

    pub fn resources(&self) -> impl Iterator<Item = &Arc<SurfaceResource>> {
        self.resources.iter()
    }

    /// Returns the resource that matches a URI, with its template parts.
    pub(crate) fn resource(&self, uri: &str) -> Option<(&Arc<SurfaceResource>, JsonObject)> {
        self.resources.iter().find_map(|resource| Some((resource, resource.matches(uri)?)))
    }

    pub fn prompts(&self) -> impl Iterator<Item = &Arc<SurfacePrompt>> {
        self.prompts.values()
    }

    pub(crate) fn prompt(&self, name: &str) -> Option<&Arc<SurfacePrompt>> {
        self.prompts.get(name)
    }
}

fn is_offered(tool: &SurfaceTool, mode: McpMode) -> bool {
    match mode {
        McpMode::Off => false,
        McpMode::Observe => !tool.guarded,
        McpMode::Guarded => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_match_whole() {
        let part = |pattern, uri| match_uri(pattern, uri).and_then(|parts| parts.get("id").cloned());
        assert_eq!(part("a://x/{id}", "a://x/7"), Some(json!("7")));
        assert_eq!(part("a://x/{id}/y", "a://x/7/y"), Some(json!("7")));
        for uri in ["a://x/", "a://x/7/8", "b://x/7", "a://x"] {
            assert!(match_uri("a://x/{id}", uri).is_none(), "{uri}");
        }
        let parts = match_uri("b://{bundle}/e/{id}", "b://specs/e/7").unwrap();
        assert_eq!((&parts["bundle"], &parts["id"]), (&json!("specs"), &json!("7")));
        assert!(match_uri("b://{bundle}/e/{id}", "b://specs/f/7").is_none());
        assert!(match_uri("a://x", "a://x").is_some() && match_uri("a://x", "a://xy").is_none());
    }
}
