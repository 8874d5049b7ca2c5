//! The tables: every tool, resource and prompt that there is. What other parts of the workbench offer is added here by
//! whoever starts the server; the server itself does not change for it.

use crate::{Code, Failure, Progress, Reply, View, Workbench, WorkspaceView};
use authority::proposals::{AgentAsk, AgentOutcome, Client};
use rmcp::model::{
    JsonObject, Prompt as PromptDefinition, PromptArgument, Tool as ToolDefinition, ToolAnnotations,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use shared_protocol::mcp::McpMode;
use std::{collections::BTreeMap, pin::Pin, sync::Arc};
use tokio_util::sync::CancellationToken;

/// One call of a tool. All it reads comes from `view`.
#[derive(Clone)]
pub struct Call {
    pub view: Arc<View>,
    pub mode: McpMode,
    pub workbench: Arc<dyn Workbench>,
    pub arguments: JsonObject,
    /// Who calls. A named proposal of a connection that is over is in `inherits`.
    pub client: Client,
    /// Fires when the client does not want the answer any more.
    pub cancelled: CancellationToken,
    /// Tells the client how far the call is.
    pub progress: Progress,
    /// Whether the client's model can be asked.
    pub can_sample: bool,
    /// What it said, or why it said nothing, once a tool has asked it.
    pub sampled: Option<Result<Sampled, String>>,
}

/// What the client's model replied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampled {
    pub text: String,
    pub model: String,
}

impl Call {
    pub fn workspace(&self) -> Result<&Arc<WorkspaceView>, Failure> {
        self.view.workspace.as_ref().ok_or_else(Failure::no_workspace)
    }

    /// The arguments as a type that knows all of them.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        parsed(&self.arguments)
    }

    /// Asks the review queue, and waits until that is durable.
    pub async fn ask(&self, ask: AgentAsk) -> Result<AgentOutcome, Failure> {
        let (done, answered) = tokio::sync::oneshot::channel();
        let reply = Box::new(move |result| drop(done.send(result)));
        self.workbench.ask(self.client.clone(), ask, reply);
        match answered.await {
            Ok(result) => Ok(result?),
            Err(_) => Err(ended()),
        }
    }
}

impl Call {
    /// As [`Call::ask`], on a thread that may wait.
    pub fn ask_and_wait(&self, ask: AgentAsk) -> Result<AgentOutcome, Failure> {
        let (done, answered) = std::sync::mpsc::channel();
        let reply = Box::new(move |result| drop(done.send(result)));
        self.workbench.ask(self.client.clone(), ask, reply);
        match answered.recv() {
            Ok(result) => Ok(result?),
            Err(_) => Err(ended()),
        }
    }
}

fn ended() -> Failure {
    Failure::new(Code::ServiceUnavailable, "Draftboard ended before it answered")
        .hint("list_proposals shows whether this was done.")
}

/// Arguments as a type that knows all of them.
pub(crate) fn parsed<T: DeserializeOwned>(arguments: &JsonObject) -> Result<T, Failure> {
    // A client may say that it leaves something out.
    let given: JsonObject =
        arguments.iter().filter(|(_, value)| !value.is_null()).map(|(k, v)| (k.clone(), v.clone())).collect();
    serde_json::from_value(Value::Object(given)).map_err(|error| wrong_arguments(&error))
}

fn wrong_arguments(error: &serde_json::Error) -> Failure {
    let message = error.to_string();
    let failure = Failure::new(Code::BadRequest, format!("wrong arguments: {message}"))
        .hint("The tool's inputSchema lists every argument.");
    // "unknown field `x`", "missing field `x`"
    match message.split('`').nth(1).filter(|_| message.contains("field `")) {
        Some(field) => failure.field(field.to_owned()),
        None => failure,
    }
}

pub type Answering = Pin<Box<dyn Future<Output = Result<Reply, Failure>> + Send>>;
type Quick = Arc<dyn Fn(&Call) -> Result<Reply, Failure> + Send + Sync>;
type Slow = Arc<dyn Fn(Call) -> Answering + Send + Sync>;

