//! The demo with its tour, and responses for the welcome page.

use super::{Workbench, build_view, dispatch::CommandQueue};
use crate::{
    panels::notices::ToastTone,
    tour::{Tour, TourProgress},
    view::{WelcomeResponse, WindowAction},
    welcome::WelcomePage,
};
use egui::{Context, Rect, pos2, vec2};
use shared_protocol::{
    Refusal,
    requests::{ImportedBoard, OpenedWorkspace, StartDemo, StartedDemo},
};

impl Workbench {
    pub(super) fn start_demo(&mut self) {
        self.tour = Some(Tour::Starting { by_command: self.overlays.welcome.is_none() });
        self.request(StartDemo {}, |result| Some(WindowAction::DemoStarted(result)));
    }

    /// Starts the tour when the demo is open.
    pub(super) fn receive_demo(&mut self, result: Result<StartedDemo, Refusal>) {
        let tour = match result {
            Ok(StartedDemo { shows_tour }) => shows_tour,
            Err(refusal) => {
                self.tour = None;
                return self.refuse_welcome(refusal);
            }
        };
        self.overlays.welcome = None;
        // A restarted demo has the same path but is another workspace.
        self.notices.clear();
        let is_wanted = tour || matches!(self.tour, Some(Tour::Starting { by_command: true }));
        self.tour = is_wanted.then(|| Tour::Going(TourProgress::default()));
    }

    pub(super) fn tour_ui(&mut self, context: &Context) {
        let counts = self.badge_counts();
        let (Some(Tour::Going(steps)), Some(area)) = (&mut self.tour, self.canvas_area) else { return };
        let Some(view) = build_view(&self.replica, &self.session, &self.theme, counts) else { return };
        let area = Rect::from_min_size(pos2(area.x, area.y), vec2(area.w, area.h));
        if !steps.show_ui(context, &view, area) {
            self.tour = None;
        }
    }

    pub(super) fn receive_welcome(&mut self, response: WelcomeResponse, context: &Context) {
        match (response, &mut self.overlays.welcome) {
            (WelcomeResponse::Recents(recents), Some(welcome)) => welcome.receive(recents),
            (WelcomeResponse::Templates(boards), Some(welcome)) => welcome.receive_templates(boards),
            (WelcomeResponse::Recents(_) | WelcomeResponse::Templates(_), None) => {}
            // A workspace was opened or created, so the choice is done.
            (WelcomeResponse::Opened(OpenedWorkspace::Opened), welcome) => *welcome = None,
            (WelcomeResponse::Opened(OpenedWorkspace::NeedsChoice(folder)), welcome) => {
                *welcome = Some(WelcomePage::for_folder(Some(folder)));
            }
            (WelcomeResponse::Imported(imported), _) => {
                self.show_imported_workspace();
                self.receive_import(imported, context);
            }
            (WelcomeResponse::Refused(refusal), _) => self.refuse_welcome(refusal),
        }
    }

    fn refuse_welcome(&mut self, refusal: Refusal) {
        match &mut self.overlays.welcome {
            Some(welcome) => welcome.refuse(refusal),
            None => self.notices.refuse(&refusal),
        }
    }

    pub(super) fn receive_import(&mut self, imported: ImportedBoard, context: &Context) {
        let mut queue = CommandQueue::default();
        let answers = &mut self.session.terraform;
        queue.sender(|commands| self.terraform.receive_import(imported, answers, commands));
        self.execute(queue, context);
    }

    /// An imported folder was opened as its own workspace.
    fn show_imported_workspace(&mut self) {
        self.overlays.welcome = None;
        let root = self.workspace().map_or_else(String::new, |workspace| workspace.root.clone());
        let more = vec![root, "Your Terraform files stay as they are.".to_owned()];
        self.notices.show(ToastTone::Good, "Created a workspace for the imported folder", more);
    }
}
