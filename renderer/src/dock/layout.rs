//! The layout of panels as plain data, changed by commands and saved between runs.
//!
//! A place is a row, a column, or a group of panels behind tabs. After [`DockLayout::normalised`] every panel is in it exactly
//! once, the canvas is visible, and no part is empty.

use crate::panel_id::{PANELS, PanelId, PanelSide};
use serde::{Deserialize, Serialize};

/// The valid range of a saved size in points; other values are ignored.
const VALID_SIZES: std::ops::RangeInclusive<f32> = 60.0..=4000.0;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct DockLayout {
    /// The width in a row or the height in a column, if a person set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<f32>,
    #[serde(flatten)]
    pub(crate) holds: DockLayoutPart,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum DockLayoutPart {
    Row(Vec<DockLayout>),
    Column(Vec<DockLayout>),
    Tabs(TabGroup),
}

/// Panels behind tabs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct TabGroup {
    pub(crate) panels: Vec<PanelSlot>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) front: Option<String>,
    /// Collapsed: none of its panels is visible.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) folded: bool,
}

/// A panel by its key in the saved layout. A key that this version does not know is dropped without an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PanelSlot {
    pub(crate) panel: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) closed: bool,
}

impl PanelSlot {
    pub(crate) fn new(panel: PanelId, closed: bool) -> Self {
        Self { panel: panel.keyword().to_owned(), closed }
    }

    pub(crate) fn id(&self) -> Option<PanelId> {
        PanelId::from_word(&self.panel)
    }
}

impl TabGroup {
    pub(crate) fn front(&self) -> Option<PanelId> {
        let open = |id: &PanelId| self.panels.iter().any(|seat| seat.id() == Some(*id) && !seat.closed);
        self.front.as_deref().and_then(PanelId::from_word).filter(open)
    }

    pub(crate) fn contains(&self, panel: PanelId) -> bool {
        self.panels.iter().any(|seat| seat.id() == Some(panel))
    }

    fn seat_mut(&mut self, panel: PanelId) -> Option<&mut PanelSlot> {
        self.panels.iter_mut().find(|seat| seat.id() == Some(panel))
    }

    /// Selects the first open panel if the selected one is closed.
    fn choose_front(&mut self) {
        if self.front().is_none() {
            self.front = self.panels.iter().find(|seat| !seat.closed).map(|seat| seat.panel.clone());
        }
    }
}

impl DockLayout {
    pub(crate) fn new(holds: DockLayoutPart) -> Self {
        Self { size: None, holds }
    }

    pub(crate) fn group(panels: Vec<PanelSlot>, front: Option<PanelId>, folded: bool) -> Self {
        let front = front.map(|front| front.keyword().to_owned());
        Self::new(DockLayoutPart::Tabs(TabGroup { panels, front, folded }))
    }

    /// Normalises the layout: every panel exactly once, the canvas visible, no empty part.
    #[must_use]
    pub(crate) fn normalised(self) -> Self {
        let mut seen = Vec::new();
        let canvas = || Self::group(vec![PanelSlot::new(PanelId::Canvas, false)], None, false);
        let mut place = match self.without_duplicates(&mut seen) {
            Some(place) if seen.contains(&PanelId::Canvas) => place,
            Some(place) => {
                let row = Self::new(DockLayoutPart::Row(vec![canvas(), place]));
                row.without_duplicates(&mut Vec::new()).unwrap_or_else(canvas)
            }
            None => canvas(),
        };
        for def in PANELS {
            if seen.contains(&def.id) || def.id == PanelId::Canvas {
                continue;
            }
            place.insert_at_side(PanelSlot::new(def.id, def.opens_on_request), def.home, !def.open);
        }
        place.each_group(&mut |group| {
            if let Some(canvas) = group.seat_mut(PanelId::Canvas) {
                canvas.closed = false;
                group.folded = false;
            }
            group.choose_front();
        });
        place
    }

