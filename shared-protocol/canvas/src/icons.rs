//! The icon set: maps an icon word of the registry to strokes in a square of 24 units. The screen and the SVG export
//! share this data.

use crate::batch;
use egui::{Color32, Mesh, Painter, Pos2, Rect, Shape, pos2};
use std::collections::HashMap;

#[derive(Debug, Clone, Copy)]
pub(crate) enum IconStroke {
    /// A polyline.
    L(&'static [(f32, f32)]),
    /// A closed polyline.
    C(&'static [(f32, f32)]),
    /// A rectangle: left, top, width, height, corner radius.
    R(f32, f32, f32, f32, f32),
    /// A circle: centre and radius.
    O(f32, f32, f32),
    /// A filled dot.
    D(f32, f32, f32),
    /// Part of an ellipse: centre, radii, and degrees clockwise from the right.
    A(f32, f32, f32, f32, f32, f32),
}

use IconStroke::{A, C, D, L, O, R};

pub(crate) const ICON_SIDE: f32 = 24.0;
pub(crate) const ICON_STROKE_WIDTH: f32 = 1.7;

/// Returns the icon of a word; a plain box for an unknown word.
pub(crate) fn icon(word: &str) -> &'static [IconStroke] {
    ICONS.iter().find(|(known, _)| *known == word).map_or(FALLBACK_ICON, |(_, marks)| marks)
}

pub fn paint_icon(painter: &Painter, word: &str, rect: Rect, colour: Color32) {
    let side = rect.width().min(rect.height());
    let mut mesh = mesh(word, side, painter.pixels_per_point(), colour);
    mesh.translate(rect.center() - Pos2::new(side / 2.0, side / 2.0));
    painter.add(Shape::mesh(mesh));
}

/// Icons as meshes at the origin, by word, size and colour: a board shows a few of them hundreds of times.
#[derive(Default)]
pub(crate) struct IconCache {
    meshes: HashMap<(&'static str, u32, Color32), Mesh>,
}

impl IconCache {
    /// The maximum number of cached meshes; few sizes and colours are in use except while zooming.
    const MAX_CACHED_ICONS: usize = 512;

