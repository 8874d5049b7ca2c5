//! Layout of elements: flex boxes and grids by `taffy`, with text measured by the fonts.

use crate::{
    galley_cache::GalleyCache,
    scene::{ElementContent, ElementFlow, ElementTree, SceneElement},
};
use components::{Align, Border, Justify, Placement, StyleInsets, StyleLength};
use egui::{Rect, Vec2, epaint::text::FontsView, pos2, vec2};
use std::sync::Arc;
use taffy::{
    AvailableSpace, Dimension, Display, FlexDirection, FlexWrap, LengthPercentage, LengthPercentageAuto,
    NodeId, Overflow, TaffyTree,
    prelude::{auto, fr, length, line, minmax, percent, span},
};

/// The boxes of a tree, by element, and the height of the page.
#[derive(Debug, Default)]
pub(crate) struct PageLayout {
    /// Positions on the screen, including the scroll offset.
    pub(crate) rects: Vec<Rect>,
    /// The visible area of each element.
    pub(crate) clips: Vec<Rect>,
    pub(crate) height: f32,
}

/// A failure inside the layout library, which is not expected for a tree built here.
#[derive(Debug, thiserror::Error)]
#[error("cannot lay out the page: {0}")]
pub struct PageLayoutError(String);

impl From<taffy::TaffyError> for PageLayoutError {
    fn from(error: taffy::TaffyError) -> Self {
        Self(error.to_string())
    }
}

/// The placement of a page on its screen: a page fills it, a standalone component is centred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageFit {
    Whole,
    Middle,
}

/// Keeps the last layout, so that the next one recomputes only the changes.
#[derive(Default)]
pub(crate) struct LayoutEngine {
    last: Option<LaidOutTree>,
    /// A discarded tree, kept to reuse its memory.
    spare: Option<TaffyTree<usize>>,
}

struct LaidOutTree {
    tree: Arc<ElementTree>,
    taffy: TaffyTree<usize>,
    nodes: Vec<NodeId>,
    root: NodeId,
    screen: Vec2,
    page: PageFit,
}

/// The area in which a page is laid out.
#[derive(Clone, Copy)]
pub(crate) struct LayoutArea {
    pub(crate) screen: Vec2,
    pub(crate) scroll: f32,
    pub(crate) page: PageFit,
}

impl LayoutEngine {
    /// Discards the last layout, for example after the font scale changed.
    pub(crate) fn discard(&mut self) {
        self.spare = self.last.take().map(|last| last.taffy).or(self.spare.take());
    }

    pub(crate) fn layout(
        &mut self,
        tree: &Arc<ElementTree>,
        fonts: &mut FontsView<'_>,
        texts: &mut GalleyCache,
        room: LayoutArea,
    ) -> Result<PageLayout, PageLayoutError> {
        let LayoutArea { screen, scroll, page } = room;
        let fits =
            |last: &LaidOutTree| (last.screen, last.page) == (screen, page) && last.tree.has_shape_of(tree);
        if !self.last.as_ref().is_some_and(fits) {
            self.discard();
        }
        let mut last = match self.last.take() {
            Some(mut last) => {
                last.update(tree)?;
                last
            }
            None => LaidOutTree::new(tree, screen, page, self.spare.take())?,
        };
        let available =
            taffy::Size { width: AvailableSpace::Definite(screen.x), height: AvailableSpace::MaxContent };
        let mut measure = TextMeasurer { tree, fonts, texts, measured: vec![[None; 2]; tree.elements.len()] };
        last.taffy.compute_layout_with_measure(last.root, available, |inputs, _, context, style| {
            let element = context.copied();
            taffy::compute_leaf_layout(
                inputs,
                style,
                |_, _| 0.0,
                |known, available| measure.size(element, known, available),
            )
        })?;
        let layout = last.boxes(scroll)?;
        self.last = Some(last);
        Ok(layout)
    }
}

impl LaidOutTree {
    fn new(
        tree: &Arc<ElementTree>,
        screen: Vec2,
        page: PageFit,
        spare: Option<TaffyTree<usize>>,
    ) -> Result<Self, PageLayoutError> {
        let mut taffy = spare.unwrap_or_else(|| TaffyTree::with_capacity(tree.elements.len() + 1));
        taffy.clear();
        // Rounding by the library would separate boxes from their texts; rectangles are rounded when they are drawn.
        taffy.disable_rounding();
        let stacked = stack_flags(tree);
        let mut nodes = Vec::with_capacity(tree.elements.len());
        // Children may have higher or lower indices than their parents, so the first pass creates all nodes and the second
        // connects them.
        for (index, element) in tree.elements.iter().enumerate() {
            let style = style_in(element, stacked.get(index) == Some(&true));
            nodes.push(match element.content {
                ElementContent::Text(_) => taffy.new_leaf_with_context(style, index)?,
                _ => taffy.new_leaf(style)?,
            });
        }
        for (element, node) in tree.elements.iter().zip(&nodes) {
            if !element.children.is_empty() {
                taffy.set_children(*node, &ids(&nodes, &element.children))?;
            }
        }
        let root = taffy.new_with_children(root_style(screen, page), &ids(&nodes, &tree.roots))?;
        Ok(Self { tree: Arc::clone(tree), taffy, nodes, root, screen, page })
    }

