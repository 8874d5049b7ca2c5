//! Replays one recorded exchange.

use crate::{compare::differences, fixtures, rules};
use bundles::{BundleSource, Bundles, call};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// A copy of the recorded bundles.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn with_all() -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy(&recorded(), folder.path());
        Self(folder)
    }

    /// Copies only the bundles that a case uses.
    pub(crate) fn of(case: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for part in case["launch"].as_array().unwrap() {
            let Some(name) = part.as_str().unwrap().strip_prefix("{{ROOT}}/") else {
                return Self::with_all();
            };
            let from = recorded().join(name);
            if from.is_dir() {
                copy(&from, &folder.path().join(name));
            }
        }
        Self(folder)
    }

    fn root(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }
}

fn recorded() -> PathBuf {
    fixtures().join("bundles")
}

/// The system under test.
pub(crate) trait Subject {
    /// The envelope of a tool.
    fn tool(&mut self, params: &Value) -> Value;
    /// Calls a tool that samples the client's model, which returns the recorded reply. Returns the envelope and the
    /// model request.
    fn sampled(&mut self, params: &Value, reply: &Value) -> (Value, Option<Value>);
    fn prompt(&mut self, params: &Value) -> Result<String, String>;
    fn complete(&mut self, params: &Value) -> Result<Value, String>;
    /// Reads a resource, or returns the error.
    fn read(&mut self, uri: &str) -> Result<Value, Value>;
    /// Runs a command. Returns its lines or JSON, and the exit code.
    fn command(&mut self, method: &str, json: bool) -> (Value, i32);
}

/// Returns the bundle sources of a case.
pub(crate) fn sources(launch: &[String]) -> Option<Vec<BundleSource>> {
    match launch {
        [option, config] if option == "--config" => BundleSource::of_config(Path::new(config)).ok(),
        folders => Some(BundleSource::of_folders(&folders.iter().map(PathBuf::from).collect::<Vec<_>>())),
    }
}

fn loaded(launch: &[String]) -> Bundles {
    sources(launch).map(|sources| Bundles::load(&sources)).unwrap_or_default()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Returns whether a case needs its own copy of the files.
pub(crate) fn writes(case: &Value) -> bool {
    case["setup"].get("beforeStart").is_some()
        || case["setup"].get("beforeRequest").is_some()
        || case["request"]["params"]["arguments"]["dryRun"] == false
}

fn prepare(root: &Path, operations: &Value) {
    for operation in operations.as_array().into_iter().flatten() {
        assert_eq!(operation["op"], "write");
        fs::write(root.join(operation["path"].as_str().unwrap()), operation["content"].as_str().unwrap())
            .unwrap();
    }
}

/// The paths that differ from the recorded answer, and the rules that the comparison applied.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) differences: Vec<String>,
    pub(crate) rules: Vec<&'static str>,
}

impl Outcome {
    fn of(differences: Vec<String>) -> Self {
        Self { differences, rules: Vec::new() }
    }

    fn by(rule: &'static str) -> Self {
        Self { differences: Vec::new(), rules: vec![rule] }
    }

    fn add(&mut self, other: Self, place: &str) {
        self.differences.extend(other.differences.into_iter().map(|found| format!("{place}{found}")));
        self.rules.extend(other.rules);
    }
}

/// Compares with the recorded answer first, and applies the rules only to differences.
fn compared(launch: &[String], arguments: &Value, recorded: &Value, answer: &Value) -> Outcome {
    let found = differences(recorded, answer);
    if found.is_empty() {
        return Outcome::of(found);
    }
    let (mut recorded, mut answer) = (recorded.clone(), answer.clone());
    let mut used = Vec::new();
    if rules::without_nested(&mut answer) {
        used.push(rules::NESTED);
    }
    if rules::strict_dry_run(arguments, &mut recorded) {
        used.push(rules::STRICT);
    }
    if answer["tool"] == "search_entities" && rules::without_names(&loaded(launch), arguments, &mut answer) {
        used.push(rules::NAME);
    }
    Outcome { differences: differences(&recorded, &answer), rules: used }
}

