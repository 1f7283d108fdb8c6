//! Builds the witness (`witness/lib.rs`), a library for bash on Linux. Cargo cannot build it as a crate of the
//! workspace, because it must not have the standard library.

use std::env;
use std::path::PathBuf;
use std::process::Command;

const FLAGS: [&str; 8] = [
    "--edition=2024",
    "--crate-type=cdylib",
    "--crate-name=witness",
    "-Copt-level=s",
    "-Clto",
    "-Cpanic=abort",
    "-Cstrip=symbols",
    "-Dwarnings",
];

/// Options of the linker.
const LINK: [&str; 6] = [
    "--gc-sections",
    "-znodelete",
    // Fewer parts to map, which each start of bash pays for.
    "-znorelro",
    "-znoseparate-code",
    "--build-id=none",
    "--no-eh-frame-hdr",
];

fn main() {
    println!("cargo::rerun-if-changed=witness");
    println!("cargo::rerun-if-changed=build.rs");
    let set = |name: &str| env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"));
    let library = PathBuf::from(set("OUT_DIR")).join("witness.so");
    if set("CARGO_CFG_TARGET_OS") != "linux" {
        return;
    }
    let mut rustc = Command::new(set("RUSTC"));
    rustc.args(FLAGS).arg("--target").arg(set("TARGET")).arg("-o").arg(&library).arg("witness/lib.rs");
    // A target whose C library is linked statically has no shared libraries otherwise.
    rustc.arg("-Ctarget-feature=-crt-static");
    // The compiler's own linker needs no C compiler for another kind of machine. The library has no start files, which
    // come with the standard library of musl.
    let is_foreign = set("TARGET") != set("HOST");
    if is_foreign {
        rustc.args(["-Clinker=rust-lld", "-Clinker-flavor=ld.lld", "-Clink-self-contained=no"]);
    } else {
        rustc.args(["-Clink-arg=-nostartfiles", "-Clink-arg=-nostdlib"]);
    }
    for option in LINK {
        rustc.arg(format!("-Clink-arg={}{option}", if is_foreign { "" } else { "-Wl," }));
    }
    let status = rustc.status().expect("rustc starts");
    assert!(status.success(), "the witness was not built: {status}");
}
