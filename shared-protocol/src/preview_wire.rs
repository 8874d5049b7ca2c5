//! The messages between main and the preview process. They are JSON because the preview runs untrusted components:
//! main decodes its messages strictly and checks them before use.
//!
//! Owns the messages, their limits, and [`PreviewProtocolValidator`], which checks whether a message is allowed at this point.
//! Sizes are in points unless they are named pixels. The only recursive types are JSON values; the parser bounds
//! their depth.

use crate::v0::{JsonPointer, PreviewLogLevel};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

mod validator;

pub use validator::{PreviewProtocolValidator, PreviewProtocolViolation};

/// Incremented with every change of a message; both ends must have the same version.
pub const PREVIEW_PROTOCOL_VERSION: u32 = 4;

/// The maximum size of a message to the preview: the largest component file with every character escaped.
pub const MAX_TO_PREVIEW_BYTES: usize = 8 << 20;
/// The maximum size of a message from the preview.
pub const MAX_FROM_PREVIEW_BYTES: usize = 4 << 20;
/// The maximum number of instances on a screen, including nested ones.
pub const MAX_SCREEN_INSTANCES: usize = 10_000;
/// The maximum number of problems in one message.
pub const MAX_REPORTED_PROBLEMS: usize = 200;
/// The maximum length of a text from the preview: a log line, a message, a typed value.
pub const MAX_PREVIEW_TEXT_CHARS: usize = 4_000;
/// The maximum length of an id.
pub const MAX_PREVIEW_ID_CHARS: usize = 256;
/// The maximum number of input events in one message.
pub const MAX_INPUT_EVENTS: usize = 256;
/// The maximum number of characters that the preview may report as missing in one message.
pub const MAX_MISSING_CHARS: usize = 512;
/// The maximum side of a screen in points.
pub const MAX_SCREEN_SIDE_POINTS: u32 = 4_096;
/// The maximum number of pixels of a screen.
pub const MAX_SCREEN_PIXELS: usize = 4_096 * 4_096;

/// The size and theme of the preview screen. A frame memory for exactly this number of pixels comes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PreviewScreen {
    pub width: u32,
    pub height: u32,
    /// Pixels per point, in quarters: 4 is one, 8 is two.
    pub quarters: u8,
    pub dark: bool,
}

impl PreviewScreen {
    /// Returns `None` for an unsupported size or scale.
    pub fn new(width: u32, height: u32, scale: f32, dark: bool) -> Option<Self> {
        let quarters = (scale * 4.0).round();
        let screen = Self { width, height, quarters: quarters as u8, dark };
        (quarters == scale * 4.0 && screen.is_valid()).then_some(screen)
    }

    pub fn is_valid(&self) -> bool {
        let side = 1..=MAX_SCREEN_SIDE_POINTS;
        let [width, height] = self.pixels();
        side.contains(&self.width)
            && side.contains(&self.height)
            && (2..=16).contains(&self.quarters)
            && width > 0
            && height > 0
            && width * height <= MAX_SCREEN_PIXELS
    }

    pub fn scale(&self) -> f32 {
        f32::from(self.quarters) / 4.0
    }

    /// The size in pixels: columns and rows.
    pub fn pixels(&self) -> [usize; 2] {
        [self.width, self.height].map(|points| points as usize * usize::from(self.quarters) / 4)
    }
}

/// The content that a session shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum SceneTarget {
    /// A page: the instances of the scene.
    Route { route: String },
    /// One component with its defaults.
    Component { component: String },
    /// One component with a named set of props.
    Variant { component: String, variant: String },
}

/// An instance on a page. Parents come before their children.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SceneInstance {
    pub id: String,
    pub component: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub props: Map<String, Value>,
    pub parent: Option<String>,
    /// Absent means `children`.
    pub slot: Option<String>,
}

/// A value that overrides a prop of an instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SceneOverride {
    pub instance: String,
    pub path: JsonPointer,
    pub value: Value,
}

