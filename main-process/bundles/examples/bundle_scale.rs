//! Measures operations on a bundle of 10,000 entities (5.5 MB of YAML, 30,000 references) against their targets.
//!
//! `cargo run --release -p bundles --example bundle_scale`
//!
//! The second column is the CPU time of all threads, which is more reliable than the clock on a busy machine.

#![expect(clippy::print_stdout, clippy::expect_used, reason = "this program prints its results")]

use bundles::{BundleSource, Bundles, call, call_writing};
use serde_json::{Value, json};
use std::{
    fmt::Write as _,
    fs,
    path::Path,
    time::{Duration, Instant},
};

const ENTITIES: usize = 10_000;
const TYPES: [&str; 8] = ["Feature", "Requirement", "Task", "ADR", "Profile", "Component", "Threat", "Actor"];
const WORDS: [&str; 16] = [
    "door",
    "parcel",
    "courier",
    "locker",
    "code",
    "recipient",
    "deposit",
    "pickup",
    "sensor",
    "network",
    "event",
    "operator",
    "cell",
    "expires",
    "message",
    "opens",
];

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bytes = generate(folder.path());
    println!("{ENTITIES} entities, {:.1} MB of YAML\n", bytes as f64 / 1e6);
    println!("{:<52} {:>12} {:>12} {:>8}", "", "clock", "CPU", "goal");
    let sources = BundleSource::of_folders(&[folder.path().to_path_buf()]);

    let start = Moment::now();
    let mut bundles = Bundles::load(&sources);
    show("load", start.elapsed(), "");
    let findings = bundles.iter().next().expect("loaded").diagnostics().len();
    show("load and validate", start.elapsed(), "500 ms");
    show_memory("memory after loading", "VmRSS");
    let edges = bundles.iter().next().expect("loaded").edges().count();

    let common = json!({"query": "door"});
    let reads: [(&str, &str, Value, &str); 9] = [
        ("search, common word", "search_entities", common, "2 ms"),
        ("search, two words", "search_entities", json!({"query": "parcel door"}), "2 ms"),
        ("search, id", "search_entities", json!({"query": "REQUIREMENT-00421"}), "2 ms"),
        ("search, nothing", "search_entities", json!({"query": "zzz"}), "2 ms"),
        ("context, one step", "get_context", json!({"entityType": "Task", "id": "TASK-00002"}), "2 ms"),
        (
            "context, three steps, 100 related",
            "get_context",
            json!({"entityType": "Feature", "id": "FEATURE-00000", "depth": 3, "maxRelated": 100}),
            "2 ms",
        ),
        ("list ids, 500", "list_entities", json!({"entityType": "Requirement", "limit": 500}), "2 ms"),
        ("list summaries, 50", "list_entity_summaries", json!({}), "2 ms"),
        (
            "snapshot of summaries",
            "get_bundle_snapshot",
            json!({"includeEntityData": "summary", "includeSchemas": false, "includeRefGraph": false, "maxEntities": 10_000}),
            "30 ms",
        ),
    ];
    for (name, tool, arguments, goal) in reads {
        let median = median(30, || {
            let answer = call(&bundles, tool, &arguments);
            assert!(answer.is_ok(), "{}", answer.to_text());
            answer.to_text().len()
        });
        show(&format!("{name}, p50 with JSON text"), median, goal);
    }
    show(
        "validate_bundle, p50",
        median(10, || call(&bundles, "validate_bundle", &json!({})).to_text().len()),
        "",
    );
    show(
        "full snapshot, p50",
        median(5, || call(&bundles, "get_bundle_snapshot", &json!({"maxEntities": 10_000})).to_text().len()),
        "",
    );

    let mut number = 0;
    let write = median(30, || {
        number += 1;
        // Like a server, keeps the previous state for concurrent readers.
        let _before = bundles.clone();
        let change = json!({"operation": "update", "entityType": "Task", "entityId": "TASK-00010", "fieldPath": "title", "value": format!("Title {number}")});
        let answer =
            call_writing(&mut bundles, "apply_changes", &json!({"changes": [change], "dryRun": false}));
        assert!(answer.is_ok(), "{}", answer.to_text());
        1
    });
    show("write one entity, durable, p50", write, "20 ms");
    let changes: Vec<Value> = (0..50)
        .map(|index| json!({"operation": "update", "entityType": "Task", "entityId": format!("TASK-{:05}", 2 + index * 8), "fieldPath": "title", "value": "Changed together"}))
        .collect();
    let start = Moment::now();
    assert!(
        call_writing(&mut bundles, "apply_changes", &json!({"changes": changes, "dryRun": false})).is_ok()
    );
    show("write fifty entities, durable", start.elapsed(), "");

    let path = bundles.iter().next().expect("loaded").root().join("entities/task/TASK-00002.yaml");
    let text = fs::read_to_string(&path).expect("a file");
    fs::write(&path, text.replace("title:", "title: Edited")).expect("written");
    let start = Moment::now();
    assert!(bundles.reload_file(&path).expect("reloaded"));
    show("follow an edit of one file", start.elapsed(), "50 ms");
    let start = Moment::now();
    let after = bundles.iter().next().expect("loaded").diagnostics().len();
    show("findings after it", start.elapsed(), "");
    show_memory("memory at most", "VmHWM");
    println!("\n{edges} references, {findings} findings, {after} after the edit; goal for memory: 150 MB");
}

/// A point in time: clock and consumed CPU time.
struct Moment(Instant, Duration);

/// The time between two points.
#[derive(Clone, Copy)]
struct Passed {
    clock: Duration,
    cpu: Duration,
}

