//! Pages before and after, side by side, drawn by sandboxed previews. They are requested one at a time while the panel
//! is visible. The images come from untrusted components: only pixels, of a checked size.

use super::{ProposalReview, trial::scope_ui, words};
use crate::{
    features::review::{ReviewContext, ReviewReply},
    widgets::{focus_ring, modal_frame, muted_ui, small_font},
};
use canvas::theme::WorkbenchTheme;
use egui::{
    Color32, ColorImage, Context, CornerRadius, Id, Rect, Response, RichText, Role, Sense, Stroke,
    StrokeKind, TextureHandle, TextureOptions, Ui, Vec2, WidgetInfo, pos2, vec2,
};
use shared_protocol::text::count_noun;
use shared_protocol::{
    NodeId,
    decisions::DrawPagePictures,
    preview_wire::PreviewScreen,
    proposal::ContentHash,
    review::{PageRendering, ProposalConsequences, ProposedPagePictures, TouchedPage},
};
use std::collections::BTreeMap;

/// The screen of the pages: width and height in points, and pixels per point.
const SCREEN: (u32, u32, f32) = (1_280, 800, 0.75);
/// Height divided by width.
const SHAPE: f32 = SCREEN.1 as f32 / SCREEN.0 as f32;
/// Below this width the two images are stacked.
const NARROW: f32 = 230.0;
const GAP: f32 = 8.0;

#[derive(Default)]
pub(super) struct PageComparison {
    /// The content and the theme of the images.
    subject: Option<(ContentHash, bool)>,
    requested: Option<NodeId>,
    pages: BTreeMap<NodeId, PagePair>,
    enlarged: Option<NodeId>,
}

enum PagePair {
    Not(String),
    Both { now: PageImage, proposed: PageImage, is_same: bool },
}

enum PageImage {
    Absent,
    Failed(String),
    Drawn(TextureHandle),
}

impl std::fmt::Debug for PageComparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pages")
            .field("of", &self.subject)
            .field("asked", &self.requested)
            .finish_non_exhaustive()
    }
}

impl PageImage {
    fn upload(look: PageRendering, context: &Context) -> Self {
        match look {
            PageRendering::Absent => Self::Absent,
            PageRendering::Failed(why) => Self::Failed(words::line(&why)),
            PageRendering::Drawn(pixels) => match pixels.size() {
                Some(size) => {
                    let image = ColorImage::from_rgba_premultiplied(size, &pixels.rgba);
                    Self::Drawn(context.load_texture("page", image, TextureOptions::LINEAR))
                }
                None => Self::Failed("The image has the wrong size.".to_owned()),
            },
        }
    }
}

impl ProposalReview {
    pub(crate) fn receive_pages(&mut self, pictures: ProposedPagePictures, context: &Context) {
        let ProposedPagePictures { proposal, hash, page, now, proposed } = pictures;
        if proposal != self.id() || hash != self.proposal().hash {
            return;
        }
        self.pages.requested.take_if(|asked| *asked == page);
        let is_same = matches!((&now, &proposed), (PageRendering::Drawn(now), PageRendering::Drawn(then)) if now == then);
        let (now, proposed) = (PageImage::upload(now, context), PageImage::upload(proposed, context));
        self.pages.pages.insert(page, PagePair::Both { now, proposed, is_same });
    }

    pub(crate) fn without_page(&mut self) {
        if let Some(page) = self.pages.requested.take() {
            self.pages.pages.insert(page, PagePair::Not("No image available.".to_owned()));
        }
    }
}

impl PageComparison {
    pub(super) fn is_enlarging(&self) -> bool {
        self.enlarged.is_some()
    }

    pub(super) fn show_ui(
        &mut self,
        ui: &mut Ui,
        cx: &ReviewContext<'_>,
        all: &ProposalConsequences,
        scope: Option<String>,
    ) {
        if all.pages.is_empty() {
            return;
        }
        self.request_missing_page(all, cx.view.theme.dark, cx);
        ui.add_space(6.0);
        let count = all.pages.len() + all.more_pages as usize;
        let words = format!("{} would look different", count_noun(count, "page"));
        ui.label(RichText::new(words).small());
        scope_ui(ui, cx.view.theme, scope);
        for page in &all.pages {
            self.page_ui(ui, cx.view.theme, page);
        }
        if all.more_pages > 0 {
            muted_ui(ui, cx.view.theme, format!("and {} more, which are not drawn", all.more_pages));
        }
        if let Some(page) = self.enlarged.and_then(|id| all.pages.iter().find(|page| page.page == id)) {
            self.enlarged_ui(ui.ctx(), cx.view.theme, page);
        }
    }

    /// Requests the first missing page, unless another one is being drawn.
    fn request_missing_page(&mut self, all: &ProposalConsequences, dark: bool, cx: &ReviewContext<'_>) {
        if self.subject != Some((all.hash, dark)) {
            *self = Self { subject: Some((all.hash, dark)), ..Self::default() };
        }
        let (width, height, scale) = SCREEN;
        let missing = all.pages.iter().find(|page| !self.pages.contains_key(&page.page));
        if let (None, Some(page), Some(screen)) =
            (self.requested, missing, PreviewScreen::new(width, height, scale, dark))
        {
            self.requested = Some(page.page);
            let (proposal, hash, page) = (all.proposal, all.hash, page.page);
            cx.request(DrawPagePictures { proposal, hash, page, screen }, ReviewReply::Pages);
        }
    }