    fn without_duplicates(mut self, seen: &mut Vec<PanelId>) -> Option<Self> {
        self.size = self.size.filter(|size| VALID_SIZES.contains(size)).map(f32::round);
        let (parts, in_row) = match self.holds {
            DockLayoutPart::Tabs(mut group) => {
                group.panels.retain(|seat| {
                    let new = seat.id().filter(|id| !seen.contains(id));
                    seen.extend(new);
                    new.is_some()
                });
                if group.panels.is_empty() {
                    return None;
                }
                return Some(Self { size: self.size, holds: DockLayoutPart::Tabs(group) });
            }
            DockLayoutPart::Row(parts) => (parts, true),
            DockLayoutPart::Column(parts) => (parts, false),
        };
        let mut kept = Vec::new();
        for part in parts.into_iter().filter_map(|part| part.without_duplicates(seen)) {
            // Nested rows and nested columns are flattened.
            match (part.holds, in_row) {
                (DockLayoutPart::Row(inner), true) | (DockLayoutPart::Column(inner), false) => {
                    kept.extend(inner)
                }
                (holds, _) => kept.push(Self { size: part.size, holds }),
            }
        }
        match kept.len() {
            0 => None,
            1 => kept.pop().map(|only| Self { size: self.size, ..only }),
            _ => Some(Self {
                size: self.size,
                holds: if in_row { DockLayoutPart::Row(kept) } else { DockLayoutPart::Column(kept) },
            }),
        }
    }

    pub(crate) fn contains(&self, panel: PanelId) -> bool {
        self.group_of(panel).is_some()
    }

    pub(crate) fn group_of(&self, panel: PanelId) -> Option<&TabGroup> {
        match &self.holds {
            DockLayoutPart::Tabs(group) => Some(group).filter(|group| group.contains(panel)),
            DockLayoutPart::Row(parts) | DockLayoutPart::Column(parts) => {
                parts.iter().find_map(|part| part.group_of(panel))
            }
        }
    }

    pub(crate) fn each_group(&mut self, act: &mut impl FnMut(&mut TabGroup)) {
        match &mut self.holds {
            DockLayoutPart::Tabs(group) => act(group),
            DockLayoutPart::Row(parts) | DockLayoutPart::Column(parts) => {
                for part in parts {
                    part.each_group(act);
                }
            }
        }
    }

    /// Opens the panel in front of its group and expands the group.
    pub(crate) fn show(&mut self, panel: PanelId) {
        self.each_group(&mut |group| {
            if let Some(seat) = group.seat_mut(panel) {
                seat.closed = false;
                group.folded = false;
                group.front = Some(panel.keyword().to_owned());
            }
        });
    }

    pub(crate) fn close(&mut self, panel: PanelId) {
        self.each_group(&mut |group| {
            if let Some(seat) = group.seat_mut(panel).filter(|_| panel != PanelId::Canvas) {
                seat.closed = true;
                group.choose_front();
            }
        });
    }

    /// Collapses the group of the panel. In the canvas's group it closes only the panel.
    pub(crate) fn fold(&mut self, panel: PanelId) {
        if self.group_of(panel).is_some_and(|group| group.contains(PanelId::Canvas)) {
            return self.close(panel);
        }
        self.each_group(&mut |group| group.folded |= group.contains(panel));
    }

    pub(crate) fn move_to(&mut self, panel: PanelId, side: PanelSide) {
        if panel == PanelId::Canvas {
            return;
        }
        self.each_group(&mut |group| group.panels.retain(|seat| seat.id() != Some(panel)));
        self.insert_at_side(PanelSlot::new(panel, false), side, false);
        *self = std::mem::replace(self, Self::new(DockLayoutPart::Row(Vec::new()))).normalised();
        self.show(panel);
    }

    pub(crate) fn side_mut(&mut self, side: PanelSide) -> Option<&mut Self> {
        let at = self.part_at_side(side);
        let (DockLayoutPart::Row(parts) | DockLayoutPart::Column(parts)) = &mut self.holds else {
            return None;
        };
        match at {
            Some(at) => parts.get_mut(at),
            None => parts.iter_mut().find(|part| part.contains(PanelId::Canvas))?.side_mut(side),
        }
    }

