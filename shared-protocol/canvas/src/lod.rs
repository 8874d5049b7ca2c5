//! Levels of detail. Zooming out first drops second lines and ports, then fades labels, then icons, then turns cards
//! into blocks, and finally draws all blocks as one mesh.

/// The levels of detail, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DetailLevel {
    /// One cached mesh of the whole board.
    Far,
    /// Plain blocks and lines in one mesh.
    Blocks,
    /// Cards with icons, and labels that fade.
    Titles,
    Full,
}

impl DetailLevel {
    pub(crate) fn for_zoom(zoom: f32) -> Self {
        match zoom {
            zoom if zoom >= 0.55 => Self::Full,
            zoom if zoom >= 0.30 => Self::Titles,
            zoom if zoom >= 0.12 => Self::Blocks,
            _ => Self::Far,
        }
    }
}

/// The opacity of labels: opaque at readable sizes, hidden at unreadable ones.
pub(crate) fn label_opacity(zoom: f32) -> f32 {
    ((zoom - 0.42) / (0.50 - 0.42)).clamp(0.0, 1.0)
}

/// The opacity of icons, which stay visible a little longer than labels.
pub(crate) fn icon_opacity(zoom: f32) -> f32 {
    ((zoom - 0.36) / (0.42 - 0.36)).clamp(0.0, 1.0)
}

/// Text is laid out at ten zoom steps per factor of e only, so that small zoom changes reuse the layout. The step below
/// the zoom is used, so that text never outgrows its place.
const ZOOM_STEPS_PER_E: f32 = 10.0;

pub(crate) fn text_zoom_step(zoom: f32) -> i32 {
    (zoom.max(0.01).ln() * ZOOM_STEPS_PER_E + 0.001).floor() as i32
}

pub(crate) fn zoom_of_step(bucket: i32) -> f32 {
    (bucket as f32 / ZOOM_STEPS_PER_E).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_larger_than_its_place() {
        for percent in 5..=400 {
            let zoom = percent as f32 / 100.0;
            let text = zoom_of_step(text_zoom_step(zoom));
            assert!(text <= zoom * 1.001 && text > zoom * 0.9, "{zoom}: {text}");
        }
        assert_eq!(zoom_of_step(text_zoom_step(1.0)), 1.0);
    }
}
