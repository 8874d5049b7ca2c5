//! The executable, serving bundles over standard input and output. Servers that nothing is written to are kept for the next
//! exchange with the same arguments.

use crate::{
    run::{Subject, writes},
    support::{
        home::HomeFixture,
        mcp::{Agent, Era},
        over_http::{Served, post},
    },
};
use serde_json::{Value, json};
use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

type Shared = Rc<RefCell<Agent>>;

#[derive(Default)]
pub(crate) struct Servers {
    home: Option<Rc<HomeFixture>>,
    kept: BTreeMap<String, Shared>,
}

pub(crate) struct Server {
    home: Rc<HomeFixture>,
    launch: Vec<String>,
    agent: Option<Shared>,
    /// For exchanges that were recorded over HTTP.
    served: Option<Served>,
}

const APPROVED: [&str; 4] = ["--mode", "guarded", "--standing-approval", "bundles:destructive"];

impl Servers {
    /// Nothing when it ends instead of serving.
    pub(crate) fn start(&mut self, launch: &[String], case: &Value) -> Option<Server> {
        let home = Rc::clone(self.home.get_or_insert_with(|| Rc::new(HomeFixture::new())));
        let launch = launch.to_vec();
        if case["request"]["method"].as_str().is_some_and(|method| method.starts_with("cli/")) {
            let checked = home.run(&[&["bundle", "list"], &as_folders(&launch)[..]].concat());
            return checked.err.is_empty().then_some(Server { home, launch, agent: None, served: None });
        }
        let capabilities = case["setup"]["clientCapabilities"].clone();
        if case["name"].as_str().is_some_and(|name| name.starts_with("http/")) && capabilities.is_null() {
            let folders = launch.iter().flat_map(|folder| ["--bundle", folder]);
            let served = Served::start(&home, &folders.chain(APPROVED).collect::<Vec<_>>());
            return Some(Server { home, launch, agent: None, served: Some(served) });
        }
        let key = format!("{launch:?} {capabilities}");
        let is_own = writes(case) || case.get("exit").is_some();
        if let Some(kept) = self.kept.get(&key).filter(|_| !is_own) {
            return Some(Server { home, launch, agent: Some(Rc::clone(kept)), served: None });
        }
        let mut command = home.command();
        command.arg("mcp").args(APPROVED);
        match &launch[..] {
            [option, config] if option == "--config" => command.args(["--config", config]),
            folders => command.args(folders.iter().flat_map(|folder| ["--bundle", folder])),
        };
        if case["exit"]["code"] == 1 {
            command.stdin(std::process::Stdio::null());
            let outcome = crate::support::home::finished(command);
            return (outcome.code == Some(0)).then_some(Server { home, launch, agent: None, served: None });
        }
        let mut agent = Agent::of(command, Era::Handshake);
        if capabilities.is_object() {
            agent.capabilities = capabilities;
        }
        agent.greet();
        let agent = Rc::new(RefCell::new(agent));
        if !is_own {
            self.kept.insert(key, Rc::clone(&agent));
        }
        Some(Server { home, launch, agent: Some(agent), served: None })
    }
}

fn as_folders(launch: &[String]) -> Vec<&str> {
    launch.iter().map(String::as_str).collect()
}

impl Server {
    fn ask(&self, method: &str, params: &Value) -> Value {
        if let Some(served) = &self.served {
            return post(&served.url, Some(&served.token), method, params.clone()).1;
        }
        self.agent.as_ref().unwrap().borrow_mut().ask("replay", method, params.clone())
    }
}

impl Subject for Server {
    fn tool(&mut self, params: &Value) -> Value {
        let answer = self.ask("tools/call", params);
        match answer["result"]["structuredContent"].clone() {
            // A fault of the protocol, such as a tool that there is not.
            Value::Null => json!({"ok": false, "error": answer["error"]}),
            envelope => envelope,
        }
    }

    fn sampled(&mut self, params: &Value, reply: &Value) -> (Value, Option<Value>) {
        let mut agent = self.agent.as_ref().unwrap().borrow_mut();
        agent.request("sampled", "tools/call", params.clone());
        let heard = agent.hear("a question or an answer", |said| {
            said["method"] == "sampling/createMessage" || said["id"] == "sampled"
        });
        if heard["id"] == "sampled" {
            return (heard["result"]["structuredContent"].clone(), None);
        }
        let result = match reply.get("result") {
            Some(result) => json!({"jsonrpc": "2.0", "id": heard["id"], "result": result}),
            // Nobody waits a minute here for one who says nothing.
            None => {
                json!({"jsonrpc": "2.0", "id": heard["id"], "error": {"code": -1, "message": "declined"}})
            }
        };
        agent.say(&result);
        let answer = agent.hear("the answer", |said| said["id"] == "sampled");
        (answer["result"]["structuredContent"].clone(), Some(heard["params"].clone()))
    }

    fn prompt(&mut self, params: &Value) -> Result<String, String> {
        let answer = self.ask("prompts/get", params);
        let text = answer["result"]["messages"][0]["content"]["text"].as_str();
        text.map(str::to_owned).ok_or_else(|| answer["error"]["message"].as_str().unwrap().to_owned())
    }

    fn complete(&mut self, params: &Value) -> Result<Value, String> {
        let answer = self.ask("completion/complete", params);
        match &answer["result"]["completion"] {
            Value::Null => Err(answer["error"]["message"].to_string()),
            found => Ok(found.clone()),
        }
    }

    fn read(&mut self, uri: &str) -> Result<Value, Value> {
        let answer = self.ask("resources/read", &json!({"uri": uri}));
        match &answer["result"]["contents"][0] {
            Value::Null => Err(answer["error"]["data"].clone()),
            content => Ok(content.clone()),
        }
    }

    fn command(&mut self, method: &str, is_json: bool) -> (Value, i32) {
        let verb = if method == "cli/validate" { "validate" } else { "coverage" };
        let mut arguments = vec!["bundle", verb];
        arguments.extend(as_folders(&self.launch));
        if is_json {
            arguments.push("--json");
        }
        let done = self.home.run(&arguments);
        let stdout = match is_json {
            // Beside it stands that all is well; coverage is told for each bundle.
            true => match done.json()["data"].clone() {
                Value::Object(bundles) => bundles.into_iter().next().map(|(_, relations)| relations).unwrap(),
                list => list,
            },
            // Said aloud where there is nothing.
            false => {
                done.out.lines().filter(|line| !line.starts_with("No ")).map(|line| json!(line)).collect()
            }
        };
        (stdout, done.code.unwrap())
    }
}
