//! Small programs that read, make, copy and remove files.

use super::program::Arity::Exact;
use super::program::{Effect, Fact, Program, Target};
use crate::options::OptionSpec;

const COPY: OptionSpec = OptionSpec::gnu(
    "abdfiHlLnPpRrsS:t:TuvxXZ",
    "\
    archive attributes-only backup=? copy-contents debug exchange dereference no-dereference force interactive link \
    no-clobber no-copy no-preserve= parents preserve=? recursive reflink=? remove-destination sparse= \
    strip-trailing-slashes symbolic-link suffix= target-directory= no-target-directory update=? verbose \
    one-file-system keep-directory-symlink context=? help version",
);

const LINK: OptionSpec = OptionSpec::gnu(
    "bdFfhiLnPrsS:t:Tvw",
    "\
    backup=? directory force interactive logical no-dereference physical relative symbolic suffix= \
    target-directory= no-target-directory verbose help version",
);

const REMOVE: OptionSpec = OptionSpec::gnu(
    "firRIdvPWx",
    "force interactive=? one-file-system no-preserve-root preserve-root=? recursive dir verbose help version",
);

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "\
            : [ [[ apropos b2sum basename bc break cal cat cd cksum cmp column comm continue cut df diff dir \
            dirname dirs du echo egrep exit expand expr factor false fgrep fmt fold free getent getopts grep groups \
            head hexdump id jobs join jq let local ls lsblk lscpu lsof lspci lsusb md5 md5sum nl nm nproc numfmt \
            objdump od paste pgrep popd pr printenv printf ps pstree pushd pwd read readelf readlink readonly \
            realpath return rev seq set sha1sum sha224sum sha256sum sha384sum sha512sum shasum shift shopt sleep \
            stat strings sum tac tail test times tr true tsort tty type ulimit umask uname unexpand unset uptime \
            users vdir vmstat w wait wc whatis whereis which who whoami zcat zegrep zgrep",
        effect: Effect::Reads,
        ..Program::DATA
    },
    Program {
        names: "\
            chattr csplit fallocate link mkdir mkfifo mknod mktemp mount patch rename renice setfacl touch unzip \
            useradd",
        effect: Effect::Changes,
        ..Program::DATA
    },
    Program {
        names: "chgrp chmod chown kill killall pkill rmdir unlink",
        rule: Exact,
        effect: Effect::Changes,
        ..Program::DATA
    },
    Program {
        names: "cp mv",
        options: COPY,
        rule: Exact,
        effect: Effect::Changes,
        facts: &[Fact::Writes(Target::LastUnless(""))],
        ..Program::DATA
    },
    Program {
        names: "gcp gmv",
        options: COPY,
        effect: Effect::Changes,
        facts: &[Fact::Writes(Target::LastUnless(""))],
        ..Program::UNKNOWN
    },
    Program { names: "getconf iostat locale size zfgrep", effect: Effect::Reads, ..Program::UNKNOWN },
    Program {
        names: "gln",
        options: LINK,
        effect: Effect::Changes,
        facts: &[Fact::Writes(Target::LastUnless(""))],
        ..Program::UNKNOWN
    },
    Program { names: "grm", options: REMOVE, effect: Effect::Changes, ..Program::UNKNOWN },
    Program {
        names: "install",
        options: OptionSpec::gnu(
            "bcCdDg:m:o:pS:st:TvZ",
            "\
            backup=? compare directory debug group= mode= owner= preserve-timestamps strip strip-program= suffix= \
            target-directory= no-target-directory verbose preserve-context context=? help version",
        ),
        rule: Exact,
        effect: Effect::Changes,
        facts: &[Fact::Writes(Target::LastUnless("d directory"))],
        ..Program::DATA
    },
    Program {
        names: "ln",
        options: LINK,
        rule: Exact,
        effect: Effect::Changes,
        facts: &[Fact::Writes(Target::LastUnless(""))],
        ..Program::DATA
    },
    Program { names: "logrotate", effect: Effect::Changes, ..Program::UNKNOWN },
    Program { names: "rm", options: REMOVE, rule: Exact, effect: Effect::Changes, ..Program::DATA },
    Program {
        names: "truncate",
        options: OptionSpec::gnu("cor:s:", "no-create io-blocks reference= size= help version"),
        rule: Exact,
        effect: Effect::Changes,
        facts: &[Fact::Writes(Target::Operands), Fact::Erases(Target::Operands, "s=0 size=0")],
        ..Program::DATA
    },
];
