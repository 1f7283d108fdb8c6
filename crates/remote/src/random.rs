//! Random numbers of the system.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// Returns random bytes, few enough to come at once.
///
/// # Errors
/// If the system has none.
pub fn random<const COUNT: usize>() -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    match getrandom(&mut bytes, GetRandomFlags::empty())? {
        count if count == COUNT => Ok(bytes),
        _ => Err(io::Error::other("the system has no random numbers")),
    }
}

/// Returns the hexadecimal digits of so many random bytes.
///
/// # Errors
/// If the system has none.
pub fn random_name<const COUNT: usize>() -> io::Result<String> {
    Ok(random::<COUNT>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}