/// An answer whose envelope the tool wrote itself.
#[derive(Debug, Clone)]
pub struct Written {
    /// Compact JSON.
    pub json: String,
    pub is_error: bool,
}

/// How far a tool with an envelope of its own has come.
#[derive(Debug, Clone)]
pub enum Step {
    Answer(Written),
    /// The client's model is asked with these parameters of `sampling/createMessage`; then the tool is called again.
    Sample(Value),
}

pub type Stepping = Pin<Box<dyn Future<Output = Step> + Send>>;
type Own = Arc<dyn Fn(Call) -> Stepping + Send + Sync>;
type Passed = Arc<dyn Fn(Call) -> crate::Passing + Send + Sync>;

#[derive(Clone)]
pub(crate) enum Run {
    /// Computed at once from the view.
    Quick(Quick),
    Slow(Slow),
    /// Waits for the workbench's one writer, and for nothing else.
    Asked(Slow),
    /// With an envelope of its own.
    Own(Own),
    /// Somebody else's, who also bounds how long it takes.
    Passed(Passed),
}

/// What a client is told about calling a tool.
#[derive(Debug, Clone, Copy)]
pub struct Hints {
    pub read_only: bool,
    pub idempotent: bool,
}

#[derive(Clone)]
pub struct Tool {
    pub group: &'static str,
    pub definition: ToolDefinition,
    /// Listed in guarded mode only.
    pub guarded: bool,
    /// The answer depends on content, types and arguments alone, so it is computed once for each generation.
    pub lasting: bool,
    /// It can be asked about a draft as well: `view: "draft"`.
    pub of_drafts: bool,
    pub(crate) run: Run,
}

impl Tool {
    /// A tool that reads. `data` is the schema of what it answers, inside the envelope.
    pub fn read(
        group: &'static str,
        name: &'static str,
        title: &str,
        description: &'static str,
        input: Value,
        data: Value,
        run: impl Fn(&Call) -> Result<Reply, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self::new(group, name, title, description, input, data, Run::Quick(Arc::new(run)))
    }

    /// A tool that reads and takes its time.
    pub fn slow(
        group: &'static str,
        name: &'static str,
        title: &str,
        description: &'static str,
        input: Value,
        data: Value,
        run: impl Fn(Call) -> Answering + Send + Sync + 'static,
    ) -> Self {
        Self::new(group, name, title, description, input, data, Run::Slow(Arc::new(run)))
    }

    fn new(
        group: &'static str,
        name: &'static str,
        title: &str,
        description: &'static str,
        input: Value,
        data: Value,
        run: Run,
    ) -> Self {
        let annotations =
            ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false);
        let definition = ToolDefinition::new(name, description, object(input_schema(input)))
            .with_title(title)
            .with_raw_output_schema(Arc::new(object(output_schema(data))))
            .with_annotations(annotations);
        Self { group, definition, guarded: false, lasting: false, of_drafts: false, run }
    }

    /// A tool that proposes something. `required` are the arguments that must be given.
    pub fn guarded(
        group: &'static str,
        name: &'static str,
        title: &str,
        description: &'static str,
        (input, required): (Value, &[&str]),
        data: Value,
        run: impl Fn(Call) -> Answering + Send + Sync + 'static,
    ) -> Self {
        let mut tool = Self::new(group, name, title, description, input, data, Run::Asked(Arc::new(run)));
        let mut schema = JsonObject::clone(&tool.definition.input_schema);
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        tool.definition.input_schema = Arc::new(schema);
        // Nothing is destroyed by proposing it.
        let annotations =
            ToolAnnotations::new().read_only(false).destructive(false).idempotent(false).open_world(false);
        tool.definition = tool.definition.with_annotations(annotations);
        tool.guarded = true;
        tool
    }

    /// A tool of guarded mode that only tells.
    #[must_use]
    pub fn reads_only(mut self) -> Self {
        let annotations =
            ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false);
        self.definition = self.definition.with_annotations(annotations);
        self
    }

    /// The tool reads the workspace as a draft would have it, too, when it is asked to.
    #[must_use]
    pub fn of_drafts(mut self) -> Self {
        let mut schema = JsonObject::clone(&self.definition.input_schema);
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.insert("view".to_owned(), json!({ "enum": ["current", "draft"] }));
            properties.insert("proposal".to_owned(), json!({ "type": "string" }));
        }
        self.definition.input_schema = Arc::new(schema);
        self.of_drafts = true;
        self
    }

    /// A tool of another contract, with its own envelope. `input` is the whole schema of its arguments; what is wrong with
    /// them is for the tool to say.
    pub fn own(
        group: &'static str,
        [name, title, description]: [&'static str; 3],
        input: Value,
        hints: Hints,
        run: impl Fn(Call) -> Stepping + Send + Sync + 'static,
    ) -> Self {
        let annotations = ToolAnnotations::new()
            .read_only(hints.read_only)
            .destructive(!hints.read_only)
            .idempotent(hints.idempotent)
            .open_world(false);
        let definition = ToolDefinition::new(name, description, object(input))
            .with_title(title)
            .with_raw_output_schema(Arc::new(object(own_output_schema())))
            .with_annotations(annotations);
        Self {
            group,
            definition,
            guarded: false,
            lasting: false,
            of_drafts: false,
            run: Run::Own(Arc::new(run)),
        }
    }

    #[must_use]
    pub fn lasting(mut self) -> Self {
        self.lasting = true;
        self
    }

    pub fn name(&self) -> &str {
        &self.definition.name
    }
}

