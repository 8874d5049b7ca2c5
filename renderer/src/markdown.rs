//! Renders Markdown: headings, paragraphs, lists, code blocks with a copy button, tables and links. Fetches nothing, and
//! shows raw HTML as plain text.

use crate::widgets::copyable_text_ui;
use canvas::theme::WorkbenchTheme;
use egui::{
    FontId, RichText, TextFormat, TextStyle, Ui,
    text::{LayoutJob, LayoutSection},
};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Longer texts are truncated, because their layout would block the frame.
const MAX_MARKDOWN_BYTES: usize = 256 * 1024;
const INDENT: f32 = 16.0;

pub(crate) fn markdown_ui(ui: &mut Ui, theme: &WorkbenchTheme, text: &str) {
    let end = text.floor_char_boundary(MAX_MARKDOWN_BYTES);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut page = MarkdownRenderer {
        theme,
        line: LayoutJob::default(),
        style: MarkdownStyle::default(),
        lists: Vec::new(),
        table: None,
    };
    for event in Parser::new_ext(&text[..end], options) {
        page.render_event(ui, event);
    }
    page.flush(ui);
    if end < text.len() {
        ui.label(RichText::new("… truncated").small().color(theme.text_muted));
    }
}

#[derive(Debug, Default, Clone)]
struct MarkdownStyle {
    heading: Option<HeadingLevel>,
    strong: usize,
    emphasis: usize,
    code: Option<String>,
    link: Option<String>,
    quoted: usize,
}

struct MarkdownRenderer<'a> {
    theme: &'a WorkbenchTheme,
    /// The current paragraph.
    line: LayoutJob,
    style: MarkdownStyle,
    /// For each enclosing list, the next item number, or `None` for an unordered list.
    lists: Vec<Option<u64>>,
    /// The rows of the current table, each with its cells.
    table: Option<Vec<Vec<LayoutJob>>>,
}

