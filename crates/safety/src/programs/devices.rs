//! Programs that overwrite block devices, and the names of such devices.

use super::program::Arity::Exact;
use super::program::{Effect, Fact, Program, Target};
use crate::options::OptionSpec;

pub(super) static PROGRAMS: &[Program] = &[
    Program { names: "badblocks", facts: &[Fact::Formats { writes: "w", reads: "" }], ..Program::DATA },
    Program {
        names: "blkdiscard",
        effect: Effect::Changes,
        facts: &[Fact::Formats { writes: "", reads: "h V" }],
        ..Program::UNKNOWN
    },
    Program {
        names: "cryptsetup",
        facts: &[Fact::Formats { writes: "erase luksErase luksFormat reencrypt", reads: "" }],
        ..Program::DATA
    },
    Program {
        names: "dd",
        rule: Exact,
        effect: Effect::Changes,
        facts: &[Fact::Writes(Target::Prefixed("of=")), Fact::Erases(Target::Prefixed("of="), "")],
        ..Program::DATA
    },
    Program {
        names: "diskutil",
        facts: &[Fact::Formats {
            writes: "eraseDisk eraseVolume partitionDisk zeroDisk randomDisk secureErase reformat",
            reads: "",
        }],
        ..Program::DATA
    },
    Program {
        names: "fdisk",
        facts: &[Fact::Formats { writes: "", reads: "l x s V --list --list-details --getsz" }],
        ..Program::DATA
    },
    Program { names: "fsck.", ..Program::DATA },
    Program {
        names: "hdparm",
        facts: &[Fact::Formats { writes: "--security-erase --security-erase-enhanced --write-sector", reads: "" }],
        ..Program::DATA
    },
    Program {
        names: "mke2fs mkfs.ext2 mkfs.ext3 mkfs.ext4",
        effect: Effect::Changes,
        facts: &[Fact::Formats { writes: "", reads: "n V" }],
        ..Program::DATA
    },
    Program {
        names: "mkfs",
        rule: Exact,
        effect: Effect::Changes,
        facts: &[Fact::Formats { writes: "", reads: "n V" }],
        ..Program::DATA
    },
    Program {
        names: "mkfs.",
        effect: Effect::Changes,
        facts: &[Fact::Formats { writes: "", reads: "" }],
        ..Program::DATA
    },
    Program {
        names: "mkfs.xfs",
        effect: Effect::Changes,
        facts: &[Fact::Formats { writes: "", reads: "N V" }],
        ..Program::DATA
    },
    Program {
        names: "mkswap",
        effect: Effect::Changes,
        facts: &[Fact::Formats { writes: "", reads: "V" }],
        ..Program::DATA
    },
    Program { names: "newfs newfs_", facts: &[Fact::Formats { writes: "", reads: "N" }], ..Program::UNKNOWN },
    Program {
        names: "nvme",
        facts: &[Fact::Formats { writes: "format sanitize write-zeroes", reads: "" }],
        ..Program::UNKNOWN
    },
    Program {
        names: "parted",
        facts: &[Fact::Formats { writes: "mklabel mktable mkpart mkpartfs rm resizepart move set", reads: "" }],
        ..Program::DATA
    },
    Program { names: "pvcreate", facts: &[Fact::Formats { writes: "", reads: "t --test h" }], ..Program::DATA },
    Program {
        names: "sfdisk",
        facts: &[Fact::Formats { writes: "", reads: "l d J n --list --dump --json --no-act --verify" }],
        ..Program::DATA
    },
    Program {
        names: "sgdisk",
        facts: &[Fact::Formats {
            writes: "Z z o n d g l --zap-all --zap --clear --new --delete --load-backup",
            reads: "P --pretend",
        }],
        ..Program::DATA
    },
    Program {
        names: "shred",
        options: OptionSpec::gnu(
            "fn:s:uvxz",
            "force iterations= random-source= size= remove=? verbose exact zero help version",
        ),
        rule: Exact,
        effect: Effect::Changes,
        facts: &[
            Fact::Formats { writes: "", reads: "" },
            Fact::Writes(Target::Operands),
            Fact::Erases(Target::Operands, ""),
        ],
        ..Program::DATA
    },
    Program {
        names: "wipe",
        options: OptionSpec::gnu("acDeEfF:hikl:M:oP:qQ:rR:sS:tTvwx:Z", "help version"),
        facts: &[Fact::Erases(Target::Operands, "")],
        ..Program::DATA
    },
    Program {
        names: "wipefs",
        effect: Effect::Changes,
        facts: &[Fact::Formats { writes: "a o t --all --offset --types", reads: "n --no-act" }],
        ..Program::DATA
    },
    Program { names: "zerofree", facts: &[Fact::Formats { writes: "", reads: "n" }], ..Program::UNKNOWN },
];

/// How names below `/dev` begin that are block devices or memory.
pub static DEVICES: &str = "\
        sd hd vd xvd nvme mmcblk disk rdisk loop md dm- mapper/ nbd zram ram sr mtd ubi zvol/ dasd pmem bcache \
        cciss/ mem kmem root";

/// Names that a glob below `/dev` is tried on.
pub static DEVICE_SAMPLES: &str = "sda sda1 sdb hda vda vda1 xvda nvme0n1 nvme0n1p1 mmcblk0 disk0 rdisk0 loop0";

/// Directories at the top of a machine that hold the system.
pub static SYSTEM_DIRECTORIES: &str =
    "bin boot dev etc lib lib32 lib64 proc run sbin sys usr var Library System Applications private";
