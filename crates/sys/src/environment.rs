//! The environment of this process, which the host may change at any time.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::CStr;

/// The environment at the last call.
#[derive(Default)]
struct CachedEnvironment {
    /// Each variable as it is, ended by a NUL.
    block: Vec<u8>,
    text: String,
    /// Room for the next block.
    spare: Vec<u8>,
}

thread_local! {
    static KNOWN: RefCell<CachedEnvironment> = RefCell::default();
}

/// Returns the variables of this process as they are now, each as `NAME=VALUE` with a NUL behind it. As in Node's
/// `process.env`, the first of two variables with the same name counts, and bytes that are not UTF-8 are replaced.
///
/// Call it on the thread that changes variables, which is the main thread of Node.
pub fn environment() -> String {
    KNOWN.with_borrow_mut(|CachedEnvironment { block, text, spare }| {
        spare.clear();
        copy_variables(spare);
        // Programs hardly ever change a variable between two commands.
        if spare != block {
            std::mem::swap(block, spare);
            *text = usable_variables(block);
        }
        text.clone()
    })
}

fn copy_variables(block: &mut Vec<u8>) {
    let mut next = super::environ();
    if next.is_null() {
        return;
    }
    loop {
        // SAFETY: the array ends with a null pointer, at which this loop ends.
        let variable = unsafe { *next };
        if variable.is_null() {
            return;
        }
        // SAFETY: each pointer before it leads to a text that ends with a NUL. Another thread that sets a variable
        // meanwhile breaks the rules of setenv, and would break `getenv` in any part of this process as well.
        let variable = unsafe { CStr::from_ptr(variable) };
        block.extend_from_slice(variable.to_bytes_with_nul());
        // SAFETY: the pointer just read was not the last one.
        next = unsafe { next.add(1) };
    }
}

fn usable_variables(block: &[u8]) -> String {
    let all = String::from_utf8_lossy(block);
    let mut seen = HashSet::new();
    let mut text = String::with_capacity(all.len());
    for variable in all.split_terminator('\0') {
        let named = variable.split_once('=').is_some_and(|(name, _)| !name.is_empty() && seen.insert(name));
        if named {
            text.push_str(variable);
            text.push('\0');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{environment, usable_variables};

    #[test]
    fn the_environment_is_that_of_the_process() {
        let own: String = std::env::vars().map(|(name, value)| format!("{name}={value}\0")).collect();
        assert_eq!(environment(), own);
        assert_eq!(environment(), own);
    }

    #[test]
    fn variables_are_read_as_node_reads_them() {
        assert_eq!(usable_variables(b"A=1\0B=\xff=\0A=2\0nothing\0=x\0C=\0"), "A=1\0B=\u{fffd}=\0C=\0");
    }
}