    /// Applies the differences of a tree with the same shape.
    fn update(&mut self, tree: &Arc<ElementTree>) -> Result<(), PageLayoutError> {
        let stacked = stack_flags(tree);
        let old = std::mem::replace(&mut self.tree, Arc::clone(tree));
        for (index, (before, now)) in old.elements.iter().zip(&tree.elements).enumerate() {
            let Some(node) = self.nodes.get(index) else { continue };
            let restyled = before.style != now.style || before.float != now.float;
            if restyled {
                let is_stacked = stacked.get(index) == Some(&true);
                let style = style_in(now, is_stacked);
                if style != style_in(before, is_stacked) {
                    self.taffy.set_style(*node, style)?;
                }
            }
            let reset = matches!(now.content, ElementContent::Text(_)) && !before.is_set_like(now);
            if reset {
                self.taffy.mark_dirty(*node)?;
            }
        }
        Ok(())
    }

    fn boxes(&self, scroll: f32) -> Result<PageLayout, PageLayoutError> {
        let tree = &self.tree;
        let height = self.taffy.layout(self.root)?.size.height;
        let scroll = scroll.clamp(0.0, (height - self.screen.y).max(0.0));
        let mut layout = PageLayout {
            rects: vec![Rect::ZERO; tree.elements.len()],
            clips: vec![Rect::ZERO; tree.elements.len()],
            height,
        };
        let whole = Rect::from_min_size(pos2(0.0, 0.0), self.screen);
        for index in &tree.roots {
            place(tree, &self.taffy, &self.nodes, &mut layout, *index, vec2(0.0, -scroll), whole)?;
        }
        Ok(layout)
    }
}

/// Marks the elements that lie in a stack.
fn stack_flags(tree: &ElementTree) -> Vec<bool> {
    let mut stacked = vec![false; tree.elements.len()];
    for element in tree.elements.iter().filter(|element| element.content_is(ElementFlow::Stack)) {
        for child in &element.children {
            if let Some(child) = stacked.get_mut(*child) {
                *child = true;
            }
        }
    }
    stacked
}

fn style_in(element: &SceneElement, is_stacked: bool) -> taffy::Style {
    let style = style_of(element);
    if let Some([x, y]) = element.float {
        let inset = taffy::Rect { left: length(x), right: auto(), top: length(y), bottom: auto() };
        return taffy::Style { position: taffy::Position::Absolute, inset, ..style };
    }
    if is_stacked { stack_style(style, element.style.place) } else { style }
}

fn root_style(screen: Vec2, page: PageFit) -> taffy::Style {
    let side = length(if page == PageFit::Middle { 24.0 } else { 0.0 });
    taffy::Style {
        display: Display::Flex,
        flex_direction: FlexDirection::Column,
        size: taffy::Size { width: length(screen.x), height: auto() },
        min_size: taffy::Size { width: auto(), height: length(screen.y) },
        padding: taffy::Rect { left: side, right: side, top: side, bottom: side },
        align_items: match page {
            PageFit::Middle => taffy::AlignItems::CENTER,
            PageFit::Whole => taffy::AlignItems::STRETCH,
        },
        justify_content: match page {
            PageFit::Middle => taffy::JustifyContent::CENTER,
            PageFit::Whole => taffy::JustifyContent::START,
        },
        ..taffy::Style::default()
    }
}

fn ids(nodes: &[NodeId], indices: &[usize]) -> Vec<NodeId> {
    indices.iter().filter_map(|index| nodes.get(*index).copied()).collect()
}

/// Recursion is bounded by the depth of the tree.
fn place(
    tree: &ElementTree,
    taffy: &TaffyTree<usize>,
    nodes: &[NodeId],
    layout: &mut PageLayout,
    index: usize,
    offset: Vec2,
    clip: Rect,
) -> Result<(), PageLayoutError> {
    let (Some(element), Some(node)) = (tree.elements.get(index), nodes.get(index)) else {
        return Ok(());
    };
    let found = taffy.layout(*node)?;
    let finite = |value: f32| if value.is_finite() { value.clamp(-1e6, 1e6) } else { 0.0 };
    let min = pos2(finite(found.location.x + offset.x), finite(found.location.y + offset.y));
    let rect =
        Rect::from_min_size(min, vec2(finite(found.size.width).max(0.0), finite(found.size.height).max(0.0)));
    if let (Some(own), Some(visible)) = (layout.rects.get_mut(index), layout.clips.get_mut(index)) {
        (*own, *visible) = (rect, clip);
    }
    let inner = if element.style.clip == Some(true) { clip.intersect(rect) } else { clip };
    for child in &element.children {
        place(tree, taffy, nodes, layout, *child, min.to_vec2(), inner)?;
    }
    Ok(())
}

