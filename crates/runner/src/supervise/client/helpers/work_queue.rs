//! Work that is done in the background, one piece after another, in the order in which it was asked for.

use std::pin::Pin;

use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

type QueuedWork = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The entrance of the queue. The queue ends with the runtime, or when this is dropped.
pub(super) struct WorkQueue(UnboundedSender<QueuedWork>);

impl WorkQueue {
    pub fn new(runtime: &Runtime) -> Self {
        let (entrance, mut queue) = unbounded_channel::<QueuedWork>();
        runtime.spawn(async move {
            while let Some(work) = queue.recv().await {
                // A panic ends one piece of work, and not the queue.
                let _ = tokio::spawn(work).await;
            }
        });
        Self(entrance)
    }

    pub fn add(&self, work: impl Future<Output = ()> + Send + 'static) {
        // Without a runtime nothing is begun any more.
        let _ = self.0.send(Box::pin(work));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tokio::sync::oneshot;

    use super::*;

    #[test]
    fn work_is_done_in_order_and_never_two_pieces_at_once() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
        let (turns, seen) = (WorkQueue::new(&runtime), Arc::new(Mutex::new(Vec::new())));
        let (done, ends) = oneshot::channel();
        for number in 0..200 {
            let seen = Arc::clone(&seen);
            turns.add(async move {
                seen.lock().expect("no panic").push((number, "begins"));
                for _ in 0..number % 7 {
                    tokio::task::yield_now().await;
                }
                seen.lock().expect("no panic").push((number, "ends"));
                assert!(number % 50 != 3, "a piece of work that panics");
            });
        }
        turns.add(async move { done.send(()).expect("awaited") });
        runtime.block_on(ends).expect("all are done");
        let expected: Vec<_> = (0..200).flat_map(|number| [(number, "begins"), (number, "ends")]).collect();
        assert_eq!(*seen.lock().expect("no panic"), expected);
    }
}
