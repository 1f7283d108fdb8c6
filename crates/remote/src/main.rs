//! The program that a host has on another machine. See `program/mod.rs`.

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        None => remote::program::main(),
        Some(remote::program::SUPERVISOR) => supervisor::main().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS),
        Some("--version") => {
            println!("{}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        Some(other) => {
            eprintln!("agent-bash-host: unknown argument {other}; agent-bash starts this program with none");
            ExitCode::from(2)
        }
    }
}
