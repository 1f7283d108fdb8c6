//! The process between a host and its commands. The addon starts it, see ARCHITECTURE.md.

fn main() -> std::io::Result<()> {
    supervisor::main()
}