impl MarkdownRenderer<'_> {
    fn render_event(&mut self, ui: &mut Ui, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(ui, tag),
            Event::End(tag) => self.end(ui, tag),
            Event::Text(text) => match &mut self.style.code {
                Some(code) => code.push_str(&text),
                None => self.push(ui, &text, false),
            },
            Event::Code(text) => self.push(ui, &text, true),
            Event::Html(text) | Event::InlineHtml(text) => self.push(ui, &text, false),
            Event::SoftBreak => self.push(ui, " ", false),
            Event::HardBreak => self.push(ui, "\n", false),
            Event::Rule => {
                self.flush(ui);
                ui.separator();
            }
            _ => {}
        }
    }

    fn start(&mut self, ui: &mut Ui, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.flush(ui);
                ui.add_space(if level == HeadingLevel::H1 { 0.0 } else { 10.0 });
                self.style.heading = Some(level);
            }
            Tag::CodeBlock(_) => {
                self.flush(ui);
                self.style.code = Some(String::new());
            }
            Tag::List(first) => {
                self.flush(ui);
                self.lists.push(first);
            }
            Tag::Item => {
                self.flush(ui);
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_owned(),
                };
                self.push(ui, &mark, false);
            }
            Tag::BlockQuote(_) => {
                self.flush(ui);
                self.style.quoted += 1;
            }
            Tag::Strong => self.style.strong += 1,
            Tag::Emphasis => self.style.emphasis += 1,
            Tag::Link { dest_url, .. } => self.style.link = Some(dest_url.to_string()),
            Tag::Table(_) => {
                self.flush(ui);
                self.table = Some(Vec::new());
            }
            Tag::TableRow | Tag::TableHead => {
                if let Some(table) = &mut self.table {
                    table.push(Vec::new());
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, ui: &mut Ui, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.flush(ui);
                self.style.heading = None;
            }
            TagEnd::CodeBlock => {
                if let Some(code) = self.style.code.take() {
                    code_ui(ui, self.theme, code.trim_end());
                }
            }
            TagEnd::List(_) => {
                self.flush(ui);
                self.lists.pop();
                if self.lists.is_empty() {
                    ui.add_space(4.0);
                }
            }
            TagEnd::BlockQuote(_) => {
                self.flush(ui);
                self.style.quoted -= 1;
            }
            TagEnd::Paragraph => {
                self.flush(ui);
                if self.lists.is_empty() {
                    ui.add_space(6.0);
                }
            }
            TagEnd::Item => self.flush(ui),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.line);
                if let Some(row) = self.table.as_mut().and_then(|table| table.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    table_ui(ui, self.theme, table);
                }
            }
            TagEnd::Strong => self.style.strong -= 1,
            TagEnd::Emphasis => self.style.emphasis -= 1,
            TagEnd::Link => self.end_link(ui),
            _ => {}
        }
    }

    /// Appends the URL when the link text does not show it. Links are not clickable: the reader copies the URL.
    fn end_link(&mut self, ui: &Ui) {
        if let Some(address) = self.style.link.take()
            && address.contains("://")
            && !self.line.text.ends_with(&address)
        {
            self.push(ui, &format!(" ({address})"), false);
        }
    }

    fn push(&mut self, ui: &Ui, text: &str, code: bool) {
        let body = TextStyle::Body.resolve(ui.style());
        let font = match (self.style.heading, code) {
            (Some(HeadingLevel::H1), _) => FontId::proportional(body.size * 1.5),
            (Some(HeadingLevel::H2), _) => FontId::proportional(body.size * 1.25),
            (Some(_), _) => FontId::proportional(body.size * 1.1),
            (None, true) => FontId::monospace(body.size * 0.92),
            (None, false) => body,
        };
        let is_strong = self.style.strong > 0 || self.style.heading.is_some();
        let color = match (is_strong, self.style.quoted > 0, self.style.link.is_some()) {
            (_, _, true) => self.theme.accent,
            (true, ..) => self.theme.text,
            (false, true, _) => self.theme.text_muted,
            (false, false, _) if code => self.theme.text,
            (false, false, _) => self.theme.text_muted,
        };
        let background = if code { self.theme.hover } else { egui::Color32::TRANSPARENT };
        let format = TextFormat {
            font_id: font,
            color,
            background,
            italics: self.style.emphasis > 0,
            ..TextFormat::default()
        };
        let start = self.line.text.len();
        self.line.text.push_str(text);
        let byte_range = start.into()..self.line.text.len().into();
        self.line.sections.push(LayoutSection { leading_space: 0.0, byte_range, format });
    }

    fn flush(&mut self, ui: &mut Ui) {
        let line = std::mem::take(&mut self.line);
        if line.text.trim().is_empty() {
            return;
        }
        let depth = self.lists.len().saturating_sub(1) + self.style.quoted;
        ui.horizontal_top(|ui| {
            ui.add_space(INDENT * depth as f32);
            copyable_text_ui(ui, line);
        });
    }
}

/// Draws columns at their content width and a line below the header.
fn table_ui(ui: &mut Ui, theme: &WorkbenchTheme, rows: Vec<Vec<LayoutJob>>) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default().max(1);
    let widest = (ui.available_width() / columns as f32 - 24.0).max(40.0);
    let top = ui.cursor().min;
    let salt =
        (top.x as i32, rows.len(), rows.first().and_then(|row| row.first()).map(|cell| cell.text.clone()));
    let mut below_head = top.y;
    let table = egui::Grid::new(salt).num_columns(columns).spacing([24.0, 8.0]).show(ui, |ui| {
        for (place, row) in rows.into_iter().enumerate() {
            for cell in row {
                ui.scope(|ui| {
                    ui.set_max_width(widest);
                    copyable_text_ui(ui, cell);
                });
            }
            ui.end_row();
            if place == 0 {
                below_head = ui.min_rect().bottom() + 4.0;
            }
        }
    });
    ui.painter().hline(
        table.response.rect.x_range(),
        below_head,
        egui::Stroke::new(1.0, theme.border_strong),
    );
    ui.add_space(8.0);
}

fn code_ui(ui: &mut Ui, theme: &WorkbenchTheme, code: &str) {
    egui::Frame::new().fill(theme.hover).corner_radius(4).inner_margin(8).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.with_layout(egui::Layout::right_to_left(egui::Align::TOP), |ui| {
            if ui.small_button("Copy").accessible_name("Copy code").clicked() {
                ui.ctx().copy_text(code.to_owned());
            }
            ui.with_layout(egui::Layout::left_to_right(egui::Align::TOP), |ui| {
                let text = RichText::new(code).monospace().small().color(theme.text);
                copyable_text_ui(ui, text);
            });
        });
    });
    ui.add_space(6.0);
}
