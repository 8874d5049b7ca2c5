//! Maps keys to commands. A focused text field keeps its keys; so does a popup or a modal.

use super::{Workbench, dispatch::CommandQueue};
use crate::{
    commands::{COMMANDS, CommandFacts, CommandId, consume_presses},
    panel_id::PanelId,
    view::WindowAction,
};
use egui::{Context, Event, FocusDirection};

impl Workbench {
    pub(super) fn keys(&mut self, context: &Context, queue: &mut CommandQueue) {
        let mut actions = Vec::new();
        let pasted = self.pressed_keys(context, &mut actions);
        actions.into_iter().for_each(|action| queue.act(action));
        for text in pasted {
            self.paste(&text);
        }
    }

    /// Pushes the commands whose keys were pressed, and returns texts that were pasted.
    fn pressed_keys(&self, context: &Context, actions: &mut Vec<WindowAction>) -> Vec<String> {
        // A drag in progress takes all keys.
        let dragging = context.input(|input| input.pointer.any_down());
        if self.has_popup() || dragging || egui::Popup::is_any_open(context) {
            return Vec::new();
        }
        // An unchanged inspector field does not count as typing.
        // A preview page keeps the keys typed into it.
        let in_preview = self.panels.preview.has_keyboard(context);
        let typing = in_preview || context.text_edit_focused() && !self.inspector.has_clean_focus(context);
        let in_field = in_preview || context.text_edit_focused();
        // Tab and arrow keys move between widgets while one has the keyboard.
        let on_widget = context.memory(|memory| memory.focused()).is_some();
        let facts = CommandFacts::from_view(self.view().as_ref());
        let board_in_front = self.dock.is_in_front(PanelId::Canvas);
        let mut pasted = Vec::new();
        context.input_mut(|input| {
            for def in COMMANDS {
                let belongs_to_widget = match def.id {
                    CommandId::Undo | CommandId::Redo => typing,
                    CommandId::Nudge(..)
                    | CommandId::QuickAdd
                    | CommandId::EnterContainer
                    | CommandId::ReviewDecide
                    | CommandId::LeaveContainer => on_widget,
                    CommandId::Deselect => on_widget || self.had_focus,
                    _ => in_field && !def.while_typing,
                };
                // Commands do not change the selection of a hidden board.
                let hidden = !board_in_front && def.needs.is_about_board();
                if belongs_to_widget || hidden || !def.is_enabled(&facts) {
                    continue;
                }
                let times: usize =
                    def.keys.iter().map(|keys| consume_presses(&mut input.events, *keys)).sum();
                // Only nudges repeat; other commands run once per frame.
                let times = if matches!(def.id, CommandId::Nudge(..)) { times } else { times.min(1) };
                actions.extend(std::iter::repeat_n(WindowAction::Do(def.id), times));
            }
            if !in_field && board_in_front {
                take_clipboard_events(&mut input.events, &facts, actions, &mut pasted);
            }
        });
        if actions.iter().any(|action| matches!(action, WindowAction::Do(CommandId::QuickAdd))) {
            // The same key would move the focus to the first widget.
            context.memory_mut(|memory| memory.move_focus(FocusDirection::None));
        }
        pasted
    }
}

/// The window system turns Ctrl+C, X and V into separate events.
fn take_clipboard_events(
    events: &mut Vec<Event>,
    facts: &CommandFacts<'_>,
    actions: &mut Vec<WindowAction>,
    pasted: &mut Vec<String>,
) {
    let enabled = |id| crate::commands::find(id).is_some_and(|def| def.is_enabled(facts));
    events.retain(|event| match event {
        Event::Copy if enabled(CommandId::Copy) => {
            actions.push(WindowAction::Do(CommandId::Copy));
            false
        }
        Event::Cut if enabled(CommandId::Cut) => {
            actions.push(WindowAction::Do(CommandId::Cut));
            false
        }
        Event::Paste(text) if enabled(CommandId::Paste) => {
            pasted.push(text.clone());
            false
        }
        _ => true,
    });
}
