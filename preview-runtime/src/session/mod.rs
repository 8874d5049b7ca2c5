//! A preview session: handles messages from main, keeps the scene, and paints when something changed.
//!
//! Owns: the library, the scene, the interaction state, and when a frame is due. Must not know: sockets, the sandbox. All
//! input and output are messages, so tests drive it directly.

mod hit;
mod input;

use crate::{
    PagePainter, PaintError,
    layout::PageLayout,
    scene::{BuildCache, BuildLimits, ElementKey, ElementTree, PreviewInteraction, PreviewScene, build},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use components::{ComponentLibrary, visible_text};
use frame_memory::{FrameMemoryError, FrameMemoryWriter};
use shared_protocol::{
    preview_wire::{
        FromPreview, InstanceBox, MAX_INPUT_EVENTS, MAX_MISSING_CHARS, MAX_PREVIEW_TEXT_CHARS,
        MAX_REPORTED_PROBLEMS, MAX_SCREEN_INSTANCES, PreviewMode, PreviewProblem, SceneOverrideStatus,
        ToPreview,
    },
    v0::PreviewLogLevel,
};
use std::{fs::File, os::fd::OwnedFd, sync::Arc, time::Instant};
use system_fonts::LoadedFont;

/// The reason why the preview ends. Main reads it from standard error.
#[derive(Debug, thiserror::Error)]
pub enum PreviewRuntimeError {
    #[error("a screen message has no memory descriptor")]
    NoMemory,
    #[error("a font message has no file descriptor")]
    NoFont,
    #[error("a screen message has an invalid size")]
    Screen,
    #[error(transparent)]
    Memory(#[from] FrameMemoryError),
    #[error(transparent)]
    Paint(#[from] PaintError),
    #[error("a message exceeds the limit of instances, overrides or events")]
    TooMany,
}

#[derive(Default)]
struct ShownFrame {
    tree: Arc<ElementTree>,
    layout: Arc<PageLayout>,
}

pub struct PreviewRuntimeSession {
    library: ComponentLibrary,
    scene: PreviewScene,
    interaction: PreviewInteraction,
    /// The select whose list was open at the last press.
    closed: Option<ElementKey>,
    cache: BuildCache,
    limits: BuildLimits,
    mode: PreviewMode,
    revision: u64,
    painter: Option<PagePainter>,
    writer: Option<FrameMemoryWriter>,
    generation: u32,
    last_frame: ShownFrame,
    /// The last reported state, which avoids duplicate reports.
    reported: ReportedState,
    library_changed: bool,
    dirty: bool,
    outgoing: Vec<FromPreview>,
}

#[derive(Default)]
struct ReportedState {
    instances: Option<Vec<InstanceBox>>,
    problems: Vec<PreviewProblem>,
    statuses: Option<(u64, Vec<SceneOverrideStatus>)>,
    hovered: Option<String>,
}

impl Default for PreviewRuntimeSession {
    fn default() -> Self {
        Self::new(BuildLimits::default())
    }
}

impl PreviewRuntimeSession {
    pub fn new(limits: BuildLimits) -> Self {
        Self {
            library: ComponentLibrary::default(),
            scene: PreviewScene::default(),
            interaction: PreviewInteraction::default(),
            closed: None,
            cache: BuildCache::default(),
            limits,
            mode: PreviewMode::default(),
            revision: 0,
            painter: None,
            writer: None,
            generation: 0,
            last_frame: ShownFrame::default(),
            reported: ReportedState::default(),
            library_changed: false,
            dirty: false,
            outgoing: Vec::new(),
        }
    }

    pub fn handle_message(
        &mut self,
        message: ToPreview,
        descriptor: Option<OwnedFd>,
    ) -> Result<(), PreviewRuntimeError> {
        match message {
            ToPreview::Welcome { .. } => {}
            ToPreview::Screen { generation, screen } => {
                if !screen.is_valid() {
                    return Err(PreviewRuntimeError::Screen);
                }
                let [width, height] = screen.pixels();
                self.writer = Some(FrameMemoryWriter::new(
                    descriptor.ok_or(PreviewRuntimeError::NoMemory)?,
                    width,
                    height,
                )?);
                self.generation = generation;
                match &mut self.painter {
                    Some(painter) => painter.set_screen(screen)?,
                    None => self.painter = Some(PagePainter::new(screen)?),
                }
                self.dirty = true;
            }
            ToPreview::Component { file, text } => {
                self.library.insert(&file, &text);
                self.library_changed = true;
            }
            ToPreview::ComponentRemoved { file } => {
                self.library.remove(&file);
                self.library_changed = true;
            }
            ToPreview::Image { path, png } => self.picture(&path, &png)?,
            ToPreview::Font { name, index } => {
                let file = descriptor.ok_or(PreviewRuntimeError::NoFont)?;
                self.font(name, file.into(), index);
            }
            ToPreview::Scene { revision, target, instances, overrides } => {
                if instances.len() > MAX_SCREEN_INSTANCES || overrides.len() > MAX_SCREEN_INSTANCES {
                    return Err(PreviewRuntimeError::TooMany);
                }
                if self.scene.target != target {
                    self.interaction = PreviewInteraction::default();
                }
                self.scene = PreviewScene { target, instances, overrides };
                self.mark_changed(revision);
            }
            ToPreview::Props { revision, instance, props } => {
                if let Some(found) = self.scene.instances.iter_mut().find(|other| other.id == instance) {
                    found.props = props;
                }
                self.mark_changed(revision);
            }
            ToPreview::Overrides { revision, overrides } => {
                if overrides.len() > MAX_SCREEN_INSTANCES {
                    return Err(PreviewRuntimeError::TooMany);
                }
                self.scene.overrides = overrides;
                self.mark_changed(revision);
            }
            ToPreview::Mode { mode } => {
                self.mode = mode;
                self.interaction = PreviewInteraction {
                    typed: std::mem::take(&mut self.interaction.typed),
                    ..PreviewInteraction::default()
                };
                self.dirty = true;
            }
            ToPreview::Input { events } => {
                if events.len() > MAX_INPUT_EVENTS {
                    return Err(PreviewRuntimeError::TooMany);
                }
                for event in events {
                    self.input(event);
                }
            }
            ToPreview::Ping { number } => self.outgoing.push(FromPreview::Pong { number }),
            ToPreview::Reset => {
                self.interaction = PreviewInteraction::default();
                self.dirty = true;
            }
        }
        Ok(())
    }

    fn mark_changed(&mut self, revision: u64) {
        self.revision = revision;
        self.dirty = true;
    }

    fn picture(&mut self, path: &str, png: &str) -> Result<(), PreviewRuntimeError> {
        let Some(painter) = &mut self.painter else {
            self.log(
                PreviewLogLevel::Warn,
                format!("{path} was ignored because it arrived before the screen"),
            );
            return Ok(());
        };
        let result = match STANDARD.decode(png) {
            Ok(bytes) => painter.put_picture(path, &bytes).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match result {
            Ok(()) => {
                self.cache.has_picture(path);
                self.dirty = true;
            }
            Err(error) => self.log(PreviewLogLevel::Warn, format!("cannot show {path}: {error}")),
        }
        Ok(())
    }

    /// Reads a font from its descriptor; the sandbox opens no files.
    fn font(&mut self, name: String, file: File, index: u32) {
        // Main waits for a frame with the font.
        self.dirty = true;
        let Some(painter) = &mut self.painter else { return };
        match LoadedFont::read(name.clone(), file, index) {
            Ok(font) => painter.add_font(font),
            Err(error) => self.log(PreviewLogLevel::Warn, format!("cannot use font {name}: {error}")),
        }
    }

    fn log(&mut self, level: PreviewLogLevel, message: String) {
        self.outgoing
            .push(FromPreview::Log { level, message: visible_text(&message, MAX_PREVIEW_TEXT_CHARS) });
    }

    /// Paints a frame if something changed. Called when no message is queued, so that several changes produce one frame.
    pub fn paint_if_changed(&mut self) -> Result<(), PreviewRuntimeError> {
        if self.library_changed {
            self.library.rebuild_index();
            self.cache.clear();
            self.library_changed = false;
            self.dirty = true;
        }
        if !self.dirty {
            return Ok(());
        }
        let Some(painter) = &mut self.painter else { return Ok(()) };
        self.dirty = false;
        let started = Instant::now();
        let (tree, problems, statuses) =
            build(&self.library, &self.scene, &self.interaction, &self.limits, Some(&mut self.cache));
        let tree = Arc::new(tree);
        let painted = painter.paint(&tree, &self.scene, self.interaction.scroll)?;
        let missing: String = painter.take_missing().into_iter().take(MAX_MISSING_CHARS).collect();
        if !missing.is_empty() {
            self.outgoing.push(FromPreview::Missing { characters: missing });
        }
        if let Some(writer) = &mut self.writer {
            let sequence = writer.write_frame(painter.surface().pixels());
            let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
            let (generation, revision) = (self.generation, self.revision);
            self.outgoing.push(FromPreview::Frame { generation, sequence, revision, micros });
        }
        self.last_frame = ShownFrame { tree, layout: painted.layout };
        self.report_changes(problems, statuses);
        Ok(())
    }

    /// Reports the changes since the last frame.
    fn report_changes(&mut self, problems: Vec<PreviewProblem>, statuses: Vec<SceneOverrideStatus>) {
        let revision = self.revision;
        let instances = hit::boxes(&self.last_frame.tree, &self.last_frame.layout);
        if self.reported.instances.as_ref() != Some(&instances) {
            self.outgoing.push(FromPreview::Instances { revision, instances: instances.clone() });
            self.reported.instances = Some(instances);
        }
        let statuses = Some((revision, statuses));
        if self.reported.statuses != statuses {
            if let Some((_, statuses)) = statuses.as_ref().filter(|(_, statuses)| !statuses.is_empty()) {
                self.outgoing.push(FromPreview::Overrides { revision, statuses: statuses.clone() });
            }
            self.reported.statuses = statuses;
        }
        let of_files = self.library.problems().map(|problem| PreviewProblem {
            file: problem.file.clone(),
            line: problem.place.line,
            column: problem.place.column,
            message: visible_text(&format!("{}; expected {}", problem.message, problem.expected), 1_000),
            instance: None,
        });
        let all: Vec<PreviewProblem> = of_files.chain(problems).take(MAX_REPORTED_PROBLEMS).collect();
        if self.reported.problems != all {
            self.reported.problems.clone_from(&all);
            self.outgoing.push(FromPreview::Problems { problems: all });
        }
    }

    /// Takes the queued messages to main, in order.
    pub fn drain(&mut self) -> std::vec::Drain<'_, FromPreview> {
        self.outgoing.drain(..)
    }

    /// The painter with the latest frame, for tests and images.
    pub fn painter(&self) -> Option<&PagePainter> {
        self.painter.as_ref()
    }
}
