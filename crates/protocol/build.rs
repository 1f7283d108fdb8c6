//! Derives the id of the messages from the sources that define them, so that no message needs a version bumped by hand,
//! and leaves out the parts of the shapes of tokens that only readers need.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;

fn main() {
    let mut hasher = DefaultHasher::new();
    hasher.write(env!("CARGO_PKG_VERSION").as_bytes());
    for sources in ["src", "../capture/src", "../confine/src", "../sys/src"] {
        println!("cargo::rerun-if-changed={sources}");
        hash(Path::new(sources), &mut hasher);
    }
    println!("cargo::rustc-env=AGENT_BASH_MESSAGES={}", hasher.finish() as u32);
    shapes();
}

/// Writes the forms with their vendors, without comments and sources.
fn shapes() {
    const SHAPES: &str = "data/shapes.txt";
    println!("cargo::rerun-if-changed={SHAPES}");
    let data = fs::read_to_string(SHAPES).expect("the shapes");
    let rows = data.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows: Vec<_> = rows.filter_map(|row| Some(row.rsplit_once(" | ")?.0)).collect();
    let out = std::env::var_os("OUT_DIR").expect("OUT_DIR");
    fs::write(Path::new(&out).join("shapes.txt"), rows.join("\n")).expect("a file");
}

fn hash(directory: &Path, hasher: &mut DefaultHasher) {
    let mut paths: Vec<_> = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            hash(&path, hasher);
        } else {
            hasher.write(path.to_string_lossy().as_bytes());
            hasher.write(&fs::read(&path).unwrap_or_default());
        }
    }
}
