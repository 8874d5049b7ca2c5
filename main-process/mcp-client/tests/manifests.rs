//! Tests of manifest tools: strict parsing, calls by name only, and each implementation type against a real
//! counterpart.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

mod common;

use common::{McpServiceFixture, fixture};
use mcp_client::{ManagedServerConfig, ManifestFolder, ManifestReport, Secret, ToolSettings};
use serde_json::{Value, json};
use shared_protocol::{
    Refusal, RefusalCode,
    managed_servers::{ManifestOrigin, ToolCallPolicy},
};
use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    path::PathBuf,
    sync::mpsc,
    thread,
};

struct Files {
    bench: McpServiceFixture,
}

impl Files {
    fn new() -> Self {
        let bench = McpServiceFixture::new();
        for origin in ["user", "workspace"] {
            fs::create_dir_all(bench.folder.path().join(origin)).unwrap();
        }
        Self { bench }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.bench.folder.path().join(name)
    }

    fn write(&self, name: &str, manifest: &Value) -> &Self {
        fs::write(self.path(name), manifest.to_string()).unwrap();
        self
    }

    fn load(&self) -> Vec<ManifestReport> {
        let folder = |origin, name| ManifestFolder { origin, path: self.path(name) };
        self.bench.service.load_manifests(&[
            folder(ManifestOrigin::User, "user"),
            folder(ManifestOrigin::Workspace, "workspace"),
        ])
    }

