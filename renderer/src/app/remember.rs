//! Restores and saves the layout, and applies the settings.

use super::Workbench;
use crate::{
    dock::Dock,
    saved_state::{ThemeChoice, WindowSettings, layout_from_text},
};
use canvas::theme::WorkbenchTheme;
use egui::{Context, ThemePreference};
use shared_protocol::messages::Presence;

impl Workbench {
    /// Restores the panels of this workspace, and the user's settings unless they were changed in this window.
    pub(super) fn restore(&mut self, presence: &Presence, context: &Context) {
        self.sent_layout = layout_from_text(&presence.window);
        self.dock = Dock::from_layout(self.sent_layout.clone());
        if !self.has_changed_settings {
            self.settings = WindowSettings::from_text(&presence.settings);
            self.sent_settings = self.settings.clone();
        }
        self.apply_settings(context);
    }

    pub(super) fn apply_settings(&self, context: &Context) {
        let settings = &self.settings;
        for theme in [WorkbenchTheme::light(), self.dark_theme()] {
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

    /// The dark theme, with high contrast if that is chosen.
    pub(super) fn dark_theme(&self) -> WorkbenchTheme {
        if self.settings.theme == ThemeChoice::HighContrast {
            WorkbenchTheme::high_contrast()
        } else {
            WorkbenchTheme::dark()
        }
    }

    /// Schedules a presence update when the layout or the settings have changed.
    pub(super) fn schedule_presence_if_changed(&mut self, context: &Context) {
        if self.replica.workspace().is_none() {
            return;
        }
        if self.sent_settings != self.settings {
            self.sent_settings = self.settings.clone();
            self.has_changed_settings = true;
            self.apply_settings(context);
        } else if self.sent_layout == *self.dock.place() {
            return;
        }
        self.sent_layout = self.dock.place().clone();
        self.presence_changed(context);
    }
}
