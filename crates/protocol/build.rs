//! Derives the id of the messages from the sources that define them, so that no message needs a version bumped by hand.

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
