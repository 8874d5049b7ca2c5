//! Converts a [`Place`] to the tiles that draw it, and back.

use super::layout::{DockLayout, DockLayoutPart, PanelSlot, TabGroup};
use crate::panel_id::PanelId;
use egui::{Id, Rect};
use egui_tiles::{Container, Linear, LinearDir, Tabs, Tile, TileId, Tiles, Tree};
use std::collections::HashMap;

/// The minimum width and height of a part beside the canvas, and of the canvas, before a part is hidden.
const MIN_PART_SIZE: (f32, f32) = (150.0, 90.0);
const MIN_CANVAS_SIZE: (f32, f32) = (150.0, 140.0);
pub(super) const TILE_GAP: f32 = 1.0;

/// The tiles of a place. Shares are points; the canvas gets the remaining space.
pub(super) struct DockTiles {
    pub(super) tree: Tree<PanelId>,
    /// Sizes that a person set, for parts beside the canvas.
    sizes: HashMap<TileId, f32>,
    /// Sizes of the last layout.
    last_sizes: HashMap<TileId, f32>,
    /// Parts that are hidden because the window is too small.
    squeezed: Vec<TileId>,
}

impl DockTiles {
    pub(super) fn from_layout(place: &DockLayout) -> Self {
        let mut tiles = Tiles::default();
        let mut sizes = HashMap::new();
        let root = insert(&mut tiles, &mut sizes, place);
        let tree = Tree::new(Id::unique("panels"), root, tiles);
        Self { tree, sizes, last_sizes: HashMap::new(), squeezed: Vec::new() }
    }

    pub(super) fn canvas(&self) -> Option<TileId> {
        self.tree.tiles.find_pane(&PanelId::Canvas)
    }

    /// The group that shows only the canvas, and so needs no tab bar.
    pub(super) fn canvas_only_group(&self) -> Option<TileId> {
        let canvas = self.canvas()?;
        let group = self.tree.tiles.parent_of(canvas)?;
        let container = self.tree.tiles.get_container(group)?;
        let alone = container.children().all(|child| *child == canvas || !self.tree.is_visible(*child));
        alone.then_some(group)
    }

    pub(super) fn is_squeezed(&self, panel: PanelId) -> bool {
        let Some(pane) = self.tree.tiles.find_pane(&panel) else { return false };
        self.squeezed.iter().any(|part| contains_pane(&self.tree.tiles, *part, pane))
    }

    /// Sizes each part: the size a person set, or a default for the window size. The canvas gets the rest.
    pub(super) fn fit(&mut self, room: Rect, recent: Option<PanelId>) {
        for part in self.squeezed.drain(..) {
            self.tree.set_visible(part, true);
        }
        let recent = recent.and_then(|panel| self.tree.tiles.find_pane(&panel));
        if let (Some(root), Some(canvas)) = (self.tree.root(), self.canvas()) {
            self.fit_part(root, room, canvas, recent);
        }
    }

    fn fit_part(&mut self, part: TileId, room: Rect, canvas: TileId, recent: Option<TileId>) {
        let Some(Container::Linear(linear)) = self.tree.tiles.get_container(part) else { return };
        let (across, children) = (linear.dir == LinearDir::Horizontal, linear.children.clone());
        let shares: HashMap<TileId, f32> = children.iter().map(|id| (*id, linear.shares[*id])).collect();
        let middle = children.iter().position(|child| contains_pane(&self.tree.tiles, *child, canvas));
        let shown: Vec<TileId> =
            children.iter().copied().filter(|child| self.tree.is_visible_in_layout(*child)).collect();
        let length = if across { room.width() } else { room.height() };
        let length = (length - TILE_GAP * shown.len().saturating_sub(1) as f32).max(0.0);
        let given = match middle {
            Some(middle) => {
                let beside = CanvasSiblings { part: &children, middle, across, length, whole: room };
                self.fit_beside(&beside, &shown, recent)
            }
            None => even(&shown, &shares, length),
        };
        if let Some(Tile::Container(Container::Linear(linear))) = self.tree.tiles.get_mut(part) {
            for (child, points) in &given {
                linear.shares.set_share(*child, *points);
            }
        }
        let mut from = if across { room.left() } else { room.top() };
        for child in children {
            let Some(points) = given.get(&child).copied() else { continue };
            let inner = if across {
                Rect::from_x_y_ranges(from..=from + points, room.y_range())
            } else {
                Rect::from_x_y_ranges(room.x_range(), from..=from + points)
            };
            self.fit_part(child, inner, canvas, recent);
            from += points + TILE_GAP;
        }
        self.last_sizes.extend(given);
    }

