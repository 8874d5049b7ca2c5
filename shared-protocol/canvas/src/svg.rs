//! A board as SVG: the geometry, colours and icons of the screen, with real text.

use crate::{
    BoardScene,
    batch::rounded,
    camera::rect_of,
    draw::{edge, node_layout, note},
    icons::{self, IconStroke, arc},
    index::{BoardIndex, DrawnNodeKind, IndexedEdge, IndexedNode, ports},
    theme::{mix, size},
};
use egui::{Align, Color32, Pos2, Rect, vec2};
use shared_protocol::registry::PortDirection;
use std::fmt::Write;

const MARGIN: i32 = 32;
/// Font families for the viewer: Latin first, then other scripts, then system fonts.
const FONTS: &str = "Ubuntu, Inter, 'Segoe UI', 'Noto Sans', 'Noto Sans Arabic', 'Noto Sans Hebrew', \
                     'Noto Sans Devanagari', 'Noto Sans Thai', 'Noto Sans CJK SC', 'Noto Sans CJK JP', \
                     'Noto Sans CJK KR', 'Noto Sans Symbols', 'Noto Sans Symbols2', system-ui, sans-serif";

pub fn to_svg(scene: &BoardScene<'_>) -> String {
    let index = BoardIndex::build(scene.snapshot, scene.board);
    let bounds = index
        .bounds()
        .map_or(Rect::from_min_size(Pos2::ZERO, vec2(320.0, 200.0)), |bounds| rect_of(bounds.expand(MARGIN)));
    let mut sheet = SvgWriter { out: String::new(), scene, index: &index };
    let title = scene.snapshot.board(scene.board).map_or("", |board| board.title.as_str());
    sheet.add(format_args!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="{} {} {} {}" width="{}" height="{}" font-family="{FONTS}">"#,
        bounds.left(),
        bounds.top(),
        bounds.width(),
        bounds.height(),
        bounds.width(),
        bounds.height()
    ));
    sheet.add(format_args!("<title>{}</title>", escape(title)));
    sheet.rect(bounds, 0.0, scene.theme.canvas, None);

    let mut nodes: Vec<&IndexedNode> = index.nodes().collect();
    nodes.sort_unstable_by_key(|slot| (slot.kind != DrawnNodeKind::Container, slot.depth, slot.id));
    let first_card = nodes.partition_point(|slot| slot.kind == DrawnNodeKind::Container);
    let mut edges: Vec<&IndexedEdge> = index.edges().collect();
    edges.sort_unstable_by_key(|slot| slot.id);
    nodes[..first_card].iter().for_each(|slot| sheet.container(slot));
    edges.iter().for_each(|slot| sheet.edge(slot));
    for slot in &nodes[first_card..] {
        match slot.kind {
            DrawnNodeKind::Note => sheet.draw_note(slot),
            _ => sheet.draw_card(slot),
        }
    }
    nodes.iter().for_each(|slot| sheet.ports(slot));
    edges.iter().for_each(|slot| sheet.edge_label(slot));
    sheet.out.push_str("</svg>\n");
    sheet.out
}

struct SvgWriter<'a> {
    out: String,
    scene: &'a BoardScene<'a>,
    index: &'a BoardIndex,
}

