//! Drives the program for targets and the host of it, over transports of this machine.

mod carrier;
mod empty_root;
mod files;
mod forward;
mod hostile;
mod program;
mod support;
mod target;
mod tasks;
mod uninstall;
