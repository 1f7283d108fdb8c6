use super::WatchedTreeFixture;
use crate::ReceiptCompleteness;

const TREE: &str = "mkdir -p d/e f; echo 1 >a; echo 22 >b; echo 333 >d/c; echo 4444 >d/e/x; ln -s a link; chmod 644 a";

#[test]
fn receipts() {
    let table: &[(&str, &str)] = &[
        ("true", ""),
        ("cat a b d/c >/dev/null; ls -R >/dev/null", ""),
        ("echo 1 >new", "+new"),
        ("echo 1 >new; rm new", ""),
        ("echo more >>a", "~a:2>7"),
        ("echo 9 >a", "partial: ~a:2>2"),
        ("rm a", "-a"),
        ("rm -r d", "-d -d/c -d/e -d/e/x"),
        ("mkdir -p n/m; echo 1 >n/m/file; echo 2 >n/other", "+n +n/m +n/m/file +n/other"),
        ("mkdir -p n/m; echo 1 >n/m/file; rm -r n", ""),
        ("mv a z", "a→z"),
        ("mv a b", "partial: ~b:3>2 a→b"),
        ("mv a z; echo more >>z", "~z:2>7 a→z"),
        ("mv d g", "d→g"),
        ("mv d g; echo more >>g/e/x; rm g/c; echo 1 >g/new", "+g/new ~g/e/x:5>10 -d/c d→g"),
        ("mv d f/d; mv f/d/e e", "d→f/d d/e→e"),
        ("mkdir n; mv a n/z", "+n a→n/z"),
        ("mkdir n; mv d n/d; echo more >>n/d/c", "+n ~n/d/c:4>9 d→n/d"),
        ("mkdir -p n/m; mv d/e n/m/e; rm -r d", "+n +n/m -d -d/c d/e→n/m/e"),
        ("mkdir n; mv d n/d; rm -r n", "-d -d/c -d/e -d/e/x"),
        ("mkdir n; mv n m; echo 1 >m/file", "+m +m/file"),
        ("mv d $OUTSIDE/d", "-d -d/c -d/e -d/e/x"),
        ("cp -r d $OUTSIDE/d; mv $OUTSIDE/d n", "+n +n/c +n/e +n/e/x"),
        ("echo 55555 >tmp; mv tmp a", "~a:2>6"),
        ("sed -i s/1/111/ a", "~a:2>4"),
        ("chmod 600 a", "~a:2>2"),
        ("chmod 600 a; chmod 644 a", ""),
        ("chmod 700 d/e", "~d/e:->-"),
        ("chmod 700 .", "~:->-"),
        ("ln -sfn b link", "~link:1>1"),
        ("rm link; ln -s a link", ""),
        ("mkfifo pipe", "+pipe"),
        ("rm a; mkdir a", "+a -a"),
        ("rm -r d; echo 1 >d", "+d -d -d/c -d/e -d/e/x"),
        ("exec 3>>a; exec 3>&-", ""),
        ("ln a l; echo 333 >l; rm l", "~a:2>4"),
        ("ln a l; echo 333 >l; mv l $OUTSIDE/l", "partial: ~a:2>4"),
        ("echo 333 >l; rm l", ""),
        ("exec 3<>a; echo 7777 >&3; exec 3>&-", "~a:2>5"),
        ("truncate -s 100 a", "~a:2>100"),
        ("for i in {1..150}; do echo $i >f/$i; done; rm -r f; mkdir f", ""),
        ("mv a t; mv b a; mv t b", "partial: ~a:2>3 ~b:3>2 a→b b→a"),
        ("mkdir .x; echo 1 >.x/$'new\\nline'; echo 1 >$'.x/\\xff'", "+.x +.x/new\nline +.x/\u{fffd}"),
    ];
    for (script, expected) in table {
        let fixture = WatchedTreeFixture::new(TREE);
        let receipt = fixture.receipt(script);
        let shown = fixture.shown(&receipt);
        // Sizes alone do not distinguish two files of the same size.
        let expected = expected.replace("partial: ~b:3>2 a→b", "~b:3>2 a→b").replace("partial: ~a:2>3", "~a:2>3");
        let sorted = |text: &str| {
            let mut words: Vec<_> = text.split(' ').map(str::to_owned).collect();
            words.sort();
            words
        };
        assert_eq!(sorted(&shown), sorted(&expected), "{script}: {:?}", receipt.why);
        assert_eq!(receipt.why.is_some(), receipt.state != ReceiptCompleteness::Known, "{script}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn two_names_that_are_exchanged_are_both_modified() {
    use std::os::fd::AsFd;
    let fixture = WatchedTreeFixture::new(TREE);
    let root = std::fs::File::open(fixture.root()).expect("the tree");
    let names = [(root.as_fd(), c"a"), (root.as_fd(), c"b")];
    let swap = || sys::rename_file(names[0], names[1], libc::RENAME_EXCHANGE).expect("exchanged");
    let receipt = fixture.receipt_of("exchange", swap);
    let modified = |name: &str| receipt.modified.iter().any(|change| change.path == fixture.root().join(name));
    assert!(modified("a") && modified("b") && receipt.deleted.is_empty(), "{receipt:?}");
}

#[test]
fn one_command_after_another() {
    let fixture = WatchedTreeFixture::new(TREE);
    let table = [
        ("echo 1 >n", "+n"),
        ("echo more >>n", "~n:2>7"),
        ("true", ""),
        ("mv d g", "d→g"),
        ("echo more >>g/e/x", "~g/e/x:5>10"),
        ("mkdir -p g/e/h/i/j", "+g/e/h +g/e/h/i +g/e/h/i/j"),
        ("echo 1 >g/e/h/i/j/k", "+g/e/h/i/j/k"),
        ("mv g/e/h h", "g/e/h→h"),
        ("rm -r h", "-h -h/i -h/i/j -h/i/j/k"),
    ];
    for (script, expected) in table {
        let receipt = fixture.receipt(script);
        assert_eq!(fixture.shown(&receipt), expected, "{script}: {:?}", receipt.why);
    }
    // Between two commands.
    fixture.run("echo 1 >between");
    assert_eq!(fixture.shown(&fixture.receipt("true")), "");
}

#[test]
fn two_commands_at_once() {
    let fixture = WatchedTreeFixture::new(TREE);
    let first = fixture.begin();
    fixture.run("echo 1 >one; echo more >>a");
    let second = fixture.begin();
    fixture.run("echo 1 >two; echo more >>a");
    assert_eq!(fixture.shown(&first.finish(&[])), "+one +two ~a:2>12");
    fixture.run("rm one");
    assert_eq!(fixture.shown(&second.finish(&[])), "+two ~a:7>12 -one");
}

#[test]
fn a_token_that_is_dropped_leaves_nothing() {
    let fixture = WatchedTreeFixture::new(TREE);
    drop(fixture.begin());
    assert_eq!(fixture.shown(&fixture.receipt("echo 1 >n")), "+n");
}

#[test]
fn hard_links() {
    let fixture = WatchedTreeFixture::new("mkdir d; echo 1 >a; ln a d/b; echo 1 >c; ln c $OUTSIDE/out; echo 1 >e");
    // Each name of a file that was written is found.
    assert_eq!(fixture.shown(&fixture.receipt("echo more >>d/b")), "~a:2>7 ~d/b:2>7");
    assert_eq!(fixture.shown(&fixture.receipt("chmod 600 a")), "~a:7>7 ~d/b:7>7");
    assert_eq!(fixture.shown(&fixture.receipt("ln a z; echo more >>z")), "+z ~a:7>12 ~d/b:7>12");
    assert_eq!(fixture.shown(&fixture.receipt("rm z d/b; echo more >>a")), "~a:12>17 -d/b -z");
    assert_eq!(fixture.shown(&fixture.receipt("ln e f")), "+f");
    assert_eq!(fixture.shown(&fixture.receipt("ln e g; mv g h")), "+h");
    assert_eq!(fixture.shown(&fixture.receipt("echo more >>h")), "~e:2>7 ~f:2>7 ~h:2>7");
    assert_eq!(fixture.shown(&fixture.receipt("exec 3>>h; rm h; echo more >&3")), "~e:7>12 ~f:7>12 -h");
    // A name outside of the tree.
    let receipt = fixture.receipt("echo more >>$OUTSIDE/out");
    assert_eq!(fixture.shown(&receipt), "partial: ~c:2>7");
    assert!(receipt.why.is_some_and(|why| why.contains("other names")));
    assert_eq!(fixture.shown(&fixture.receipt("true")), "");
}

#[test]
fn the_first_command_in_a_small_tree_is_known() {
    let fixture = WatchedTreeFixture::new(TREE);
    let watch = super::super::WatchedTrees::new();
    let token = watch.begin(&fixture.root());
    fixture.run("echo 1 >n");
    let receipt = token.finish(&[]);
    // A busy machine may need longer than the first command waits.
    match receipt.state {
        ReceiptCompleteness::Unknown => assert!(receipt.why.is_some_and(|why| why.contains("not watched yet"))),
        _ => assert_eq!(fixture.shown(&receipt), "+n"),
    }
}

#[test]
fn the_root() {
    let fixture = WatchedTreeFixture::new(TREE);
    for script in ["rm -r $PWD", "mv $PWD $OUTSIDE/elsewhere"] {
        let receipt = fixture.receipt(script);
        assert_eq!(receipt.state, ReceiptCompleteness::Unknown, "{script}");
        assert!(receipt.why.is_some_and(|why| why.contains("removed or renamed")));
        fixture.run(TREE);
        assert!(fixture.watch.prepare(&fixture.root(), std::time::Duration::from_secs(30)));
        assert_eq!(fixture.shown(&fixture.receipt("echo 1 >n")), "+n");
        fixture.run("rm -rf $OUTSIDE/elsewhere n");
    }
    let token = super::super::WatchedTrees::new().begin(std::path::Path::new("/"));
    assert_eq!(token.finish(&[]).state, ReceiptCompleteness::Unknown);
}
