//! What a frame of egui-snarl costs on the board that `canvas_frames` draws: CPU time of layout and tessellation, without
//! a GPU. It prints rows of the same shape, so that `scripts/bench-canvas` can set them side by side.
//!
//! A card is a node with its label, its type below, one input and one output; containers, which it does not have, are
//! painted behind the nodes.

#[allow(dead_code, reason = "it has no containers for anything to stand in")]
#[path = "../../../../shared-protocol/canvas/tests/common/rows.rs"]
mod rows;

use egui::{
    Color32, Context, CornerRadius, Event, Painter, Pos2, RawInput, Rect, Ui, Vec2, emath::TSTransform, pos2, vec2,
};
use egui_snarl::{
    InPin, InPinId, OutPin, OutPinId, Snarl,
    ui::{BackgroundPattern, PinInfo, SnarlPin, SnarlStyle, SnarlViewer, SnarlWidget},
};
use rows::{Kind, rows};

/// As in the workbench itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const VIEW: Vec2 = vec2(1600.0, 1000.0);
/// A frame may take a second: few have to do.
const FRAMES: usize = 5;

struct Viewer {
    containers: Vec<Rect>,
    middle: Pos2,
    zoom: f32,
}

impl SnarlViewer<String> for Viewer {
    fn title(&mut self, node: &String) -> String {
        node.clone()
    }

    fn inputs(&mut self, _node: &String) -> usize {
        1
    }

    fn show_input(&mut self, _pin: &InPin, ui: &mut Ui, _snarl: &mut Snarl<String>) -> impl SnarlPin + 'static {
        ui.label("EC2 instance");
        PinInfo::circle()
    }

    fn outputs(&mut self, _node: &String) -> usize {
        1
    }

    fn show_output(&mut self, _pin: &OutPin, _ui: &mut Ui, _snarl: &mut Snarl<String>) -> impl SnarlPin + 'static {
        PinInfo::circle()
    }

    fn draw_background(
        &mut self,
        _background: Option<&BackgroundPattern>,
        viewport: &Rect,
        _style: &SnarlStyle,
        _ui_style: &egui::Style,
        painter: &Painter,
        _snarl: &Snarl<String>,
    ) {
        for container in self.containers.iter().filter(|container| container.intersects(*viewport)) {
            painter.rect_filled(*container, CornerRadius::same(10), Color32::from_gray(40));
        }
    }

    fn current_transform(&mut self, to_global: &mut TSTransform, _snarl: &mut Snarl<String>) {
        let translation = (VIEW / 2.0) - self.middle.to_vec2() * self.zoom;
        *to_global = TSTransform::new(translation, self.zoom);
    }
}

fn main() {
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    for count in if asked.is_empty() { vec![1_000, 10_000] } else { asked } {
        for view in ["near", "out"] {
            measure(count, view);
        }
    }
}

fn measure(count: usize, view: &str) {
    let board = rows(count);
    let mut snarl = Snarl::new();
    let mut ids = Vec::with_capacity(board.boxes.len());
    let mut containers = Vec::new();
    let mut bounds = Rect::NOTHING;
    for made in &board.boxes {
        let [x, y, w, h] = made.area.map(|side| side as f32);
        let area = Rect::from_min_size(pos2(x, y), vec2(w, h));
        bounds |= area;
        if made.kind == Kind::Card {
            ids.push(Some(snarl.insert_node(area.min, made.label.clone())));
        } else {
            containers.push(area);
            ids.push(None);
        }
    }
    for (from, to) in &board.edges {
        if let (Some(from), Some(to)) = (ids[*from], ids[*to]) {
            snarl.connect(OutPinId { node: from, output: 0 }, InPinId { node: to, input: 0 });
        }
    }
    let fit = (VIEW.x / bounds.width()).min(VIEW.y / bounds.height()) * 0.95;
    let (middle, zoom) = match view {
        "near" => (bounds.min + bounds.size() * 0.4, 1.0),
        _ => (bounds.center(), fit),
    };
    let mut viewer = Viewer { containers, middle, zoom };
    let style = SnarlStyle { min_scale: Some(0.01), max_scale: Some(4.0), ..SnarlStyle::new() };
    let widget = SnarlWidget::new().style(style);
    let ctx = Context::default();
    let mut times = Vec::new();
    for frame in 0..=FRAMES {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, VIEW)),
            time: Some(frame as f64 / 60.0),
            events: vec![Event::PointerMoved(pos2(400.0 + frame as f32, 300.0))],
            ..RawInput::default()
        };
        let start = now();
        let output = ctx.run_ui(input, |ui| {
            widget.show(&mut snarl, &mut viewer, ui);
        });
        drop(ctx.tessellate(output.shapes, output.pixels_per_point));
        // The first one is not like the others.
        if frame > 0 {
            times.push(now() - start);
        }
    }
    times.sort_by(f64::total_cmp);
    println!("{count:>7}  {view:<6} {:>6.2} ms {:>6.2} ms", times[times.len() / 2], times[times.len() - 1]);
}

/// CPU time of this thread in milliseconds: other programs on the machine do not count.
fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}
