//! Lets the linker leave Node's symbols to be found when the addon is loaded, and derives the id of the build.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;

fn main() {
    napi_build::setup();
    // The addon and its helpers must agree on every message between them: both come from the same sources.
    let mut hasher = DefaultHasher::new();
    for directory in ["src", "crates"] {
        println!("cargo::rerun-if-changed={directory}");
        hash(Path::new(directory), &mut hasher);
    }
    println!("cargo::rustc-env=AGENT_BASH_BUILD={}", hasher.finish() as u32);
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
