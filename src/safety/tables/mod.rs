//! What is known of programs, as data.
