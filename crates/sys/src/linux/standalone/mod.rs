//! What a static program asks in place of the C library's user database and resolver, which load modules of the machine
//! at run time. A module for another version of the C library ends the process.
//!
//! The functions have the names of the C library's, so that the standard library and other crates call them, too.

mod dns_question;
#[cfg(target_feature = "crt-static")]
mod exports;
mod lookup;
mod resolver_config;
mod users;
