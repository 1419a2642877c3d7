//! Lists the migrations in the order of their numbers: one is added by its file alone.

#[path = "../qdepth-files/embedded.rs"]
mod embedded;

fn main() {
    let names = embedded::embed("migrations", "sql", |_| true, "migrations.rs");
    for (number, name) in (1..).zip(names) {
        assert!(name.starts_with(&format!("{number:04}_")), "{name}: is number {number}");
    }
}