/// Whether input goes to the components or selects them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PreviewMode {
    #[default]
    Interact,
    Inspect,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum PreviewInputEvent {
    /// The pointer moved to this position.
    Move {
        x: f32,
        y: f32,
    },
    Leave,
    Press {
        x: f32,
        y: f32,
    },
    Release {
        x: f32,
        y: f32,
    },
    Scroll {
        dy: f32,
    },
    Type {
        text: String,
    },
    Key {
        key: PreviewEditKey,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PreviewEditKey {
    Backspace,
    Delete,
    Enter,
    Escape,
    Tab,
    BackTab,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    /// Moves the cursor left and extends the selection; the next three do the same for their keys.
    SelectLeft,
    SelectRight,
    SelectHome,
    SelectEnd,
    SelectAll,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum ToPreview {
    /// The response to the hello.
    Welcome {
        session: String,
    },
    /// Carries the file descriptor of a frame memory. `generation` increases with each message.
    Screen {
        generation: u32,
        screen: PreviewScreen,
    },
    /// A new or changed component file.
    Component {
        file: String,
        text: String,
    },
    ComponentRemoved {
        file: String,
    },
    /// An image of the workspace, as PNG in base64.
    Image {
        path: String,
        png: String,
    },
    /// A system font for missing characters. Carries the file descriptor of the font.
    Font {
        name: String,
        /// The index of the face in a font collection.
        index: u32,
    },
    /// The scene to show from now on. `revision` increases with each message.
    Scene {
        revision: u64,
        target: SceneTarget,
        instances: Vec<SceneInstance>,
        overrides: Vec<SceneOverride>,
    },
    /// All props of one instance.
    Props {
        revision: u64,
        instance: String,
        props: Map<String, Value>,
    },
    /// All overrides.
    Overrides {
        revision: u64,
        overrides: Vec<SceneOverride>,
    },
    Mode {
        mode: PreviewMode,
    },
    Input {
        events: Vec<PreviewInputEvent>,
    },
    /// A health check that the preview answers with a pong.
    Ping {
        number: u64,
    },
    /// Discards the input state and starts again.
    Reset,
}

/// The active layers of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SandboxReport {
    /// The kernel ends this process before others when memory runs out.
    pub first_out_of_memory: bool,
    pub not_root: bool,
    /// Users, processes, mounts, network, IPC and host names of its own.
    pub namespaces: bool,
    pub no_capabilities: bool,
    pub no_new_privileges: bool,
    pub not_dumpable: bool,
    pub no_new_executable_memory: bool,
    pub landlock: LandlockLevel,
    pub limits: bool,
    pub system_calls: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LandlockLevel {
    Full,
    /// The kernel supports some of the requested restrictions.
    Partial,
    None,
}

/// The position of an instance on the screen.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstanceBox {
    pub id: String,
    pub component: String,
    pub parent: Option<String>,
    /// Left, top, width, height.
    pub rect: [f32; 4],
    /// The visible part of the screen.
    pub clip: [f32; 4],
    /// The component's file, and the line of its view.
    pub file: String,
    pub line: u32,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PreviewProblem {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub message: String,
    /// The affected instance, if the problem is not about the file alone.
    pub instance: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SceneOverrideStatus {
    Applied,
    InstanceMissing,
    PathInvalid,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum FromPreview {
    /// The first message, sent after the sandbox is closed.
    Hello {
        protocol: u32,
        build: String,
        sandbox: SandboxReport,
    },
    /// Characters that no font of the preview supports; each is reported once.
    Missing {
        characters: String,
    },
    /// A frame is available in the memory of this generation.
    Frame {
        generation: u32,
        sequence: u64,
        revision: u64,
        micros: u64,
    },
    /// The instances in the frame, in drawing order.
    Instances {
        revision: u64,
        instances: Vec<InstanceBox>,
    },
    /// One status for each override, in order.
    Overrides {
        revision: u64,
        statuses: Vec<SceneOverrideStatus>,
    },
    /// All current problems.
    Problems {
        problems: Vec<PreviewProblem>,
    },
    /// The instance under the pointer in inspect mode.
    Hovered {
        instance: Option<String>,
    },
    /// The instance that was clicked in inspect mode.
    Picked {
        instance: Option<String>,
    },
    /// An action of a component in interact mode: a press, or a change to a value.
    Action {
        instance: String,
        action: String,
        value: Value,
    },
    Log {
        level: PreviewLogLevel,
        message: String,
    },
    Pong {
        number: u64,
    },
}
