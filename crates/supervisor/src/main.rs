//! The process between a host and the commands that it runs; started by the addon, see ARCHITECTURE.md.

fn main() -> std::io::Result<()> {
    supervisor::main()
}
