//! Random changes against a comparison of the whole tree.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::WatchedTreeFixture;
use super::tree::check;
use crate::ReceiptCompleteness;

/// A sequence of numbers without a pattern: xorshift.
struct XorshiftNumbers(u64);

impl XorshiftNumbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).expect("a small number")
    }
}

fn path(numbers: &mut XorshiftNumbers, root: &Path) -> PathBuf {
    let mut path = root.to_owned();
    for _ in 0..=numbers.below(3) {
        path.push(["a", "b", "c", "d"][numbers.below(4)]);
    }
    path
}

/// Makes one random change. Many fail, as they would in a command.
fn change(numbers: &mut XorshiftNumbers, root: &Path) -> String {
    let (one, two) = (path(numbers, root), path(numbers, root));
    let content = "x".repeat(numbers.below(4));
    let (step, result) = match numbers.below(11) {
        0..=2 => ("write", fs::write(&one, content)),
        3 => ("mkdir", fs::create_dir(&one)),
        4 => ("mkdirs", fs::create_dir_all(&one).and_then(|()| fs::write(one.join("a"), content))),
        5 => ("rm", fs::remove_file(&one)),
        6 => ("rm -r", fs::remove_dir_all(&one)),
        7 | 8 => ("mv", fs::rename(&one, &two)),
        9 => ("ln", fs::hard_link(&one, &two)),
        _ => ("chmod", fs::set_permissions(&one, fs::Permissions::from_mode(0o700 + numbers.below(2) as u32))),
    };
    if result.is_err() {
        return String::new();
    }
    let name = |path: &Path| path.strip_prefix(root).unwrap_or(path).display().to_string();
    format!("{step} {} {}; ", name(&one), name(&two))
}

#[test]
fn random_changes() {
    let mut known = 0;
    let fixture = WatchedTreeFixture::new("");
    for seed in 1..=64 {
        fixture.run("rm -rf *; mkdir -p a/b c; echo 1 >a/a; echo 22 >a/b/a; echo 333 >c/c");
        let mut numbers = XorshiftNumbers(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
        for _ in 0..8 {
            let before = fixture.files();
            let token = fixture.begin();
            let steps: String = (0..=numbers.below(12)).map(|_| change(&mut numbers, &fixture.root())).collect();
            let receipt = token.finish(&[]);
            assert_ne!(receipt.state, ReceiptCompleteness::Unknown, "{:?}", receipt.why);
            known += u32::from(receipt.state == ReceiptCompleteness::Known);
            check(&receipt, before, &fixture.files(), &format!("seed {seed}: {steps}"));
        }
    }
    assert!(known > 200, "only {known} receipts are known");
}

#[test]
#[ignore = "stress: it depends on load"]
fn others_at_work() {
    let fixture = WatchedTreeFixture::new("mkdir -p a/b c");
    let mut numbers = XorshiftNumbers(0x2545_F491_4F6C_DD1D);
    for _ in 0..5 {
        let root = fixture.root();
        let seed = numbers.below(usize::MAX) as u64 | 1;
        let other = std::thread::spawn(move || {
            let mut numbers = XorshiftNumbers(seed);
            (0..5000).for_each(|_| drop(change(&mut numbers, &root)));
        });
        while !other.is_finished() {
            let receipt = fixture.begin().finish(&[]);
            assert_ne!(receipt.state, ReceiptCompleteness::Unknown, "{:?}", receipt.why);
        }
        other.join().expect("a thread");
        // The next command is known, whatever the reader saw meanwhile.
        let receipt = fixture.receipt("rm -rf ./*; mkdir -p a/b c");
        assert_eq!(receipt.state, ReceiptCompleteness::Known, "{:?}", receipt.why);
    }
}

#[test]
fn changes_while_the_reader_is_awake() {
    let fixture = WatchedTreeFixture::new("mkdir -p a/b c");
    let mut numbers = XorshiftNumbers(0x9E37_79B9_7F4A_7C15);
    for _ in 0..6 {
        let before = fixture.files();
        let token = fixture.begin();
        for _ in 0..3000 {
            change(&mut numbers, &fixture.root());
        }
        let receipt = token.finish(&[]);
        assert_ne!(receipt.state, ReceiptCompleteness::Unknown, "{:?}", receipt.why);
        check(&receipt, before, &fixture.files(), "many changes");
    }
}