    /// The index of the part of this row or column that is at `side` of the part with the canvas.
    fn part_at_side(&self, side: PanelSide) -> Option<usize> {
        let (parts, first, last) = match &self.holds {
            DockLayoutPart::Row(parts) => (parts, PanelSide::Left, PanelSide::Right),
            DockLayoutPart::Column(parts) => (parts, PanelSide::Middle, PanelSide::Bottom),
            DockLayoutPart::Tabs(_) => return None,
        };
        let canvas = parts.iter().position(|part| part.contains(PanelId::Canvas))?;
        if side == last {
            // The preview has its own column between the canvas and the right side.
            let after = |at: &usize| parts.get(*at).is_some_and(|part| !part.contains(PanelId::Preview));
            (canvas + 1..parts.len()).find(after).or_else(|| Some(canvas + 1).filter(|at| *at < parts.len()))
        } else {
            canvas.checked_sub(1).filter(|_| side == first)
        }
    }

    /// Adds a panel at a side, after the panels already there.
    fn insert_at_side(&mut self, seat: PanelSlot, side: PanelSide, folded: bool) {
        let mut waiting = Some(seat);
        if side == PanelSide::Middle {
            return self.each_group(&mut |group| {
                if group.contains(PanelId::Canvas) {
                    group.panels.extend(waiting.take());
                }
            });
        }
        if side == PanelSide::Beside {
            return self.put_beside(Self::group(waiting.into_iter().collect(), None, folded));
        }
        if let Some(place) = self.side_mut(side) {
            place.each_group(&mut |group| group.panels.extend(waiting.take()));
        }
        if let Some(seat) = waiting {
            self.split_off(Self::group(vec![seat], None, folded), side);
        }
    }

    /// Inserts a part to the right of the group that holds the canvas.
    fn put_beside(&mut self, part: Self) {
        let in_row = matches!(self.holds, DockLayoutPart::Row(_));
        if let DockLayoutPart::Row(parts) | DockLayoutPart::Column(parts) = &mut self.holds
            && let Some(at) = parts.iter().position(|part| part.contains(PanelId::Canvas))
            && let Some(canvas) = parts.get_mut(at)
        {
            if in_row && matches!(canvas.holds, DockLayoutPart::Tabs(_)) {
                parts.insert(at + 1, part);
            } else {
                canvas.put_beside(part);
            }
            return;
        }
        let size = self.size.take();
        let canvas = std::mem::replace(self, Self::new(DockLayoutPart::Row(Vec::new())));
        *self = Self { size, holds: DockLayoutPart::Row(vec![canvas, part]) };
    }

    /// Adds a new part at a side: along the whole bottom, or beside the canvas.
    fn split_off(&mut self, part: Self, side: PanelSide) {
        if let DockLayoutPart::Column(parts) = &mut self.holds
            && side != PanelSide::Bottom
            && let Some(canvas) = parts.iter_mut().find(|part| part.contains(PanelId::Canvas))
        {
            return canvas.split_off(part, side);
        }
        match (&mut self.holds, side) {
            (DockLayoutPart::Column(parts), PanelSide::Bottom)
            | (DockLayoutPart::Row(parts), PanelSide::Right) => parts.push(part),
            (DockLayoutPart::Row(parts), PanelSide::Left) => parts.insert(0, part),
            _ => {
                let size = self.size.take();
                let old = std::mem::replace(self, Self::new(DockLayoutPart::Row(Vec::new())));
                let holds = match side {
                    PanelSide::Left => DockLayoutPart::Row(vec![part, old]),
                    PanelSide::Right | PanelSide::Middle | PanelSide::Beside => {
                        DockLayoutPart::Row(vec![old, part])
                    }
                    PanelSide::Bottom => DockLayoutPart::Column(vec![old, part]),
                };
                *self = Self { size, holds };
            }
        }
    }
}

