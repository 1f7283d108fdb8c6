//! Builds the witness (`witness/lib.rs`), a library for bash on Linux. Cargo cannot build it as a crate of the
//! workspace, because it must not have the standard library.

use std::env;
use std::path::PathBuf;
use std::process::Command;

const FLAGS: [&str; 16] = [
    "--edition=2024",
    "--crate-type=cdylib",
    "--crate-name=witness",
    "-Copt-level=s",
    "-Clto",
    "-Cpanic=abort",
    "-Cstrip=symbols",
    "-Clink-arg=-nostartfiles",
    "-Clink-arg=-nostdlib",
    "-Clink-arg=-Wl,--gc-sections",
    "-Clink-arg=-Wl,-z,nodelete",
    // Fewer parts to map, which each start of bash pays for.
    "-Clink-arg=-Wl,-z,norelro",
    "-Clink-arg=-Wl,-z,noseparate-code",
    "-Clink-arg=-Wl,--build-id=none",
    "-Clink-arg=-Wl,--no-eh-frame-hdr",
    "-Dwarnings",
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
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    let status = rustc.status().expect("rustc starts");
    assert!(status.success(), "the witness was not built: {status}");
}
