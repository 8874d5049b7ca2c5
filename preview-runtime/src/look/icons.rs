//! Icons as strokes on a grid of 24: sharp at every size, drawn in the surrounding text colour.
//!
//! Each icon is a list of steps: `M x y` moves, `L x y` draws a line, `C` a cubic curve, `Z` closes, `O x y r` draws a
//! circle and `D x y r` a disc.

use egui::{Pos2, pos2};
use std::{collections::BTreeMap, sync::LazyLock};

/// Name and steps of each icon, sorted by name.
pub const ICONS: &[(&str, &str)] = &[
    ("alert", "M12 3.5 L22 20 L2 20 Z M12 10 L12 14 D12 17 .6"),
    ("arrow-left", "M19 12 L5 12 M11 6 L5 12 L11 18"),
    ("arrow-right", "M5 12 L19 12 M13 6 L19 12 L13 18"),
    (
        "bell",
        "M6 16 L6 11 C6 7.5 8.5 5 12 5 C15.5 5 18 7.5 18 11 L18 16 L20 18.5 L4 18.5 Z M12 5 L12 3 M10 21 L14 21",
    ),
    ("box", "M12 3 L20.5 7.5 L20.5 16.5 L12 21 L3.5 16.5 L3.5 7.5 Z M3.5 7.5 L12 12 L20.5 7.5 M12 12 L12 21"),
    ("calendar", "M4 6 L20 6 L20 20 L4 20 Z M4 10.5 L20 10.5 M8.5 3.5 L8.5 8 M15.5 3.5 L15.5 8"),
    ("check", "M4.5 12.5 L9.8 17.8 L19.5 7"),
    ("check-circle", "O12 12 9 M8 12.3 L11 15.3 L16.2 9.4"),
    ("chevron-down", "M6 9.5 L12 15.5 L18 9.5"),
    ("chevron-left", "M14.5 6 L8.5 12 L14.5 18"),
    ("chevron-right", "M9.5 6 L15.5 12 L9.5 18"),
    ("chevron-up", "M6 14.5 L12 8.5 L18 14.5"),
    ("clock", "O12 12 9 M12 7 L12 12 L15.5 14"),
    ("close", "M6 6 L18 18 M18 6 L6 18"),
    ("copy", "M9 9 L20 9 L20 20 L9 20 Z M15 9 L15 4 L4 4 L4 15 L9 15"),
    ("download", "M12 4 L12 15 M7 10.5 L12 15.5 L17 10.5 M4.5 20 L19.5 20"),
    ("edit", "M4 20 L4.8 15.8 L16 4.6 L19.4 8 L8.2 19.2 Z M13.5 7 L17 10.5"),
    (
        "eye",
        "M2.5 12 C5 7.5 8.2 5.5 12 5.5 C15.8 5.5 19 7.5 21.5 12 C19 16.5 15.8 18.5 12 18.5 C8.2 18.5 5 16.5 2.5 12 Z O12 12 3",
    ),
    ("filter", "M3.5 5 L20.5 5 L14 13 L14 19.5 L10 17.5 L10 13 Z"),
    (
        "grid",
        "M4 4 L10 4 L10 10 L4 10 Z M14 4 L20 4 L20 10 L14 10 Z M4 14 L10 14 L10 20 L4 20 Z M14 14 L20 14 L20 20 L14 20 Z",
    ),
    (
        "heart",
        "M12 20 C5 15.5 3 12.5 3 9.3 C3 6.8 4.9 5 7.3 5 C9.3 5 11 6.1 12 8 C13 6.1 14.7 5 16.7 5 C19.1 5 21 6.8 21 9.3 C21 12.5 19 15.5 12 20 Z",
    ),
    ("home", "M4 11 L12 4 L20 11 L20 20 L4 20 Z M9.5 20 L9.5 14 L14.5 14 L14.5 20"),
    ("image", "M3.5 5 L20.5 5 L20.5 19 L3.5 19 Z O8.5 9.5 1.6 M4 17.5 L9.5 12.5 L13 15.5 L16 12.5 L20 16.5"),
    ("info", "O12 12 9 M12 11 L12 16.5 D12 7.8 .7"),
    ("key", "O8 15 4 M11 12 L19.5 3.5 M15 8 L18.5 11.5"),
    ("list", "M9 6 L20 6 M9 12 L20 12 M9 18 L20 18 D4.5 6 .8 D4.5 12 .8 D4.5 18 .8"),
    ("lock", "M5 11 L19 11 L19 20.5 L5 20.5 Z M8 11 L8 8 C8 5.5 9.7 4 12 4 C14.3 4 16 5.5 16 8 L16 11"),
    ("log-out", "M10 4 L5 4 L5 20 L10 20 M9.5 12 L20 12 M15.5 7.5 L20 12 L15.5 16.5"),
    ("mail", "M3.5 6 L20.5 6 L20.5 18.5 L3.5 18.5 Z M3.5 7 L12 13 L20.5 7"),
    (
        "map-pin",
        "M12 21 C8 16.5 5.5 13.2 5.5 10 C5.5 6.2 8.3 3.5 12 3.5 C15.7 3.5 18.5 6.2 18.5 10 C18.5 13.2 16 16.5 12 21 Z O12 10 2.4",
    ),
    ("menu", "M4 7 L20 7 M4 12 L20 12 M4 17 L20 17"),
    ("minus", "M6 12 L18 12"),
    ("more", "D6 12 1 D12 12 1 D18 12 1"),
    ("phone", "M7.5 2.5 L16.5 2.5 L16.5 21.5 L7.5 21.5 Z M11 18.5 L13 18.5"),
    ("plus", "M12 5.5 L12 18.5 M5.5 12 L18.5 12"),
    (
        "refresh",
        "M19.5 9.5 C18 6.3 15.3 4.5 12 4.5 C7.8 4.5 4.5 7.8 4.5 12 C4.5 16.2 7.8 19.5 12 19.5 C15.3 19.5 18 17.7 19.3 14.8 M20 4.5 L19.6 9.6 L14.6 9.2",
    ),
    ("search", "O10.5 10.5 6.5 M15.3 15.3 L20.5 20.5"),
    ("settings", "M4 7 L20 7 M4 17 L20 17 O9 7 2.4 O15 17 2.4"),
    (
        "star",
        "M12 3.5 L14.6 9 L20.6 9.7 L16.2 13.8 L17.4 19.8 L12 16.8 L6.6 19.8 L7.8 13.8 L3.4 9.7 L9.4 9 Z",
    ),
    (
        "trash",
        "M4.5 6.5 L19.5 6.5 M9 6.5 L9 4 L15 4 L15 6.5 M6.5 6.5 L7.3 20 L16.7 20 L17.5 6.5 M10.2 10.5 L10.5 16.5 M13.8 10.5 L13.5 16.5",
    ),
    (
        "truck",
        "M2.5 6 L14 6 L14 16.5 L2.5 16.5 Z M14 10 L18.5 10 L21.5 13 L21.5 16.5 L14 16.5 O7 17.5 2 O17.5 17.5 2",
    ),
    ("unlock", "M5 11 L19 11 L19 20.5 L5 20.5 Z M8 11 L8 8 C8 5.5 9.7 4 12 4 C14 4 15.5 5 15.9 6.8"),
    ("upload", "M12 16 L12 5 M7 9.5 L12 4.5 L17 9.5 M4.5 20 L19.5 20"),
    ("user", "O12 8 4 M4.5 20.5 C5 16.5 8 14.8 12 14.8 C16 14.8 19 16.5 19.5 20.5"),
    (
        "users",
        "O9 8.5 3.5 M2.5 20 C3 16.3 5.5 14.8 9 14.8 C12.5 14.8 15 16.3 15.5 20 M15.5 5.3 C17.3 5.6 18.5 6.8 18.5 8.5 C18.5 10.2 17.3 11.4 15.5 11.7 M17.5 15 C19.8 15.6 21.2 17.2 21.5 20",
    ),
    ("x-circle", "O12 12 9 M9 9 L15 15 M15 9 L9 15"),
];

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum IconPathStroke {
    Line { points: Vec<Pos2>, closed: bool },
    Circle { centre: Pos2, radius: f32, filled: bool },
}

