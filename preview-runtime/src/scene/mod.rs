//! Builds elements from components and a scene: the content of the screen, without layout.
//!
//! Owns: props, overrides and states, loops, conditions, slots and nested components, all within a budget. Must not know:
//! layout, pixels, messages, the sandbox.

mod boxes;
mod build;
mod build_cache;
mod controls;
mod element;
mod interaction;
mod overrides;
mod select_list;

pub use build::{BuildLimits, build};
pub use build_cache::BuildCache;
pub(crate) use element::{
    ElementContent, ElementControl, ElementControlKind, ElementFlow, PictureFit, SceneElement,
};
pub use element::{ElementTree, PlacedInstance};
pub(crate) use interaction::MAX_ENTERED_VALUES;
pub use interaction::{ControlValue, ElementKey, OpenList, PreviewInteraction, TextCaret};
pub(crate) use overrides::props_of;
pub(crate) use select_list::list_height;

use shared_protocol::preview_wire::{SceneInstance, SceneOverride, SceneTarget};

#[derive(Debug, Clone, PartialEq)]
pub struct PreviewScene {
    pub target: SceneTarget,
    /// Parents precede their children.
    pub instances: Vec<SceneInstance>,
    pub overrides: Vec<SceneOverride>,
}

impl Default for PreviewScene {
    fn default() -> Self {
        let target = SceneTarget::Route { route: String::new() };
        Self { target, instances: Vec::new(), overrides: Vec::new() }
    }
}
