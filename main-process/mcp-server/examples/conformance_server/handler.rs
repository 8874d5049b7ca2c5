//! The fixtures of the suite in front of the crate's own handler, which receives all other requests.

use crate::{
    answers,
    asking::{self, Asked, Outcome},
};
use mcp_server::{AgentHandler, AgentService};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, CompleteRequestParams,
        CompleteResult, GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequiredResult,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam, Prompt,
        PromptArgument, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
        ResourceTemplate, ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
        SubscriptionFilter, Tool, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use shared_protocol::mcp::McpMode;
use std::{sync::Arc, time::Duration};

type Cx = RequestContext<RoleServer>;

const PAUSE: Duration = Duration::from_millis(50);

#[derive(Clone)]
pub(crate) struct Fixtures {
    agent: AgentHandler,
    service: AgentService,
}

impl Fixtures {
    pub(crate) fn new(service: &AgentService) -> Self {
        Self { agent: service.agent(), service: service.clone() }
    }

    async fn special(&self, name: &str, arguments: &Value, cx: &Cx) -> Result<Option<Value>, ErrorData> {
        Ok(Some(match name {
            "test_tool_with_logging" => {
                for text in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                    let message: LoggingMessageNotificationParam =
                        made(json!({ "level": "info", "data": text }))?;
                    let _ = cx.peer.notify_logging_message(message).await;
                    tokio::time::sleep(PAUSE).await;
                }
                answers::said("done")
            }
            "test_tool_with_progress" => {
                for step in [0.0, 50.0, 100.0] {
                    if let Some(token) = cx.meta.get_progress_token() {
                        let progress = ProgressNotificationParam::new(token, step).with_total(100.0);
                        let _ = cx.peer.notify_progress(progress).await;
                    }
                    tokio::time::sleep(PAUSE).await;
                }
                answers::said("done")
            }
            "test_sampling" => {
                let request = json!({
                    "messages": [{ "role": "user", "content": { "type": "text", "text": arguments["prompt"] } }], "maxTokens": 100
                });
                let answer = cx.peer.create_message(made(request)?).await.map_err(failed)?;
                let value = serde_json::to_value(&answer).map_err(failed)?;
                let text = value["content"]["text"].as_str().unwrap_or_default();
                answers::said(&format!("LLM response: {text}"))
            }
            "test_missing_capability" => {
                if cx.client_capabilities().is_none_or(|capabilities| capabilities.sampling.is_none()) {
                    let required = ClientCapabilities::builder().enable_sampling().build();
                    return Err(ErrorData::missing_required_client_capability(required));
                }
                answers::said("done")
            }
            "test_trigger_tool_change" | "test_trigger_prompt_change" => {
                let other =
                    if self.service.mode() == McpMode::Observe { McpMode::Guarded } else { McpMode::Observe };
                self.service.set_mode(other);
                answers::said("done")
            }
            "test_reconnection" => answers::said("done"),
            _ => match answers::form(name) {
                Some(form) => {
                    let message = arguments["message"].as_str().unwrap_or("Please fill in");
                    let request = json!({ "mode": "form", "message": message, "requestedSchema": form });
                    let answer = cx.peer.create_elicitation(made(request)?).await.map_err(failed)?;
                    let value = serde_json::to_value(&answer).map_err(failed)?;
                    let words = match name {
                        "test_elicitation" => "User response",
                        _ => "Elicitation completed",
                    };
                    answers::said(&format!(
                        "{words}: action={}, content={}",
                        value["action"].as_str().unwrap_or_default(),
                        value["content"]
                    ))
                }
                None => return Ok(None),
            },
        }))
    }
}

fn made<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(failed)
}

/// Marks a result as complete, as the modern protocol requires; the legacy protocol drops the mark on the way out.
fn complete<T: DeserializeOwned>(mut value: Value) -> Result<T, ErrorData> {
    value["resultType"] = json!("complete");
    made(value)
}