impl SvgWriter<'_> {
    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(element);
        self.out.push('\n');
    }

    fn rect(&mut self, rect: Rect, radius: f32, fill: Color32, line: Option<Color32>) {
        let line = line.map_or_else(|| "none".to_owned(), hex);
        self.add(format_args!(
            r#"<rect x="{}" y="{}" width="{}" height="{}" rx="{radius}" fill="{}" stroke="{line}"/>"#,
            rect.left(),
            rect.top(),
            rect.width(),
            rect.height(),
            hex(fill)
        ));
    }

    fn text(&mut self, at: Pos2, words: &str, text_size: f32, colour: Color32, weight: u32, anchor: &str) {
        self.add(format_args!(
            r#"<text x="{}" y="{}" font-size="{text_size}" font-weight="{weight}" text-anchor="{anchor}" fill="{}" stroke="none">{}</text>"#,
            at.x,
            at.y,
            hex(colour),
            escape(words)
        ));
    }

    /// Adds a vertically centred line of text to a strip; returns its width.
    fn line_in(&mut self, strip: Rect, words: &str, text_size: f32, colour: Color32, weight: u32) -> f32 {
        // Heavier text is wider.
        let wide = if weight > 400 { text_size * 1.08 } else { text_size };
        let shown = elide(words, wide, strip.width());
        let baseline = strip.center().y + text_size * 0.35;
        self.text(egui::pos2(strip.left(), baseline), &shown, text_size, colour, weight, "start");
        width_of(&shown, wide)
    }

    fn container(&mut self, slot: &IndexedNode) {
        let theme = self.scene.theme;
        let accent = theme.accent(slot.accent);
        let fill = mix(theme.container_fill(usize::from(slot.depth)), accent, 0.03);
        self.rect(rect_of(slot.area), size::CONTAINER_RADIUS, fill, Some(mix(theme.border, accent, 0.22)));
        let Some(node) = self.scene.snapshot.node(slot.id) else { return };
        let def = self.scene.snapshot.type_of(node);
        let parts = node_layout::header(slot.area);
        self.icon(def.map_or("", |def| def.icon.as_str()), parts.icon, accent);
        let used = self.line_in(parts.text, &node.label, size::LABEL, theme.text, 600);
        let kind = def.map_or(node.type_id.as_str(), |def| def.kind_label(node));
        let rest = parts.text.with_min_x(parts.text.left() + used + size::GAP);
        if rest.width() >= 40.0 && kind != node.label {
            self.line_in(rest, kind, size::SMALL, theme.text_subtle, 400);
        }
    }

    fn draw_card(&mut self, slot: &IndexedNode) {
        let theme = self.scene.theme;
        self.rect(rect_of(slot.area), size::CARD_RADIUS, theme.surface_card, Some(theme.border));
        let Some(node) = self.scene.snapshot.node(slot.id) else { return };
        let def = self.scene.snapshot.type_of(node);
        let parts = node_layout::card_face(slot.area);
        if let Some(tile) = parts.tile {
            self.rect(tile, size::TILE_RADIUS, theme.tile(slot.accent), None);
            let icon = Rect::from_center_size(tile.center(), tile.size() * (size::TILE_ICON / size::TILE));
            self.icon(def.map_or("", |def| def.icon.as_str()), icon, theme.accent(slot.accent));
        }
        self.line_in(parts.label, &node.label, size::LABEL, theme.text, 600);
        if let Some(strip) = parts.kind {
            let kind = def.map_or(node.type_id.as_str(), |def| def.kind_label(node));
            let second = if kind == node.label { node.name.as_str() } else { kind };
            self.line_in(strip, second, size::SMALL, theme.text_muted, 400);
        }
    }

    fn draw_note(&mut self, slot: &IndexedNode) {
        let theme = self.scene.theme;
        let Some(node) = self.scene.snapshot.node(slot.id) else { return };
        let parts = note::face(self.scene.snapshot, node);
        let rect = rect_of(slot.area);
        let ink = match parts.tone {
            Some(tone) => {
                let (paper, ink) = theme.note_colours(tone);
                self.rect(rect, 4.0, paper, None);
                ink
            }
            None => theme.text,
        };
        let padding = if parts.tone.is_some() { note::PADDING } else { 4.0 };
        let inner = rect.shrink(padding.min(rect.width().min(rect.height()) / 4.0));
        let (x, anchor) = match parts.align {
            Align::Min => (inner.left(), "start"),
            Align::Center => (inner.center().x, "middle"),
            Align::Max => (inner.right(), "end"),
        };
        let rows = note::rows(inner.height() + note::PADDING * 2.0, parts.size);
        for (row, words) in wrapped(parts.text, parts.size, inner.width(), rows).iter().enumerate() {
            let baseline = inner.top() + parts.size * (0.95 + 1.25 * row as f32);
            self.text(egui::pos2(x, baseline), words, parts.size, ink, 400, anchor);
        }
    }

    fn edge(&mut self, slot: &IndexedEdge) {
        let colour = hex(self.scene.theme.edge);
        let mut points = Vec::new();
        rounded(slot.route.points(), size::EDGE_RADIUS, &mut points);
        let [.., before, tip] = points.as_mut_slice() else { return };
        let along = (*tip - *before).normalized();
        let point = *tip - along * edge::ARROW_GAP;
        let base = point - along * size::ARROW;
        let across = vec2(-along.y, along.x) * (size::ARROW * 0.45);
        *tip = base;
        let way: Vec<String> = points.iter().map(|point| format!("{:.1},{:.1}", point.x, point.y)).collect();
        self.add(format_args!(
            r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="{}"/>"#,
            way.join(" "),
            size::EDGE_WIDTH
        ));
        let (left, right) = (base + across, base - across);
        self.add(format_args!(
            r#"<polygon points="{:.1},{:.1} {:.1},{:.1} {:.1},{:.1}" fill="{colour}" stroke="none"/>"#,
            point.x, point.y, left.x, left.y, right.x, right.y
        ));
    }

    fn ports(&mut self, slot: &IndexedNode) {
        let theme = self.scene.theme;
        let snapshot = self.scene.snapshot;
        let Some(def) = snapshot.node(slot.id).and_then(|node| snapshot.type_of(node)) else { return };
        for (port, at, _) in ports::ports(def, slot.area) {
            let line = if port.direction == PortDirection::Out {
                theme.accent(slot.accent)
            } else {
                theme.border_strong
            };
            self.add(format_args!(
                r#"<circle cx="{}" cy="{}" r="{}" fill="{}" stroke="{}" stroke-width="1.5"/>"#,
                at.x,
                at.y,
                size::PORT_RADIUS,
                hex(theme.surface_card),
                hex(line)
            ));
        }
    }

    fn edge_label(&mut self, slot: &IndexedEdge) {
        let theme = self.scene.theme;
        let Some(edge) = self.scene.snapshot.edge(slot.id).filter(|edge| !edge.label.is_empty()) else {
            return;
        };
        let words = elide(&edge.label, size::EDGE_LABEL, 160.0);
        let pill = vec2(width_of(&words, size::EDGE_LABEL) + 10.0, size::EDGE_LABEL * 1.25 + 4.0);
        let Some(middle) = edge::label_place(self.index, slot, pill, &mut Vec::new()) else { return };
        self.rect(Rect::from_center_size(middle, pill), pill.y / 2.0, theme.surface_card, Some(theme.border));
        let baseline = egui::pos2(middle.x, middle.y + size::EDGE_LABEL * 0.35);
        self.text(baseline, &words, size::EDGE_LABEL, theme.text_muted, 400, "middle");
    }

    fn icon(&mut self, word: &str, rect: Rect, colour: Color32) {
        let colour = hex(colour);
        self.add(format_args!(
            r#"<g transform="translate({} {}) scale({})" fill="none" stroke="{colour}" stroke-width="{}" stroke-linecap="round" stroke-linejoin="round">"#,
            rect.left(),
            rect.top(),
            rect.width() / icons::ICON_SIDE,
            icons::ICON_STROKE_WIDTH
        ));
        let line = |points: &[(f32, f32)]| -> String {
            points.iter().map(|(x, y)| format!("{x},{y}")).collect::<Vec<_>>().join(" ")
        };
        for mark in icons::icon(word) {
            match *mark {
                IconStroke::L(points) => self.add(format_args!(r#"<polyline points="{}"/>"#, line(points))),
                IconStroke::C(points) => self.add(format_args!(r#"<polygon points="{}"/>"#, line(points))),
                IconStroke::R(x, y, w, h, radius) => self
                    .add(format_args!(r#"<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="{radius}"/>"#)),
                IconStroke::O(x, y, radius) => {
                    self.add(format_args!(r#"<circle cx="{x}" cy="{y}" r="{radius}"/>"#))
                }
                IconStroke::D(x, y, radius) => self.add(format_args!(
                    r#"<circle cx="{x}" cy="{y}" r="{radius}" fill="{colour}" stroke="none"/>"#
                )),
                IconStroke::A(x, y, rx, ry, from, to) => {
                    let points: Vec<(f32, f32)> = arc(x, y, rx, ry, from, to)
                        .map(|point| ((point.x * 100.0).round() / 100.0, (point.y * 100.0).round() / 100.0))
                        .collect();
                    self.add(format_args!(r#"<polyline points="{}"/>"#, line(&points)));
                }
            }
        }
        self.add(format_args!("</g>"));
    }
}

fn hex(colour: Color32) -> String {
    format!("#{:02x}{:02x}{:02x}", colour.r(), colour.g(), colour.b())
}

/// Estimates the width of a text. The viewer chooses the font, so the estimate is generous.
fn width_of(text: &str, text_size: f32) -> f32 {
    let width = |c: char| match c {
        'i' | 'l' | 'j' | 't' | 'f' | 'r' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.34,
        'm' | 'w' | 'M' | 'W' | '@' => 0.92,
        c if c.is_uppercase() => 0.68,
        c if (c as u32) < 0x2e80 => 0.56,
        _ => 1.0,
    };
    text.chars().map(width).sum::<f32>() * text_size
}

fn elide(text: &str, text_size: f32, room: f32) -> String {
    let text = text.replace(['\n', '\r', '\t'], " ");
    if width_of(&text, text_size) <= room {
        return text;
    }
    let mut left = room - width_of("…", text_size);
    let fits = |c: &char| {
        left -= width_of(c.encode_utf8(&mut [0; 4]), text_size);
        left >= 0.0
    };
    let shown: String = text.chars().take_while(fits).collect();
    format!("{}…", shown.trim_end())
}

fn wrapped(text: &str, text_size: f32, room: f32, rows: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if line.is_empty() || width_of(&longer, text_size) <= room {
                line = longer;
            } else {
                lines.push(elide(&line, text_size, room));
                line = word.to_owned();
            }
            if lines.len() > rows {
                break;
            }
        }
        lines.push(elide(&line, text_size, room));
        if lines.len() > rows {
            break;
        }
    }
    if lines.len() > rows {
        lines.truncate(rows);
        if let Some(last) = lines.last_mut().filter(|line| !line.ends_with('…')) {
            *last = elide(&format!("{last} ……"), text_size, room.min(width_of(last, text_size) + text_size));
        }
    }
    lines
}

/// Escapes text for elements and attributes; drops characters that XML does not allow.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\r' | '\t' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_become_markup() {
        assert_eq!(escape("</text><script>'\"&\u{0}\u{8}"), "&lt;/text&gt;&lt;script&gt;&#39;&quot;&amp;");
    }

    #[test]
    fn what_is_elided_fits() {
        for text in [
            "A rather long label for a small card",
            "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii",
            "寸法が大きすぎる名前のノード",
        ] {
            let shown = elide(text, 14.0, 90.0);
            assert!(shown.ends_with('…') && width_of(&shown, 14.0) <= 90.0, "{shown}");
        }
        assert_eq!(elide("short", 14.0, 90.0), "short");
        assert!(wrapped("one two three four five six seven eight", 13.0, 60.0, 2).len() == 2);
    }
}