    fn names(&self) -> Vec<String> {
        self.bench.service.manifest_tools().iter().map(|tool| tool.exposed.clone()).collect()
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Refusal> {
        self.bench.service.call_manifest_tool(tool, &arguments).await.map(|answer| answer.value())
    }
}

fn status() -> Value {
    json!({
        "id": "server-status",
        "implementation": {"methods": {"server_status": "server.status"}},
        "tools": [{"name": "server_status", "description": "Status", "inputSchema": {"type": "object", "properties": {}},
                   "annotations": {"readOnlyHint": true}}]
    })
}

fn with_tool(change: impl FnOnce(&mut Value)) -> Value {
    let mut manifest = status();
    change(&mut manifest["tools"][0]);
    manifest
}

#[tokio::test]
async fn the_contracts_own_example_works() {
    let files = Files::new();
    let reports = files.write("user/status.json", &status()).load();
    assert_eq!(reports[0].tools, ["draftboard_server_status"]);
    let answer = files.call("draftboard_server_status", json!({})).await.unwrap();
    assert_eq!(answer["structuredContent"]["status"], "running");
    assert_eq!(answer["isError"], false);
    assert_eq!(files.call("server.status", json!({})).await.unwrap_err().code, RefusalCode::NotFound);
    assert_eq!(files.call("server_status", json!({})).await.unwrap_err().code, RefusalCode::NotFound);
}

#[tokio::test]
async fn whatever_is_not_plainly_exposed_is_hidden() {
    let files = Files::new();
    for (key, value, exposed) in [
        ("mcpExpose", json!(true), true),
        ("mcp_expose", json!(true), true),
        ("mcpExpose", json!(false), false),
        ("mcp_expose", json!(false), false),
        ("mcpExpose", json!("yes"), false),
        ("mcp_expose", json!(null), false),
        // Misspelt keys make the whole file invalid.
        ("mcpExposed", json!(false), false),
        ("MCPExpose", json!(true), false),
    ] {
        files.write("user/status.json", &with_tool(|tool| tool[key] = value.clone()));
        let report = files.load().remove(0);
        assert_eq!(!files.names().is_empty(), exposed, "{key} {value}: {report:?}");
        assert!(exposed || report.problem.is_some() || !report.hidden.is_empty());
    }
    files.write(
        "user/status.json",
        &with_tool(|tool| {
            tool["mcpExpose"] = json!(true);
            tool["mcp_expose"] = json!(false);
        }),
    );
    files.load();
    assert!(files.names().is_empty());
}

#[tokio::test]
async fn a_bad_file_disables_itself_alone_and_says_why() {
    let files = Files::new();
    files.write("user/status.json", &status());
    fs::write(files.path("user/broken.json"), "{").unwrap();
    fs::write(files.path("user/.hidden.json"), "{").unwrap();
    files.write(
        "user/dotted.json",
        &json!({"id": "dotted", "implementation": {"methods": {"a.b": "server.status"}},
        "tools": [{"name": "a.b", "inputSchema": {}}]}),
    );
    files.write(
        "user/other.json",
        &json!({"id": "other", "implementation": {"methods": {"one": "files.delete"}},
        "tools": [{"name": "one", "inputSchema": {}}, {"name": "two", "inputSchema": {}}]}),
    );
    files.write(
        "user/mac.json",
        &json!({"id": "mac", "compatibility": {"os": ["macos"]}, "implementation": {"methods": {}},
        "tools": [{"name": "x", "inputSchema": {}}]}),
    );
    files.write(
        "user/permission.json",
        &json!({"id": "p", "requires": {"permissions": [{"name": "contacts"}]},
        "implementation": {"methods": {"x": "server.status"}}, "tools": [{"name": "x", "inputSchema": {}}]}),
    );
    let reports = files.load();
    assert_eq!(files.names(), ["draftboard_server_status"]);
    let why = |name: &str| {
        let report = reports.iter().find(|report| report.path.ends_with(name)).unwrap();
        format!("{:?} {:?}", report.problem, report.hidden)
    };
    assert_eq!(reports.len(), 6);
    assert!(why("broken.json").contains("EOF"), "{}", why("broken.json"));
    assert!(why("dotted.json").contains("letter followed by"));
    assert!(
        why("other.json").contains("no method files.delete")
            && why("other.json").contains("has no binding for it")
    );
    assert!(why("mac.json").contains("macos"));
    assert!(why("permission.json").contains("contacts"));
}

#[tokio::test]
async fn of_two_with_one_name_the_first_stays_and_both_are_named() {
    let files = Files::new();
    let mut other = status();
    other["id"] = json!("other");
    files.write("user/a.json", &status()).write("user/b.json", &other);
    let reports = files.load();
    assert_eq!((reports[0].tools.len(), reports[0].mistakes.len()), (1, 0));
    assert_eq!(reports[1].mistakes, ["server_status"]);
    let (tool, reason) = &reports[1].hidden[0];
    assert!(
        tool == "server_status" && reason.contains("user/a.json") && reports[1].path.ends_with("user/b.json"),
        "{reason}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_has_one_owner_and_a_credential_stays_with_whom_it_was_given_to() {
    let files = Files::new();
    let teller = json!({"id": "teller", "requires": {"credentials": [{"id": "key", "optional": true}]},
        "implementation": {"type": "script", "runtime": "sh", "entrypoint": "tell.sh", "env": {"KEY": "{credential:key:token}"},
                           "toolBindings": {"tell": {"action": "x"}}},
        "tools": [{"name": "tell", "inputSchema": {"type": "object"}}]});
    for folder in ["user", "workspace"] {
        fs::write(files.path(&format!("{folder}/tell.sh")), "echo ${#KEY}").unwrap();
        files.write(&format!("{folder}/teller.json"), &teller);
    }
    let reports = files.load();
    assert_eq!(reports[0].problem, None);
    let problem = reports[1].problem.as_deref().unwrap();
    assert!(problem.contains("user/teller.json already uses the id teller"), "{problem}");
    let service = &files.bench.service;
    service.set_manifest_secret("teller", "key", &Secret::new("hunter2-hunter2").unwrap()).unwrap();
    assert_eq!(files.call("draftboard_tell", json!({})).await.unwrap()["content"][0]["text"], "15");
    // After the user's manifest is removed, the workspace's may use the id and receives none of its credentials.
    fs::remove_file(files.path("user/teller.json")).unwrap();
    let report = files.load().remove(0);
    service.approve_manifest(&report.hash.unwrap()).unwrap();
    files.load();
    assert!(!service.has_manifest_secret("teller", "key"));
    assert_eq!(
        files.call("draftboard_tell", json!({})).await.unwrap_err().code,
        RefusalCode::ValidationError
    );
    assert_eq!(
        service.set_manifest_secret("nobody", "key", &Secret::new("hunter2").unwrap()).unwrap_err().code,
        RefusalCode::NotFound
    );
}

#[tokio::test]
async fn files_beyond_the_most_that_are_read_are_told() {
    let files = Files::new();
    for number in 0..258 {
        let mut manifest = status();
        manifest["id"] = json!(format!("m{number}"));
        manifest["tools"][0]["name"] = json!(format!("t{number}"));
        manifest["implementation"]["methods"] = json!({format!("t{number}"): "server.status"});
        files.write(&format!("user/m{number:03}.json"), &manifest);
    }
    let reports = files.load();
    assert_eq!((reports.len(), files.names().len()), (257, 256));
    assert!(
        reports[256].problem.as_deref().unwrap().starts_with("2 more files are ignored"),
        "{:?}",
        reports[256]
    );
    assert!(
        files.names().contains(&"draftboard_t0".to_owned())
            && !files.names().contains(&"draftboard_t257".to_owned())
    );
}

#[tokio::test]
async fn what_comes_with_a_workspace_is_hidden_until_a_person_approves_it_as_it_is() {
    let files = Files::new();
    let mut changes = files.bench.service.changes();
    files.write(
        "workspace/script.json",
        &json!({"id": "s", "implementation": {"type": "script", "runtime": "sh",
        "entrypoint": "run.sh", "toolBindings": {"go": {"action": "go"}}},
        "tools": [{"name": "go", "inputSchema": {"type": "object"}}]}),
    );
    fs::write(files.path("workspace/run.sh"), "echo '\"one\"'").unwrap();
    let report = files.load().remove(0);
    assert!(report.needs_approval && files.names().is_empty());
    assert_eq!(report.entrypoint, Some(files.path("workspace/run.sh")), "it is watched as well");
    assert!(changes.has_changed().unwrap());
    changes.mark_unchanged();
    files.bench.service.approve_manifest(&report.hash.unwrap()).unwrap();
    files.load();
    assert_eq!(files.call("draftboard_go", json!({})).await.unwrap()["content"][0]["text"], "one");
    // A changed program makes the manifest a different one.
    fs::write(files.path("workspace/run.sh"), "echo '\"two\"'").unwrap();
    assert_eq!(files.call("draftboard_go", json!({})).await.unwrap_err().code, RefusalCode::Conflict);
    assert!(files.load()[0].needs_approval && files.names().is_empty());
    assert_eq!(files.bench.service.approve_manifest("another").unwrap_err().code, RefusalCode::Conflict);
}

fn script(name: &str, text: &str, more: &Value) -> (Value, String) {
    let mut implementation = json!({"type": "script", "runtime": "python3", "entrypoint": format!("{name}.py"),
        "toolBindings": {name: {"action": "act"}}});
    implementation.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let manifest = json!({"id": name, "requires": {"credentials": [{"id": "key", "optional": true}]}, "implementation": implementation,
        "tools": [{"name": name, "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}]});
    (manifest, format!("import json, os, subprocess, sys, time\n{text}\n"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scripts_get_json_and_a_clean_environment_and_are_held_to_their_bounds() {
    let files = Files::new();
    let mark = uuid::Uuid::new_v4().to_string();
    let add = |name: &str, text: &str, more: Value| {
        let (manifest, program) = script(name, text, &more);
        fs::write(files.path(&format!("user/{name}.py")), program).unwrap();
        files.write(&format!("user/{name}.json"), &manifest);
    };
    add(
        "tell",
        "print(json.dumps({'in': json.load(sys.stdin), 'env': dict(os.environ), 'argv': sys.argv[1:]}))",
        json!({"args": ["--x"], "env": {"KEY": "{credential:key:token}"}}),
    );
    add(
        "fail",
        "print('no, ' + os.environ['KEY'], file=sys.stderr); sys.exit(4)",
        json!({"env": {"KEY": "{credential:key:token}"}}),
    );
    add(
        "slow",
        "subprocess.Popen(['sleep', '600']); time.sleep(600)",
        json!({"timeoutMs": 500, "env": {"OWN_MARK": mark}}),
    );
    add("much", "print('x' * 3_000_000)", json!({}));
    add("junk", "print('not json')", json!({}));
    // Answers before it reads its input: writing everything before reading would deadlock.
    add(
        "eager",
        "print('\"' + 'x' * 500_000 + '\"', flush=True); json.load(sys.stdin)",
        json!({"timeoutMs": 60_000}),
    );
    assert!(files.load().iter().all(|report| report.tools.len() == 1));

    let failure = files.call("draftboard_tell", json!({"n": 1})).await.unwrap_err();
    assert_eq!(failure.code, RefusalCode::ValidationError, "what has no value is not empty text: {failure}");
    let secret = Secret::new(r#"{"token": "hunter2-hunter2"}"#).unwrap();
    for manifest in ["tell", "fail"] {
        files.bench.service.set_manifest_secret(manifest, "key", &secret).unwrap();
    }
    let told = files.call("draftboard_tell", json!({"n": 1})).await.unwrap();
    let told = &told["structuredContent"];
    assert_eq!(told["in"], json!({"tool": "tell", "action": "act", "params": {"n": 1}}));
    assert_eq!(told["argv"], json!(["--x"]));
    assert_eq!(told["env"]["KEY"], "[redacted]");
    assert_eq!(told["env"]["DRAFTBOARD_ACTION"], "act");
    assert!(told["env"].get(common::MARK).is_none(), "only what it needs is inherited");
    assert_eq!(
        files.call("draftboard_tell", json!({"n": "x"})).await.unwrap_err().field.as_deref(),
        Some("arguments.n")
    );

    let failure = files.call("draftboard_fail", json!({})).await.unwrap_err();
    assert!(
        failure.message.contains("exited with code 4") && failure.message.contains("no, [redacted]"),
        "{failure}"
    );
    let much = json!({"n": 1, "text": "y".repeat(500_000)});
    assert_eq!(
        files.call("draftboard_eager", much).await.unwrap()["content"][0]["text"].as_str().unwrap().len(),
        500_000
    );
    let failure = files.call("draftboard_slow", json!({})).await.unwrap_err();
    assert!(failure.message.contains("took longer than 500 ms"), "{failure}");
    assert_eq!(files.call("draftboard_much", json!({})).await.unwrap_err().code, RefusalCode::LimitExceeded);
    assert!(files.call("draftboard_junk", json!({})).await.unwrap_err().message.contains("JSON"));
    let left = common::processes_with(&format!("OWN_MARK={mark}"));
    assert!(left.is_empty(), "{left:?}");
}

/// Answers each request with `answer` and forwards the request text.
fn http_server(answer: &'static str) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                request.extend_from_slice(&buffer[..count]);
                let text = String::from_utf8_lossy(&request).into_owned();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length = head
                    .lines()
                    .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
                if body.len() >= length.unwrap_or(0) {
                    break;
                }
            }
            stream.write_all(answer.as_bytes()).unwrap();
            let _ = sender.send(String::from_utf8_lossy(&request).into_owned());
        }
    });
    (address, receiver)
}

fn proxy(base: &str, auth: &Value) -> Value {
    json!({"id": "api", "requires": {"credentials": [{"id": "key", "kind": "api_key"}]},
        "implementation": {"type": "proxy", "baseUrl": base, "auth": auth, "toolBindings": {
            "get_item": {"method": "GET", "path": "/items/{id}", "query": {"full": "{full}", "page": "{page}"}, "responsePath": "$.data[0]"},
            "make_item": {"method": "POST", "path": "/items", "headers": {"X-Trace": "t-{id}"}, "bodyTemplate": {"name": "{id}", "tags": "{tags}"}}}},
        "tools": [{"name": "get_item", "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}},
                  {"name": "make_item", "inputSchema": {"type": "object"}}]})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proxies_encode_arguments_add_credentials_and_pick_the_answer() {
    let files = Files::new();
    let (base, requests) = http_server(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"data\": [{\"token\": \"hunter2-hunter2\"}]}",
    );
    let auth = json!({"strategy": "bearer", "credentialId": "key"});
    let report = files.write("user/api.json", &proxy(&base, &auth)).load().remove(0);
    files.bench.service.set_manifest_secret("api", "key", &Secret::new("hunter2-hunter2").unwrap()).unwrap();
    assert_eq!(report.tools.len(), 2, "{report:?}");
    let answer = files.call("draftboard_get_item", json!({"id": "a/../b?x", "full": true})).await.unwrap();
    assert_eq!(answer["structuredContent"], json!({"token": "[redacted]"}));
    let request = requests.recv().unwrap();
    assert!(request.starts_with("GET /items/a%2F..%2Fb%3Fx?full=true HTTP/1.1\r\n"), "{request}");
    assert!(request.to_lowercase().contains("authorization: bearer hunter2-hunter2"), "{request}");
    assert_eq!(
        files.call("draftboard_get_item", json!({"id": ".."})).await.unwrap_err().code,
        RefusalCode::ValidationError
    );
    assert_eq!(
        files.call("draftboard_get_item", json!({})).await.unwrap_err().code,
        RefusalCode::ValidationError
    );

    for (auth, sign) in [
        (json!({"strategy": "apiKeyHeader", "credentialId": "key"}), "x-api-key: hunter2-hunter2"),
        (json!({"strategy": "apiKeyQuery", "credentialId": "key"}), "post /items?api_key=hunter2-hunter2 "),
    ] {
        files.write("user/api.json", &proxy(&base, &auth)).load();
        files.call("draftboard_make_item", json!({"id": "n\"1", "tags": ["a"]})).await.unwrap();
        let request = requests.recv().unwrap();
        assert!(request.to_lowercase().contains(sign), "{request}");
        assert!(request.ends_with(r#"{"name":"n\"1","tags":["a"]}"#), "{request}");
        assert!(request.to_lowercase().contains("x-trace: t-n\"1"), "{request}");
        let failure = files.call("draftboard_make_item", json!({"id": "a\r\nx: y"})).await.unwrap_err();
        assert_eq!(failure.code, RefusalCode::ValidationError);
    }
    let away = proxy("http://example.org", &auth);
    assert!(files.write("user/api.json", &away).load()[0].problem.as_deref().unwrap().contains("https"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_proxy_refuses_or_sends_elsewhere_is_an_error_without_the_credential() {
    let files = Files::new();
    let (base, _requests) =
        http_server("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\nkey hunter2-hunter2 is not allowed");
    let (moved, _moved) =
        http_server("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\nconnection: close\r\n\r\n");
    let auth = json!({"strategy": "bearer", "credentialId": "key"});
    files.write("user/api.json", &proxy(&base, &auth)).load();
    files.bench.service.set_manifest_secret("api", "key", &Secret::new("hunter2-hunter2").unwrap()).unwrap();
    let failure = files.call("draftboard_get_item", json!({"id": "x"})).await.unwrap_err();
    assert!(
        failure.message.contains("403") && failure.message.contains("[redacted] is not allowed"),
        "{failure}"
    );
    files.write("user/api.json", &proxy(&moved, &auth)).load();
    let failure = files.call("draftboard_get_item", json!({"id": "x"})).await.unwrap_err();
    assert!(failure.message.contains("302"), "{failure}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upstream_tool_under_a_safer_name_and_schema() {
    let files = Files::new();
    let id = files.bench.running(fixture("plain")).await;
    let config = files.bench.service.get(id).unwrap();
    let tools =
        [("echo".to_owned(), ToolSettings { policy: ToolCallPolicy::Deny, ..ToolSettings::default() })]
            .into();
    files.bench.service.update(ManagedServerConfig { tools, ..config }).unwrap();
    files.write("user/safer.json", &json!({"id": "safer", "implementation": {"type": "upstream", "server": "plain", "tools": {"greet": "echo"}},
        "tools": [{"name": "greet", "inputSchema": {"type": "object", "properties": {"text": {"enum": ["hello", "hi"]}}, "required": ["text"]}}]}));
    files.load();
    assert_eq!(files.bench.service.find_tool_provider("plain__echo"), None);
    assert_eq!(
        files.call("draftboard_greet", json!({"text": "hi"})).await.unwrap()["content"][0]["text"],
        "hi"
    );
    assert_eq!(
        files.call("draftboard_greet", json!({"text": "bye"})).await.unwrap_err().code,
        RefusalCode::ValidationError
    );
    files.bench.ends_clean().await;
}