/// Replays one exchange. `start` starts the subject with the case's arguments, and returns `None` if it does not start.
pub(crate) fn replay<S: Subject>(
    place: &Place,
    case: &Value,
    start: impl FnOnce(&[String], &Value) -> Option<S>,
) -> Outcome {
    let root = place.root();
    let case: Value =
        serde_json::from_str(&case.to_string().replace("{{ROOT}}", root.to_str().unwrap())).unwrap();
    prepare(&root, &case["setup"]["beforeStart"]);
    let launch: Vec<String> = serde_json::from_value(case["launch"].clone()).unwrap();
    let started = start(&launch, &case);
    let method = case["request"]["method"].as_str().unwrap_or_default();
    let Some(mut subject) = started else {
        let same = case["exit"]["code"] == 1;
        return Outcome::of(if same { vec![] } else { vec!["/exit: does not start".to_owned()] });
    };
    if method.starts_with("cli/") {
        let (stdout, code) = subject.command(method, case["request"]["format"] == "json");
        let recorded = json!({"exit": case["exit"]["code"], "stdout": case["stdout"]});
        return compared(&launch, &Value::Null, &recorded, &json!({"exit": code, "stdout": stdout}));
    }
    if let Some(exit) = case.get("exit") {
        return Outcome::of(if exit["code"] == 0 { vec![] } else { vec!["/exit: starts".to_owned()] });
    }
    prepare(&root, &case["setup"]["beforeRequest"]);
    let before = snapshot(&root);
    let mut found = exchange(&mut subject, &launch, &case);
    if let Some(changed) = case["filesChanged"].as_object() {
        found.differences.extend(files(&root, &before, changed));
    }
    for (index, after) in case["after"].as_array().into_iter().flatten().enumerate() {
        let params = &after["request"]["params"];
        let outcome = compared(&launch, &params["arguments"], &after["envelope"], &subject.tool(params));
        found.add(outcome, &format!("/after/{index}"));
    }
    found
}

fn exchange(subject: &mut impl Subject, launch: &[String], case: &Value) -> Outcome {
    let params = &case["request"]["params"];
    match case["request"]["method"].as_str().unwrap() {
        "tools/call" if case["setup"]["clientCapabilities"]["sampling"].is_object() => sampled(subject, case),
        "tools/call" => {
            let answer = subject.tool(params);
            match case.get("envelope") {
                Some(envelope) => compared(launch, &params["arguments"], envelope, &answer),
                None if case["response"]["result"]["isError"] == true && answer["ok"] == false => {
                    Outcome::by(rules::ENVELOPE)
                }
                None => Outcome::of(vec![format!("/ok: {} instead of an error", answer["ok"])]),
            }
        }
        "prompts/get" => {
            match (
                case["response"]["result"]["messages"][0]["content"]["text"].as_str(),
                subject.prompt(params),
            ) {
                (Some(text), Ok(given)) => same_text(text, &given),
                (None, Err(_)) => Outcome::default(),
                (Some(text), Err(message)) if text == format!("Error: {message}") => {
                    Outcome::by(rules::FAILURE)
                }
                (Some(text), Err(message)) => {
                    Outcome::of(vec![format!("/error: {message} instead of {text}")])
                }
                (None, Ok(_)) => Outcome::of(vec!["/error: a text instead of an error".to_owned()]),
            }
        }
        "completion/complete" => completion(subject, case),
        "resources/read" => resource(subject, case),
        other => panic!("{other}"),
    }
}

fn same_text(recorded: &str, given: &str) -> Outcome {
    if recorded == given {
        Outcome::default()
    } else if rules::same_parts(recorded, given) {
        Outcome::by(rules::TEXT)
    } else {
        Outcome::of(vec![format!("/text: {given:?}")])
    }
}

fn sampled(subject: &mut impl Subject, case: &Value) -> Outcome {
    let (answer, request) = subject.sampled(&case["request"]["params"], &case["setup"]["samplingReply"]);
    let Some(request) = request else { return Outcome::of(differences(&case["envelope"], &answer)) };
    // For one exchange, only the request to the client is recorded.
    let recorded = case.get("envelope").cloned().unwrap_or_else(|| json!({}));
    let mut outcome = Outcome::of(differences(&recorded, &answer));
    let text = |request: &Value| request["messages"][0]["content"]["text"].as_str().unwrap().to_owned();
    let mut asked = case["serverToClientRequests"][0]["params"].clone();
    outcome.add(same_text(&text(&asked), &text(&request)), "/request");
    asked["messages"][0]["content"]["text"] = request["messages"][0]["content"]["text"].clone();
    outcome.add(Outcome::of(differences(&asked, &request)), "/request");
    outcome
}

