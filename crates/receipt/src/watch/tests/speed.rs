//! Figures. They are printed, and only bounded generously, since a test machine is busy.

use std::fs;
use std::time::{Duration, Instant};

use super::WatchedTreeFixture;
use crate::ReceiptCompleteness;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// `cargo test --release -- --ignored --nocapture receipt::watch::tests::speed`
#[test]
#[ignore = "makes 50,000 files, and prints figures"]
fn a_tree_of_50_000_files() {
    let fixture = WatchedTreeFixture::new("git init -q; mkdir {1..2777}");
    for at in 0..50_000 {
        fs::write(fixture.root().join(format!("{}/{at}", at % 2777 + 1)), "content").expect("a file");
    }
    let watch = super::super::WatchedTrees::new();
    let start = Instant::now();
    assert!(watch.prepare(&fixture.root(), Duration::from_mins(2)));
    println!("first reading: {:?}", start.elapsed());
    let (mut quiet, mut writing) = (Vec::new(), Vec::new());
    for round in 0..200 {
        let start = Instant::now();
        let receipt = watch.begin(&fixture.root()).finish(&[]);
        quiet.push(start.elapsed());
        assert!(receipt.is_empty(), "{receipt:?}");
        let start = Instant::now();
        let token = watch.begin(&fixture.root());
        let begun = start.elapsed();
        for at in 0..10 {
            fs::write(fixture.root().join(format!("{}/new-{round}", at + 1)), "content").expect("a file");
        }
        let start = Instant::now();
        let receipt = token.finish(&[]);
        writing.push(begun + start.elapsed());
        assert_eq!((receipt.state, receipt.counts.created), (ReceiptCompleteness::Known, 10));
    }
    let (quiet, writing) = (median(quiet), median(writing));
    println!(
        "added to a quiet command: {quiet:?} (goal 0.3 ms), to one that writes ten files: {writing:?} (goal 1 ms)"
    );
    assert!(quiet < Duration::from_millis(20) && writing < Duration::from_millis(50));
}
