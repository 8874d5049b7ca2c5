//! System fonts in the window. The first frame never waits for them: a character missing from the bundled fonts is drawn
//! as a box until a thread has loaded a font for it and the window repaints.

use egui::Context;
use std::{io, time::Duration};
use system_fonts::FallbackFonts;

/// A frame requests its characters one by one. This delay collects all requests of one frame into one font lookup.
const GATHER_DELAY: Duration = Duration::from_millis(20);

/// Starts a thread that loads system fonts for missing characters.
pub(crate) fn install(context: &Context) -> io::Result<()> {
    let (wake, woken) = crossbeam_channel::bounded::<()>(1);
    let fallback = FallbackFonts::notifying(move || {
        // A full channel means that the thread is already awake.
        let _ = wake.try_send(());
    });
    context.set_font_providers(vec![fallback.provider()]);
    let context = context.clone();
    std::thread::Builder::new().name("fonts".to_owned()).spawn(move || {
        while woken.recv().is_ok() {
            std::thread::sleep(GATHER_DELAY);
            if fallback.load_wanted() {
                // This also requests a repaint.
                context.set_font_providers(vec![fallback.provider()]);
            }
        }
    })?;
    Ok(())
}