impl Default for DockLayout {
    fn default() -> Self {
        Self::group(vec![PanelSlot::new(PanelId::Canvas, false)], None, false).normalised()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> DockLayout {
        serde_json::from_str::<DockLayout>(text).unwrap().normalised()
    }

    fn panels(place: &mut DockLayout) -> Vec<PanelId> {
        let mut all = Vec::new();
        place.each_group(&mut |group| all.extend(group.panels.iter().filter_map(PanelSlot::id)));
        all.sort_unstable();
        all
    }

    fn every() -> Vec<PanelId> {
        let mut all: Vec<PanelId> = PANELS.iter().map(|def| def.id).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn at_first_the_canvas_is_in_the_middle_and_each_panel_at_its_home() {
        let mut place = DockLayout::default();
        assert_eq!(panels(&mut place), every());
        for def in PANELS.iter().filter(|def| def.id != PanelId::Canvas) {
            let at_home = match def.home {
                PanelSide::Middle => {
                    place.group_of(PanelId::Canvas).is_some_and(|group| group.contains(def.id))
                }
                PanelSide::Beside => place.group_of(def.id).is_some_and(|group| group.panels.len() == 1),
                side => place.side_mut(side).is_some_and(|side| side.contains(def.id)),
            };
            assert!(at_home, "{:?}", def.id);
        }
        assert_eq!(place.clone().normalised(), place, "settled is settled");
    }

    #[test]
    fn what_is_read_has_every_panel_once_and_nothing_unknown() {
        let texts = [
            r#"{"tabs":{}}"#,
            r#"{"row":[]}"#,
            r#"{"tabs":{"panels":[{"panel":"astrolabe"}]}}"#,
            r#"{"tabs":{"panels":[{"panel":"log"},{"panel":"log"}],"front":"astrolabe","folded":true}}"#,
            r#"{"row":[{"row":[{"tabs":{"panels":[{"panel":"canvas","closed":true}],"folded":true}}]}]}"#,
            r#"{"size":-7,"column":[{"size":1e9,"tabs":{"panels":[{"panel":"outline"}]}},{"column":[]}]}"#,
        ];
        for text in texts {
            let mut place = read(text);
            assert_eq!(panels(&mut place), every(), "{text}");
            let canvas = place.group_of(PanelId::Canvas).unwrap();
            assert!(!canvas.folded && canvas.front().is_some(), "{text}");
            let again = serde_json::to_string(&place).unwrap();
            assert_eq!(read(&again), place, "{text}");
            assert!(!again.contains("1e9") && !again.contains("1000000000"), "{text}");
        }
    }

    #[test]
    fn panels_are_shown_closed_folded_and_moved() {
        let mut place = DockLayout::default();
        place.show(PanelId::Outline);
        assert_eq!(place.group_of(PanelId::Palette).unwrap().front(), Some(PanelId::Outline));
        place.close(PanelId::Outline);
        assert_eq!(place.group_of(PanelId::Palette).unwrap().front(), Some(PanelId::Palette));
        place.close(PanelId::Canvas);
        assert_eq!(place.group_of(PanelId::Canvas).unwrap().front(), Some(PanelId::Canvas), "never");
        place.move_to(PanelId::Log, PanelSide::Right);
        assert!(place.group_of(PanelId::Inspector).unwrap().contains(PanelId::Log));
        for panel in PANELS.iter().filter(|def| def.home == PanelSide::Bottom) {
            place.move_to(panel.id, PanelSide::Right);
        }
        assert!(place.side_mut(PanelSide::Bottom).is_none(), "nothing is left there");
        place.move_to(PanelId::Problems, PanelSide::Bottom);
        assert!(place.side_mut(PanelSide::Bottom).is_some_and(|side| side.contains(PanelId::Problems)));
        place.fold(PanelId::Log);
        assert!(place.group_of(PanelId::Inspector).unwrap().folded);
        assert_eq!(panels(&mut place), every());
    }
}
