//! Threads that are known from earlier calls.

use std::process::{Command, Stdio};

use crate::caller::CallerTable;

#[test]
fn a_thread_is_the_same_only_if_it_is_known_from_before_and_seen_again() {
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("started");
    let thread = child.id().cast_signed();
    let mut callers = CallerTable::of_host();
    callers.on_call();
    assert!(callers.get(thread).is_ok());
    assert!(!callers.is_same(thread), "found at this call");
    callers.on_call();
    assert!(!callers.is_same(thread), "not seen at this call");
    assert!(callers.get(thread).is_ok());
    assert!(callers.is_same(thread));
    drop(child.stdin.take());
    child.wait().expect("ended");
    callers.on_call();
    assert!(callers.get(thread).is_err());
    assert!(!callers.is_same(thread), "gone");
}
