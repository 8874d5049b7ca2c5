//! What the window remembers of itself, and what its settings do.

use super::Workbench;
use crate::{
    dock::Dock,
    remembered::{Remembered, ThemeChoice},
};
use canvas::theme::Theme;
use egui::{Context, ThemePreference};

impl Workbench {
    /// Takes over what was remembered for this workspace.
    pub(super) fn restore(&mut self, text: &str, context: &Context) {
        let remembered = Remembered::from_text(text);
        self.dock = Dock::of(remembered.layout.clone());
        self.settings = remembered.settings.clone();
        self.remembered = remembered;
        self.apply_settings(context);
    }

    pub(super) fn apply_settings(&self, context: &Context) {
        let settings = &self.settings;
        for theme in [Theme::light(), self.dark_theme()] {
            theme.apply(context);
        }
        context.set_theme(ThemePreference::from(settings.theme));
        context.set_zoom_factor(f32::from(settings.scale) / 100.0);
        let moving = egui::Style::default();
        context.all_styles_mut(|style| {
            if settings.reduced_motion {
                style.animation_time = 0.0;
                style.scroll_animation = egui::style::ScrollAnimation::none();
            } else {
                style.animation_time = moving.animation_time;
                style.scroll_animation = moving.scroll_animation;
            }
        });
    }

    /// What stands for dark: the usual one, or the one for those who need more contrast.
    pub(super) fn dark_theme(&self) -> Theme {
        if self.settings.theme == ThemeChoice::HighContrast { Theme::high_contrast() } else { Theme::dark() }
    }

    /// Tells main, in a moment, when something that is remembered has changed.
    pub(super) fn remember(&mut self, context: &Context) {
        if self.replica.workspace().is_none() {
            return;
        }
        let known = &self.remembered;
        if known.settings == self.settings && known.layout == *self.dock.place() {
            return;
        }
        if known.settings != self.settings {
            self.apply_settings(context);
        }
        self.remembered = Remembered { settings: self.settings.clone(), layout: self.dock.place().clone() };
        self.presence_changed(context);
    }
}
