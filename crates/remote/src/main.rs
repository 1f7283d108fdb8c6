//! The program that a host has on another machine. See `program/mod.rs`.

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        None => remote::program::main(),
        Some(remote::program::SUPERVISOR_ARGUMENT) => or_failure(supervisor::main().map(|()| ExitCode::SUCCESS)),
        Some(supervisor::CARRY) => or_failure(supervisor::carry(std::env::args_os().skip(2))),
        Some(remote::program::CHECK_HASH_ARGUMENT) => {
            let sum = std::env::args().nth(2).unwrap_or_default();
            or_failure(remote::program::matches_own_hash(&sum).map(|is_own| ExitCode::from(u8::from(!is_own))))
        }
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

fn or_failure(ended: std::io::Result<ExitCode>) -> ExitCode {
    ended.unwrap_or_else(|error| {
        eprintln!("agent-bash-host: {error}");
        ExitCode::FAILURE
    })
}
