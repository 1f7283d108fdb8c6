//! Block devices, what overwrites them, and the folders of a system.

/// Programs that make a file system, a swap area, a table or a volume out of each device that they are given, with what
/// they only look with.
pub static FORMATTERS: &[Formatter] = &[
    Formatter { name: "mkswap", options: "cfp:L:v:U:e:o:s:", reads: &["help", "version"] },
    Formatter { name: "mke2fs", options: MKFS, reads: &["n", "help", "version"] },
    Formatter { name: "newfs", options: MKFS, reads: &["N", "help"] },
    Formatter { name: "wipefs", options: "abfhino:O:pqt:V", reads: &["n", "no-act", "h", "help", "V", "version"] },
    Formatter { name: "blkdiscard", options: "fo:l:p:svzhV", reads: &["h", "help", "V", "version"] },
    Formatter { name: "pvcreate", options: "fyZ:u:M:tv", reads: &["t", "test", "help", "h"] },
    Formatter { name: "zerofree", options: "nf:v", reads: &["n"] },
    Formatter { name: "shred", options: "fn:s:uvxz", reads: &["help", "version"] },
];

/// The options of mkfs and its kin; several of them take a value.
pub const MKFS: &str = "b:cC:d:DE:FfgG:i:I:jJ:KL:m:M:N:no:O:qr:R:s:S:t:T:U:vVw:z:";

/// A program that overwrites the devices it is given.
#[derive(Debug)]
pub struct Formatter {
    /// Its name.
    pub name: &'static str,
    /// Its short options.
    pub options: &'static str,
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