    fn fit_beside(
        &mut self,
        beside: &CanvasSiblings<'_>,
        shown: &[TileId],
        recent: Option<TileId>,
    ) -> HashMap<TileId, f32> {
        let canvas = beside.part[beside.middle];
        let (least, canvas_least) = if beside.across {
            (MIN_PART_SIZE.0, MIN_CANVAS_SIZE.0)
        } else {
            (MIN_PART_SIZE.1, MIN_CANVAS_SIZE.1)
        };
        let mut others: Vec<TileId> = shown.iter().copied().filter(|child| *child != canvas).collect();
        // In a very small window, parts without the panel used last are hidden first.
        while least * others.len() as f32 + canvas_least > beside.length && !others.is_empty() {
            let wanted =
                |child: &TileId| recent.is_some_and(|recent| contains_pane(&self.tree.tiles, *child, recent));
            let at = others.iter().rposition(|child| !wanted(child)).unwrap_or(0);
            let gone = others.remove(at);
            self.tree.set_visible(gone, false);
            self.squeezed.push(gone);
        }
        let wish = |child: &TileId| {
            let at = beside.part.iter().position(|part| part == child);
            let preview = self.tree.tiles.find_pane(&PanelId::Preview);
            let previews =
                beside.across && preview.is_some_and(|pane| contains_pane(&self.tree.tiles, *child, pane));
            self.sizes.get(child).copied().unwrap_or_else(|| {
                if previews {
                    return beside.usual_of_preview();
                }
                beside.default_size(at > Some(beside.middle))
            })
        };
        let mut given: HashMap<TileId, f32> =
            others.iter().map(|child| (*child, wish(child).max(least))).collect();
        let free = (beside.length - canvas_least).max(0.0);
        let sum: f32 = others.iter().filter_map(|child| given.get(child)).sum();
        let floor = least * others.len() as f32;
        if sum > free && sum > floor {
            // Each part shrinks by the same fraction of its size above the minimum.
            let kept = ((free - floor) / (sum - floor)).clamp(0.0, 1.0);
            for points in given.values_mut() {
                *points = least + (*points - least) * kept;
            }
        }
        let taken: f32 = others.iter().filter_map(|child| given.get(child)).sum();
        let left = beside.length - taken;
        given.insert(canvas, left.max(1.0));
        given
    }

    /// Saves the new sizes of parts beside the canvas after a border was dragged.
    pub(super) fn save_sizes(&mut self) {
        let Some(canvas) = self.canvas() else { return };
        for tile in self.tree.tiles.tiles() {
            let Tile::Container(Container::Linear(linear)) = tile else { continue };
            if !linear.children.iter().any(|child| contains_pane(&self.tree.tiles, *child, canvas)) {
                continue;
            }
            for child in
                linear.children.iter().filter(|child| !contains_pane(&self.tree.tiles, **child, canvas))
            {
                let share = linear.shares[*child];
                if self.last_sizes.get(child).is_some_and(|given| (given - share).abs() > 0.5) {
                    self.sizes.insert(*child, share);
                }
            }
        }
    }

    /// The current layout as plain data.
    pub(super) fn place(&self) -> DockLayout {
        let empty = DockLayout::new(DockLayoutPart::Row(Vec::new()));
        self.tree.root().and_then(|root| self.place_of(root)).unwrap_or(empty).normalised()
    }

    fn place_of(&self, part: TileId) -> Option<DockLayout> {
        let tiles = &self.tree.tiles;
        let holds = match tiles.get(part)? {
            Tile::Pane(panel) => DockLayoutPart::Tabs(TabGroup {
                panels: vec![self.slot_of_pane(part, *panel)],
                front: Some(panel.keyword().to_owned()),
                folded: false,
            }),
            Tile::Container(Container::Linear(linear)) => {
                let along = self.canvas().is_some_and(|canvas| contains_pane(tiles, part, canvas));
                let parts = linear.children.iter().filter_map(|child| {
                    let mut place = self.place_of(*child)?;
                    // Beside the canvas only sizes that a person set are saved; elsewhere all shares are.
                    let share = linear.shares[*child];
                    place.size = if along { self.sizes.get(child).copied() } else { Some(share) };
                    Some(place)
                });
                let parts = parts.collect();
                match linear.dir {
                    LinearDir::Horizontal => DockLayoutPart::Row(parts),
                    LinearDir::Vertical => DockLayoutPart::Column(parts),
                }
            }
            Tile::Container(container) => return Some(self.group_of(part, container)),
        };
        Some(DockLayout::new(holds))
    }

