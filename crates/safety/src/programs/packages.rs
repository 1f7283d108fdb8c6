//! Package managers of systems.

use super::lasting::{Lasting, Stake};
use super::program::Arity::Words;
use super::program::{Effect, Fact, Program};
use crate::options::OptionSpec;

const fn changes(says: &'static str, instead: &'static str) -> Lasting {
    Lasting::of(Stake::System, says, instead)
}

const APT: OptionSpec = OptionSpec::gnu(
    "a:c:o:t:",
    "config-file= default-release= host-architecture= option= target-release= verbose-versions",
);

const DNF: OptionSpec = OptionSpec::gnu(
    "c:d:e:R:x:",
    "\
    config= debuglevel= disableexcludes= disablerepo= enablerepo= errorlevel= exclude= forcearch= installroot= \
    randomwait= releasever= repo= repoid= rpmverbosity= setopt=",
);

static UNINSTALL: Lasting = changes("removes [{}|packages] from this machine, with everything that needs them", "+-s")
    .unless("s simulate just-print recon no-act")
    .spec(APT);
static UNINSTALL_DNF: Lasting =
    changes("removes [{}|packages] from this machine, with everything that needs them", "+--assumeno")
        .unless("assumeno")
        .spec(DNF);
static UNINSTALL_PACMAN: Lasting =
    changes("removes [{}|packages] from this machine", "-Rp [{}|]").with("R remove").unless("p print");
static UNINSTALL_APK: Lasting = changes("removes [{}|packages] from this machine", "+--simulate").unless("s simulate");
static UNINSTALL_BREW: Lasting =
    changes("removes [{}|packages] from this machine", "uses --installed [{}|]").unless("n");
static AUTOREMOVE_BREW: Lasting =
    changes("removes every package that no other one needs", "autoremove --dry-run").unless("n");

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "apk",
        options: OptionSpec::gnu("p:X:t:", "arch= keys-dir= repositories-file= repository= root= virtual= wait="),
        subcommands: &[(Effect::Lasts(&UNINSTALL_APK), "del")],
        ..Program::DATA
    },
    Program {
        names: "apt",
        options: APT,
        rule: Words(2),
        subcommands: &[
            (Effect::Reads, "list, policy, search, show"),
            (Effect::Changes, "install, remove, purge, update, upgrade, full-upgrade, autoremove, clean"),
            (Effect::Lasts(&UNINSTALL), "remove, purge, autoremove, autopurge"),
        ],
        ..Program::DATA
    },
    Program {
        names: "apt-cache",
        subcommands: &[(Effect::Reads, "depends, madison, policy, rdepends, search, show")],
        ..Program::DATA
    },
    Program {
        names: "apt-get",
        options: APT,
        rule: Words(2),
        subcommands: &[
            (Effect::Changes, "install, remove, purge, update, upgrade, dist-upgrade, clean"),
            (Effect::Lasts(&UNINSTALL), "remove, purge, autoremove, autopurge"),
        ],
        ..Program::DATA
    },
    Program {
        names: "aptitude",
        options: APT,
        subcommands: &[(Effect::Lasts(&UNINSTALL), "remove, purge")],
        ..Program::DATA
    },
    Program {
        names: "brew",
        rule: Words(2),
        sub_rules: &[(Words(3), "services")],
        subcommands: &[
            (Effect::Reads, "config, deps, desc, info, leaves, list, search, uses"),
            (Effect::Changes, "install, reinstall, uninstall, upgrade, update, cleanup, link, unlink"),
            (Effect::Lasts(&UNINSTALL_BREW), "uninstall, remove, rm"),
            (Effect::Lasts(&AUTOREMOVE_BREW), "autoremove"),
        ],
        facts: &[Fact::PrintsShellCode("shellenv")],
        ..Program::DATA
    },
    Program {
        names: "dnf dnf5 microdnf yum",
        options: DNF,
        subcommands: &[(Effect::Lasts(&UNINSTALL_DNF), "remove, erase, autoremove")],
        ..Program::DATA
    },
    Program {
        names: "pacman paru yay",
        rule: Words(2),
        subcommands: &[(Effect::Lasts(&UNINSTALL_PACMAN), "")],
        ..Program::DATA
    },
];
