//! Design tokens: every colour and size of the workbench, for the light, dark and high contrast themes. No other module
//! of the renderer names a colour. A test holds text to a contrast of 4.5:1 and parts to 3:1.

mod code;

pub use code::CodeToken;

use egui::{
    Color32, CornerRadius, FontFamily, FontId, Margin, Shadow, Stroke, TextStyle, Vec2,
    style::{Selection, WidgetVisuals, Widgets},
};
use shared_protocol::registry::Accent;

/// Sizes in board units: points at 100 % zoom.
pub mod size {
    /// The grid that dragging snaps to.
    pub const GRID: i32 = 8;
    pub const DOTS: f32 = 24.0;
    pub const CARD_RADIUS: f32 = 8.0;
    pub const CONTAINER_RADIUS: f32 = 10.0;
    /// The height of a container's title.
    pub const HEADER: f32 = 36.0;
    /// The coloured square behind an icon on a card, and the icon in it.
    pub const TILE: f32 = 36.0;
    pub const TILE_RADIUS: f32 = 7.0;
    pub const TILE_INSET: f32 = 12.0;
    pub const TILE_ICON: f32 = 20.0;
    pub const HEADER_ICON: f32 = 16.0;
    pub const GAP: f32 = 10.0;
    pub const LABEL: f32 = 14.0;
    pub const SMALL: f32 = 11.5;
    pub const NOTE_TEXT: f32 = 13.0;
    pub const EDGE_LABEL: f32 = 11.0;
    pub const PORT_RADIUS: f32 = 4.0;
    pub const EDGE_WIDTH: f32 = 1.5;
    pub const EDGE_RADIUS: f32 = 8.0;
    pub const ARROW: f32 = 8.0;
    /// The length of an edge's first stretch before it may turn.
    pub const STUB: f32 = 20.0;
    pub const BADGE_RADIUS: f32 = 8.0;

    // Screen sizes: the same at every zoom.
    pub const PORT_REACH: f32 = 9.0;
    pub const EDGE_REACH: f32 = 6.0;
    pub const HANDLE: f32 = 8.0;
    pub const HANDLE_REACH: f32 = 7.0;
}

/// The colours of one theme. The `surface_…` fields go from the window background to raised elements.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkbenchTheme {
    pub dark: bool,
    pub surface_app: Color32,
    pub surface_panel: Color32,
    pub surface_card: Color32,
    /// Input fields and other inset areas.
    pub surface_inset: Color32,
    /// Menus, popups and tooltips.
    pub surface_raised: Color32,
    pub hover: Color32,
    pub pressed: Color32,
    /// Decoration only; essential borders use `border_strong`.
    pub border: Color32,
    pub border_strong: Color32,
    pub text: Color32,
    pub text_muted: Color32,
    pub text_subtle: Color32,
    pub accent: Color32,
    pub accent_hover: Color32,
    /// Text on `accent`.
    pub accent_text: Color32,
    pub selection: Color32,
    pub danger: Color32,
    pub warning: Color32,
    pub success: Color32,
    /// Glyphs on `danger`, `warning` and `success`.
    pub status_text: Color32,
    pub focus: Color32,
    pub canvas: Color32,
    pub canvas_dots: Color32,
    pub edge: Color32,
    /// Container fills by nesting depth; deeper levels repeat.
    pub containers: [Color32; 3],
    pub shadow: Color32,
    accents: [Color32; 9],
    notes: [(Color32, Color32); 5],
}

