use std::time::Duration;

use super::super::WatchedTrees;
use super::super::watch_limits::WatchBudget;
use super::WatchedTreeFixture;
use crate::ReceiptCompleteness;

const MANY: &str = "for i in {1..1100}; do echo 1 >node_modules/p/$i; done";

#[test]
fn large_ignored_directories_are_summed_up() {
    let setup =
        "git init -q; printf 'node_modules\\ndist\\n' >.gitignore; mkdir -p node_modules/p dist; echo 1 >dist/a";
    let fixture = WatchedTreeFixture::new(&format!("{setup}; {MANY}"));
    assert_eq!(fixture.shown(&fixture.receipt("echo more >>dist/a")), "~dist/a:2>7");
    assert_eq!(fixture.shown(&fixture.receipt("mkdir node_modules/q")), "in:node_modules");
    let token = fixture.begin();
    fixture.run("echo 1 >node_modules/q/deep");
    assert_eq!(fixture.shown(&token.finish(&[])), "");
    assert_eq!(fixture.shown(&fixture.receipt("echo 1 >x; rm -r node_modules/p")), "+x in:node_modules");
    assert_eq!(fixture.shown(&fixture.receipt("rm -r node_modules")), "-node_modules in:node_modules");
    let receipt = fixture.receipt(&format!("mkdir -p node_modules/p; {MANY}"));
    assert_eq!(fixture.shown(&receipt), "+node_modules in:node_modules");
    assert_eq!(receipt.state, ReceiptCompleteness::Known);
    assert!(fixture.shown(&fixture.receipt("mv node_modules old")).contains("node_modules→old"));
}

#[test]
fn a_small_ignored_directory_that_grows_is_summed_up() {
    let fixture = WatchedTreeFixture::new("git init -q; echo node_modules >.gitignore; mkdir -p node_modules/p");
    assert_eq!(fixture.shown(&fixture.receipt("echo 1 >node_modules/p/x")), "+node_modules/p/x");
    assert_eq!(fixture.shown(&fixture.receipt(MANY)), "in:node_modules");
}

#[test]
fn directories_that_are_not_ignored_are_listed() {
    let fixture = WatchedTreeFixture::new(&format!("mkdir -p node_modules/p; {MANY}"));
    assert_eq!(fixture.shown(&fixture.receipt("echo more >>node_modules/p/1")), "~node_modules/p/1:2>7");
    let receipt = fixture.receipt("for i in {1..1100}; do echo more >>node_modules/p/$i; done");
    assert_eq!((receipt.modified.len(), receipt.counts.modified), (100, 1100));
}

#[test]
fn more_directories_than_the_budget() {
    let fixture = WatchedTreeFixture::new("mkdir {1..20}");
    let budget = WatchBudget::of(10);
    let watch = WatchedTrees::with(budget.clone());
    assert!(!watch.prepare(&fixture.root(), Duration::from_secs(30)));
    let receipt = watch.begin(&fixture.root()).finish(&[]);
    assert_eq!(receipt.state, ReceiptCompleteness::Unknown);
    assert!(receipt.why.as_ref().is_some_and(|why| why.contains("a quarter of")), "{receipt:?}");
    assert_eq!(budget.used(), 0);
}

#[test]
fn watches_are_given_back() {
    let fixture = WatchedTreeFixture::new("mkdir a b");
    let budget = WatchBudget::of(10);
    let watch = WatchedTrees::with(budget.clone());
    assert!(watch.prepare(&fixture.root(), Duration::from_secs(30)));
    assert_eq!(budget.used(), 3);
    for (script, used) in [("mkdir -p c/d", 5), ("mv c a/c", 5), ("rm -r a", 2), ("mv b $OUTSIDE/b", 1)] {
        let token = watch.begin(&fixture.root());
        fixture.run(script);
        assert_eq!(token.finish(&[]).state, ReceiptCompleteness::Known, "{script}");
        assert_eq!(budget.used(), used, "{script}");
    }
    let token = watch.begin(&fixture.root());
    fixture.run("mkdir {1..20}");
    assert_eq!(token.finish(&[]).state, ReceiptCompleteness::Unknown);
}

#[test]
fn an_overflow_of_the_queue_is_found_out() {
    let fixture = WatchedTreeFixture::new("mkdir d; echo 1 >a; echo 1 >b; echo 1 >c");
    let token = fixture.begin();
    let before = fixture.files();
    fixture.watch.simulate_overflow(&fixture.root());
    fixture.run("echo 1 >d/new; echo more >>a; rm b; mv c e");
    let receipt = token.finish(&[]);
    assert_eq!(receipt.state, ReceiptCompleteness::Partial);
    assert!(receipt.why.as_ref().is_some_and(|why| why.contains("queue")), "{receipt:?}");
    super::tree::check(&receipt, before, &fixture.files(), "overflow");
    assert_eq!(fixture.shown(&fixture.receipt("echo 1 >n")), "+n");
}
