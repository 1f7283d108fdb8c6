//! The options of programs that delete and write files.

use crate::safety::options::Spec;

/// `rm` of GNU, BSD (`-P`, `-W`, `-x`) and busybox.
pub static RM: Spec = Spec::gnu(
    "firRIdvPWx",
    &[
        "force",
        "interactive=?",
        "one-file-system",
        "no-preserve-root",
        "preserve-root=?",
        "recursive",
        "dir",
        "verbose",
        "help",
        "version",
    ],
);

/// `cp` and `mv`.
pub static COPY: Spec = Spec::gnu(
    "abdfiHlLnPpRrsS:t:TuvxXZ",
    &[
        "archive",
        "attributes-only",
        "backup=?",
        "copy-contents",
        "debug",
        "exchange",
        "dereference",
        "no-dereference",
        "force",
        "interactive",
        "link",
        "no-clobber",
        "no-copy",
        "no-preserve=",
        "parents",
        "preserve=?",
        "recursive",
        "reflink=?",
        "remove-destination",
        "sparse=",
        "strip-trailing-slashes",
        "symbolic-link",
        "suffix=",
        "target-directory=",
        "no-target-directory",
        "update=?",
        "verbose",
        "one-file-system",
        "keep-directory-symlink",
        "context=?",
        "help",
        "version",
    ],
);

/// `ln`.
pub static LINK: Spec = Spec::gnu(
    "bdFfhiLnPrsS:t:Tvw",
    &[
        "backup=?",
        "directory",
        "force",
        "interactive",
        "logical",
        "no-dereference",
        "physical",
        "relative",
        "symbolic",
        "suffix=",
        "target-directory=",
        "no-target-directory",
        "verbose",
        "help",
        "version",
    ],
);

/// `install`.
pub static INSTALL: Spec = Spec::gnu(
    "bcCdDg:m:o:pS:st:TvZ",
    &[
        "backup=?",
        "compare",
        "directory",
        "debug",
        "group=",
        "mode=",
        "owner=",
        "preserve-timestamps",
        "strip",
        "strip-program=",
        "suffix=",
        "target-directory=",
        "no-target-directory",
        "verbose",
        "preserve-context",
        "context=?",
        "help",
        "version",
    ],
);

/// `rsync`, as far as operands have to be told from values.
pub static RSYNC: Spec = Spec {
    short: "vqcarRbudlLkKHpEAXogDtSnWxe:B:T:yCf:Fz08s46hiPmOJMIU@:",
    long: &[
        "backup-dir=",
        "suffix=",
        "chmod=",
        "block-size=",
        "rsh=",
        "rsync-path=",
        "max-delete=",
        "max-size=",
        "min-size=",
        "partial-dir=",
        "timeout=",
        "contimeout=",
        "modify-window=",
        "temp-dir=",
        "compare-dest=",
        "copy-dest=",
        "link-dest=",
        "compress-level=",
        "skip-compress=",
        "filter=",
        "exclude=",
        "exclude-from=",
        "include=",
        "include-from=",
        "files-from=",
        "address=",
        "port=",
        "sockopts=",
        "out-format=",
        "log-file=",
        "log-file-format=",
        "password-file=",
        "bwlimit=",
        "protocol=",
        "iconv=",
        "info=",
        "debug=",
        "usermap=",
        "groupmap=",
        "chown=",
        "dry-run",
        "list-only",
        "help",
        "version",
    ],
    permute: true,
    abbreviate: true,
};

/// `tee`.
pub static TEE: Spec = Spec::gnu("aip", &["append", "ignore-interrupts", "output-error=?", "help", "version"]);

/// `sed` of GNU, where the value of `-i` is attached, with the letters of BSD: its `-I` is `-i`, all files as one.
pub static SED: Spec = Spec::gnu(
    "aEe:f:HI::i::l:nrsuz",
    &[
        "quiet",
        "silent",
        "debug",
        "expression=",
        "file=",
        "follow-symlinks",
        "in-place=?",
        "line-length=",
        "posix",
        "regexp-extended",
        "separate",
        "sandbox",
        "unbuffered",
        "null-data",
        "zero-terminated",
        "help",
        "version",
    ],
);

/// `perl`.
pub static PERL: Spec =
    Spec { short: "acC::D::e:E:fF:i::I:l::m:M:n0::psStTuUvV::wWxX", long: &[], permute: false, abbreviate: false };

/// `truncate`.
pub static TRUNCATE: Spec = Spec::gnu("cor:s:", &["no-create", "io-blocks", "reference=", "size=", "help", "version"]);

/// `shred`.
pub static SHRED: Spec = Spec::gnu(
    "fn:s:uvxz",
    &["force", "iterations=", "random-source=", "size=", "remove=?", "verbose", "exact", "zero", "help", "version"],
);

/// `curl`, as far as operands have to be told from values.
pub static CURL: Spec = Spec {
    short: "#0123469aA:b:BC:c:d:D:e:E:fF:gGh:H:iIjJkK:lLm:MnNo:OpP:qQ:r:RsSt:T:u:U:vVw:x:X:y:Y:z:Z",
    long: &[
        "output=",
        "output-dir=",
        "data=",
        "header=",
        "request=",
        "user=",
        "user-agent=",
        "url=",
        "form=",
        "cookie=",
        "cookie-jar=",
        "dump-header=",
        "connect-timeout=",
        "max-time=",
        "retry=",
        "proxy=",
        "config=",
        "upload-file=",
        "write-out=",
        "trace=",
        "trace-ascii=",
        "stderr=",
        "range=",
        "referer=",
    ],
    permute: true,
    abbreviate: true,
};

/// `wget`, as far as operands have to be told from values.
pub static WGET: Spec = Spec {
    short: "VhbdqvFo:a:e:i:B:t:O:cSN4T:w:Q:P:xnU:rl:kKmpA:R:D:HLI:X:",
    long: &[
        "output-document=",
        "output-file=",
        "append-output=",
        "directory-prefix=",
        "tries=",
        "timeout=",
        "wait=",
        "header=",
        "post-data=",
        "post-file=",
        "user=",
        "password=",
        "user-agent=",
        "input-file=",
        "base=",
        "level=",
        "accept=",
        "reject=",
    ],
    permute: true,
    abbreviate: true,
};
