//! Random numbers of the system.

use std::io;

/// Returns random bytes.
///
/// # Errors
/// If the system has none.
pub fn random<const COUNT: usize>() -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// Returns the hexadecimal digits of so many random bytes.
///
/// # Errors
/// If the system has none.
pub fn random_name<const COUNT: usize>() -> io::Result<String> {
    Ok(random::<COUNT>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}
