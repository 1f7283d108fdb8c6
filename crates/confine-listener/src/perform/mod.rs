//! What the listener performs in a world without namespaces: whatever opens, changes or names a file, or reaches a
//! process or a host.
//!
//! | file | what |
//! |---|---|
//! | `bounds` | what may be read and changed, by the paths of open things; pure |
//! | `calls` | which act a call asks for |
//! | `permission` | whether an act may be performed |
//! | `path_lookup` | the places that paths mean |
//! | `open` | opens files for reading and writing, and makes new ones |
//! | `entries` | removes, renames and links names |
//! | `processes` | signals to other processes, and how they are scheduled |
//! | `internet_sockets` | sockets of the internet |
//! | `datagram_placeholders` | sockets in the place of those of UDP, which send nothing |
//! | `inotify_watch` | watches of directories |
//!
//! Each act copies its arguments once, resolves the path below directories that are open, judges the open thing by the
//! path that the kernel shows for it, and acts on that thing. Only a rename can change the path of an open directory,
//! and each rename is judged as well: it moves nothing into a hidden or a protected place, or out of one.

mod bounds;
mod calls;
pub(super) mod datagram_placeholders;
mod entries;
mod inotify_watch;
pub(super) mod internet_sockets;
mod open;
mod path_lookup;
mod permission;
mod processes;

pub(super) use bounds::WorldBounds;
pub(super) use calls::perform_call;
pub(super) use path_lookup::resolve_path;