fn failed(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn asks(requests: Value, state: Option<String>) -> Result<InputRequiredResult, ErrorData> {
    let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    made(result)
}

fn tool(name: &'static str, schema: Value) -> Tool {
    let schema = schema.as_object().cloned().unwrap_or_default();
    Tool::new(name, "A fixture of the conformance suite", Arc::new(schema))
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.agent.get_info();
        let mut capabilities: ServerCapabilities = info.capabilities.clone();
        capabilities.logging = Some(serde_json::Map::new());
        info.capabilities = capabilities;
        info
    }

    async fn on_initialized(&self, cx: NotificationContext<RoleServer>) {
        self.agent.on_initialized(cx).await;
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Cx) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: Cx,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = self.agent.list_tools(request, cx).await?;
        list.tools.extend(answers::tools().into_iter().map(|(name, schema)| tool(name, schema)));
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let fixture = answers::tools().into_iter().find(|(known, _)| *known == name);
        fixture.map(|(name, schema)| tool(name, schema)).or_else(|| self.agent.get_tool(name))
    }

    async fn call_tool(&self, request: CallToolRequestParams, cx: Cx) -> Result<CallToolResponse, ErrorData> {
        let arguments = json!(request.arguments);
        let asked = Asked {
            responses: request.input_responses.as_ref(),
            state: request.request_state.as_deref(),
            capabilities: cx.client_capabilities(),
        };
        match asking::tool(&request.name, &asked) {
            Some(Outcome::Answer(value)) => return complete::<CallToolResult>(value).map(Into::into),
            Some(Outcome::Ask(requests, state)) => return asks(requests, state).map(Into::into),
            Some(Outcome::Refuse(why)) => return Err(ErrorData::invalid_params(why, None)),
            None => {}
        }
        if let Some(value) = answers::fixed(&request.name, &arguments) {
            return complete::<CallToolResult>(value).map(Into::into);
        }
        match self.special(&request.name, &arguments, &cx).await? {
            Some(value) => complete::<CallToolResult>(value).map(Into::into),
            None => self.agent.call_tool(request, cx).await,
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: Cx,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut list = self.agent.list_resources(request, cx).await?;
        list.resources.extend(answers::resources().into_iter().map(|(uri, mime)| {
            Resource::new(uri, uri)
                .with_description("A fixture of the conformance suite")
                .with_mime_type(mime)
        }));
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: Cx,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = self.agent.list_resource_templates(request, cx).await?;
        list.resource_templates.push(ResourceTemplate::new(answers::TEMPLATE, "template"));
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        cx: Cx,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match answers::resource(&request.uri) {
            Some(value) => complete::<ReadResourceResult>(value).map(Into::into),
            None => self.agent.read_resource(request, cx).await,
        }
    }

    async fn subscribe(&self, request: SubscribeRequestParams, cx: Cx) -> Result<(), ErrorData> {
        match answers::resource(&request.uri) {
            Some(_) => Ok(()),
            None => self.agent.subscribe(request, cx).await,
        }
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, cx: Cx) -> Result<(), ErrorData> {
        self.agent.unsubscribe(request, cx).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, cx: SubscriptionContext) -> Result<(), ErrorData> {
        self.agent.listen(cx).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: Cx,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut list = self.agent.list_prompts(request, cx).await?;
        list.prompts.extend(answers::prompts().into_iter().map(|(name, arguments)| {
            let arguments =
                arguments.into_iter().map(|name| PromptArgument::new(name).with_required(true)).collect();
            Prompt::new(name, Some("A fixture of the conformance suite"), Some(arguments))
        }));
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        cx: Cx,
    ) -> Result<GetPromptResponse, ErrorData> {
        let asked = Asked {
            responses: request.input_responses.as_ref(),
            state: request.request_state.as_deref(),
            capabilities: cx.client_capabilities(),
        };
        match asking::prompt(&request.name, &asked) {
            Some(Outcome::Answer(value)) => return complete::<GetPromptResult>(value).map(Into::into),
            Some(Outcome::Ask(requests, state)) => return asks(requests, state).map(Into::into),
            Some(Outcome::Refuse(why)) => return Err(ErrorData::invalid_params(why, None)),
            None => {}
        }
        match answers::prompt(&request.name, &json!(request.arguments)) {
            Some(value) => complete::<GetPromptResult>(value).map(Into::into),
            None => self.agent.get_prompt(request, cx).await,
        }
    }

    async fn complete(&self, request: CompleteRequestParams, cx: Cx) -> Result<CompleteResult, ErrorData> {
        match request.r#ref.as_prompt_name() {
            Some(name) if answers::prompts().iter().any(|(known, _)| *known == name) => {
                Ok(CompleteResult::default())
            }
            _ => self.agent.complete(request, cx).await,
        }
    }
}
