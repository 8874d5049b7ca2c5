//! The domain knowledge of a bundle: Markdown with a table of contents. Sections out of view are not laid out again.

use super::entity::column_ui;
use crate::{
    markdown::markdown_ui,
    widgets::{ListRow, body_font, muted_ui, paint_line, row_ui, small_font},
};
use canvas::theme::WorkbenchTheme;
use egui::{Align2, RichText, Sense, Ui, vec2};
use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

/// Below this width, the table of contents becomes a menu.
const NARROW_WIDTH: f32 = 720.0;
const CONTENTS_WIDTH: f32 = 220.0;

#[derive(Debug, Default)]
pub(super) struct KnowledgePage {
    /// The bundle and version of the cached sections.
    made_from: Option<(String, u64)>,
    sections: Vec<KnowledgeSection>,
    /// The width at which the sections were measured.
    width: f32,
    scroll_target: Option<usize>,
}

#[derive(Debug, PartialEq)]
struct KnowledgeSection {
    /// The heading level; zero for the text before the first heading.
    level: usize,
    title: String,
    text: String,
    /// The height, after the first layout.
    height: Option<f32>,
}

impl KnowledgePage {
    pub(super) fn show_ui(
        &mut self,
        ui: &mut Ui,
        theme: &WorkbenchTheme,
        bundle: &str,
        (text, version): (&str, u64),
    ) {
        if self.made_from.as_ref().is_none_or(|(of, at)| (of.as_str(), *at) != (bundle, version)) {
            self.sections = sections(text);
            self.made_from = Some((bundle.to_owned(), version));
        }
        let wide = ui.available_width() >= NARROW_WIDTH && self.sections.len() > 2;
        if wide {
            egui::Panel::left("contents").exact_size(CONTENTS_WIDTH).resizable(false).show(ui, |ui| {
                ui.add_space(12.0);
                muted_ui(ui, theme, "Contents");
                egui::ScrollArea::vertical()
                    .auto_shrink([false, false])
                    .show(ui, |ui| self.contents_ui(ui, theme));
            });
        }
        egui::ScrollArea::vertical().auto_shrink([false, false]).id_salt("knowledge").show(ui, |ui| {
            column_ui(ui, |ui| {
                if !wide && self.sections.len() > 2 {
                    ui.add_space(12.0);
                    ui.menu_button("Contents", |ui| {
                        ui.set_width(CONTENTS_WIDTH);
                        self.contents_ui(ui, theme);
                    });
                }
                self.text_ui(ui, theme);
            });
        });
    }

    fn contents_ui(&mut self, ui: &mut Ui, theme: &WorkbenchTheme) {
        ui.spacing_mut().item_spacing.y = 0.0;
        for (place, section) in self.sections.iter().enumerate().filter(|(_, section)| section.level > 0) {
            let name = format!("Go to {}", section.title);
            let row = ListRow { name: &name, selected: false, sense: Sense::click() };
            let response = row_ui(ui, theme, row, |ui, room| {
                let room = room.with_min_x(room.left() + (section.level.saturating_sub(1)) as f32 * 12.0);
                let (font, color) = if section.level <= 1 {
                    (body_font(ui), theme.text)
                } else {
                    (small_font(ui), theme.text_muted)
                };
                paint_line(ui, room, Align2::LEFT_CENTER, &section.title, font, color);
            });
            if response.clicked() {
                self.scroll_target = Some(place);
                ui.close();
            }
        }
    }

    fn text_ui(&mut self, ui: &mut Ui, theme: &WorkbenchTheme) {
        let width = ui.available_width();
        if (self.width - width).abs() > 0.5 {
            self.width = width;
            self.sections.iter_mut().for_each(|section| section.height = None);
        }
        ui.add_space(16.0);
        if self.sections.is_empty() {
            ui.label(RichText::new("This page is empty.").color(theme.text_muted));
        }
        for (place, section) in self.sections.iter_mut().enumerate() {
            let top = ui.cursor().min;
            let hidden = section
                .height
                .filter(|height| !ui.is_rect_visible(egui::Rect::from_min_size(top, vec2(width, *height))));
            match hidden {
                Some(height) => drop(ui.allocate_space(vec2(width, height))),
                None => {
                    let inner = ui.push_id(place, |ui| {
                        ui.set_width(width);
                        markdown_ui(ui, theme, &section.text);
                    });
                    section.height = Some(inner.response.rect.height());
                }
            }
            if self.scroll_target == Some(place) {
                let height = section.height.unwrap_or_default();
                ui.scroll_to_rect(
                    egui::Rect::from_min_size(top, vec2(width, height)),
                    Some(egui::Align::TOP),
                );
                self.scroll_target = None;
            }
        }
        ui.add_space(48.0);
    }
}

/// Splits the text before each heading of the first three levels.
fn sections(text: &str) -> Vec<KnowledgeSection> {
    let mut starts: Vec<(usize, usize, String)> = Vec::new();
    let mut heading: Option<(usize, usize, String)> = None;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if level <= HeadingLevel::H3 => {
                heading = Some((range.start, level as usize, String::new()));
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some((.., title)) = &mut heading {
                    title.push_str(&part);
                }
            }
            Event::End(TagEnd::Heading(_)) => starts.extend(heading.take()),
            _ => {}
        }
    }
    let mut sections = Vec::new();
    let first = starts.first().map_or(text.len(), |(start, ..)| *start);
    if !text[..first].trim().is_empty() {
        sections.push(KnowledgeSection {
            level: 0,
            title: String::new(),
            text: text[..first].to_owned(),
            height: None,
        });
    }
    for (place, (start, level, title)) in starts.iter().enumerate() {
        let end = starts.get(place + 1).map_or(text.len(), |(next, ..)| *next);
        sections.push(KnowledgeSection {
            level: *level,
            title: title.clone(),
            text: text[*start..end].to_owned(),
            height: None,
        });
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_its_headings() {
        let text = "Before\n\n# One `x`\n\ntext\n\n## Two\n\n```\n# no heading\n```\n\n#### deep\n";
        let found: Vec<(usize, String)> =
            sections(text).into_iter().map(|each| (each.level, each.title)).collect();
        assert_eq!(found, [(0, String::new()), (1, "One x".into()), (2, "Two".into())]);
        assert_eq!(sections(text).iter().map(|each| each.text.as_str()).collect::<String>(), text);
        assert!(sections("  ").is_empty());
    }
}
