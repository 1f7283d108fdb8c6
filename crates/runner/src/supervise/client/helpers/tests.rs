//! The queue of callers without a shim.

use super::super::shim_pools::WorldShims;
use super::*;

fn shim(pid: i32) -> ShimHandle {
    ShimHandle::new(pid, sys::socket_pair().expect("sockets").0)
}

/// Returns a caller that is queued.
fn queued(state: &mut WorldShims) -> oneshot::Receiver<Result<ShimHandle, HelperError>> {
    let (sender, receiver) = oneshot::channel();
    state.waiting.push_back(sender);
    receiver
}

/// Returns the pid of the shim that the caller has received.
fn received(caller: &mut oneshot::Receiver<Result<ShimHandle, HelperError>>) -> Option<i32> {
    Some(caller.try_recv().ok()?.expect("a shim").pid)
}

#[test]
fn shims_go_to_callers_in_the_order_of_the_queue_and_then_to_the_pool() {
    let mut state = WorldShims::default();
    let [mut first, second, mut third] = [(); 3].map(|()| queued(&mut state));
    state.hand_out(shim(1));
    assert_eq!(received(&mut first), Some(1));
    drop(second);
    state.hand_out(shim(2));
    assert_eq!(received(&mut third), Some(2), "the one before has given up");
    assert_eq!((state.waiting.len(), state.pool.count()), (0, 0));
    state.hand_out(shim(3));
    assert_eq!(state.pool.count(), 1);
}

#[test]
fn a_supervisor_that_cannot_start_fails_every_caller_in_the_queue() {
    let mut state = WorldShims::default();
    let callers = [(); 2].map(|()| queued(&mut state));
    state.fail(&HelperError::from(io::Error::from_raw_os_error(libc::EAGAIN)));
    for mut caller in callers {
        let answer = caller.try_recv().expect("answered").map(|shim| shim.pid);
        assert_eq!(answer.map_err(|error| error.errno()), Err(Some(libc::EAGAIN)));
    }
    assert!(state.waiting.is_empty());
}
