//! Measures the CPU time for a page of widgets, in milliseconds per frame of 1280 × 800 pixels (median of 50).
//!
//! `cargo run --release -p rasteriser --example raster_time [where-to-save.png]`
#![allow(clippy::print_stdout, reason = "this program prints the times")]

use egui::{
    CentralPanel, Color32, Context, Grid, Panel, Pos2, ProgressBar, RawInput, Rect, Sense, Shape, Slider,
    Stroke, Ui, pos2, vec2,
};
use rasteriser::{PixelSurface, Rasteriser};
use std::error::Error;
use std::time::{Duration, Instant};

const WIDTH: usize = 1280;
const HEIGHT: usize = 800;
const FRAMES: usize = 50;
const WARM_UP_FRAMES: usize = 5;

#[derive(Default)]
struct Page {
    selected: usize,
    text: String,
    amount: f32,
    enabled: bool,
    phase: f32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let context = Context::default();
    let mut page = Page { text: "value".to_owned(), amount: 0.4, ..Page::default() };
    let mut rasteriser = Rasteriser::new();
    let mut surface = PixelSurface::new(WIDTH, HEIGHT, Color32::BLACK)?;
    let (mut build_times, mut tessellate_times, mut raster_times) = (Vec::new(), Vec::new(), Vec::new());
    for frame in 0..WARM_UP_FRAMES + FRAMES {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(WIDTH as f32, HEIGHT as f32))),
            time: Some(frame as f64 / 60.0),
            ..RawInput::default()
        };
        let started = Instant::now();
        let mut output = context.run_ui(input, |ui| page.show(ui));
        let built = Instant::now();
        let primitives = context.tessellate(std::mem::take(&mut output.shapes), output.pixels_per_point);
        let tessellated = Instant::now();
        rasteriser.update_textures(&mut output.textures_delta);
        surface.clear(Color32::BLACK);
        rasteriser.draw(&mut surface, &primitives, output.pixels_per_point);
        rasteriser.free_textures(&mut output.textures_delta);
        let drawn = Instant::now();
        if frame >= WARM_UP_FRAMES {
            build_times.push(built - started);
            tessellate_times.push(tessellated - built);
            raster_times.push(drawn - tessellated);
        }
    }
    println!("build      {:6.2} ms", median(build_times));
    println!("tessellate {:6.2} ms", median(tessellate_times));
    println!("rasterise  {:6.2} ms", median(raster_times));
    if let Some(path) = std::env::args_os().nth(1) {
        let started = Instant::now();
        let png = surface.into_png()?;
        println!("encode     {:6.2} ms, {} bytes", milliseconds(started.elapsed()), png.len());
        std::fs::write(path, png)?;
    }
    Ok(())
}

impl Page {
    fn show(&mut self, ui: &mut Ui) {
        Panel::left("list").default_size(200.0).show(ui, |ui| self.list(ui));
        Panel::right("details").default_size(280.0).show(ui, |ui| self.details(ui));
        CentralPanel::default().show(ui, |ui| {
            table(ui);
            self.plot(ui);
        });
    }

    fn list(&mut self, ui: &mut Ui) {
        ui.heading("Orders");
        for row in 0..24 {
            ui.selectable_value(&mut self.selected, row, format!("Order #{:04} – pending", 1000 + row));
        }
    }

    fn details(&mut self, ui: &mut Ui) {
        ui.heading("Details");
        Grid::new("fields").num_columns(2).striped(true).show(ui, |ui| {
            for row in 0..10 {
                ui.label(format!("Field {row}"));
                ui.text_edit_singleline(&mut self.text);
                ui.end_row();
            }
        });
        ui.add(Slider::new(&mut self.amount, 0.0..=1.0).text("amount"));
        ui.checkbox(&mut self.enabled, "enabled");
        ui.horizontal(|ui| ["Save", "Cancel", "Delete"].map(|name| ui.button(name)));
        ui.add(ProgressBar::new(self.amount));
    }

    /// An animated curve above a row of discs.
    fn plot(&mut self, ui: &mut Ui) {
        self.phase += 0.05;
        let (response, painter) = ui.allocate_painter(vec2(ui.available_width(), 160.0), Sense::hover());
        let area = response.rect;
        painter.rect_filled(area, 6, Color32::from_gray(20));
        let curve = (0..200).map(|step| {
            let along = step as f32 / 199.0;
            let swing = (along * 12.0 + self.phase).sin();
            pos2(area.left() + along * area.width(), area.center().y - 60.0 * swing)
        });
        painter.add(Shape::line(curve.collect(), Stroke::new(2.0, Color32::LIGHT_BLUE)));
        for step in 0..20_u8 {
            let centre = pos2(area.left() + 20.0 + 30.0 * f32::from(step), area.bottom() - 15.0);
            painter.circle_filled(centre, 8.0, Color32::from_rgb(200, 80 + step * 8, 60));
        }
    }
}

fn table(ui: &mut Ui) {
    ui.heading("Table");
    Grid::new("table").num_columns(5).striped(true).show(ui, |ui| {
        for row in 0..22 {
            for column in 0..5 {
                ui.label(format!("cell {row},{column}"));
            }
            ui.end_row();
        }
    });
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() / 2).copied().map_or(0.0, milliseconds)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
