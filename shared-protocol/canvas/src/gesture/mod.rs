//! Gestures: the meaning of a press, a movement and a release together. At most one gesture is active; it previews its
//! effect and ends in one command, or in nothing when it is cancelled.

pub(crate) mod connect;
pub(crate) mod drag;
pub(crate) mod guides;
mod insert;
pub(crate) mod marquee;
pub(crate) mod resize;
mod resize_many;

use crate::{BoardScene, CanvasEvent, index::BoardIndex};
use connect::ConnectGesture;
use drag::MoveGesture;
use egui::{CursorIcon, Modifiers, Pos2};
use marquee::MarqueeGesture;
use resize::{ResizeGesture, ResizeHandle};
use resize_many::MultiResizeGesture;
use shared_protocol::{ElementId, NodeId};
use std::collections::BTreeSet;

#[derive(Default)]
pub(crate) enum Gesture {
    #[default]
    Idle,
    /// Panning; this point of the board stays under the pointer.
    Pan(Pos2),
    Marquee(MarqueeGesture),
    Move(Box<MoveGesture>),
    Resize(ResizeGesture),
    ResizeMany(MultiResizeGesture),
    Connect(Box<ConnectGesture>),
    /// Cancelled while the button is still down: input is ignored until it is released.
    Cancelled,
}

#[derive(Clone, Copy)]
pub(crate) struct PointerSample {
    /// The position in board coordinates.
    pub(crate) at: Pos2,
    pub(crate) modifiers: Modifiers,
    pub(crate) zoom: f32,
}

pub(crate) enum GestureOutcome {
    /// The board stays unchanged.
    Nothing,
    Event(CanvasEvent),
    /// A command that moves nodes to their preview positions: the preview stays until the response.
    Moved(CanvasEvent),
}

impl Gesture {
    /// Starts a resize by a handle of one node, or of the frame around several.
    pub(crate) fn resize(
        scene: &BoardScene<'_>,
        index: &BoardIndex,
        handle: ResizeHandle,
        at: Pos2,
    ) -> Option<Self> {
        let one = ResizeGesture::start(scene, index, handle, at).map(Self::Resize);
        one.or_else(|| MultiResizeGesture::start(scene, index, handle, at).map(Self::ResizeMany))
    }

    pub(crate) fn is_active(&self) -> bool {
        !matches!(self, Self::Idle | Self::Cancelled)
    }

    /// Whether the view pans when the pointer nears its edge.
    pub(crate) fn pans_at_edge(&self) -> bool {
        !matches!(self, Self::Idle | Self::Cancelled | Self::Pan(_))
    }

    pub(crate) fn step(
        &mut self,
        scene: &BoardScene<'_>,
        index: &mut BoardIndex,
        moment: PointerSample,
        events: &mut Vec<CanvasEvent>,
    ) {
        match self {
            Self::Idle | Self::Cancelled | Self::Pan(_) => {}
            Self::Marquee(marquee) => events.extend(marquee.step(scene, index, moment)),
            Self::Move(moving) => moving.step(scene, index, moment),
            Self::Resize(resizing) => resizing.step(scene, index, moment),
            Self::ResizeMany(resizing) => resizing.step(scene, index, moment),
            Self::Connect(connecting) => connecting.step(scene, index, moment),
        }
    }

    pub(crate) fn finish(&mut self) -> GestureOutcome {
        match std::mem::take(self) {
            Self::Idle | Self::Cancelled | Self::Pan(_) | Self::Marquee(_) => GestureOutcome::Nothing,
            Self::Move(moving) => moving.finish(),
            Self::Resize(resizing) => resizing.finish(),
            Self::ResizeMany(resizing) => resizing.finish(),
            Self::Connect(connecting) => connecting.finish(),
        }
    }

    /// Cancels the gesture; the caller clears its preview.
    pub(crate) fn cancel(&mut self, scene: &BoardScene<'_>) -> Option<CanvasEvent> {
        match std::mem::replace(self, Self::Cancelled) {
            Self::Marquee(marquee) => marquee.cancel(scene),
            _ => None,
        }
    }

    pub(crate) fn guides(&self) -> &[guides::SnapGuide] {
        match self {
            Self::Move(moving) => moving.guides(),
            Self::Resize(resizing) => resizing.guides(),
            _ => &[],
        }
    }

    pub(crate) fn cursor(&self) -> Option<CursorIcon> {
        match self {
            Self::Idle | Self::Cancelled | Self::Marquee(_) => None,
            Self::Pan(_) => Some(CursorIcon::Grabbing),
            Self::Move(moving) => Some(moving.cursor()),
            Self::Resize(resizing) => Some(resizing.cursor()),
            Self::ResizeMany(resizing) => Some(resizing.cursor()),
            Self::Connect(connecting) => Some(connecting.cursor()),
        }
    }
}

/// Returns the selected nodes that no other selected node contains: moving these moves all.
pub(crate) fn roots(scene: &BoardScene<'_>, selection: &BTreeSet<ElementId>) -> Vec<NodeId> {
    let selected = |id: NodeId| selection.contains(&ElementId::Node(id));
    selection
        .iter()
        .filter_map(|element| match element {
            ElementId::Node(id) => scene.snapshot.node(*id).filter(|node| node.board == scene.board),
            _ => None,
        })
        .filter(|node| !scene.snapshot.ancestors(node.parent).any(|above| selected(above.id)))
        .map(|node| node.id)
        .collect()
}

/// Returns the nearest multiple of the grid, or `value` itself while snapping is suspended.
pub(crate) fn snap(value: f32, modifiers: Modifiers) -> i32 {
    let grid = crate::theme::size::GRID;
    let value = if value.is_finite() { value.clamp(-3e7, 3e7) } else { 0.0 };
    if modifiers.command { value.round() as i32 } else { (value / grid as f32).round() as i32 * grid }
}
