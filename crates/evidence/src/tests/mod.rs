//! Commands that run in a watched bash, and what their traces prove.

mod generated;
mod hostile;
mod table;
mod watch;
