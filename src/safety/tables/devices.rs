//! Block devices, what overwrites them, and the folders of a system.

/// Programs that overwrite each device that they are given: with file systems, swap areas, tables, volumes, or nothing.
/// A name that ends in `.` or `_` is the beginning of several names, as `mkfs.` of `mkfs.vfat`.
pub static FORMATTERS: &[Formatter] = &[
    Formatter { name: "badblocks", writes: &["w"], reads: &[] },
    Formatter { name: "blkdiscard", writes: &[], reads: &["h", "V"] },
    Formatter { name: "cryptsetup", writes: &["erase", "luksErase", "luksFormat", "reencrypt"], reads: &[] },
    Formatter {
        name: "diskutil",
        writes: &["eraseDisk", "eraseVolume", "partitionDisk", "zeroDisk", "randomDisk", "secureErase", "reformat"],
        reads: &[],
    },
    Formatter { name: "fdisk", writes: &[], reads: &["l", "x", "s", "V", "--list", "--list-details", "--getsz"] },
    Formatter {
        name: "hdparm",
        writes: &["--security-erase", "--security-erase-enhanced", "--write-sector"],
        reads: &[],
    },
    Formatter { name: "mke2fs", writes: &[], reads: &["n", "V"] },
    Formatter { name: "mkfs", writes: &[], reads: &["n", "V"] },
    Formatter { name: "mkfs.ext2", writes: &[], reads: &["n", "V"] },
    Formatter { name: "mkfs.ext3", writes: &[], reads: &["n", "V"] },
    Formatter { name: "mkfs.ext4", writes: &[], reads: &["n", "V"] },
    Formatter { name: "mkfs.xfs", writes: &[], reads: &["N", "V"] },
    Formatter { name: "mkfs.", writes: &[], reads: &[] },
    Formatter { name: "mkswap", writes: &[], reads: &["V"] },
    Formatter { name: "newfs", writes: &[], reads: &["N"] },
    Formatter { name: "newfs_", writes: &[], reads: &["N"] },
    Formatter { name: "nvme", writes: &["format", "sanitize", "write-zeroes"], reads: &[] },
    Formatter {
        name: "parted",
        writes: &["mklabel", "mktable", "mkpart", "mkpartfs", "rm", "resizepart", "move", "set"],
        reads: &[],
    },
    Formatter { name: "pvcreate", writes: &[], reads: &["t", "--test", "h"] },
    Formatter {
        name: "sfdisk",
        writes: &[],
        reads: &["l", "d", "J", "n", "--list", "--dump", "--json", "--no-act", "--verify"],
    },
    Formatter {
        name: "sgdisk",
        writes: &[
            "Z",
            "z",
            "o",
            "n",
            "d",
            "g",
            "l",
            "--zap-all",
            "--zap",
            "--clear",
            "--new",
            "--delete",
            "--load-backup",
        ],
        reads: &["P", "--pretend"],
    },
    Formatter { name: "shred", writes: &[], reads: &[] },
    Formatter { name: "wipefs", writes: &["a", "o", "t", "--all", "--offset", "--types"], reads: &["n", "--no-act"] },
    Formatter { name: "zerofree", writes: &[], reads: &["n"] },
];

/// A program that overwrites the devices it is given. A single letter is one in a cluster of options, anything else a word.
#[derive(Debug)]
pub struct Formatter {
    /// Its name.
    pub name: &'static str,
    /// Where this is not empty it writes with one of these only.
    pub writes: &'static [&'static str],
    /// With one of these it only looks.
    pub reads: &'static [&'static str],
}

/// How names below `/dev` begin that are block devices or memory.
pub static DEVICES: &[&str] = &[
    "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "loop", "md", "dm-", "mapper/", "nbd", "zram", "ram",
    "sr", "mtd", "ubi", "zvol/", "dasd", "pmem", "bcache", "cciss/", "mem", "kmem", "root",
];

/// Names that a glob below `/dev` is tried on.
pub static DEVICE_SAMPLES: &[&str] = &[
    "sda",
    "sda1",
    "sdb",
    "hda",
    "vda",
    "vda1",
    "xvda",
    "nvme0n1",
    "nvme0n1p1",
    "mmcblk0",
    "disk0",
    "rdisk0",
    "loop0",
];

/// Folders at the top of a machine that hold the system: being in one of them does not make what is there one's own.
pub static SYSTEM_FOLDERS: &[&str] = &[
    "bin",
    "boot",
    "dev",
    "etc",
    "lib",
    "lib32",
    "lib64",
    "proc",
    "run",
    "sbin",
    "sys",
    "usr",
    "var",
    "Library",
    "System",
    "Applications",
    "private",
];