struct TextMeasurer<'m, 'f> {
    tree: &'m ElementTree,
    fonts: &'m mut FontsView<'f>,
    texts: &'m mut GalleyCache,
    /// For each text, its unconstrained size and its size in the last measured width.
    measured: Vec<[Option<(f32, Vec2)>; 2]>,
}

impl TextMeasurer<'_, '_> {
    fn set(&mut self, index: usize, element: &SceneElement, text: &Arc<str>, room: f32) -> Vec2 {
        let memo = self.measured.get_mut(index).and_then(|memo| memo.get_mut(usize::from(room.is_finite())));
        if let Some(Some((_, size))) = memo.as_ref().filter(|memo| memo.is_some_and(|(at, _)| at == room)) {
            return *size;
        }
        let size = self.texts.set(self.fonts, element, text, room).size();
        if let Some(memo) = memo {
            *memo = Some((room, size));
        }
        size
    }

    fn size(
        &mut self,
        element: Option<usize>,
        known: taffy::Size<Option<f32>>,
        available: taffy::Size<AvailableSpace>,
    ) -> taffy::Size<f32> {
        if let taffy::Size { width: Some(width), height: Some(height) } = known {
            return taffy::Size { width, height };
        }
        let Some((index, element)) = element.and_then(|index| Some((index, self.tree.elements.get(index)?)))
        else {
            return taffy::Size::ZERO;
        };
        let ElementContent::Text(text) = &element.content else { return taffy::Size::ZERO };
        let natural = self.set(index, element, text, f32::INFINITY);
        let room = known.width.or(match available.width {
            AvailableSpace::Definite(width) => Some(width),
            // A single-line text can be truncated anywhere; other texts wrap at words.
            AvailableSpace::MinContent => Some(0.0),
            AvailableSpace::MaxContent => None,
        });
        let size = match room {
            Some(room) if room + 0.5 < natural.x => {
                if element.style.lines.is_some_and(|lines| lines.0 == 1) {
                    vec2(room.min(natural.x), natural.y)
                } else {
                    self.set(index, element, text, room)
                }
            }
            _ => natural,
        };
        // Rounds up to whole points, so that the measured size suffices when the text is drawn.
        taffy::Size { width: known.width.unwrap_or(size.x.ceil()), height: known.height.unwrap_or(size.y) }
    }
}

impl SceneElement {
    fn content_is(&self, flow: ElementFlow) -> bool {
        matches!(self.content, ElementContent::Box(own) if own == flow)
    }
}

pub(crate) fn border_width(border: Option<Border>) -> f32 {
    match border {
        None | Some(Border::None) => 0.0,
        Some(Border::Thin) => 1.0,
        Some(Border::Thick) => 2.0,
    }
}

fn style_of(element: &SceneElement) -> taffy::Style {
    let style = &element.style;
    let flow = match element.content {
        ElementContent::Box(flow) => flow,
        _ => ElementFlow::Row,
    };
    let gap = style.gap.map_or(0.0, |gap| gap.0);
    let columns = style.columns.map_or(2, |columns| columns.0);
    let border = length(border_width(style.border));
    taffy::Style {
        display: if matches!(flow, ElementFlow::Grid | ElementFlow::Stack) {
            Display::Grid
        } else {
            Display::Flex
        },
        flex_direction: if flow == ElementFlow::Column { FlexDirection::Column } else { FlexDirection::Row },
        flex_wrap: if style.wrap == Some(true) { FlexWrap::Wrap } else { FlexWrap::NoWrap },
        size: taffy::Size { width: dimension(style.width), height: dimension(style.height) },
        min_size: taffy::Size {
            // A truncated text may shrink to any width, and so may a row that contains one.
            width: style.min_width.map_or_else(|| smallest(element), limit),
            height: limit_or_auto(style.min_height),
        },
        max_size: taffy::Size {
            width: limit_or_auto(style.max_width),
            height: limit_or_auto(style.max_height),
        },
        aspect_ratio: style.aspect.map(|ratio| ratio.0),
        margin: style.margin.map_or(taffy::Rect::zero(), |sides| taffy::Rect {
            left: length(sides.left),
            right: length(sides.right),
            top: length(sides.top),
            bottom: length(sides.bottom),
        }),
        padding: padding(style.padding),
        border: taffy::Rect { left: border, right: border, top: border, bottom: border },
        gap: taffy::Size { width: length(gap), height: length(gap) },
        flex_grow: style.grow.map_or(0.0, |share| share.0),
        flex_shrink: style.shrink.map_or(1.0, |share| share.0),
        align_items: style.align.map_or(taffy::AlignItems::STRETCH, align),
        align_self: style.align_self.map(align),
        // Aligns on both axes in a grid cell; has no effect in a row or a column.
        justify_self: style.align_self.map(align),
        justify_content: style.justify.map_or(taffy::JustifyContent::START, justify),
        overflow: if style.clip == Some(true) {
            taffy::Point { x: Overflow::Hidden, y: Overflow::Hidden }
        } else {
            taffy::Point { x: Overflow::Visible, y: Overflow::Visible }
        },
        grid_template_columns: match flow {
            ElementFlow::Grid => (0..columns).map(|_| minmax(length(0.0), fr(1.0))).collect(),
            ElementFlow::Stack => vec![fr(1.0)].into_iter().collect(),
            _ => Default::default(),
        },
        grid_template_rows: match flow {
            ElementFlow::Stack => vec![fr(1.0)].into_iter().collect(),
            _ => Default::default(),
        },
        // In a grid sized by its rows, rows take their content height, which avoids measuring the content twice.
        grid_auto_rows: match flow {
            ElementFlow::Grid
                if style.height.is_none() && style.min_height.is_none() && style.grow.is_none() =>
            {
                vec![taffy::prelude::min_content()]
            }
            _ => Default::default(),
        },
        grid_column: style.span.map_or_else(taffy::Line::default, |count| taffy::Line {
            start: span(count.0),
            end: taffy::GridPlacement::Auto,
        }),
        ..taffy::Style::default()
    }
}

