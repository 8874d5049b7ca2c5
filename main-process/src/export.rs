//! A board as a file: a picture, an SVG or a Markdown document. The canvas draws all of them; no window is needed.

use authority::{Problems, Snapshot};
use canvas::{Camera, Scene, Theme, board_bounds, draw_board, to_markdown, to_svg};
use shared_protocol::{BoardId, Code, Refusal};
use std::{collections::BTreeSet, path::Path};

const MARGIN: f32 = 32.0;
/// Pixels for one unit of the board, when it is not too large for that.
const SCALE: f32 = 2.0;
const MAX_SIDE: f32 = 8_192.0;

/// Draws a board into a file outside or inside the workspace; the ending decides how. Gives the bytes written.
pub(crate) fn export(snapshot: &Snapshot, board: BoardId, path: &Path) -> Result<u64, Refusal> {
    if snapshot.board(board).is_none() {
        return Err(Refusal::new(Code::NotFound, format!("there is no board {board}")).field("board"));
    }
    let theme = Theme::light();
    let (problems, selection) = (Problems::default(), BTreeSet::new());
    let scene =
        Scene { snapshot, board, selection: &selection, problems: &problems, theme: &theme, read_only: true };
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let bytes = match ending.as_deref() {
        Some("png") => picture(&scene)?,
        Some("svg") => to_svg(&scene).into_bytes(),
        Some("md") => to_markdown(snapshot, board).into_bytes(),
        _ => {
            let message = format!("{} does not say what to draw", path.display());
            return Err(
                Refusal::new(Code::BadRequest, message).hint("Use a name that ends in .png, .svg or .md.")
            );
        }
    };
    std::fs::write(path, &bytes).map_err(|error| {
        let message = format!("{} could not be written: {error}", path.display());
        Refusal::new(Code::StorageError, message).hint("Choose another place, or free some space.")
    })?;
    Ok(bytes.len() as u64)
}

fn picture(scene: &Scene<'_>) -> Result<Vec<u8>, Refusal> {
    let failed = |error: rasteriser::RasterError| {
        Refusal::new(Code::Internal, format!("the board was not drawn: {error}"))
    };
    let (width, height) = board_bounds(scene.snapshot, scene.board)
        .map_or((480.0, 320.0), |bounds| (bounds.w as f32 + 2.0 * MARGIN, bounds.h as f32 + 2.0 * MARGIN));
    let shrink = (MAX_SIDE / (width.max(height) * SCALE)).min(1.0);
    let size = egui::vec2(width, height) * shrink;
    let surface = rasteriser::render_ui(size, SCALE, scene.theme.canvas, |ui| {
        let view = egui::Rect::from_min_size(egui::Pos2::ZERO, size);
        if let Some(bounds) = board_bounds(scene.snapshot, scene.board) {
            draw_board(ui.painter(), scene, Camera::fit(bounds, view, MARGIN * shrink));
        }
    });
    surface.and_then(rasteriser::Surface::into_png).map_err(failed)
}