/// `input` is the map of properties, each with its schema.
fn input_schema(properties: Value) -> Value {
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// The envelope around `data`; what the fields mean is said once, in the server's instructions.
fn output_schema(data: Value) -> Value {
    json!({
        "type": "object",
        "properties": { "ok": { "type": "boolean" }, "data": data },
        "required": ["ok", "tool"]
    })
}

/// What an envelope of another contract has in common with ours.
fn own_output_schema() -> Value {
    json!({ "type": "object", "required": ["ok", "tool"] })
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(fields) => fields,
        _ => JsonObject::default(),
    }
}

/// What a resource is computed from; a change of that is a change of the resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Depends {
    Content,
    Types,
    Presence,
    Status,
    Mode,
    Config,
    /// The spec bundles.
    Specs,
    /// What is deployed.
    Deployment,
    /// Preview sessions.
    Previews,
    /// The review queue.
    Review,
}

/// The text of a resource at one moment.
#[derive(Debug, Clone)]
pub struct Document {
    pub mime: &'static str,
    pub text: String,
}

/// Gets the address too, as it was asked for.
type Read = Arc<dyn Fn(&Call, &str) -> Result<Document, Failure> + Send + Sync>;
/// Whether what is at an address differs between two views.
type Differs = Arc<dyn Fn(&View, &View, &str) -> bool + Send + Sync>;

/// A resource, or a template when its address has parts in braces; these are in the call's arguments under their names.
#[derive(Clone)]
pub struct Resource {
    pub uri: &'static str,
    /// Older addresses that are understood and not listed.
    pub aliases: Vec<&'static str>,
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub mime: &'static str,
    pub depends: &'static [Depends],
    /// Looked at when something that it depends on changed; without it, that is a change of the resource.
    pub differs: Option<Differs>,
    pub read: Read,
    /// Completes the parts in braces.
    pub complete: Option<Completion>,
}

impl Resource {
    pub fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    /// The parts in braces, when the address is one of this resource.
    pub(crate) fn matches(&self, uri: &str) -> Option<JsonObject> {
        std::iter::once(&self.uri).chain(&self.aliases).find_map(|pattern| match_uri(pattern, uri))
    }
}

/// Compared between slashes; each piece may have one part in braces.
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

type Words = Arc<dyn Fn(&Call) -> Result<String, Failure> + Send + Sync>;
/// An argument that somebody types.
pub struct Completing<'a> {
    pub view: &'a View,
    pub argument: &'a str,
    pub typed: &'a str,
    /// The arguments that are filled in already.
    pub given: &'a BTreeMap<String, String>,
}