    fn page_ui(&mut self, ui: &mut Ui, theme: &WorkbenchTheme, page: &TouchedPage) {
        ui.add_space(6.0);
        let title = words::line(&page.title);
        ui.add(egui::Label::new(RichText::new(&title).strong()).truncate());
        ui.add_space(2.0);
        let known = self.pages.get(&page.page);
        if let Some(PagePair::Not(why)) = known {
            muted_ui(ui, theme, why);
            if ui.small_button("Render").clicked() {
                self.pages.remove(&page.page);
            }
            return;
        }
        let room = ui.available_width();
        let width = if room < NARROW { room } else { (room - GAP) / 2.0 };
        let sides = match known {
            Some(PagePair::Both { now, proposed, .. }) => [Some(now), Some(proposed)],
            _ => [None, None],
        };
        let mut is_pressed = false;
        let mut both = |ui: &mut Ui| {
            for (side, caption) in sides.into_iter().zip(CAPTIONS) {
                is_pressed |= side_ui(ui, theme, side, &title, caption, width, Sense::click());
            }
        };
        match room < NARROW {
            true => both(ui),
            false => {
                ui.horizontal_top(|ui| {
                    ui.spacing_mut().item_spacing.x = GAP;
                    both(ui);
                });
            }
        }
        if let Some(PagePair::Both { is_same: true, .. }) = known {
            muted_ui(ui, theme, "No visible difference on this screen.");
        }
        if is_pressed {
            self.enlarged = Some(page.page);
        }
    }

    fn enlarged_ui(&mut self, context: &Context, theme: &WorkbenchTheme, page: &TouchedPage) {
        let Some(PagePair::Both { now, proposed, .. }) = self.pages.get(&page.page) else {
            self.enlarged = None;
            return;
        };
        let room = context.content_rect().size() - vec2(96.0, 190.0);
        let title = words::line(&page.title);
        let response =
            egui::Modal::new(Id::unique("pages")).frame(modal_frame(context)).show(context, |ui| {
                ui.label(RichText::new(&title).heading());
                ui.add_space(6.0);
                let width = ((room.x - GAP) / 2.0).min(room.y / SHAPE).max(120.0);
                ui.horizontal_top(|ui| {
                    ui.spacing_mut().item_spacing.x = GAP;
                    for (side, caption) in [now, proposed].into_iter().zip(CAPTIONS) {
                        side_ui(ui, theme, Some(side), &title, caption, width, Sense::hover());
                    }
                });
                ui.add_space(8.0);
                !ui.button("Close").clicked()
            });
        if !response.inner || response.should_close() {
            self.enlarged = None;
        }
    }
}

const CAPTIONS: [&str; 2] = ["Now", "As proposed"];

/// Draws a caption with an image or a placeholder. Returns whether it was clicked.
fn side_ui(
    ui: &mut Ui,
    theme: &WorkbenchTheme,
    side: Option<&PageImage>,
    title: &str,
    caption: &str,
    width: f32,
    sense: Sense,
) -> bool {
    ui.vertical(|ui| {
        ui.set_width(width);
        ui.spacing_mut().item_spacing.y = 4.0;
        muted_ui(ui, theme, caption);
        let size = vec2(width, (width * SHAPE).round());
        let sense = if matches!(side, Some(PageImage::Drawn(_))) { sense } else { Sense::hover() };
        let (rect, response) = ui.allocate_exact_size(size, sense);
        let corners = CornerRadius::same(2);
        ui.painter().rect_filled(rect, corners, theme.surface_inset);
        let words = match side {
            Some(PageImage::Drawn(texture)) => {
                paint_fitting(ui, texture, rect);
                String::new()
            }
            None => "Drawing…".to_owned(),
            Some(PageImage::Failed(why)) => format!("No image: {why}"),
            Some(PageImage::Absent) if caption == CAPTIONS[0] => "New page".to_owned(),
            Some(PageImage::Absent) => "Removed page".to_owned(),
        };
        if !words.is_empty() {
            let room = rect.shrink(8.0);
            let galley = ui.painter().layout(words.clone(), small_font(ui), theme.text_muted, room.width());
            let at = egui::Align2::CENTER_CENTER.align_size_within_rect(galley.size(), room).min;
            ui.painter().with_clip_rect(rect.intersect(ui.clip_rect())).galley(at, galley, theme.text_muted);
        }
        let is_active = response.sense.senses_click() && response.hovered();
        let line = Stroke::new(1.0, if is_active { theme.border_strong } else { theme.border });
        ui.painter().rect_stroke(rect, corners, line, StrokeKind::Inside);
        focus_ring(ui, theme, rect, &response);
        name_side(&response, title, caption, &words);
        let is_pressed = response.clicked();
        if response.sense.senses_click() {
            response.on_hover_text("Show both larger");
        }
        is_pressed
    })
    .inner
}

fn name_side(response: &Response, title: &str, caption: &str, words: &str) {
    let caption = caption.to_lowercase();
    let name = match words.is_empty() {
        true => format!("{title} {caption}"),
        false => format!("{title} {caption}: {words}"),
    };
    let role = if response.sense.senses_click() { Role::Button } else { Role::Image };
    response.widget_info(|| WidgetInfo::labeled(role, true, &name));
}

/// Draws the image as large as fits, with its aspect ratio.
fn paint_fitting(ui: &Ui, texture: &TextureHandle, rect: Rect) {
    let size: Vec2 = texture.size_vec2();
    let scale = (rect.width() / size.x).min(rect.height() / size.y);
    let room = Rect::from_center_size(rect.center(), size * scale);
    let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
    ui.painter().image(texture.id(), room, whole, Color32::WHITE);
}
