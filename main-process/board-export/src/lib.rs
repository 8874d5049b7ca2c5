//! A board as a file: a picture, an SVG or a Markdown document. The canvas draws all of them; no window is needed.
//!
//! Must not know: the workspace, the writer, who asks.

use authority::{ProblemIndex, Snapshot};
use canvas::{
    BoardScene, Camera, CanvasProposal, MIN_ZOOM, ProposalLayer, ProposedBoard, WorkbenchTheme, board_bounds,
    draw_board, to_markdown, to_svg,
};
use mcp_server::{BoardImageRequest, BoardImageSubject};
use safe_fs::PathProblem;
use shared_protocol::{BoardId, ElementId, Placement, Refusal, RefusalCode};
use std::{collections::BTreeSet, io::Write as _, path::Path, sync::Arc};
use system_fonts::FallbackFonts;

const MARGIN: f32 = 32.0;
/// Pixels for one unit of the board, when it is not too large for that.
const SCALE: f32 = 2.0;
const MAX_SIDE: f32 = 8_192.0;
/// The margin around the elements of a picture for an agent, in board units.
const AROUND: i32 = 80;

/// How often a picture is drawn again with fonts that it lacked.
const MAX_FONT_PASSES: usize = 3;

/// Draws a board into a file outside or inside the workspace; the ending decides how. Gives the bytes written.
pub fn export(snapshot: &Snapshot, board: BoardId, path: &Path) -> Result<u64, Refusal> {
    if snapshot.board(board).is_none() {
        return Err(Refusal::new(RefusalCode::NotFound, format!("there is no board {board}")).field("board"));
    }
    let theme = WorkbenchTheme::light();
    let (problems, selection) = (ProblemIndex::default(), BTreeSet::new());
    let scene = BoardScene {
        snapshot,
        board,
        selection: &selection,
        problems: &problems,
        theme: &theme,
        read_only: true,
    };
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let bytes = match ending.as_deref() {
        Some("png") => picture(&scene)?,
        Some("svg") => to_svg(&scene).into_bytes(),
        Some("md") => to_markdown(snapshot, board).into_bytes(),
        _ => {
            let message = format!("{} has no known file extension", path.display());
            return Err(Refusal::new(RefusalCode::BadRequest, message)
                .hint("Use a file name that ends in .png, .svg or .md."));
        }
    };
    safe_fs::replace_at(path, |file| Ok(file.write_all(&bytes)?)).map_err(|problem: PathProblem| {
        let message = format!("{} could not be written: {problem}", path.display());
        Refusal::new(RefusalCode::StorageError, message)
    })?;
    Ok(bytes.len() as u64)
}

fn picture(scene: &BoardScene<'_>) -> Result<Vec<u8>, Refusal> {
    draw(scene, board_bounds(scene.snapshot, scene.board), MAX_SIDE, None)
}

/// A picture as an agent asked for it: the whole board, some elements with what is around them, or what a proposal would
/// change, drawn as a reviewer sees it.
pub fn picture_for_agents(snapshot: &Snapshot, picture: &BoardImageRequest) -> Result<Vec<u8>, Refusal> {
    let theme = if picture.dark { WorkbenchTheme::dark() } else { WorkbenchTheme::light() };
    let (problems, selection) = (ProblemIndex::default(), picture.selection.iter().copied().collect());
    let scene = BoardScene {
        snapshot,
        board: picture.board,
        selection: &selection,
        problems: &problems,
        theme: &theme,
        read_only: true,
    };
    let mut proposal = None;
    let bounds = match &picture.subject {
        BoardImageSubject::Proposal { after, elements } => {
            let board = ProposedBoard::build(snapshot, after, picture.board, elements, 1);
            let chosen = elements.iter().map(|element| element.subject.clone()).collect();
            let shown = CanvasProposal {
                board: Arc::new(board),
                selected: Arc::new(chosen),
                focus: None,
                layer: ProposalLayer::Over,
            };
            proposal.insert(shown).board.bounds().map(|touched| touched.expand(AROUND))
        }
        // A page is drawn by a preview; here it is a box on its board.
        BoardImageSubject::Board | BoardImageSubject::Page(_) => board_bounds(snapshot, picture.board),
        BoardImageSubject::Elements(elements) => {
            let around =
                elements.iter().flat_map(|element| places(snapshot, *element)).reduce(Placement::union);
            let nothing = || Refusal::new(RefusalCode::NotFound, "none of these elements is on a board");
            Some(around.ok_or_else(nothing)?.expand(AROUND))
        }
    };
    draw(&scene, bounds, picture.longest as f32, proposal.as_ref())
}

fn places(snapshot: &Snapshot, element: ElementId) -> Vec<Placement> {
    let nodes = match element {
        ElementId::Node(node) => vec![node],
        ElementId::Edge(edge) => {
            snapshot.edge(edge).map(|edge| vec![edge.source.node, edge.target.node]).unwrap_or_default()
        }
        ElementId::Board(board) => return board_bounds(snapshot, board).into_iter().collect(),
    };
    nodes.into_iter().filter_map(|node| snapshot.absolute_placement(node)).collect()
}

