//! Adding, renaming and removing boards.

use super::{CommandDraft, draft::check_label};
use shared_protocol::{
    Board, BoardKind, BoardName, Change, ElementId, NodeRef, Refusal, RefusalCode, command::BoardRef,
};
use std::sync::Arc;

pub(super) fn add(
    draft: &mut CommandDraft,
    kind: BoardKind,
    title: &str,
    name: Option<&BoardName>,
) -> Result<String, Refusal> {
    let title = check_title(title)?;
    let name = match name {
        Some(name) => name.clone(),
        None => free_name(draft, title, kind),
    };
    let id = draft.new_board_id();
    let board = Board { id, kind, name, title: title.to_owned() };
    check_free(draft, &board)?;
    draft.push(Change::Board { id, before: None, after: Some(Arc::new(board)) })?;
    draft.created.push(ElementId::Board(id));
    Ok(format!("Add board {title}"))
}

pub(super) fn update(
    draft: &mut CommandDraft,
    board: &BoardRef,
    title: Option<&str>,
    name: Option<&BoardName>,
) -> Result<String, Refusal> {
    let before = draft.resolve_board(board)?;
    let mut after = Board::clone(&before);
    if let Some(title) = title {
        after.title = check_title(title)?.to_owned();
    }
    if let Some(name) = name {
        after.name = name.clone();
    }
    let summary = format!("Rename board {} to {}", before.title, after.title);
    if after != *before {
        check_free(draft, &after)?;
        draft.push(Change::Board { id: after.id, before: Some(before), after: Some(Arc::new(after)) })?;
    }
    Ok(summary)
}

pub(super) fn remove(draft: &mut CommandDraft, board: &BoardRef) -> Result<String, Refusal> {
    let board = draft.resolve_board(board)?;
    let roots: Vec<NodeRef> = draft.state.children(board.id, None).map(NodeRef::Id).collect();
    super::remove::remove(draft, &roots, &[])?;
    draft.push(Change::Board { id: board.id, before: Some(board.clone()), after: None })?;
    Ok(format!("Remove board {}", board.title))
}

fn check_title(title: &str) -> Result<&str, Refusal> {
    let title = title.trim();
    if title.is_empty() {
        return Err(Refusal::new(RefusalCode::ValidationError, "a board needs a title").field("title"));
    }
    check_label("title", title)
}

fn check_free(draft: &CommandDraft, board: &Board) -> Result<(), Refusal> {
    match draft.state.board_named(&board.name) {
        Some(other) if other.id != board.id => Err(Refusal::new(
            RefusalCode::ValidationError,
            format!("another board is already named `{}`", board.name),
        )
        .field("name")),
        _ => Ok(()),
    }
}

fn free_name(draft: &CommandDraft, title: &str, kind: BoardKind) -> BoardName {
    let wanted = BoardName::from_words(title).unwrap_or_else(|| BoardName::of_kind(kind));
    let is_free = |name: &BoardName| draft.state.board_named(name).is_none();
    if is_free(&wanted) {
        return wanted;
    }
    let mut number = 2;
    while !is_free(&wanted.numbered(number)) {
        number += 1;
    }
    wanted.numbered(number)
}
