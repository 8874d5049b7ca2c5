//! Performs actions on specs and handles their responses.

use super::{Workbench, dispatch::WindowCommand};
use crate::{
    commands::CommandId as Id,
    dialogs::ModalDialog,
    panel_id::PanelId,
    panels::notices::ToastTone,
    specs::{NewEntityPicker, SpecOutcome},
    view::{SpecAction, SpecPage, WindowAction, entity_of, entity_of_node, node_of},
};
use egui::Context;
use shared_protocol::{ElementId, NodeId, bundle::EntityRef, requests::DrawMap};

/// The default depth of a map.
const REACH: u32 = 2;

impl Workbench {
    pub(super) fn perform_spec(&mut self, action: SpecAction, context: &Context) {
        match action {
            SpecAction::Receive { workspace, response } => {
                let outcome = self.panels.specs.receive(workspace, *response);
                self.perform_outcome(outcome, context);
            }
            SpecAction::Open(page) => self.open_page(page),
            SpecAction::OpenAt(entity, field) => {
                self.open_page(SpecPage::Entity(entity));
                if let Some(field) = field {
                    self.panels.specs.go_to(&field);
                }
            }
            SpecAction::Close(page) => self.close_page(&page),
            SpecAction::Edit(entity) => self.panels.specs.edit(&entity),
            SpecAction::Save => self.save_page(),
            SpecAction::AskDelete(entity) => self.confirm_delete(entity),
            SpecAction::Delete(entity) => {
                self.panels.specs.delete(&entity);
                self.send_spec_requests();
            }
            SpecAction::AskMap(bundle, around) => {
                self.dialogs.open(ModalDialog::DrawMap { bundle, around, depth: REACH });
            }
            SpecAction::DrawMap { bundle, around, depth } => self.draw_map(bundle, around, depth),
            SpecAction::ShowOnMap(entity) => self.show_on_map(entity, context),
        }
    }

    pub(super) fn run_spec_command(&mut self, id: Id, context: &Context) {
        match id {
            Id::SpecBack => {
                self.session.history.go_back();
                self.handle_navigation();
            }
            Id::SpecForward => {
                self.session.history.forward();
                self.handle_navigation();
            }
            _ => {}
        }
        let Some(view) = self.view() else { return };
        let open = view.history.current().and_then(SpecPage::entity).cloned();
        let bundle = self.panels.specs.bundle(&view);
        let action = match (id, open, bundle) {
            (Id::NewEntity, _, Some(bundle)) => {
                self.overlays.new_entity = Some(NewEntityPicker::new(bundle));
                return;
            }
            (Id::OpenEntity, ..) => entity_of(&view).map(|entity| SpecAction::Open(SpecPage::Entity(entity))),
            (Id::EditEntity, Some(entity), _) => Some(SpecAction::Edit(entity)),
            (Id::DeleteEntity, Some(entity), _) => Some(SpecAction::AskDelete(entity)),
            (Id::ShowOnMap, Some(entity), _) => Some(SpecAction::ShowOnMap(entity)),
            (Id::DrawMap, open, Some(bundle)) => Some(SpecAction::AskMap(bundle.id.clone(), open)),
            (Id::Coverage, _, Some(bundle)) => Some(SpecAction::Open(SpecPage::Coverage(bundle.id.clone()))),
            (Id::Knowledge, _, Some(bundle)) => {
                // The current bundle, or the first one with knowledge.
                let all = std::iter::once(bundle).chain(&view.bundles.bundles);
                let with = all.into_iter().find(|bundle| bundle.has_knowledge);
                with.map(|bundle| SpecAction::Open(SpecPage::Knowledge(bundle.id.clone())))
            }
            _ => None,
        };
        if let Some(action) = action {
            if matches!(action, SpecAction::Edit(_)) {
                self.dock.show(PanelId::Reader);
            }
            self.perform_spec(action, context);
        }
    }

    fn perform_outcome(&mut self, outcome: SpecOutcome, context: &Context) {
        match outcome {
            SpecOutcome::Nothing => {}
            SpecOutcome::Refused(refusal) => self.notices.refuse(&refusal),
            SpecOutcome::ShowBoard(board) => {
                self.perform(WindowAction::SelectCreated(vec![ElementId::Board(board)]), context);
                self.show_canvas();
            }
            SpecOutcome::Made(page, entity) => {
                let id = entity.id.clone();
                if self.session.history.current() == Some(&page) {
                    self.session.history.replace(SpecPage::Entity(entity));
                } else {
                    self.session.history.remove(&page);
                }
                self.handle_navigation();
                self.notices.show(ToastTone::Good, format!("Created {id}"), Vec::new());
            }
            SpecOutcome::Deleted(entity) => {
                let more = vec!["Undo restores it.".to_owned()];
                self.notices.show(ToastTone::Good, format!("Deleted {}", entity.id), more);
                self.close_page(&SpecPage::Entity(entity));
            }
        }
    }

    /// Opens the entity of a node, or shows the node in the inspector.
    pub(super) fn open_node(&self, node: NodeId) -> WindowAction {
        let entity = self.workspace().and_then(|workspace| entity_of_node(workspace.snapshot.node(node)?));
        match entity {
            Some(entity) => WindowAction::Spec(SpecAction::Open(SpecPage::Entity(entity))),
            None => WindowAction::ShowPanel(PanelId::Inspector),
        }
    }

    fn open_page(&mut self, page: SpecPage) {
        self.session.history.open(page);
        self.handle_navigation();
    }

    fn handle_navigation(&mut self) {
        self.panels.specs.handle_navigation(self.session.history.current());
        self.dock.show(PanelId::Reader);
    }

    fn close_page(&mut self, page: &SpecPage) {
        self.session.history.remove(page);
        self.panels.specs.handle_navigation(self.session.history.current());
        if self.session.history.current().is_none() {
            self.dock.close(PanelId::Reader);
        }
    }

    /// Saves the page in front.
    pub(super) fn save_page(&mut self) {
        let Some(page) = self.session.history.current().cloned() else { return };
        self.panels.specs.save(&page);
        self.send_spec_requests();
    }

    fn confirm_delete(&mut self, entity: EntityRef) {
        let referrers = self.panels.specs.referrers(&entity);
        self.dialogs.open(ModalDialog::DeleteEntity { entity, referrers });
    }

    fn draw_map(&mut self, bundle: String, around: Option<EntityRef>, depth: u32) {
        self.panels.specs.draw_map(DrawMap { bundle, around, depth });
        self.send_spec_requests();
    }

    fn show_on_map(&mut self, entity: EntityRef, context: &Context) {
        let Some(view) = self.view() else { return };
        match node_of(view.snapshot, view.board, &entity) {
            Some(node) => self.perform(WindowAction::Reveal(ElementId::Node(node)), context),
            None => self.draw_map(entity.bundle.clone(), Some(entity), REACH),
        }
    }

    pub(super) fn send_spec_requests(&mut self) {
        for request in std::mem::take(&mut self.panels.specs.answers.unsent) {
            self.send(request.map(WindowCommand::Action));
        }
    }
}
