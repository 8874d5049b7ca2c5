//! Fonts of the system in the window. The first frame never waits for them: a character that the bundled fonts lack is a
//! box until a thread has found a font for it, and then the window draws again.

use egui::Context;
use std::{io, time::Duration};
use system_fonts::FallbackFonts;

/// A frame asks for its characters one by one; after this long all of one frame are looked for together.
const GATHER: Duration = Duration::from_millis(20);

/// From now on, missing characters are looked for among the fonts of the system.
pub(crate) fn install(context: &Context) -> io::Result<()> {
    let (wake, woken) = crossbeam_channel::bounded::<()>(1);
    let fallback = FallbackFonts::notifying(move || {
        // Full: it is awake already.
        let _ = wake.try_send(());
    });
    context.set_font_providers(vec![fallback.provider()]);
    let context = context.clone();
    std::thread::Builder::new().name("fonts".to_owned()).spawn(move || {
        while woken.recv().is_ok() {
            std::thread::sleep(GATHER);
            if fallback.load_wanted() {
                // Also repaints.
                context.set_font_providers(vec![fallback.provider()]);
            }
        }
    })?;
    Ok(())
}
