//! Writing onto a disk past its file system.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::operand_paths::{OperandPath, PathComponent};
use super::support::written_files;
use crate::glob::PathComponentGlob;
use crate::name_lists::words;
use crate::programs;
use crate::programs::devices::{DEVICE_SAMPLES, DEVICES};
use crate::programs::program::ProgramFact;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;
use crate::word_value::WordValue;

pub static RULE: SafetyRule = SafetyRule {
    id: "block-device-write",
    level: SafetyVerdict::Deny,
    doc: "Writes onto a block device, or makes a file system on one, which destroys all data on it.",
    programs: RulePrograms::All,
    check,
    matches: &[
        "dd if=/dev/zero of=/dev/sda",
        "dd of=/dev/nvme0n1 if=image.iso bs=4M",
        "dd if=x of=/dev/disk2",
        "dd if=x of=/dev/rdisk2 bs=1m",
        "dd if=x of=/dev/mapper/root",
        "mkfs /dev/sda1",
        "mkfs.ext4 /dev/sda1",
        "mkfs -t ext4 /dev/sdb",
        "mkfs.ext4 -F -L data /dev/sdb1",
        "mke2fs /dev/sdb1",
        "mkswap /dev/sda2",
        "wipefs -a /dev/sda",
        "blkdiscard /dev/nvme0n1",
        "shred /dev/sda",
        "cat image.iso > /dev/sda",
        "echo x > /dev/sda1",
        "echo x >> /dev/vda",
        "> /dev/sda",
        "tee /dev/sda",
        "cp image.iso /dev/sdb",
        "cp image.iso /dev/sd*",
        "diskutil eraseDisk JHFS+ x disk2",
        "mkfs.vfat -F 32 -n BOOT /dev/sdc1",
        "sgdisk -Z /dev/sda",
        "parted /dev/sda mklabel gpt",
        "cryptsetup luksFormat /dev/sda1",
    ],
    passes: &[
        "dd if=/dev/sda of=backup.img",
        "dd if=/dev/zero of=file.img bs=1M count=10",
        "dd if=/dev/urandom of=/dev/null",
        "mkfs.ext4 disk.img",
        "mkfs.ext4 -n /dev/sda1",
        "mkfs --help",
        "wipefs -n /dev/sda",
        "echo x > /dev/null",
        "echo x > /dev/stderr",
        "echo x > /dev/tty",
        "cat /dev/sda",
        "tee /dev/stderr",
        "cp /dev/null x",
        "echo x > /dev/shm/x",
        "echo x > dev/sda",
        "lsblk /dev/sda",
        "fdisk -l /dev/sda",
        "parted /dev/sda print",
        "sgdisk -p /dev/sda",
        "mount /dev/sda1 /mnt",
        "diskutil list disk2",
        "echo dd of=/dev/sda",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let mut sure: Option<bool> = None;
    written_files::for_each_written(command, |target, cwd| sure = sure.max(device(target, cwd)));
    sure = sure.max(formatted(command));
    let sure = sure?;
    let hit = RuleHit::exact(
        "permission denied: writing to a block device destroys the file systems on it. Write to a file instead; lsblk shows which devices there are",
        "lsblk",
    );
    Some(if sure { hit } else { hit.partial() })
}

/// Returns whether the target is a device. `Some(true)` means that this is certain.
fn device(target: &WordValue, cwd: &WordValue) -> Option<bool> {
    let path = OperandPath::new(target, cwd);
    let (dev, rest) = path.parts.split_first()?;
    if !dev.covers("dev") || path.known == 0 {
        return None;
    }
    match rest {
        [] => path.has_unknown.then_some(false),
        [PathComponent::Name(name), rest @ ..] => {
            let full = if rest.is_empty() { name.clone() } else { format!("{name}/").into() };
            let known = words(DEVICES).any(|device| full.starts_with(device)) && !full.starts_with("loop-");
            known.then_some(true)
        }
        [PathComponent::Glob(glob), ..] => covers_device(glob).then_some(true),
    }
}

fn covers_device(glob: &PathComponentGlob) -> bool {
    words(DEVICE_SAMPLES).any(|name| glob.covers(name))
}

/// Reads `mkfs` and similar programs.
fn formatted(command: &SimpleCommandView) -> Option<bool> {
    let name = command.name()?;
    let formats = |fact: &ProgramFact| match *fact {
        ProgramFact::Formats { writes, reads } => Some((writes, reads)),
        _ => None,
    };
    let (writes, reads) = programs::of(name).facts.iter().find_map(formats)?;
    let args = command.args();
    let given = |list: &str| {
        args.iter().filter_map(WordValue::known).any(|arg| words(list).any(|word| is_word_or_letter(arg, word)))
    };
    if given("--help --version") || given(reads) || !writes.is_empty() && !given(writes) {
        return None;
    }
    // diskutil calls devices by their name alone, too.
    let short = |arg: &WordValue| name == "diskutil" && arg.prefix().starts_with("disk");
    let unknown = |arg: &WordValue| arg.prefix().is_empty() && arg.has_unknown();
    let found = |arg: &WordValue| match device(arg, command.cwd) {
        None if short(arg) => Some(true),
        None if unknown(arg) => Some(false),
        found => found,
    };
    args.iter().filter_map(found).max()
}

/// Returns whether an argument is this word, or a cluster of options with this letter.
fn is_word_or_letter(arg: &str, word: &str) -> bool {
    let cluster = arg.strip_prefix('-').filter(|letters| !letters.starts_with('-') && letters.len() < 4);
    arg.eq_ignore_ascii_case(word) && word.len() > 1
        || word.len() == 1 && cluster.is_some_and(|letters| letters.contains(word))
}
