//! Lists the descriptions of `media/`: a medium is its file, and no other list names it.

#[path = "../qdepth-files/embedded.rs"]
mod embedded;

fn main() {
    // Beside the descriptions lies what they were calibrated by.
    embedded::embed("../../media", "toml", |name| name != "calibration", "media.rs");
}
