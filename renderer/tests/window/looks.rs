//! What the window looks like, drawn on the CPU. The pictures go to `draftboard-pictures` in the temporary folder, for
//! people to look at; what is asserted is that drawing works at every size and in both themes.

use crate::shop::Shop;
use egui::Theme;

#[test]
fn draws_in_both_themes_and_sizes() {
    for (theme, word) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        for size in [(1440.0, 900.0), (1024.0, 700.0), (800.0, 500.0)] {
            let mut shop = Shop::open_as(size, theme, |_| {});
            shop.settle();
            shop.picture(&format!("board-{word}-{}", size.0));
            shop.select("EC2 instance Web");
            shop.settle();
            shop.picture(&format!("node-{word}-{}", size.0));
        }
    }
}
