//! Commands that run in a watched bash, and what their traces prove.

mod generated;
mod table;
mod watch;
