//! A large board as plain data: cards in rows, containers of 4 × 4 in containers of 16 × 16, three edges per two cards.
//! It depends on no crate, so that a benchmark of another canvas can draw the same board.

/// A box on the board: its place from the board's origin, and the index of its containing box.
pub struct Block {
    pub label: String,
    pub parent: Option<usize>,
    pub area: [i32; 4],
    pub kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Outer,
    Inner,
    Card,
}

pub struct Rows {
    pub boxes: Vec<Block>,
    /// From one box to another.
    pub edges: Vec<(usize, usize)>,
}

/// Builds `count` cards and their containers.
pub fn rows(count: usize) -> Rows {
    let columns = (count as f64).sqrt().ceil() as usize;
    let lines = count.div_ceil(columns);
    let place = |step: usize, at: usize| (at * step + at / 4 * 48 + at / 16 * 64) as i32;
    let (x, y) = (|column| place(216, column), |row| place(104, row));
    let mut boxes = Vec::new();
    let (outer_columns, inner_columns) = (columns.div_ceil(16), columns.div_ceil(4));
    for row in (0..lines).step_by(16) {
        for column in (0..columns).step_by(16) {
            let area = [x(column) - 48, y(row) - 88, 16 * 216 + 4 * 48 + 48, 16 * 104 + 4 * 48 + 88];
            boxes.push(Block {
                label: format!("Network {row} {column}"),
                parent: None,
                area,
                kind: Kind::Outer,
            });
        }
    }
    let first_inner = boxes.len();
    for row in (0..lines).step_by(4) {
        for column in (0..columns).step_by(4) {
            let parent = Some(row / 16 * outer_columns + column / 16);
            let area = [x(column) - 20, y(row) - 44, 4 * 216 + 8, 4 * 104 + 24];
            boxes.push(Block { label: format!("Subnet {row} {column}"), parent, area, kind: Kind::Inner });
        }
    }
    let first_card = boxes.len();
    for card in 0..count {
        let (row, column) = (card / columns, card % columns);
        let parent = Some(first_inner + row / 4 * inner_columns + column / 4);
        let area = [x(column), y(row), 184, 64];
        boxes.push(Block { label: format!("Worker {card}"), parent, area, kind: Kind::Card });
    }
    let mut edges = Vec::new();
    for card in 0..count {
        let from = first_card + card;
        if card % columns + 1 < columns && card + 1 < count {
            edges.push((from, from + 1));
        }
        if card % 2 == 0 && card + columns < count {
            edges.push((from, from + columns));
        }
    }
    Rows { boxes, edges }
}
