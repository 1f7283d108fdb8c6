//! Derives the id of the messages from the sources that define them, so that no message needs a version bumped by hand,
//! and leaves out the parts of the shapes of tokens that only readers need.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::{fs, iter};

fn main() {
    let mut hasher = DefaultHasher::new();
    hasher.write(env!("CARGO_PKG_VERSION").as_bytes());
    for sources in iter::once(PathBuf::from("src")).chain(sources_of_dependencies()) {
        println!("cargo::rerun-if-changed={}", sources.display());
        hash(&sources, &mut hasher);
    }
    println!("cargo::rustc-env=AGENT_BASH_MESSAGES={}", hasher.finish() as u32);
    shapes();
}

/// Returns the sources of the crates of this workspace whose types messages have.
fn sources_of_dependencies() -> Vec<PathBuf> {
    const MANIFEST: &str = "Cargo.toml";
    println!("cargo::rerun-if-changed={MANIFEST}");
    let manifest = fs::read_to_string(MANIFEST).expect("the manifest");
    let names = manifest.lines().filter_map(|line| line.strip_suffix(".workspace = true"));
    let sources = names.map(|name| Path::new("..").join(name.replace('_', "-")).join("src"));
    sources.filter(|path| path.exists()).collect()
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
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            hash(&path, hasher);
        } else {
            hasher.write(path.to_string_lossy().as_bytes());
            hasher.write(&fs::read(&path).expect("a source"));
        }
    }
}
