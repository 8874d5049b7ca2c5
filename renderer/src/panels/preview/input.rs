//! Converts pointer and keyboard input over the page to preview events.

use super::{page_id, stage::PageStage};
use egui::{
    Event, EventFilter, IMEPurpose, ImeEvent, Key, PointerButton, Pos2, Response, Role, Sense, Ui, Vec2,
    WidgetInfo, output::IMEOutput,
};
use shared_protocol::{
    preview_sessions::{PreviewSessionStatus, PreviewSessionView},
    preview_wire::{MAX_INPUT_EVENTS, PreviewEditKey, PreviewInputEvent, PreviewMode},
};

#[derive(Debug, Default)]
pub(super) struct PagePointer {
    /// The pointer was over the page.
    inside: bool,
    /// A press on the page has not been released yet.
    pressed: bool,
    /// The page was pressed since it last reported its selection.
    pub(super) picks: bool,
    /// The page takes keyboard input.
    pub(super) types: bool,
}

#[derive(Debug, Default)]
pub(super) struct PageInput {
    pub(super) events: Vec<PreviewInputEvent>,
    /// The pointer position in points of the page.
    pub(super) hovered: Option<Pos2>,
}

pub(super) fn page_ui(
    ui: &mut Ui,
    session: &PreviewSessionView,
    stage: PageStage,
    pointer: &mut PagePointer,
) -> PageInput {
    let response = ui.interact(stage.rect, page_id(), Sense::click_and_drag());
    let name = format!("Preview of {}", session.title);
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &name));
    let live = matches!(session.state, PreviewSessionStatus::Ready | PreviewSessionStatus::Reloading);
    pointer.types = session.mode == PreviewMode::Interact && live;
    let mut heard = PageInput::default();
    if !live {
        (pointer.inside, pointer.pressed) = (false, false);
        return heard;
    }
    move_ui(ui, &response, stage, pointer, &mut heard);
    scroll_ui(ui, &response, stage, &mut heard);
    if session.mode == PreviewMode::Inspect {
        if response.hovered() {
            ui.ctx().set_cursor_icon(egui::CursorIcon::Crosshair);
        }
    } else if response.has_focus() {
        type_ui(ui, &response, &mut heard);
    }
    heard.events.truncate(MAX_INPUT_EVENTS);
    heard
}

fn move_ui(ui: &Ui, response: &Response, stage: PageStage, pointer: &mut PagePointer, heard: &mut PageInput) {
    let over = response.contains_pointer() || pointer.pressed;
    // The caret position is known only to the page, so an input method composes beside it.
    let ime = IMEOutput {
        purpose: IMEPurpose::Normal,
        rect: response.rect,
        cursor_rect: response.rect,
        should_interrupt_composition: false,
    };
    ui.output_mut(|output| output.ime = Some(ime));
    let events: Vec<Event> = ui.input(|input| input.events.clone());
    for event in events {
        match event {
            Event::PointerMoved(at) if over => {
                let Pos2 { x, y } = stage.to_page(at);
                // Only the last position of a frame is sent.
                if matches!(heard.events.last(), Some(PreviewInputEvent::Move { .. })) {
                    heard.events.pop();
                }
                heard.events.push(PreviewInputEvent::Move { x, y });
            }
            Event::PointerButton { pos, button: PointerButton::Primary, pressed, .. } => {
                let Pos2 { x, y } = stage.to_page(pos);
                if pressed && response.contains_pointer() && stage.rect.contains(pos) {
                    (pointer.pressed, pointer.picks) = (true, true);
                    response.request_focus();
                    heard.events.push(PreviewInputEvent::Press { x, y });
                } else if !pressed && std::mem::take(&mut pointer.pressed) {
                    heard.events.push(PreviewInputEvent::Release { x, y });
                }
            }
            _ => {}
        }
    }
    let inside = response.contains_pointer();
    if inside {
        heard.hovered = ui.input(|input| input.pointer.latest_pos()).map(|at| stage.to_page(at));
    }
    if pointer.inside && !inside && !pointer.pressed {
        heard.events.push(PreviewInputEvent::Leave);
    }
    pointer.inside = inside;
}

/// Scrolls the page and not the panel around it.
fn scroll_ui(ui: &Ui, response: &Response, stage: PageStage, heard: &mut PageInput) {
    if !response.contains_pointer() {
        return;
    }
    let by = ui.input_mut(|input| std::mem::replace(&mut input.smooth_scroll_delta, Vec2::ZERO));
    if by.y != 0.0 {
        let scale = stage.size.y / stage.rect.height().max(1.0);
        heard.events.push(PreviewInputEvent::Scroll { dy: -by.y * scale });
    }
}

/// Sends keys to the focused page. Esc also releases the focus.
fn type_ui(ui: &Ui, response: &Response, heard: &mut PageInput) {
    let filter = EventFilter { tab: true, horizontal_arrows: true, vertical_arrows: true, escape: true };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let events: Vec<Event> = ui.input(|input| input.events.clone());
    for event in events {
        let event = match event {
            Event::Text(text) | Event::Paste(text) | Event::Ime(ImeEvent::Commit(text)) => {
                PreviewInputEvent::Type { text }
            }
            Event::Key { key, pressed: true, modifiers, .. } => {
                let key = match key {
                    Key::Backspace => PreviewEditKey::Backspace,
                    Key::Delete => PreviewEditKey::Delete,
                    Key::ArrowLeft if modifiers.shift => PreviewEditKey::SelectLeft,
                    Key::ArrowLeft => PreviewEditKey::Left,
                    Key::ArrowRight if modifiers.shift => PreviewEditKey::SelectRight,
                    Key::ArrowRight => PreviewEditKey::Right,
                    Key::ArrowUp => PreviewEditKey::Up,
                    Key::ArrowDown => PreviewEditKey::Down,
                    Key::Home if modifiers.shift => PreviewEditKey::SelectHome,
                    Key::Home => PreviewEditKey::Home,
                    Key::End if modifiers.shift => PreviewEditKey::SelectEnd,
                    Key::End => PreviewEditKey::End,
                    Key::A if modifiers.command => PreviewEditKey::SelectAll,
                    Key::Enter => PreviewEditKey::Enter,
                    Key::Tab if modifiers.shift => PreviewEditKey::BackTab,
                    Key::Tab => PreviewEditKey::Tab,
                    Key::Escape => {
                        response.surrender_focus();
                        PreviewEditKey::Escape
                    }
                    _ => continue,
                };
                PreviewInputEvent::Key { key }
            }
            _ => continue,
        };
        heard.events.push(event);
    }
}