const fn rgb(hex: u32) -> Color32 {
    Color32::from_rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

impl WorkbenchTheme {
    pub fn light() -> Self {
        Self {
            dark: false,
            surface_app: rgb(0xeceff3),
            surface_panel: rgb(0xf8f9fb),
            surface_card: rgb(0xffffff),
            surface_inset: rgb(0xffffff),
            surface_raised: rgb(0xffffff),
            hover: rgb(0xe9edf3),
            pressed: rgb(0xdde3eb),
            border: rgb(0xd3d9e1),
            border_strong: rgb(0x7d8795),
            text: rgb(0x161b22),
            text_muted: rgb(0x4a5462),
            text_subtle: rgb(0x5c6675),
            accent: rgb(0x1d5bd6),
            accent_hover: rgb(0x174bb3),
            accent_text: rgb(0xffffff),
            selection: rgb(0xd9e6ff),
            danger: rgb(0xb3261e),
            warning: rgb(0x855600),
            success: rgb(0x17713a),
            status_text: rgb(0xffffff),
            focus: rgb(0x1d5bd6),
            canvas: rgb(0xf3f5f8),
            canvas_dots: rgb(0xcfd6df),
            edge: rgb(0x6b7685),
            containers: [rgb(0xfafbfc), rgb(0xf1f4f8), rgb(0xe9edf3)],
            shadow: Color32::from_black_alpha(22),
            accents: [
                rgb(0x59636f),
                rgb(0x1d5bd6),
                rgb(0x0b7285),
                rgb(0x17713a),
                rgb(0x855600),
                rgb(0xb04a06),
                rgb(0xb3261e),
                rgb(0x6a3fc0),
                rgb(0xb02a74),
            ],
            notes: [
                (rgb(0xfff1b3), rgb(0x3b3005)),
                (rgb(0xd8e8ff), rgb(0x10294d)),
                (rgb(0xd6f2dc), rgb(0x0f3a1d)),
                (rgb(0xffdfea), rgb(0x4d1030)),
                (rgb(0xe6e9ee), rgb(0x252b33)),
            ],
        }
    }

    pub fn dark() -> Self {
        Self {
            dark: true,
            surface_app: rgb(0x0d1014),
            surface_panel: rgb(0x14181e),
            surface_card: rgb(0x262d37),
            surface_inset: rgb(0x0f1318),
            surface_raised: rgb(0x1c2229),
            hover: rgb(0x232a33),
            pressed: rgb(0x2c343f),
            border: rgb(0x3c4551),
            border_strong: rgb(0x76828f),
            text: rgb(0xeaeef3),
            text_muted: rgb(0xaeb8c5),
            text_subtle: rgb(0x98a3b0),
            accent: rgb(0x6ea6ff),
            accent_hover: rgb(0x8bb8ff),
            accent_text: rgb(0x08142a),
            selection: rgb(0x1d3a63),
            danger: rgb(0xff7d73),
            warning: rgb(0xe8b33c),
            success: rgb(0x5fd184),
            status_text: rgb(0x0d1014),
            focus: rgb(0x6ea6ff),
            canvas: rgb(0x101419),
            canvas_dots: rgb(0x2a323c),
            edge: rgb(0x8591a1),
            containers: [rgb(0x14181e), rgb(0x191e25), rgb(0x12161b)],
            shadow: Color32::from_black_alpha(70),
            accents: [
                rgb(0x9aa5b3),
                rgb(0x6ea6ff),
                rgb(0x4cc9d6),
                rgb(0x5fd184),
                rgb(0xe8b33c),
                rgb(0xff9d5c),
                rgb(0xff7d73),
                rgb(0xb292ff),
                rgb(0xf585b8),
            ],
            notes: [
                (rgb(0x4a3f17), rgb(0xf9eec4)),
                (rgb(0x1e3557), rgb(0xd9e8ff)),
                (rgb(0x1d3f29), rgb(0xd4f3dc)),
                (rgb(0x4f2338), rgb(0xffdce9)),
                (rgb(0x2d343d), rgb(0xe3e8ee)),
            ],
        }
    }

    /// High contrast: white on black, text at least 7:1 and parts at least 4.5:1.
    pub fn high_contrast() -> Self {
        Self {
            dark: true,
            surface_app: rgb(0x000000),
            surface_panel: rgb(0x000000),
            surface_card: rgb(0x0a0a0a),
            surface_inset: rgb(0x000000),
            surface_raised: rgb(0x0a0a0a),
            hover: rgb(0x1f2a3a),
            pressed: rgb(0x24344d),
            border: rgb(0x8a8a8a),
            border_strong: rgb(0xe0e0e0),
            text: rgb(0xffffff),
            text_muted: rgb(0xe6e6e6),
            text_subtle: rgb(0xd0d0d0),
            accent: rgb(0x8cc2ff),
            accent_hover: rgb(0xb3d7ff),
            accent_text: rgb(0x000000),
            selection: rgb(0x0b3866),
            danger: rgb(0xffa39b),
            warning: rgb(0xffd24a),
            success: rgb(0x7ff0a0),
            status_text: rgb(0x000000),
            focus: rgb(0xffff66),
            canvas: rgb(0x000000),
            canvas_dots: rgb(0x404040),
            edge: rgb(0xd8d8d8),
            containers: [rgb(0x050505), rgb(0x101010), rgb(0x080808)],
            shadow: Color32::from_black_alpha(0),
            accents: [
                rgb(0xd0d0d0),
                rgb(0x8cc2ff),
                rgb(0x6fe6f2),
                rgb(0x7ff0a0),
                rgb(0xffd24a),
                rgb(0xffb27a),
                rgb(0xffa39b),
                rgb(0xcbb5ff),
                rgb(0xffa6d0),
            ],
            notes: [
                (rgb(0x2b2400), rgb(0xffffff)),
                (rgb(0x001f45), rgb(0xffffff)),
                (rgb(0x002a10), rgb(0xffffff)),
                (rgb(0x3d0020), rgb(0xffffff)),
                (rgb(0x242424), rgb(0xffffff)),
            ],
        }
    }

    /// The colour of a family of types.
    pub fn accent(&self, accent: Accent) -> Color32 {
        let place = match accent {
            Accent::Grey => 0,
            Accent::Blue => 1,
            Accent::Teal => 2,
            Accent::Green => 3,
            Accent::Yellow => 4,
            Accent::Orange => 5,
            Accent::Red => 6,
            Accent::Purple => 7,
            Accent::Pink => 8,
        };
        self.accents[place]
    }

    /// The paper and ink colours of a note; an unknown tone is yellow.
    pub fn note_colours(&self, tone: &str) -> (Color32, Color32) {
        let place = match tone {
            "blue" => 1,
            "green" => 2,
            "pink" => 3,
            "grey" => 4,
            _ => 0,
        };
        self.notes[place]
    }

    /// The tones a note can have.
    pub const TONES: [&'static str; 5] = ["yellow", "blue", "green", "pink", "grey"];

    /// The background of an icon: mostly card, tinted with the family's colour.
    pub fn tile(&self, accent: Accent) -> Color32 {
        mix(self.surface_card, self.accent(accent), if self.dark { 0.20 } else { 0.12 })
    }

    /// The fill of a node when zoomed out.
    pub fn block(&self, accent: Accent) -> Color32 {
        mix(self.surface_card, self.accent(accent), 0.45)
    }

    pub fn container_fill(&self, depth: usize) -> Color32 {
        self.containers[depth % self.containers.len()]
    }

    /// Applies the theme to the whole application.
    pub fn apply(&self, ctx: &egui::Context) {
        let theme = if self.dark { egui::Theme::Dark } else { egui::Theme::Light };
        ctx.set_theme(theme);
        ctx.style_mut_of(theme, |style| {
            self.set_visuals(&mut style.visuals);
            let text = |size| FontId::new(size, FontFamily::Proportional);
            style.text_styles = [
                (TextStyle::Small, text(11.5)),
                (TextStyle::Body, text(13.5)),
                (TextStyle::Button, text(13.5)),
                (TextStyle::Heading, text(17.0)),
                (TextStyle::Monospace, FontId::new(12.5, FontFamily::Monospace)),
            ]
            .into();
            let spacing = &mut style.spacing;
            spacing.item_spacing = Vec2::new(8.0, 6.0);
            spacing.button_padding = Vec2::new(10.0, 4.0);
            spacing.interact_size.y = 26.0;
            spacing.window_margin = Margin::same(12);
            spacing.menu_margin = Margin::same(6);
            spacing.indent = 16.0;
            spacing.icon_width = 16.0;
            spacing.tooltip_width = 360.0;
            style.interaction.selectable_labels = false;
            style.interaction.tooltip_delay = 0.4;
        });
    }

    fn set_visuals(&self, visuals: &mut egui::Visuals) {
        let radius = CornerRadius::same(6);
        let widget = |fill, line, text: Color32| WidgetVisuals {
            bg_fill: fill,
            weak_bg_fill: fill,
            bg_stroke: Stroke::new(1.0, line),
            corner_radius: radius,
            fg_stroke: Stroke::new(1.0, text),
            expansion: 0.0,
        };
        visuals.dark_mode = self.dark;
        visuals.widgets = Widgets {
            noninteractive: widget(self.surface_panel, self.border, self.text),
            inactive: widget(self.surface_card, self.border, self.text),
            hovered: widget(self.hover, self.border_strong, self.text),
            active: widget(self.pressed, self.accent, self.text),
            open: widget(self.pressed, self.border_strong, self.text),
        };
        visuals.selection = Selection { bg_fill: self.selection, stroke: Stroke::new(1.0, self.text) };
        visuals.override_text_color = None;
        visuals.weak_text_color = Some(self.text_muted);
        visuals.hyperlink_color = self.accent;
        visuals.faint_bg_color = mix(self.surface_panel, self.text, 0.03);
        visuals.extreme_bg_color = self.surface_inset;
        visuals.text_edit_bg_color = Some(self.surface_inset);
        visuals.code_bg_color = self.hover;
        visuals.warn_fg_color = self.warning;
        visuals.error_fg_color = self.danger;
        visuals.window_corner_radius = CornerRadius::same(10);
        visuals.menu_corner_radius = CornerRadius::same(8);
        visuals.window_fill = self.surface_raised;
        visuals.window_stroke = Stroke::new(1.0, self.border);
        visuals.panel_fill = self.surface_panel;
        let shadow = Shadow { offset: [0, 6], blur: 20, spread: 0, color: self.shadow.gamma_multiply(1.6) };
        visuals.window_shadow = shadow;
        visuals.popup_shadow = shadow;
        visuals.indent_has_left_vline = false;
        visuals.slider_trailing_fill = true;
    }
}

/// Mixes `share` of `b` into `a`; both are opaque.
pub(crate) fn mix(a: Color32, b: Color32, share: f32) -> Color32 {
    let channel = |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * share).round() as u8;
    Color32::from_rgb(channel(a.r(), b.r()), channel(a.g(), b.g()), channel(a.b(), b.b()))
}

#[cfg(test)]
mod tests;