pub(crate) type IconStrokes = Vec<IconPathStroke>;

pub(crate) fn icon(name: &str) -> Option<&'static IconStrokes> {
    static READ: LazyLock<BTreeMap<&str, IconStrokes>> =
        LazyLock::new(|| ICONS.iter().map(|(name, steps)| (*name, strokes(steps))).collect());
    READ.get(name)
}

/// Line segments per curve, enough for an icon of a few centimetres.
const SEGMENTS: u8 = 10;

fn strokes(steps: &str) -> IconStrokes {
    let mut strokes = Vec::new();
    let mut points: Vec<Pos2> = Vec::new();
    let end = |points: &mut Vec<Pos2>, strokes: &mut IconStrokes, closed: bool| {
        if points.len() > 1 {
            strokes.push(IconPathStroke::Line { points: std::mem::take(points), closed });
        }
        points.clear();
    };
    for (start, letter) in steps.char_indices().filter(|(_, c)| c.is_ascii_alphabetic()) {
        let arguments = steps.get(start + 1..).unwrap_or_default();
        let numbers: Vec<f32> = arguments
            .split(|c: char| c.is_ascii_alphabetic())
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|number| number.parse().ok())
            .collect();
        match (letter, &numbers[..]) {
            ('M', &[x, y]) => {
                end(&mut points, &mut strokes, false);
                points.push(pos2(x, y));
            }
            ('L', &[x, y]) => points.push(pos2(x, y)),
            ('C', &[x1, y1, x2, y2, x, y]) => {
                let from = points.last().copied().unwrap_or_default();
                curve(&mut points, [from, pos2(x1, y1), pos2(x2, y2), pos2(x, y)]);
            }
            ('Z', _) => end(&mut points, &mut strokes, true),
            ('O' | 'D', &[x, y, radius]) => {
                end(&mut points, &mut strokes, false);
                strokes.push(IconPathStroke::Circle { centre: pos2(x, y), radius, filled: letter == 'D' });
            }
            _ => {}
        }
    }
    end(&mut points, &mut strokes, false);
    strokes
}

