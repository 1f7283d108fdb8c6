//! Writing onto a disk past its file system.

use super::rule::{Hit, Rule};
use super::support::glob::Glob;
use super::support::paths::{Component, Path};
use super::support::writes;
use crate::safety::command::Command;
use crate::safety::level::Verdict;
use crate::safety::options::{Spec, parse};
use crate::safety::tables::devices::{DEVICE_SAMPLES, DEVICES, FORMATTERS, MKFS};
use crate::safety::value::Value;

pub static RULE: Rule = Rule {
    id: "block-device-write",
    level: Verdict::Deny,
    doc: "Writes onto a block device, or makes a file system on one: all that was on it is gone.",
    heads: &[],
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
        "diskutil list disk2",
        "echo dd of=/dev/sda",
    ],
};

fn check(command: &Command) -> Option<Hit> {
    let mut sure: Option<bool> = None;
    writes::each(command, |target, cwd| sure = sure.max(device(target, cwd)));
    sure = sure.max(formatted(command));
    let sure = sure?;
    let hit = Hit::exact(
        "permission denied: writing to a block device destroys the file systems on it. Write to a file instead; lsblk shows which devices there are",
        "lsblk",
    );
    Some(if sure { hit } else { hit.partial() })
}

/// Whether this is a device, and whether that is sure.
fn device(target: &Value, cwd: &Value) -> Option<bool> {
    let path = Path::new(target, cwd);
    let (dev, rest) = path.parts.split_first()?;
    if !dev.covers("dev") || path.known == 0 {
        return None;
    }
    match rest {
        [] => path.has_hole.then_some(false),
        [Component::Name(name), rest @ ..] => {
            let full = if rest.is_empty() { name.clone() } else { format!("{name}/") };
            let known = DEVICES.iter().any(|device| full.starts_with(device)) && !full.starts_with("loop-");
            known.then_some(true)
        }
        [Component::Glob(glob), ..] => covers_device(glob).then_some(true),
    }
}

fn covers_device(glob: &Glob) -> bool {
    DEVICE_SAMPLES.iter().any(|name| glob.covers(name))
}

/// mkfs and its kin.
fn formatted(command: &Command) -> Option<bool> {
    let name = command.name()?;
    if name == "diskutil" {
        let verbs = ["erasedisk", "erasevolume", "partitiondisk", "zerodisk", "randomdisk", "secureerase", "reformat"];
        let verb = command.args().first()?.known()?.to_ascii_lowercase();
        return verbs.contains(&verb.as_str()).then_some(true);
    }
    let listed = FORMATTERS.iter().find(|formatter| formatter.name == name);
    let mkfs = name == "mkfs" || name.starts_with("mkfs.") || name.starts_with("newfs_");
    let (options, reads) = match listed {
        Some(formatter) => (formatter.options, formatter.reads),
        None if mkfs => (MKFS, ["n", "N", "V", "help", "version"].as_slice()),
        None => return None,
    };
    let spec =
        Spec { short: options, long: &["type=", "label=", "offset=", "types="], permute: true, abbreviate: true };
    let parsed = parse(command.args(), &spec);
    if parsed.has(reads) || name == "wipefs" && !parsed.has(&["a", "all", "o", "offset", "t", "types"]) {
        return None;
    }
    let operands = parsed.operands.iter().filter_map(|at| command.args().get(*at));
    operands
        .filter_map(
            |word| if word.prefix().is_empty() && word.has_hole() { Some(false) } else { device(word, command.cwd) },
        )
        .max()
}
