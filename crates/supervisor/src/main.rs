//! The process between a host and its commands. The addon starts it, see ARCHITECTURE.md.

use std::env::args_os;

fn main() -> std::io::Result<()> {
    if args_os().nth(1).is_some_and(|argument| argument == supervisor::CARRY) {
        return supervisor::carry(args_os().skip(2));
    }
    supervisor::main()
}