fn curve(points: &mut Vec<Pos2>, [a, b, c, d]: [Pos2; 4]) {
    for step in 1..=SEGMENTS {
        let t = f32::from(step) / f32::from(SEGMENTS);
        let u = 1.0 - t;
        let at = |a: f32, b: f32, c: f32, d: f32| {
            u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d
        };
        points.push(pos2(at(a.x, b.x, c.x, d.x), at(a.y, b.y, c.y, d.y)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_icon_has_strokes_within_its_grid() {
        assert!(ICONS.is_sorted_by_key(|(name, _)| *name));
        for (name, steps) in ICONS {
            let icon = icon(name).unwrap();
            assert!(!icon.is_empty(), "{name}");
            let drawn = steps.matches(['M', 'O', 'D']).count();
            assert_eq!(icon.len(), drawn, "{name}: a step was not understood");
            for stroke in icon {
                let points = match stroke {
                    IconPathStroke::Line { points, .. } => points.clone(),
                    IconPathStroke::Circle { centre, radius, .. } => {
                        vec![*centre - egui::vec2(*radius, 0.0), *centre + egui::vec2(*radius, 0.0)]
                    }
                };
                assert!(
                    points
                        .iter()
                        .all(|point| (1.0..=23.0).contains(&point.x) && (1.0..=23.0).contains(&point.y)),
                    "{name}"
                );
            }
        }
    }
}
