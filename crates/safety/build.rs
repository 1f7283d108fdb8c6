//! Compiles the records of `data/programs/*.toml` to statics, so that no table is read at run time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "build/code.rs"]
mod code;
#[path = "build/family.rs"]
mod family;
#[path = "build/parts.rs"]
mod parts;
#[path = "build/shared.rs"]
mod shared;

use family::ProgramFamily;

fn main() {
    for path in ["data/programs", "build", "build.rs"] {
        println!("cargo::rerun-if-changed={path}");
    }
    let families = families(Path::new("data/programs"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("OUT_DIR"));
    fs::write(out.join("programs.rs"), code::of(&families)).expect("the code of the records");
}

/// Reads all families by name. Each program has its record in one family.
fn families(directory: &Path) -> BTreeMap<String, ProgramFamily> {
    let entries = fs::read_dir(directory).expect("the directory of the records");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut families = BTreeMap::new();
    let mut seen = BTreeMap::new();
    for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let text = fs::read_to_string(&path).expect("a file of records");
        let family = ProgramFamily::read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for program in &family.programs {
            for own in program.names.words() {
                if let Some(other) = seen.insert(own.to_owned(), name.clone()) {
                    panic!("{}: {own} has a record in {other}.toml, too", path.display());
                }
            }
        }
        families.insert(name, family);
    }
    families
}
