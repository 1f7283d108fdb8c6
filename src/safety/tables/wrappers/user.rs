//! Wrappers that change the user or shut the command in.

use super::wrapper::{Dashes, Login, Wrapper};
use crate::safety::options::Spec;

/// `su`, and `runuser`, which is the same but for its `-u`: the words are a command then.
pub static SU: Spec = Spec::gnu(
    "c:fg:G:lmpPs:Tu:w:hV",
    &[
        "command=",
        "session-command=",
        "fast",
        "group=",
        "supp-group=",
        "login",
        "preserve-environment",
        "pty",
        "no-pty",
        "shell=",
        "user=",
        "whitelist-environment=",
        "help",
        "version",
    ],
);

pub(super) static USER: &[Wrapper] = &[
    Wrapper::rest(
        &["sudo"],
        "ABbC:c:D:Eeg:Hh:iKklNnPp:R:r:SsT:t:U:u:Vv",
        &[
            "askpass",
            "auth-type=",
            "background",
            "bell",
            "close-from=",
            "login-class=",
            "chdir=",
            "preserve-env=?",
            "edit",
            "group=",
            "set-home",
            "help",
            "host=",
            "login",
            "remove-timestamp",
            "reset-timestamp",
            "list",
            "no-update",
            "non-interactive",
            "preserve-groups",
            "prompt=",
            "chroot=",
            "role=",
            "stdin",
            "shell",
            "type=",
            "command-timeout=",
            "other-user=",
            "user=",
            "version",
            "validate",
        ],
    )
    .assignments()
    .again()
    .chdir(&["D", "chdir"])
    .stop(&["e", "edit", "l", "list", "v", "validate", "V", "version", "K", "remove-timestamp", "help"])
    .login(Login::With(&["i", "login", "s", "shell"])),
    Wrapper::rest(&["doas"], "a:C:Lnsu:", &[]).assignments().stop(&["C", "L"]).login(Login::With(&["s"])),
    Wrapper::rest(&["pkexec"], "u:", &["disable-internal-agent", "user=", "keep-cwd", "version", "help"])
        .stop(&["version", "help"])
        .login(Login::Alone),
    Wrapper::rest(&["gosu", "su-exec", "s6-setuidgid", "setuidgid"], "", &[]).operands(1),
    Wrapper::rest(&["runuser"], SU.short, SU.long).script(&["c", "command", "session-command"]).login(Login::Alone),
    Wrapper::rest(&["sg"], "c:l", &[]).operands(1).script(&["c"]).login(Login::Alone),
    Wrapper::rest(
        &["setpriv"],
        "dh",
        &[
            "dump",
            "clear-groups",
            "keep-groups",
            "init-groups",
            "groups=",
            "inh-caps=",
            "ambient-caps=",
            "bounding-set=",
            "no-new-privs",
            "list-caps",
            "rgid=",
            "egid=",
            "regid=",
            "ruid=",
            "euid=",
            "reuid=",
            "securebits=",
            "pdeathsig=",
            "ptracer=",
            "selinux-label=",
            "apparmor-profile=",
            "landlock-access=",
            "landlock-rule=",
            "seccomp-filter=",
            "reset-env",
            "help",
            "version",
        ],
    )
    .stop(&["d", "dump", "list-caps"]),
    Wrapper::rest(&["chpst"], "vPu:U:b:e:/:C:n:l:L:m:d:o:p:f:c:r:t:012", &[]).chdir(&["C"]),
    Wrapper::rest(
        &["fakeroot", "fakeroot-ng", "fakechroot", "pseudo"],
        "l:s:i:b:uhv",
        &["lib=", "faked=", "unknown-is-real"],
    )
    .login(Login::Alone),
    Wrapper::rest(
        &["unshare"],
        "imnpuUCTfrcR:w:S:G:l:h",
        &[
            "ipc=?",
            "mount=?",
            "net=?",
            "pid=?",
            "uts=?",
            "user=?",
            "cgroup=?",
            "time=?",
            "mount-proc=?",
            "map-user=",
            "map-group=",
            "map-users=",
            "map-groups=",
            "map-root-user",
            "map-current-user",
            "map-auto",
            "propagation=",
            "setgroups=",
            "setuid=",
            "setgid=",
            "root=",
            "wd=",
            "fork",
            "kill-child=?",
            "monotonic=",
            "boottime=",
            "keep-caps",
        ],
    )
    .login(Login::Alone),
    Wrapper::rest(
        &["nsenter"],
        "at:S:G:m::u::i::n::p::U::C::T::r::w::W:eFZ",
        &[
            "all",
            "target=",
            "mount=?",
            "uts=?",
            "ipc=?",
            "net=?",
            "pid=?",
            "cgroup=?",
            "user=?",
            "time=?",
            "setuid=",
            "setgid=",
            "preserve-credentials",
            "root=?",
            "wd=?",
            "wdns=",
            "env",
            "no-fork",
        ],
    )
    .login(Login::Alone)
    .elsewhere(),
    Wrapper::rest(&["chroot", "arch-chroot"], "u:Nrh", &["userspec=", "groups=", "skip-chdir", "help", "version"])
        .operands(1)
        .login(Login::Alone)
        .elsewhere(),
    Wrapper::rest(
        &["proot"],
        "r:b:q:w:v:VhHkp:S:R:0i:ln",
        &["rootfs=", "bind=", "qemu=", "pwd=", "cwd=", "root-id", "kill-on-exit"],
    )
    .login(Login::Alone)
    .elsewhere(),
    Wrapper::rest(&["firejail"], "c", &["quiet", "noprofile", "profile=", "private=?", "net=", "whitelist=", "list"])
        .login(Login::Alone),
    Wrapper::rest(
        &["bwrap"],
        "",
        &[
            "unshare-all",
            "share-net",
            "unshare-net",
            "unshare-pid",
            "die-with-parent",
            "new-session",
            "proc=",
            "dev=",
            "tmpfs=",
            "chdir=",
            "uid=",
            "gid=",
            "hostname=",
            "dir=",
        ],
    )
    .dashes(Dashes::Begin),
    Wrapper::rest(&["aa-exec"], "p:n:i:vdh", &["profile=", "namespace=", "immediate"]),
    Wrapper::rest(
        &["flock"],
        "sxeounFw:E:c:hV",
        &[
            "shared",
            "exclusive",
            "unlock",
            "nonblock",
            "timeout=",
            "conflict-exit-code=",
            "close",
            "no-fork",
            "command=",
            "verbose",
        ],
    )
    .operands(1)
    .script(&["c", "command"]),
    Wrapper::rest(
        &["wait-for-it", "wait-for-it.sh", "wait-for", "wait-port", "dockerize"],
        "h:p:t:sq",
        &["host=", "port=", "timeout=", "strict", "quiet"],
    )
    .dashes(Dashes::Need)
    .child(),
    Wrapper::rest(
        &["retry"],
        "t:s:m:x:d:u:f:i:",
        &["times=", "delay=", "tries=", "sleep=", "max=", "until=", "while="],
    )
    .dashes(Dashes::Begin)
    .child(),
];