/// Values that fit what is typed, best first, and how many there are in all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completed {
    pub values: Vec<String>,
    pub total: usize,
}

impl Completed {
    /// What begins with the typed text first, then what contains it.
    pub fn fitting(all: Vec<String>, typed: &str) -> Self {
        let typed = typed.to_lowercase();
        let mut values: Vec<String> =
            all.into_iter().filter(|value| value.to_lowercase().contains(&typed)).collect();
        values.sort_by_key(|value| (!value.to_lowercase().starts_with(&typed), value.clone()));
        values.dedup();
        Self { total: values.len(), values }
    }
}

pub type Completion = Arc<dyn Fn(&Completing<'_>) -> Completed + Send + Sync>;

#[derive(Clone)]
pub struct Prompt {
    pub definition: PromptDefinition,
    /// What the agent is told, as the user's words.
    pub words: Words,
    pub complete: Completion,
}

impl Prompt {
    /// Arguments are (name, what it is, whether it must be given).
    pub fn new(
        name: &str,
        title: &str,
        description: &str,
        arguments: &[(&str, &str, bool)],
        words: impl Fn(&Call) -> Result<String, Failure> + Send + Sync + 'static,
        complete: impl Fn(&Completing<'_>) -> Completed + Send + Sync + 'static,
    ) -> Self {
        let arguments = arguments.iter().map(|(name, description, required)| {
            PromptArgument::new(*name).with_description(*description).with_required(*required)
        });
        let definition =
            PromptDefinition::new(name, Some(description), Some(arguments.collect())).with_title(title);
        Self { definition, words: Arc::new(words), complete: Arc::new(complete) }
    }
}

/// Everything that is offered.
#[derive(Clone, Default)]
pub struct Surface {
    pub(crate) instructions: &'static str,
    tools: BTreeMap<String, Arc<Tool>>,
    resources: Vec<Arc<Resource>>,
    prompts: BTreeMap<String, Arc<Prompt>>,
}

impl Surface {
    /// Nothing yet, with what an agent is told before anything else.
    pub fn new(instructions: &'static str) -> Self {
        Self { instructions, ..Self::default() }
    }

    /// What the workbench itself offers.
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

    /// One of the same name is replaced.
    pub fn add_tool(&mut self, tool: Tool) {
        self.tools.insert(tool.name().to_owned(), Arc::new(tool));
    }

    pub fn add_resource(&mut self, resource: Resource) {
        self.resources.retain(|known| known.uri != resource.uri);
        self.resources.push(Arc::new(resource));
    }

    pub fn add_prompt(&mut self, prompt: Prompt) {
        self.prompts.insert(prompt.definition.name.clone(), Arc::new(prompt));
    }

    /// In the order of their names, so that the list is the same each time.
    pub fn tools(&self, mode: McpMode) -> impl Iterator<Item = &Arc<Tool>> {
        self.tools.values().filter(move |tool| is_offered(tool, mode))
    }

    pub fn tool(&self, name: &str, mode: McpMode) -> Option<&Arc<Tool>> {
        self.tools.get(name).filter(|tool| is_offered(tool, mode))
    }

    /// Whether there is one of ours by this name, in any mode.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// A tool that there is, but not in this mode.
    pub(crate) fn needs_guarded(&self, name: &str) -> bool {
        self.tools.get(name).is_some_and(|tool| tool.guarded)
    }

    pub fn resources(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.resources.iter()
    }

    /// The resource at an address, with what the address names.
    pub(crate) fn resource(&self, uri: &str) -> Option<(&Arc<Resource>, JsonObject)> {
        self.resources.iter().find_map(|resource| Some((resource, resource.matches(uri)?)))
    }

    pub fn prompts(&self) -> impl Iterator<Item = &Arc<Prompt>> {
        self.prompts.values()
    }

    pub(crate) fn prompt(&self, name: &str) -> Option<&Arc<Prompt>> {
        self.prompts.get(name)
    }
}

fn is_offered(tool: &Tool, mode: McpMode) -> bool {
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