    /// Tabs hold only panels: a row or column dropped into tabs becomes a part above them.
    fn group_of(&self, part: TileId, container: &Container) -> DockLayout {
        let tiles = &self.tree.tiles;
        let mut group = TabGroup { folded: !tiles.is_visible(part), ..TabGroup::default() };
        let mut parts = Vec::new();
        for child in container.children() {
            match tiles.get(*child) {
                Some(Tile::Pane(panel)) => group.panels.push(self.slot_of_pane(*child, *panel)),
                Some(Tile::Container(Container::Tabs(inner))) => {
                    let panes = inner.children.iter().filter_map(|pane| Some((*pane, tiles.get_pane(pane)?)));
                    group.panels.extend(panes.map(|(pane, panel)| self.slot_of_pane(pane, *panel)));
                }
                _ => parts.extend(self.place_of(*child)),
            }
        }
        if let Container::Tabs(tabs) = container {
            let front = tabs.active.and_then(|active| tiles.get_pane(&active));
            group.front = front.map(|panel| panel.keyword().to_owned());
        }
        let group = DockLayout::new(DockLayoutPart::Tabs(group));
        if parts.is_empty() {
            return group;
        }
        parts.push(group);
        DockLayout::new(DockLayoutPart::Column(parts))
    }

    fn slot_of_pane(&self, pane: TileId, panel: PanelId) -> PanelSlot {
        PanelSlot::new(panel, !self.tree.is_visible(pane))
    }
}

/// The row or column that contains the canvas.
struct CanvasSiblings<'a> {
    part: &'a [TileId],
    middle: usize,
    across: bool,
    length: f32,
    whole: Rect,
}

impl CanvasSiblings<'_> {
    /// The default width of the preview: fits a phone and leaves the canvas usable.
    fn usual_of_preview(&self) -> f32 {
        (self.whole.width() * 0.32).clamp(240.0, 460.0)
    }

    fn default_size(&self, after: bool) -> f32 {
        match (self.across, after) {
            (true, false) => (self.whole.width() * 0.22).clamp(176.0, 240.0),
            (true, true) => (self.whole.width() * 0.22).clamp(220.0, 292.0),
            (false, _) => (self.whole.height() * 0.32).clamp(190.0, 300.0).min(self.whole.height() * 0.45),
        }
    }
}

/// Divides the length in the previous proportions; a new part gets the average share.
fn even(shown: &[TileId], shares: &HashMap<TileId, f32>, length: f32) -> HashMap<TileId, f32> {
    let known: Vec<f32> =
        shown.iter().filter_map(|child| shares.get(child)).copied().filter(|share| *share > 1.0).collect();
    let mean = if known.is_empty() { 1.0 } else { known.iter().sum::<f32>() / known.len() as f32 };
    let wish = |child: &TileId| shares.get(child).copied().filter(|share| *share > 1.0).unwrap_or(mean);
    let sum: f32 = shown.iter().map(wish).sum();
    shown.iter().map(|child| (*child, length * wish(child) / sum.max(1.0))).collect()
}

fn contains_pane(tiles: &Tiles<PanelId>, part: TileId, pane: TileId) -> bool {
    let mut at = Some(pane);
    while let Some(tile) = at {
        if tile == part {
            return true;
        }
        at = tiles.parent_of(tile);
    }
    false
}

fn insert(tiles: &mut Tiles<PanelId>, sizes: &mut HashMap<TileId, f32>, place: &DockLayout) -> TileId {
    let (parts, dir) = match &place.holds {
        DockLayoutPart::Tabs(group) => return insert_group(tiles, group),
        DockLayoutPart::Row(parts) => (parts, LinearDir::Horizontal),
        DockLayoutPart::Column(parts) => (parts, LinearDir::Vertical),
    };
    let children: Vec<TileId> = parts.iter().map(|part| insert(tiles, sizes, part)).collect();
    let mut linear = Linear::new(dir, children.clone());
    for (child, part) in children.into_iter().zip(parts) {
        if let Some(size) = part.size {
            linear.shares.set_share(child, size);
            sizes.insert(child, size);
        }
    }
    tiles.insert_container(linear)
}

fn insert_group(tiles: &mut Tiles<PanelId>, group: &TabGroup) -> TileId {
    let mut panes = Vec::new();
    let mut front = None;
    for seat in &group.panels {
        let Some(panel) = seat.id() else { continue };
        let pane = tiles.insert_pane(panel);
        tiles.set_visible(pane, !seat.closed);
        if group.front() == Some(panel) {
            front = Some(pane);
        }
        panes.push(pane);
    }
    let mut tabs = Tabs::new(panes);
    tabs.active = front.or(tabs.active);
    let tile = tiles.insert_container(tabs);
    tiles.set_visible(tile, !group.folded);
    tile
}
