//! How much of a thing is drawn at a zoom. Going out: second lines and ports go, labels fade, then icons, then cards
//! become blocks, and at last all blocks are one mesh.

/// From the most to the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Detail {
    /// One cached mesh of everything.
    Far,
    /// Plain blocks and lines in one mesh.
    Blocks,
    /// Cards with icons, and labels that fade.
    Titles,
    Full,
}

impl Detail {
    pub(crate) fn at(zoom: f32) -> Self {
        match zoom {
            zoom if zoom >= 0.55 => Self::Full,
            zoom if zoom >= 0.30 => Self::Titles,
            zoom if zoom >= 0.12 => Self::Blocks,
            _ => Self::Far,
        }
    }
}

/// How opaque labels are: whole where they can be read, gone where they would be noise.
pub(crate) fn label_opacity(zoom: f32) -> f32 {
    ((zoom - 0.42) / (0.50 - 0.42)).clamp(0.0, 1.0)
}

/// The same for icons: they last a little longer, then their tile says as much.
pub(crate) fn icon_opacity(zoom: f32) -> f32 {
    ((zoom - 0.36) / (0.42 - 0.36)).clamp(0.0, 1.0)
}

/// Text is laid out at these zooms only, ten to an e-fold: a step is hardly seen, and panning or zooming a little lays
/// out nothing anew. The step below the zoom is taken, so that text never grows out of its place.
const STEPS: f32 = 10.0;

pub(crate) fn text_bucket(zoom: f32) -> i32 {
    (zoom.max(0.01).ln() * STEPS + 0.001).floor() as i32
}

pub(crate) fn bucket_zoom(bucket: i32) -> f32 {
    (bucket as f32 / STEPS).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_larger_than_its_place() {
        for percent in 5..=400 {
            let zoom = percent as f32 / 100.0;
            let text = bucket_zoom(text_bucket(zoom));
            assert!(text <= zoom * 1.001 && text > zoom * 0.9, "{zoom}: {text}");
        }
        assert_eq!(bucket_zoom(text_bucket(1.0)), 1.0);
    }
}