impl Moment {
    fn now() -> Self {
        let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        let seconds = u64::try_from(spent.tv_sec).unwrap_or(0);
        Self(Instant::now(), Duration::new(seconds, u32::try_from(spent.tv_nsec).unwrap_or(0)))
    }

    fn elapsed(&self) -> Passed {
        let now = Self::now();
        Passed { clock: now.0 - self.0, cpu: now.1.saturating_sub(self.1) }
    }
}

fn median(times: usize, mut run: impl FnMut() -> usize) -> Passed {
    let mut seen: Vec<Passed> = (0..times)
        .map(|_| {
            let start = Moment::now();
            std::hint::black_box(run());
            start.elapsed()
        })
        .collect();
    seen.sort_unstable_by_key(|passed| passed.clock);
    let clock = seen[times / 2].clock;
    seen.sort_unstable_by_key(|passed| passed.cpu);
    Passed { clock, cpu: seen[times / 2].cpu }
}

fn show(name: &str, seen: Passed, goal: &str) {
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    println!("{name:<52} {:>9.2} ms {:>9.2} ms {goal:>8}", milliseconds(seen.clock), milliseconds(seen.cpu));
}

fn show_memory(name: &str, key: &str) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap_or_default();
    let kilobytes: f64 = line.split_whitespace().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0.0);
    println!("{name:<52} {:>9.0} MB {:>12} {:>8}", kilobytes / 1024.0, "", "150 MB");
}

/// Writes the bundle and returns the bytes of its entities.
fn generate(folder: &Path) -> usize {
    let write = |path: &str, text: &str| fs::write(folder.join(path), text).expect("written");
    let mut manifest = "metadata: {name: scale, bundleType: scale}\nspec:\n  bundleTypeDefinition: types.json\n  lintConfig: {path: lint.json}\n  schemas:\n    documents:\n".to_owned();
    let mut types = Vec::new();
    let mut relations = Vec::new();
    for (index, name) in TYPES.iter().enumerate() {
        let lower = name.to_lowercase();
        fs::create_dir_all(folder.join(format!("entities/{lower}"))).expect("a folder");
        let _ = writeln!(manifest, "      {name}: {lower}.json");
        types.push(json!({"entityType": name, "idField": "id", "directory": format!("entities/{lower}")}));
        let other = TYPES[(index + 1) % TYPES.len()];
        for (field, to) in [("relatedIds", *name), ("dependsOnIds", other), ("ownerId", "Actor")] {
            relations.push(json!({"name": format!("{name}.{field}"), "fromEntity": name, "fromField": field, "toEntity": to, "multiplicity": "many"}));
        }
        let reference = |to: &str| json!({"type": "string", "format": "sdd-ref", "x-sdd-refTargets": [to]});
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object", "required": ["id", "title"], "additionalProperties": false,
            "properties": {
                "id": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"},
                "title": {"type": "string", "minLength": 3, "maxLength": 200},
                "description": {"type": "string"},
                "state": {"type": "string", "enum": ["draft", "accepted", "done"]},
                "createdDate": {"type": "string", "format": "date"},
                "criteria": {"type": "array", "items": {"type": "string"}},
                "relatedIds": {"type": "array", "items": reference(name), "uniqueItems": true},
                "dependsOnIds": {"type": "array", "items": reference(other)},
                "ownerId": reference("Actor")
            }
        });
        write(&format!("{lower}.json"), &schema.to_string());
    }
    write("sdd-bundle.yaml", &manifest);
    write("types.json", &json!({"entities": types, "relations": relations}).to_string());
    let lint = json!({"rules": {
        "title": {"type": "regex", "targetEntities": TYPES, "field": "title", "pattern": "^[A-Z]"},
        "linked": {"type": "has-link", "fromEntity": "Requirement", "viaField": "dependsOnIds", "minLinks": 1}}});
    write("lint.json", &lint.to_string());
    let mut bytes = 0;
    let id = |index: usize| format!("{}-{:05}", TYPES[index % TYPES.len()].to_uppercase(), index);
    for index in 0..ENTITIES {
        let kind = index % TYPES.len();
        let word = |at: usize| WORDS[(index * 7 + at * 13 + at * at) % WORDS.len()];
        let sentence =
            |from: usize, count: usize| (from..from + count).map(word).collect::<Vec<_>>().join(" ");
        // Some entities are hubs with many references to them.
        let hub =
            |target: usize, at: usize| if at.is_multiple_of(20) { target % TYPES.len() } else { target };
        let related = hub((index + TYPES.len() * (1 + index % 50)) % ENTITIES, index);
        let depends = (index + 1 + TYPES.len() * (index % 90)) % ENTITIES;
        let owner = 7 + TYPES.len() * (index % 100);
        let text = format!(
            "# {word}\nid: {}\ntitle: The {} number {index}\ndescription: >-\n  {}\n  {}\nstate: draft\ncreatedDate: 2025-03-0{}\ncriteria:\n  - {}\n  - {}   # measured\nrelatedIds: [{}]\ndependsOnIds:\n  - {}\nownerId: {}\n",
            id(index),
            sentence(0, 3),
            sentence(3, 12),
            sentence(15, 12),
            1 + index % 9,
            sentence(27, 10),
            sentence(37, 10),
            id(related),
            id(depends),
            id(owner),
            word = word(1),
        );
        bytes += text.len();
        write(&format!("entities/{}/{}.yaml", TYPES[kind].to_lowercase(), id(index)), &text);
    }
    bytes
}
