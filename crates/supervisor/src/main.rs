//! The process between a host and its commands. The addon starts it, see ARCHITECTURE.md.

use std::env::args_os;
use std::io;
use std::process::ExitCode;

fn main() -> io::Result<ExitCode> {
    if args_os().nth(1).is_some_and(|argument| argument == supervisor::CARRY) {
        return supervisor::carry(args_os().skip(2));
    }
    supervisor::main().map(|()| ExitCode::SUCCESS)
}