fn smallest(element: &SceneElement) -> LengthPercentageAuto {
    let cut = matches!(element.content, ElementContent::Text(_)) && element.style.lines.is_some();
    if cut { LengthPercentageAuto::length(0.0) } else { LengthPercentageAuto::auto() }
}

fn stack_style(style: taffy::Style, place: Option<Placement>) -> taffy::Style {
    use taffy::AlignItems as At;
    let (x, y) = match place.unwrap_or(Placement::Fill) {
        Placement::Fill => (At::STRETCH, At::STRETCH),
        Placement::Center => (At::CENTER, At::CENTER),
        Placement::Top => (At::CENTER, At::START),
        Placement::Bottom => (At::CENTER, At::END),
        Placement::Left => (At::START, At::CENTER),
        Placement::Right => (At::END, At::CENTER),
        Placement::TopLeft => (At::START, At::START),
        Placement::TopRight => (At::END, At::START),
        Placement::BottomLeft => (At::START, At::END),
        Placement::BottomRight => (At::END, At::END),
    };
    taffy::Style {
        grid_row: taffy::Line { start: line(1), end: line(2) },
        grid_column: taffy::Line { start: line(1), end: line(2) },
        justify_self: Some(x),
        align_self: Some(y),
        ..style
    }
}

fn dimension(length: Option<StyleLength>) -> Dimension {
    match length {
        None | Some(StyleLength::Auto) => Dimension::auto(),
        Some(StyleLength::Points(points)) => Dimension::length(points),
        Some(StyleLength::Share(share)) => Dimension::percent(share),
    }
}

fn limit_or_auto(length: Option<StyleLength>) -> LengthPercentageAuto {
    length.map_or(LengthPercentageAuto::auto(), limit)
}

fn limit(of: StyleLength) -> LengthPercentageAuto {
    match of {
        StyleLength::Auto => auto(),
        StyleLength::Points(points) => length(points),
        StyleLength::Share(share) => percent(share),
    }
}

fn padding(sides: Option<StyleInsets>) -> taffy::Rect<LengthPercentage> {
    let sides = sides.unwrap_or_default();
    taffy::Rect {
        left: length(sides.left),
        right: length(sides.right),
        top: length(sides.top),
        bottom: length(sides.bottom),
    }
}

fn align(align: Align) -> taffy::AlignItems {
    match align {
        Align::Start => taffy::AlignItems::START,
        Align::Center => taffy::AlignItems::CENTER,
        Align::End => taffy::AlignItems::END,
        Align::Stretch => taffy::AlignItems::STRETCH,
        Align::Baseline => taffy::AlignItems::BASELINE,
    }
}

fn justify(justify: Justify) -> taffy::JustifyContent {
    match justify {
        Justify::Start => taffy::JustifyContent::START,
        Justify::Center => taffy::JustifyContent::CENTER,
        Justify::End => taffy::JustifyContent::END,
        Justify::Between => taffy::JustifyContent::SPACE_BETWEEN,
        Justify::Around => taffy::JustifyContent::SPACE_AROUND,
        Justify::Evenly => taffy::JustifyContent::SPACE_EVENLY,
    }
}
