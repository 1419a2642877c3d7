//! Lists the descriptions of `media/`: a medium is its file, and no other list names it.

#[path = "../qdepth-files/embedded.rs"]
mod embedded;

fn main() {
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo::rustc-env=QDEPTH_OPTIMISATION={level}");
    // Beside the descriptions lies what they were calibrated by.
    embedded::embed("../../media", "toml", |name| name != "calibration", "media.rs");
}
