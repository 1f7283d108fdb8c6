//! Programs that run a command as another user or shut it in.

use super::program::Arity::Never;
use super::program::{Fact, Program};
use super::wrapper::{Dashes, Login, Wrapper};
use crate::options::OptionSpec;

const SU: OptionSpec = OptionSpec::gnu(
    "c:fg:G:lmpPs:Tu:w:hV",
    "\
    command= session-command= fast group= supp-group= login preserve-environment pty no-pty shell= user= \
    whitelist-environment= help version",
);

const CHROOT: Wrapper =
    Wrapper::rest("u:Nrh", "userspec= groups= skip-chdir help version").operands(1).login(Login::Alone).elsewhere();

const FAKEROOT: Wrapper = Wrapper::rest("l:s:i:b:uhv", "lib= faked= unknown-is-real").login(Login::Alone);

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "aa-exec",
        wrappers: &[Wrapper::rest("p:n:i:vdh", "profile= namespace= immediate")],
        ..Program::UNKNOWN
    },
    Program { names: "arch-chroot", wrappers: &[CHROOT], ..Program::UNKNOWN },
    Program {
        names: "bwrap",
        wrappers: &[Wrapper::rest(
            "",
            "\
            unshare-all share-net unshare-net unshare-pid die-with-parent new-session proc= dev= tmpfs= chdir= uid= \
            gid= hostname= dir=",
        )
        .dashes(Dashes::Begin)],
        ..Program::UNKNOWN
    },
    Program {
        names: "chpst",
        wrappers: &[Wrapper::rest("vPu:U:b:e:/:C:n:l:L:m:d:o:p:f:c:r:t:012", "").chdir("C")],
        ..Program::UNKNOWN
    },
    Program { names: "chroot", wrappers: &[CHROOT], rule: Never, ..Program::UNKNOWN },
    Program {
        names: "doas",
        wrappers: &[Wrapper::rest("a:C:Lnsu:", "").assignments().stop("C L").login(Login::With("s"))],
        rule: Never,
        facts: &[Fact::RunsElsewhere],
        ..Program::UNKNOWN
    },
    Program { names: "fakechroot fakeroot-ng pseudo", wrappers: &[FAKEROOT], ..Program::UNKNOWN },
    Program { names: "fakeroot", wrappers: &[FAKEROOT], rule: Never, ..Program::UNKNOWN },
    Program {
        names: "firejail",
        wrappers: &[Wrapper::rest("c", "quiet noprofile profile= private=? net= whitelist= list").login(Login::Alone)],
        ..Program::UNKNOWN
    },
    Program {
        names: "gosu s6-setuidgid setuidgid su-exec",
        wrappers: &[Wrapper::rest("", "").operands(1)],
        ..Program::UNKNOWN
    },
    Program {
        names: "machinectl",
        wrappers: &[Wrapper::rest("M:E:H:qn", "uid= setenv= machine= host=")
            .sub("shell")
            .operands(1)
            .login(Login::Alone)
            .elsewhere()],
        facts: &[Fact::RunsElsewhere],
        ..Program::UNKNOWN
    },
    Program {
        names: "nsenter",
        wrappers: &[Wrapper::rest(
            "at:S:G:m::u::i::n::p::U::C::T::r::w::W:eFZ",
            "\
            all target= mount=? uts=? ipc=? net=? pid=? cgroup=? user=? time=? setuid= setgid= preserve-credentials \
            root=? wd=? wdns= env no-fork",
        )
        .login(Login::Alone)
        .elsewhere()],
        ..Program::UNKNOWN
    },
    Program {
        names: "pkexec",
        wrappers: &[Wrapper::rest("u:", "disable-internal-agent user= keep-cwd version help")
            .stop("version help")
            .login(Login::Alone)],
        rule: Never,
        facts: &[Fact::RunsElsewhere],
        ..Program::UNKNOWN
    },
    Program {
        names: "proot",
        wrappers: &[Wrapper::rest("r:b:q:w:v:VhHkp:S:R:0i:ln", "rootfs= bind= qemu= pwd= cwd= root-id kill-on-exit")
            .login(Login::Alone)
            .elsewhere()],
        ..Program::UNKNOWN
    },
    Program {
        names: "runuser",
        options: SU,
        wrappers: &[Wrapper::rest(
            "c:fg:G:lmpPs:Tu:w:hV",
            "\
            command= session-command= fast group= supp-group= login preserve-environment pty no-pty shell= user= \
            whitelist-environment= help version",
        )
        .script("c command session-command")
        .login(Login::Alone)],
        rule: Never,
        facts: &[Fact::OnlyRunsCommands, Fact::RunsElsewhere],
        ..Program::UNKNOWN
    },
    Program {
        names: "setpriv",
        wrappers: &[Wrapper::rest(
            "dh",
            "\
            dump clear-groups keep-groups init-groups groups= inh-caps= ambient-caps= bounding-set= no-new-privs \
            list-caps rgid= egid= regid= ruid= euid= reuid= securebits= pdeathsig= ptracer= selinux-label= \
            apparmor-profile= landlock-access= landlock-rule= seccomp-filter= reset-env help version",
        )
        .stop("d dump list-caps")],
        ..Program::UNKNOWN
    },
    Program {
        names: "sg",
        wrappers: &[Wrapper::rest("c:l", "").operands(1).script("c").login(Login::Alone)],
        ..Program::UNKNOWN
    },
    Program {
        names: "su",
        options: SU,
        rule: Never,
        facts: &[Fact::OnlyRunsCommands, Fact::RunsElsewhere],
        ..Program::COMMANDS
    },
    Program {
        names: "sudo",
        wrappers: &[Wrapper::rest(
            "ABbC:c:D:Eeg:Hh:iKklNnPp:R:r:SsT:t:U:u:Vv",
            "\
            askpass auth-type= background bell close-from= login-class= chdir= preserve-env=? edit group= set-home \
            help host= login remove-timestamp reset-timestamp list no-update non-interactive preserve-groups \
            prompt= chroot= role= stdin shell type= command-timeout= other-user= user= version validate",
        )
        .assignments()
        .again()
        .chdir("D chdir")
        .stop("e edit l list v validate V version K remove-timestamp help")
        .login(Login::With("i login s shell"))],
        rule: Never,
        facts: &[Fact::RunsElsewhere],
        ..Program::UNKNOWN
    },
    Program {
        names: "unshare",
        wrappers: &[Wrapper::rest(
            "imnpuUCTfrcR:w:S:G:l:h",
            "\
            ipc=? mount=? net=? pid=? uts=? user=? cgroup=? time=? mount-proc=? map-user= map-group= map-users= \
            map-groups= map-root-user map-current-user map-auto propagation= setgroups= setuid= setgid= root= wd= \
            fork kill-child=? monotonic= boottime= keep-caps",
        )
        .login(Login::Alone)],
        ..Program::UNKNOWN
    },
];
