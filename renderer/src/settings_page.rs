//! The settings page: searchable window settings that take effect immediately.

use crate::{
    agents::{
        approvals::ApprovalsSection,
        settings::{self as agents, McpSettingsSection},
    },
    picker::rank,
    saved_state::{PointerStyle, ThemeChoice, UI_SCALES_PERCENT, WindowSettings},
    view::{ActionQueue, FrameView},
    widgets::{muted_ui, page_modal_ui, search_field_ui},
};
use canvas::theme::WorkbenchTheme;
use egui::{Context, RichText, Ui};
use shared_protocol::mcp::McpView;

#[derive(Debug, Default)]
pub(crate) struct SettingsPage {
    query: String,
    mcp: McpSettingsSection,
    approvals: ApprovalsSection,
    shown_before: bool,
}

const APPROVAL_KEYWORDS: &str = "agents review proposals accept grant revoke unattended scripts";

/// One setting: its title, description, search keywords and control.
#[derive(Clone, Copy)]
struct SettingDef {
    title: &'static str,
    text: &'static str,
    words: &'static str,
    control: fn(&mut Ui, &mut WindowSettings),
}

const SETTINGS: [SettingDef; 5] = [
    SettingDef {
        title: "Theme",
        text: "Light, dark, high contrast, or the system theme.",
        words: "appearance colours night day",
        control: theme_ui,
    },
    SettingDef {
        title: "UI scale",
        text: "The size of the whole interface. Board zoom is separate.",
        words: "size font zoom interface dpi",
        control: scale_ui,
    },
    SettingDef {
        title: "Reduced motion",
        text: "Turns off the animation of panels and views.",
        words: "animation accessibility",
        control: |ui, settings| drop(ui.checkbox(&mut settings.reduced_motion, "Reduce motion")),
    },
    SettingDef {
        title: "Pointer",
        text: "Design tool: scroll to pan, drag on empty space to select. Map: scroll to zoom, drag to pan, Shift+drag to select.",
        words: "mouse wheel scroll zoom pan marquee trackpad",
        control: pointer_ui,
    },
    SettingDef {
        title: "Minimap",
        text: "An overview in the corner of the board, shown when part of the board is out of view.",
        words: "overview canvas",
        control: |ui, settings| drop(ui.checkbox(&mut settings.minimap, "Show the minimap")),
    },
];

impl SettingsPage {
    /// Returns `false` when the page closes.
    pub(crate) fn show_ui(
        &mut self,
        context: &Context,
        theme: &WorkbenchTheme,
        settings: &mut WindowSettings,
        mcp: &McpView,
        view: Option<&FrameView<'_>>,
        actions: &ActionQueue,
    ) -> bool {
        page_modal_ui(context, "settings", 520.0, |ui| {
            ui.label(RichText::new("Settings").heading());
            ui.add_space(8.0);
            let field = search_field_ui(ui, theme, &mut self.query, "Search settings", "Search settings");
            if !std::mem::replace(&mut self.shown_before, true) {
                field.request_focus();
            }
            ui.add_space(8.0);
            let height = (context.content_rect().height() - 170.0).max(90.0);
            egui::ScrollArea::vertical()
                .max_height(height)
                .min_scrolled_height(height)
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    let mut found = 0;
                    for setting in SETTINGS {
                        let more = format!("{} {}", setting.text, setting.words);
                        if rank(&self.query, setting.title, &more).is_some() {
                            setting_ui(ui, theme, setting, settings);
                            found += 1;
                        }
                    }
                    if rank(&self.query, "MCP server", agents::SEARCH_KEYWORDS).is_some() {
                        self.mcp.show_ui(ui, theme, mcp, actions);
                        found += 1;
                    }
                    if let Some(view) =
                        view.filter(|_| rank(&self.query, "Standing approvals", APPROVAL_KEYWORDS).is_some())
                    {
                        self.approvals.show_ui(ui, view);
                        found += 1;
                    }
                    if found == 0 {
                        muted_ui(ui, theme, "No matching settings. Try another search.");
                    }
                });
            ui.add_space(8.0);
            ui.horizontal(|ui| {
                let close = ui.button("Close").clicked();
                let changed = *settings != WindowSettings::default();
                if ui.add_enabled(changed, egui::Button::new("Reset all")).clicked() {
                    *settings = WindowSettings::default();
                }
                !close
            })
            .inner
        })
    }
}

fn setting_ui(ui: &mut Ui, theme: &WorkbenchTheme, setting: SettingDef, settings: &mut WindowSettings) {
    ui.push_id(setting.title, |ui| {
        ui.add_space(4.0);
        ui.label(setting.title);
        muted_ui(ui, theme, setting.text);
        ui.add_space(2.0);
        (setting.control)(ui, settings);
        ui.add_space(8.0);
    });
}

fn theme_ui(ui: &mut Ui, settings: &mut WindowSettings) {
    ui.horizontal_wrapped(|ui| {
        let choices = [
            (ThemeChoice::System, "System"),
            (ThemeChoice::Light, "Light"),
            (ThemeChoice::Dark, "Dark"),
            (ThemeChoice::HighContrast, "High contrast"),
        ];
        for (choice, word) in choices {
            ui.selectable_value(&mut settings.theme, choice, word).on_hover_text(format!("{word} theme"));
        }
    });
}

/// Offers fixed steps instead of a slider, which would move under the pointer while the scale changes.
fn scale_ui(ui: &mut Ui, settings: &mut WindowSettings) {
    ui.horizontal_wrapped(|ui| {
        for scale in UI_SCALES_PERCENT {
            ui.selectable_value(&mut settings.scale, scale, format!("{scale} %"));
        }
    });
}

fn pointer_ui(ui: &mut Ui, settings: &mut WindowSettings) {
    ui.horizontal_wrapped(|ui| {
        for (style, word) in [(PointerStyle::Design, "Design tool"), (PointerStyle::Map, "Map")] {
            ui.selectable_value(&mut settings.pointer, style, word);
        }
    });
}
