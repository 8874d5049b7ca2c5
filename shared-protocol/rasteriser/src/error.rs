use crate::{MAX_PIXELS, MAX_PIXELS_PER_POINT, MAX_SIDE, MIN_PIXELS_PER_POINT};

/// The reason why an image could not be created.
#[derive(Debug, thiserror::Error)]
pub enum RasterError {
    #[error("an image of {width} × {height} pixels is empty")]
    Empty { width: usize, height: usize },

    #[error(
        "an image of {width} × {height} pixels is too large: \
         at most {MAX_SIDE} pixels per side and {MAX_PIXELS} in total"
    )]
    TooLarge { width: usize, height: usize },

    #[error("not enough memory for an image of {width} × {height} pixels")]
    OutOfMemory { width: usize, height: usize },

    #[error(
        "{0} pixels per point is out of range: \
         it must be between {MIN_PIXELS_PER_POINT} and {MAX_PIXELS_PER_POINT}"
    )]
    Scale(f32),

    #[error("could not encode the image as PNG: {0}")]
    Png(#[from] image::ImageError),
}
