//! The demo with its tour, and the result of importing a folder.

use super::{Workbench, build_view};
use crate::{
    panels::notices::ToastTone,
    tour::{Tour, TourProgress},
    view::WindowAction,
};
use egui::{Context, Rect, pos2, vec2};

impl Workbench {
    /// Starts the tour when the demo is open.
    pub(super) fn demo_started(&mut self, tour: bool) {
        self.overlays.welcome = None;
        // A restarted demo has the same path but is another workspace.
        self.notices.clear();
        let is_wanted = tour || matches!(self.tour, Some(Tour::Starting { by_command: true }));
        self.tour = is_wanted.then(|| Tour::Going(TourProgress::default()));
    }

    pub(super) fn tour_ui(&mut self, context: &Context, actions: &mut Vec<WindowAction>) {
        let counts = self.badge_counts();
        let (Some(Tour::Going(steps)), Some(area)) = (&mut self.tour, self.canvas_area) else { return };
        let Some(view) = build_view(&self.replica, &self.session, &self.theme, counts) else { return };
        let area = Rect::from_min_size(pos2(area.x, area.y), vec2(area.w, area.h));
        if !steps.show_ui(context, &view, area, actions) {
            self.tour = None;
        }
    }

    /// An imported folder was opened as its own workspace.
    pub(super) fn imported_workspace(&mut self) {
        self.overlays.welcome = None;
        let root = self.workspace().map_or_else(String::new, |workspace| workspace.root.clone());
        let more = vec![root, "Your Terraform files stay as they are.".to_owned()];
        self.notices.show(ToastTone::Good, "Created a workspace for the imported folder", more);
    }
}