    pub(crate) fn paint(&mut self, painter: &Painter, word: &str, rect: Rect, colour: Color32) {
        let side = rect.width().min(rect.height());
        let pixels = painter.pixels_per_point();
        let known = ICONS.iter().find(|(known, _)| *known == word).map_or("box", |(known, _)| known);
        // Sizes are rounded to a quarter of a pixel, which is not visible.
        let size = (side * pixels * 4.0).round().max(1.0);
        if self.meshes.len() > Self::MAX_CACHED_ICONS {
            self.meshes.clear();
        }
        let made = self.meshes.entry((known, size as u32, colour));
        let mut copy = made.or_insert_with(|| mesh(known, size / pixels / 4.0, pixels, colour)).clone();
        copy.translate(rect.center() - Pos2::new(side / 2.0, side / 2.0));
        painter.add(Shape::mesh(copy));
    }
}

fn mesh(word: &str, side: f32, pixels_per_point: f32, colour: Color32) -> Mesh {
    let scale = side / ICON_SIDE;
    let feather = 1.0 / pixels_per_point.max(0.1);
    let width = (ICON_STROKE_WIDTH * scale).max(0.75);
    let mut mesh = Mesh::default();
    let mut points: Vec<Pos2> = Vec::new();
    let mut line =
        |points: &[Pos2], closed, width| batch::line(&mut mesh, points, closed, width, feather, colour);
    let at = |x: f32, y: f32| pos2(x, y) * scale;
    for mark in icon(word) {
        points.clear();
        match *mark {
            L(corners) | C(corners) => points.extend(corners.iter().map(|&(x, y)| at(x, y))),
            R(x, y, w, h, radius) => {
                let radius = radius.min(w / 2.0).min(h / 2.0);
                let (left, right, top, bottom) = (x + radius, x + w - radius, y + radius, y + h - radius);
                let corners =
                    [(right, bottom, 0.0_f32), (left, bottom, 90.0), (left, top, 180.0), (right, top, 270.0)];
                for (x, y, from) in corners {
                    let corner = (0..=2).map(|step| (from + 45.0 * step as f32).to_radians());
                    points.extend(corner.map(|angle| at(x + radius * angle.cos(), y + radius * angle.sin())));
                }
                // The ends of a pill are one arc; a duplicate point has no direction.
                points.dedup_by(|a, b| a.distance_sq(*b) < 0.001);
                if points
                    .first()
                    .zip(points.last())
                    .is_some_and(|(first, last)| first.distance_sq(*last) < 0.001)
                {
                    points.pop();
                }
            }
            O(x, y, radius) => points.extend(arc(x, y, radius, radius, 0.0, 342.0).map(|p| at(p.x, p.y))),
            // A dot is a closed line as wide as its radius.
            D(x, y, radius) => points.extend((0..8).map(|step| {
                let angle = (45.0 * step as f32).to_radians();
                at(x + radius / 2.0 * angle.cos(), y + radius / 2.0 * angle.sin())
            })),
            A(x, y, rx, ry, from, to) if to - from >= 360.0 => {
                points.extend(arc(x, y, rx, ry, from, to - 18.0).map(|p| at(p.x, p.y)));
            }
            A(x, y, rx, ry, from, to) => points.extend(arc(x, y, rx, ry, from, to).map(|p| at(p.x, p.y))),
        }
        let closed = match *mark {
            L(_) => false,
            A(.., from, to) => to - from >= 360.0,
            C(_) | R(..) | O(..) | D(..) => true,
        };
        let width = match *mark {
            D(_, _, radius) => (radius * scale).max(0.75),
            _ => width,
        };
        line(&points, closed, width);
    }
    mesh
}

/// Returns the points of an arc, dense enough to look round at icon sizes.
pub(crate) fn arc(x: f32, y: f32, rx: f32, ry: f32, from: f32, to: f32) -> impl Iterator<Item = Pos2> {
    let steps = ((to - from).abs() / 18.0).ceil().max(2.0) as u32;
    (0..=steps).map(move |step| {
        let angle = (from + (to - from) * step as f32 / steps as f32).to_radians();
        pos2(x + rx * angle.cos(), y + ry * angle.sin())
    })
}

const FALLBACK_ICON: &[IconStroke] = &[
    C(&[(12., 3.), (20., 7.4), (20., 16.6), (12., 21.), (4., 16.6), (4., 7.4)]),
    L(&[(4., 7.4), (12., 11.8), (20., 7.4)]),
    L(&[(12., 11.8), (12., 21.)]),
];

#[rustfmt::skip]
const ICONS: &[(&str, &[IconStroke])] = &[
    ("box", FALLBACK_ICON),
    ("server", &[R(4., 4., 16., 7., 2.), R(4., 13., 16., 7., 2.), D(7.6, 7.5, 1.1), D(7.6, 16.5, 1.1), L(&[(12., 7.5), (16.6, 7.5)]), L(&[(12., 16.5), (16.6, 16.5)])]),
    ("database", &[A(12., 6., 7.5, 3., 0., 360.), L(&[(4.5, 6.), (4.5, 18.)]), L(&[(19.5, 6.), (19.5, 18.)]), A(12., 18., 7.5, 3., 0., 180.), A(12., 12., 7.5, 3., 0., 180.)]),
    ("network", &[R(9., 3., 6., 5., 1.2), R(3., 16., 6., 5., 1.2), R(15., 16., 6., 5., 1.2), L(&[(12., 8.), (12., 12.)]), L(&[(6., 16.), (6., 12.), (18., 12.), (18., 16.)])]),
    ("subnet", &[R(3., 3., 18., 18., 3.), O(8., 12., 2.), O(16., 12., 2.), L(&[(10., 12.), (14., 12.)])]),
    ("gateway", &[L(&[(5., 20.), (5., 11.)]), A(12., 11., 7., 7., 180., 360.), L(&[(19., 11.), (19., 20.)]), L(&[(2.5, 20.), (21.5, 20.)]), L(&[(12., 17.), (12., 9.5)]), L(&[(9., 12.3), (12., 9.3), (15., 12.3)])]),
    ("firewall", &[R(3., 4., 18., 16., 2.), L(&[(3., 9.3), (21., 9.3)]), L(&[(3., 14.7), (21., 14.7)]), L(&[(9., 4.), (9., 9.3)]), L(&[(15., 4.), (15., 9.3)]), L(&[(12., 9.3), (12., 14.7)]), L(&[(9., 14.7), (9., 20.)]), L(&[(15., 14.7), (15., 20.)])]),
    ("shield", &[C(&[(12., 3.), (19.5, 5.8), (19.5, 11.5), (18.3, 15.2), (15.8, 18.4), (12., 21.), (8.2, 18.4), (5.7, 15.2), (4.5, 11.5), (4.5, 5.8)]), L(&[(8.8, 11.8), (11.2, 14.2), (15.4, 9.4)])]),
    ("key", &[O(8., 8., 4.5), L(&[(11.3, 11.3), (20.5, 20.5)]), L(&[(17., 17.), (19.6, 14.4)]), L(&[(14., 14.), (16., 12.)])]),
    ("lock", &[R(5., 11., 14., 9.5, 2.), A(12., 8.5, 4., 5., 180., 360.), L(&[(8., 8.5), (8., 11.)]), L(&[(16., 8.5), (16., 11.)]), D(12., 15.7, 1.5)]),
    ("globe", &[O(12., 12., 9.), A(12., 12., 4., 9., 0., 360.), L(&[(3., 12.), (21., 12.)])]),
    ("cloud", &[L(&[(7.5, 18.5), (17., 18.5)]), A(7.5, 14.5, 4., 4., 90., 262.), A(12., 10.8, 5., 5.2, 184., 342.), A(17., 14.6, 3.8, 3.9, -86., 90.)]),
    ("bucket", &[A(12., 6., 8., 2.6, 0., 360.), L(&[(4., 6.), (6.2, 18.4)]), L(&[(20., 6.), (17.8, 18.4)]), A(12., 18.4, 5.8, 2.4, 0., 180.)]),
    ("disk", &[R(4., 3., 16., 18., 2.5), O(12., 10., 4.2), D(12., 10., 1.2), L(&[(8., 17.8), (13., 17.8)])]),
    ("queue", &[R(2.5, 8., 4.8, 8., 1.2), R(9.6, 8., 4.8, 8., 1.2), R(16.7, 8., 4.8, 8., 1.2)]),
    ("bell", &[L(&[(18., 10.5), (18., 14.2), (20., 17.2), (4., 17.2), (6., 14.2), (6., 10.5)]), A(12., 10.5, 6., 6.5, 180., 360.), A(12., 18.4, 2.2, 2.2, 10., 170.)]),
    ("function", &[L(&[(6., 4.), (9.2, 4.), (16.6, 20.), (19., 20.)]), L(&[(11.6, 9.6), (6., 20.)])]),
    ("container", &[R(3., 6., 18., 12., 2.), L(&[(7.5, 9.5), (7.5, 14.5)]), L(&[(12., 9.5), (12., 14.5)]), L(&[(16.5, 9.5), (16.5, 14.5)])]),
    ("cluster", &[O(7., 7.6, 3.2), O(17., 7.6, 3.2), O(12., 16.8, 3.2), L(&[(10.2, 7.6), (13.8, 7.6)]), L(&[(8.5, 10.4), (10.5, 14.)]), L(&[(15.5, 10.4), (13.5, 14.)])]),
    ("registry", &[R(3., 4., 18., 5., 1.5), L(&[(5., 9.), (5., 20.), (19., 20.), (19., 9.)]), L(&[(10., 13.), (14., 13.)])]),
    ("loadbalancer", &[O(12., 5., 2.4), L(&[(12., 7.4), (12., 16.6)]), L(&[(5., 16.6), (5., 12.), (19., 12.), (19., 16.6)]), O(5., 18.8, 2.2), O(12., 18.8, 2.2), O(19., 18.8, 2.2)]),
    ("route", &[O(5.5, 18.5, 2.3), O(18.5, 5.5, 2.3), L(&[(7.8, 18.5), (15.5, 18.5), (17., 17.), (17., 13.5), (15.5, 12.), (8.5, 12.), (7., 10.5), (7., 7.), (8.5, 5.5), (16.2, 5.5)])]),
    ("dns", &[R(3., 4., 18., 16., 2.5), L(&[(3., 8.6), (21., 8.6)]), D(6., 6.3, 0.9), D(9., 6.3, 0.9), O(12., 14.3, 3.4), L(&[(8.6, 14.3), (15.4, 14.3)])]),
    ("monitor", &[R(3., 4., 18., 12.5, 2.), L(&[(6., 11.), (9., 11.), (11., 7.5), (13.4, 13.), (15., 10.2), (18., 10.2)]), L(&[(8.5, 20.5), (15.5, 20.5)]), L(&[(12., 16.5), (12., 20.5)])]),
    ("identity", &[R(2.5, 5., 19., 14., 2.5), O(8.3, 10.3, 2.2), A(8.3, 16.4, 3.6, 3.2, 180., 360.), L(&[(14., 10.), (18.5, 10.)]), L(&[(14., 14.), (17., 14.)])]),
    ("folder", &[C(&[(3., 19.), (21., 19.), (21., 8.), (12., 8.), (9.8, 5.), (3., 5.)])]),
    ("layers", &[C(&[(12., 3.2), (20.8, 8.), (12., 12.8), (3.2, 8.)]), L(&[(3.2, 12.4), (12., 17.2), (20.8, 12.4)]), L(&[(3.2, 16.4), (12., 21.2), (20.8, 16.4)])]),
    ("code", &[L(&[(8., 7.), (3., 12.), (8., 17.)]), L(&[(16., 7.), (21., 12.), (16., 17.)]), L(&[(13.6, 5.), (10.4, 19.)])]),
    ("data", &[L(&[(9., 4.), (7.6, 4.), (6.4, 5.4), (6.4, 10.2), (4.2, 12.), (6.4, 13.8), (6.4, 18.6), (7.6, 20.), (9., 20.)]), L(&[(15., 4.), (16.4, 4.), (17.6, 5.4), (17.6, 10.2), (19.8, 12.), (17.6, 13.8), (17.6, 18.6), (16.4, 20.), (15., 20.)]), D(12., 12., 1.3)]),
    ("page", &[C(&[(5., 3.), (14., 3.), (19., 8.), (19., 21.), (5., 21.)]), L(&[(14., 3.), (14., 8.), (19., 8.)]), L(&[(8.5, 13.), (15.5, 13.)]), L(&[(8.5, 17.), (13., 17.)])]),
    ("button", &[R(2.5, 7.5, 19., 9., 3.), L(&[(8., 12.), (16., 12.)])]),
    ("text", &[L(&[(5., 7.4), (5., 5.), (19., 5.), (19., 7.4)]), L(&[(12., 5.), (12., 19.)]), L(&[(9., 19.), (15., 19.)])]),
    ("input", &[R(2.5, 7., 19., 10., 2.), L(&[(6.5, 10.), (6.5, 14.)])]),
    ("checkbox", &[R(4., 4., 16., 16., 3.), L(&[(8., 12.2), (11., 15.2), (16.2, 9.)])]),
    ("select", &[R(2.5, 7., 19., 10., 2.), L(&[(13.6, 10.9), (15.8, 13.2), (18., 10.9)]), L(&[(6., 12.), (10.4, 12.)])]),
    ("card", &[R(3., 5., 18., 14., 2.5), L(&[(3., 10.), (21., 10.)]), L(&[(6.5, 14.6), (12., 14.6)])]),
    ("image", &[R(3., 4., 18., 16., 2.5), O(8.4, 9., 1.9), L(&[(3.4, 17.8), (9.4, 12.6), (13., 15.8), (16.6, 11.8), (20.6, 15.8)])]),
    ("list", &[D(4.6, 6.5, 1.3), L(&[(9., 6.5), (20.5, 6.5)]), D(4.6, 12., 1.3), L(&[(9., 12.), (20.5, 12.)]), D(4.6, 17.5, 1.3), L(&[(9., 17.5), (20.5, 17.5)])]),
    ("badge", &[R(2.5, 7.5, 19., 9., 4.5), D(7.6, 12., 1.4), L(&[(11.2, 12.), (17., 12.)])]),
    ("tabs", &[R(3., 9., 18., 11., 1.5), L(&[(3.6, 9.), (3.6, 4.6), (9.6, 4.6), (9.6, 9.)]), L(&[(9.6, 5.8), (15.6, 5.8), (15.6, 9.)])]),
    ("dialog", &[R(3., 4.5, 18., 15., 2.5), L(&[(3., 9.), (21., 9.)]), L(&[(6.5, 13.), (14., 13.)]), L(&[(14.5, 16.3), (17.5, 16.3)])]),
    ("row", &[R(3., 5., 7.6, 14., 1.5), R(13.4, 5., 7.6, 14., 1.5)]),
    ("column", &[R(5., 3., 14., 7.6, 1.5), R(5., 13.4, 14., 7.6, 1.5)]),
    ("grid", &[R(3.5, 3.5, 7., 7., 1.4), R(13.5, 3.5, 7., 7., 1.4), R(3.5, 13.5, 7., 7., 1.4), R(13.5, 13.5, 7., 7., 1.4)]),
    ("form", &[R(4., 3., 16., 18., 2.), L(&[(7.5, 7.2), (12., 7.2)]), R(7.5, 9.8, 9., 3.2, 0.8), L(&[(7.5, 17.2), (12.5, 17.2)])]),
    ("note", &[C(&[(4., 4.), (20., 4.), (20., 14.), (14., 20.), (4., 20.)]), L(&[(20., 14.), (14., 14.), (14., 20.)])]),
    ("arrow", &[L(&[(3.5, 12.), (20., 12.)]), L(&[(14., 6.), (20., 12.), (14., 18.)])]),
    ("frame", &[L(&[(7., 3.), (7., 21.)]), L(&[(17., 3.), (17., 21.)]), L(&[(3., 7.), (21., 7.)]), L(&[(3., 17.), (21., 17.)])]),
    ("requirement", &[R(5., 3., 14., 18., 2.), L(&[(8.5, 7.8), (15.5, 7.8)]), L(&[(8.4, 14.2), (11., 16.8), (15.8, 11.6)])]),
    ("feature", &[C(&[(12., 3.), (14.7, 8.7), (21., 9.5), (16.4, 13.8), (17.6, 20.), (12., 17.), (6.4, 20.), (7.6, 13.8), (3., 9.5), (9.3, 8.7)])]),
    ("task", &[O(12., 12., 8.8), L(&[(8., 12.3), (10.9, 15.2), (16.2, 9.2)])]),
    ("threat", &[C(&[(12., 3.6), (21., 19.8), (3., 19.8)]), L(&[(12., 9.6), (12., 14.2)]), D(12., 17., 1.2)]),
    ("decision", &[C(&[(12., 2.8), (21.2, 12.), (12., 21.2), (2.8, 12.)]), L(&[(8.4, 12.), (11., 14.6), (15.6, 9.6)])]),
    ("actor", &[O(12., 7.6, 3.9), A(12., 20.4, 7.6, 7., 180., 360.)]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Every icon word that the catalogue may use.
    const WORDS: &str = "server database network subnet gateway firewall shield key lock globe cloud bucket disk queue \
        bell function container cluster registry loadbalancer route dns monitor identity folder layers code data page \
        button text input checkbox select card image list badge tabs dialog row column grid form note arrow frame \
        requirement feature task threat decision actor box";

    #[test]
    fn every_word_has_an_icon_that_stays_in_its_square() {
        for word in WORDS.split_whitespace() {
            let marks = ICONS.iter().find(|(known, _)| *known == word).map(|(_, marks)| *marks);
            let marks = marks.unwrap_or_else(|| panic!("no icon for {word}"));
            let inside = |x: f32, y: f32| {
                assert!((1.0..=23.0).contains(&x) && (1.0..=23.0).contains(&y), "{word}: {x} {y}")
            };
            for mark in marks {
                match *mark {
                    L(points) | C(points) => points.iter().for_each(|&(x, y)| inside(x, y)),
                    R(x, y, w, h, _) => [(x, y), (x + w, y + h)].into_iter().for_each(|(x, y)| inside(x, y)),
                    O(x, y, r) | D(x, y, r) => {
                        [(x - r, y - r), (x + r, y + r)].into_iter().for_each(|(x, y)| inside(x, y))
                    }
                    A(x, y, rx, ry, from, to) => arc(x, y, rx, ry, from, to).for_each(|p| inside(p.x, p.y)),
                }
            }
        }
        assert_eq!(icon("no such icon").len(), FALLBACK_ICON.len());
    }
}