fn completion(subject: &mut impl Subject, case: &Value) -> Outcome {
    let params = &case["request"]["params"];
    match subject.complete(params) {
        Ok(actual) => {
            let mut recorded = case["response"]["result"]["completion"].clone();
            if differences(&recorded, &actual).is_empty() {
                return Outcome::default();
            }
            let used = rules::filtered(params["argument"]["value"].as_str().unwrap(), &mut recorded);
            Outcome {
                differences: differences(&recorded, &actual),
                rules: used.then_some(rules::PREFIX).into_iter().collect(),
            }
        }
        Err(_) if case["response"]["error"].is_object() => Outcome::default(),
        Err(message) => Outcome::of(vec![format!("/error: {message}")]),
    }
}

fn resource(subject: &mut impl Subject, case: &Value) -> Outcome {
    let answer = subject.read(case["request"]["params"]["uri"].as_str().unwrap());
    let content = &case["response"]["result"]["contents"][0];
    let recorded = content["text"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    Outcome::of(match (answer, recorded) {
        (Err(error), Some(recorded)) if recorded["ok"] == false => {
            differences(&json!({"code": recorded["error"]["code"]}), &error)
        }
        (Err(_), None) if case["response"]["error"].is_object() => vec![],
        (Ok(answer), _) => differences(content, &answer),
        (Err(error), _) => vec![format!("/error: {error}")],
    })
}

/// Returns every file below a folder, except the local folder.
fn snapshot(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                if entry.file_name() != ".draftboard" {
                    folders.push(entry.path());
                }
            } else {
                let path = entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(path, fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    found
}

/// Compares files by their data, because this crate preserves comments and style.
fn files(
    root: &Path,
    before: &BTreeMap<String, String>,
    recorded: &serde_json::Map<String, Value>,
) -> Vec<String> {
    let after = snapshot(root);
    let mut actual: BTreeMap<&str, &str> = BTreeMap::new();
    for (path, text) in &after {
        match before.get(path) {
            None => actual.extend([(path.as_str(), "created")]),
            Some(old) if old != text => actual.extend([(path.as_str(), "modified")]),
            Some(_) => {}
        }
    }
    actual.extend(
        before.keys().filter(|path| !after.contains_key(*path)).map(|path| (path.as_str(), "deleted")),
    );
    let mut found = Vec::new();
    for (path, change) in recorded {
        let kind = change["change"].as_str().unwrap();
        if actual.remove(path.as_str()) != Some(kind) {
            found.push(format!("/files/{path}: not {kind}"));
        } else if let Some(text) = change["contentAfter"].as_str()
            && !says_the_same(text, &after[path])
        {
            found.push(format!("/files/{path}: {:?}", after[path]));
        }
    }
    found.extend(actual.iter().map(|(path, kind)| format!("/files/{path}: {kind}")));
    found
}

/// Returns whether two entity files contain the same data. Reads them through a bundle.
fn says_the_same(a: &str, b: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| fs::write(folder.path().join(path), text).unwrap();
    write("sdd-bundle.yaml", "spec: {bundleTypeDefinition: types.json}\n");
    let types = json!({"entities": [
        {"entityType": "A", "idField": "id", "directory": "a"}, {"entityType": "B", "idField": "id", "directory": "b"}]});
    write("types.json", &types.to_string());
    fs::create_dir_all(folder.path().join("a")).unwrap();
    fs::create_dir_all(folder.path().join("b")).unwrap();
    let named = |text: &str, id: &str| {
        text.replacen("id: ", &format!("id: {id}"), 1).replacen("key: ", &format!("id: {id}"), 1)
    };
    write("a/x.yaml", &named(a, "A-"));
    write("b/x.yaml", &named(b, "B-"));
    let bundles = Bundles::load(&BundleSource::of_folders(&[folder.path().to_path_buf()]));
    let data = |kind: &str| {
        let arguments = json!({"includeSchemas": false});
        let mut entity =
            call(&bundles, "get_bundle_snapshot", &arguments).to_json()["data"]["entities"][kind][0].clone();
        entity["id"] = Value::Null;
        entity["entityType"] = Value::Null;
        entity
    };
    let (a, b) = (data("A"), data("B"));
    a.is_object() && differences(&a, &b).is_empty() && differences(&b, &a).is_empty()
}