fn draw(
    scene: &BoardScene<'_>,
    bounds: Option<Placement>,
    longest: f32,
    proposal: Option<&CanvasProposal>,
) -> Result<Vec<u8>, Refusal> {
    let failed = |error: rasteriser::RasterError| {
        Refusal::new(RefusalCode::Internal, format!("the board could not be drawn: {error}"))
    };
    let (width, height) = bounds
        .map_or((480.0, 320.0), |bounds| (bounds.w as f32 + 2.0 * MARGIN, bounds.h as f32 + 2.0 * MARGIN));
    let shrink = (longest / (width.max(height) * SCALE)).min(1.0);
    if shrink < MIN_ZOOM {
        let message = format!("the board is {width} × {height}, which is too large for an image");
        return Err(
            Refusal::new(RefusalCode::LimitExceeded, message).hint("Use a name that ends in .svg or .md.")
        );
    }
    let size = egui::vec2(width, height) * shrink;
    let fallback = FallbackFonts::default();
    let render = || {
        let context = egui::Context::default();
        context.set_font_providers(vec![fallback.provider()]);
        rasteriser::render_ui_in(&context, size, SCALE, scene.theme.canvas, |ui| {
            let view = egui::Rect::from_min_size(egui::Pos2::ZERO, size);
            if let Some(bounds) = bounds {
                draw_board(ui.painter(), scene, Camera::fit(bounds, view, MARGIN * shrink), proposal);
            }
        })
    };
    let mut surface = render();
    // Drawing shows which characters the bundled fonts lack; with fonts of the system it is drawn again.
    for _ in 0..MAX_FONT_PASSES {
        if !fallback.load_wanted() {
            break;
        }
        surface = render();
    }
    surface.and_then(rasteriser::PixelSurface::into_png).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use authority::{TypeRegistry, decide};
    use std::collections::BTreeMap;

    fn board_with(commands: &[&str]) -> Snapshot {
        let registry = TypeRegistry::compose(&catalogue::built_in(), &BTreeMap::new());
        let mut snapshot = Snapshot::new(Arc::new(registry));
        for (seed, command) in commands.iter().enumerate() {
            let command = serde_json::from_str(command).unwrap();
            let decision = decide(&snapshot, &command, seed as u64).unwrap();
            snapshot.apply(snapshot.revision().next(), &decision.changes).unwrap();
        }
        snapshot
    }

    #[test]
    fn a_proposal_is_drawn_over_the_board_as_it_is() {
        use authority::proposals::{CallingClient, DraftSelector, ReviewQueue, open};
        let snapshot = board_with(&[
            r#"{"addBoard":{"kind":"infrastructure","title":"Main"}}"#,
            r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket","name":"stays","at":{"x":0,"y":0}}}"#,
            r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket","name":"goes","at":{"x":300,"y":0}}}"#,
        ]);
        let proposer = shared_protocol::proposal::Proposer {
            key: "k".to_owned(),
            name: "a".to_owned(),
            version: String::new(),
        };
        let client = CallingClient { proposer, connected: true, inherited_key: None };
        let mut queue = ReviewQueue::default();
        let mut drafted = None;
        for (seed, command) in [
            r#"{"remove":{"nodes":["main/goes"]}}"#,
            r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket","name":"comes","at":{"x":600,"y":0}}}"#,
        ]
        .into_iter()
        .enumerate()
        {
            let command = serde_json::from_str(command).unwrap();
            drafted = Some(queue.propose(&snapshot, &client, DraftSelector::Current, &command, (1, 100 + seed as u64)).unwrap());
        }
        let drafted = drafted.unwrap();
        let elements = open(&queue, &snapshot, &drafted.proposal, 0).unwrap().elements;
        let board = snapshot.boards().next().unwrap().id;
        let draw = |snapshot: &Snapshot, of: BoardImageSubject| {
            let picture =
                BoardImageRequest { board, subject: of, selection: Vec::new(), longest: 600, dark: false };
            let png = picture_for_agents(snapshot, &picture).unwrap();
            assert!(png.starts_with(b"\x89PNG"));
            png
        };
        let after = Box::new(drafted.state.clone());
        let over =
            draw(&snapshot, BoardImageSubject::Proposal { after: after.clone(), elements: elements.clone() });
        assert_eq!(
            over,
            draw(&snapshot, BoardImageSubject::Proposal { after: after.clone(), elements: elements.clone() })
        );
        // Neither the board as it is, nor as it would be, nor one of the two changes alone.
        let fewer = |left_out: usize| {
            let mut some = elements.clone();
            some.remove(left_out);
            BoardImageSubject::Proposal { after: after.clone(), elements: some }
        };
        for other in [
            draw(&snapshot, BoardImageSubject::Board),
            draw(&drafted.state, BoardImageSubject::Board),
            draw(&snapshot, fewer(0)),
            draw(&snapshot, fewer(1)),
        ] {
            assert_ne!(over, other);
        }
    }

    #[test]
    fn an_export_does_not_write_through_a_link_and_names_the_known_extensions() {
        let snapshot = board_with(&[r#"{"addBoard":{"kind":"infrastructure","title":"Main"}}"#]);
        let board = snapshot.boards().next().unwrap().id;
        let folder = tempfile::tempdir().unwrap();
        let (precious, link) = (folder.path().join("precious"), folder.path().join("main.svg"));
        std::fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&precious, &link).unwrap();
        let refusal = export(&snapshot, board, &link).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::StorageError);
        assert!(refusal.message.contains("symbolic link"), "{refusal}");
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
        let refusal = export(&snapshot, board, &folder.path().join("main.gif")).unwrap_err();
        assert!(refusal.to_string().contains(".png, .svg or .md"), "{refusal}");
    }

    #[test]
    fn a_board_too_large_for_a_picture_is_refused_and_not_cut() {
        let snapshot = board_with(&[
            r#"{"addBoard":{"kind":"infrastructure","title":"Main"}}"#,
            r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket","at":{"x":0,"y":0}}}"#,
            r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket","at":{"x":500000,"y":0}}}"#,
        ]);
        let board = snapshot.boards().next().unwrap().id;
        let folder = tempfile::tempdir().unwrap();
        let refusal = export(&snapshot, board, &folder.path().join("main.png")).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::LimitExceeded);
        assert!(export(&snapshot, board, &folder.path().join("main.svg")).unwrap() > 0);
    }
}
