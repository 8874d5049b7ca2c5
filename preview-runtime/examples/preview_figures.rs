//! Measures the preview: a full render, one changed prop from message to frame, start to first frame, and idle.
//!
//! `cargo run --release -p preview-runtime --example preview_figures`
#![allow(clippy::print_stdout, reason = "a tool for the terminal")]

use components::ComponentLibrary;
use frame_memory::{DescriptorChannel, FrameCopyOutcome, FrameMemory};
use preview_runtime::{
    PagePainter, PaintTimings,
    scene::{BuildLimits, PreviewInteraction, PreviewScene, build},
};
use serde_json::{Map, Value, json};
use shared_protocol::{
    framing::{decode_json, encode_json},
    preview_wire::{
        FromPreview, MAX_FROM_PREVIEW_BYTES, MAX_TO_PREVIEW_BYTES, PreviewScreen, SceneInstance, SceneTarget,
        ToPreview,
    },
};
use std::{
    error::Error,
    fs,
    os::{fd::AsFd, unix::net::UnixStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    if std::env::args().nth(1).as_deref() == Some("--role") {
        let channel = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
        return Ok(preview_runtime::serve(channel, "figures")?);
    }
    let files = files()?;
    let scene = scene(300);
    let screen = PreviewScreen::new(1280, 800, 1.0, false).ok_or("invalid screen size")?;
    in_process(&files, &scene, screen)?;
    across_processes(&files, &scene, screen)
}

fn files() -> Outcome<Vec<(String, String)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../main-process/workspace/example/components");
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.push((format!("components/{name}"), fs::read_to_string(&path)?));
    }
    files.sort();
    Ok(files)
}

/// A realistic page, fully visible: a bar, figures, a wall of lockers, lists and forms.
fn scene(count: usize) -> PreviewScene {
    let grid = "figures.grid";
    let kinds = [
        ("lockers.tile", json!({"number": 14})),
        ("ui.badge", json!({"text": "Ready"})),
        ("ui.button", json!({"label": "Open", "icon": "unlock", "size": "small"})),
        ("ui.checkbox", json!({"label": "Remember", "checked": true})),
        ("ui.avatar", json!({"name": "Ada Moreno"})),
        ("ui.listItem", json!({})),
    ];
    let instance = |id: String, component: &str, props: Value, parent: Option<&str>| SceneInstance {
        id,
        component: component.to_owned(),
        props: props.as_object().cloned().unwrap_or_default(),
        parent: parent.map(str::to_owned),
        slot: None,
    };
    let mut instances = vec![instance("grid".to_owned(), grid, json!({}), None)];
    for number in 1..count {
        if let Some((component, props)) = kinds.get(number % kinds.len()) {
            instances.push(instance(format!("i{number}"), component, props.clone(), Some("grid")));
        }
    }
    PreviewScene { target: SceneTarget::Route { route: "home".to_owned() }, instances, overrides: Vec::new() }
}

const GRID: &str = "format: 1\nid: figures.grid\ntitle: Grid\nprops: { children: { control: slot } }\nview: { type: grid, style: { columns: 15, gap: 1, padding: 1, align: start }, children: [{ type: slot }] }\n";

fn median(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort();
    let at =
        |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default().as_secs_f64() * 1e3;
    (at(50), at(95))
}

fn in_process(files: &[(String, String)], scene: &PreviewScene, screen: PreviewScreen) -> Outcome<()> {
    let started = Instant::now();
    let mut library = ComponentLibrary::default();
    for (file, text) in files {
        library.insert(file, text);
    }
    library.insert("grid.component.yaml", GRID);
    library.rebuild_index();
    println!("read {} component files: {:.2} ms", files.len(), started.elapsed().as_secs_f64() * 1e3);
    let mut painter = PagePainter::new(screen)?;
    let (mut builds, mut wholes) = (Vec::new(), Vec::new());
    let (mut elements, mut phases) = (0, Vec::new());
    for _ in 0..60 {
        let started = Instant::now();
        let (tree, ..) =
            build(&library, scene, &PreviewInteraction::default(), &BuildLimits::default(), None);
        builds.push(started.elapsed());
        let tree = Arc::new(tree);
        painter.discard_layout();
        let painted = painter.paint(&tree, scene, 0.0)?;
        phases.push(painted.phases);
        elements = tree.len();
        wholes.push(started.elapsed());
    }
    let best = |times: &[Duration]| times.iter().min().copied().unwrap_or_default().as_secs_f64() * 1e3;
    let (build, least_whole) = (best(&builds), best(&wholes));
    let (whole, whole95) = median(wholes);
    println!("full render, 1280×800, {} instances, {elements} elements:", scene.instances.len());
    println!("  at best {least_whole:.2} ms, median {whole:.2} ms, p95 {whole95:.2} ms");
    let least = |of: fn(&PaintTimings) -> Duration| {
        phases.iter().map(of).min().unwrap_or_default().as_secs_f64() * 1e3
    };
    println!(
        "  at best: build {build:.2}, layout {:.2}, shapes {:.2}, tessellate {:.2}, rasterise {:.2} ms",
        least(|p| p.layout),
        least(|p| p.shapes),
        least(|p| p.tessellate),
        least(|p| p.rasterise),
    );
    Ok(())
}

struct Preview {
    child: Child,
    channel: DescriptorChannel,
}

impl Drop for Preview {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Preview {
    /// The channel is standard input here, which the sandbox leaves open like descriptor 3.
    fn start() -> Outcome<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let child = Command::new(std::env::current_exe()?)
            .args(["--role", "preview"])
            .env_clear()
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()?;
        Ok(Self { child, channel: DescriptorChannel::new(ours, MAX_FROM_PREVIEW_BYTES) })
    }

    fn send(&self, message: &ToPreview) -> Outcome<()> {
        Ok(self.channel.send(&encode_json(message, MAX_TO_PREVIEW_BYTES)?, None)?)
    }

    fn until(&mut self, wanted: impl Fn(&FromPreview) -> bool) -> Outcome<FromPreview> {
        loop {
            let message: FromPreview = decode_json(&self.channel.receive()?)?;
            if wanted(&message) {
                return Ok(message);
            }
        }
    }

    fn ticks(&self) -> Outcome<u64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let number =
            |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
        Ok(number(11) + number(12))
    }
}

fn across_processes(files: &[(String, String)], scene: &PreviewScene, screen: PreviewScreen) -> Outcome<()> {
    let [width, height] = screen.pixels();
    let mut pixels = vec![[0; 4]; width * height];
    let mut starts = Vec::new();
    let mut last = None;
    for _ in 0..5 {
        let started = Instant::now();
        let mut preview = Preview::start()?;
        let memory = FrameMemory::new(width, height)?;
        let mut reader = memory.reader()?;
        preview.until(|message| matches!(message, FromPreview::Hello { .. }))?;
        let hello = started.elapsed();
        for (file, text) in files
            .iter()
            .map(|(file, text)| (file.as_str(), text.as_str()))
            .chain([("grid.component.yaml", GRID)])
        {
            preview.send(&ToPreview::Component { file: file.to_owned(), text: text.to_owned() })?;
        }
        let PreviewScene { target, instances, overrides } = scene.clone();
        preview.send(&ToPreview::Scene { revision: 1, target, instances, overrides })?;
        let message = encode_json(&ToPreview::Screen { generation: 1, screen }, MAX_TO_PREVIEW_BYTES)?;
        preview.channel.send(&message, Some(memory.as_fd()))?;
        preview.until(|message| matches!(message, FromPreview::Frame { revision: 1, .. }))?;
        assert_eq!(reader.copy_frame(&mut pixels), FrameCopyOutcome::Frame);
        starts.push((hello, started.elapsed()));
        last = Some((preview, reader));
    }
    let (hello, _) = median(starts.iter().map(|(hello, _)| *hello).collect());
    let (first, worst) = median(starts.iter().map(|(_, first)| *first).collect());
    println!(
        "start to sandboxed: {hello:.1} ms; start to first frame: median {first:.1} ms, worst {worst:.1} ms"
    );
    let (mut preview, mut reader) = last.ok_or("no preview")?;

    let mut changes = Vec::new();
    for revision in 2..62u64 {
        let props: Map<String, Value> = json!({"label": format!("Open {revision}"), "size": "small"})
            .as_object()
            .cloned()
            .unwrap_or_default();
        let started = Instant::now();
        preview.send(&ToPreview::Props { revision, instance: "i2".to_owned(), props })?;
        preview.until(
            |message| matches!(message, FromPreview::Frame { revision: told, .. } if *told == revision),
        )?;
        assert_eq!(reader.copy_frame(&mut pixels), FrameCopyOutcome::Frame);
        changes.push(started.elapsed());
    }
    let (change, change95) = median(changes);
    println!("one changed prop, message to copied frame: median {change:.2} ms, p95 {change95:.2} ms");

    let before = preview.ticks()?;
    std::thread::sleep(Duration::from_secs(3));
    println!("idle: {} processor ticks in 3 s", preview.ticks()? - before);
    Ok(())
}
