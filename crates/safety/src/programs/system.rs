//! Programs that change the machine: its power, services, users, firewall and volumes.

use super::lasting::{Lasting, Stake};
use super::program::Arity::{Exact, Words};
use super::program::{Effect, Program};
use crate::options::OptionSpec;

const fn changes(says: &'static str, instead: &'static str) -> Lasting {
    Lasting::of(Stake::System, says, instead)
}

const SYSTEMCTL: OptionSpec = OptionSpec::gnu(
    "H:M:t:p:P:n:s:o:",
    "\
    boot-loader-entry= boot-loader-menu= check-inhibitors= firmware-setup= host= image= job-mode= kill-value= kill-who= \
    kill-whom= lines= machine= message= output= preset-mode= property= reboot-argument= root= signal= state= timestamp= \
    type= what= when=",
);

static DOWN: Lasting = changes("takes this machine down, with everything that runs on it", "")
    .unless("c show")
    // Here `-h` is no help: it halts.
    .spec(OptionSpec::gnu("h:t:", "message="));
static SWITCH_OFF: Lasting =
    changes("takes this machine down, with everything that runs on it", "").unless("w wtmp-only");
static RUNLEVEL: Lasting = changes("takes this machine down, with everything that runs on it", "");
static POWER: Lasting =
    changes("takes [the machine {H host}|this machine] down, with everything that runs on it", "status");
static STOP: Lasting = changes(
    "stops or disables [{}|services] on [the machine {H host}|this machine], also for others who use it",
    "status [{}|]",
);
static ISOLATE: Lasting =
    changes("stops every service of [the machine {H host}|this machine] that [{}|the target] does not need", "status");
static STOP_SERVICE: Lasting = changes("stops a service of this machine, also for others who use it", "--status-all");
static UNLOAD: Lasting = changes("stops [{}|services] on this machine, also for others who use it", "list");

static FLUSH: Lasting = changes("deletes all rules of the firewall, or those of a chain", "-S").with("F flush");
static FLUSH_TABLES: Lasting = changes("deletes [the {}|rules] of the firewall", "list ruleset").unless("c check");
static NO_FIREWALL: Lasting = changes("takes the firewall of this machine away", "status");

static NO_CRONTAB: Lasting =
    changes("deletes [the crontab of {u}|your whole crontab], of which no copy is kept", "[-u {u} |]-l")
        .with("r")
        .spec(OptionSpec::gnu("u:", ""));

static NO_USER: Lasting = changes("deletes [the account or group {}|an account]", "");
static USER: Lasting = changes("changes what [the account {}|an account] is and may do", "");
static PASSWORD: Lasting = changes("changes [the password of {}|your password]", "-S [{}|]").unless("S status");
static SUDOERS: Lasting = changes("changes who may do what with sudo", "-c").unless("c check");

static NO_MOUNTS: Lasting = changes("unmounts every file system that is not in use", "").with("a all");
static NO_SWAP: Lasting =
    changes("takes all swap space away, and what does not fit into memory is killed", "--show").with("a all");
static NO_VOLUME: Lasting = changes("deletes [{}|volumes] with all data", "+--test").unless("t test");
static NO_FILE_SYSTEM: Lasting =
    changes("deletes [{}|a file system or a snapshot] with all data", "destroy -nv [{}|]").unless("n");
static NO_POOL: Lasting = changes("deletes [the pool {}|a pool] with all data", "status [{}|]");
static NO_SUBVOLUME: Lasting = changes("deletes [{}|a subvolume] with all data", "");
static NO_ARRAY: Lasting =
    changes("stops [the array {}|an array] and takes its disks away", "--detail [{}|]").with("S stop");

static NO_HISTORY: Lasting = changes("deletes the history of typed commands", "").with("c");
static NO_GUARD: Lasting = changes("stops SELinux from denying anything", "");

pub(super) static PROGRAMS: &[Program] = &[
    Program { names: "btrfs", subcommands: &[(Effect::Lasts(&NO_SUBVOLUME), "su* de*")], ..Program::DATA },
    Program {
        names: "crontab",
        rule: Exact,
        effect: Effect::Changes,
        subcommands: &[(Effect::Lasts(&NO_CRONTAB), "")],
        ..Program::DATA
    },
    Program { names: "deluser delgroup groupdel", subcommands: &[(Effect::Lasts(&NO_USER), "")], ..Program::DATA },
    Program { names: "halt poweroff", subcommands: &[(Effect::Lasts(&SWITCH_OFF), "")], ..Program::DATA },
    Program { names: "history", subcommands: &[(Effect::Lasts(&NO_HISTORY), "")], ..Program::DATA },
    Program { names: "init telinit", subcommands: &[(Effect::Lasts(&RUNLEVEL), "0, 6")], ..Program::DATA },
    Program { names: "ip6tables iptables", subcommands: &[(Effect::Lasts(&FLUSH), "")], ..Program::DATA },
    Program { names: "launchctl", subcommands: &[(Effect::Lasts(&UNLOAD), "unload, bootout")], ..Program::DATA },
    Program { names: "lvremove vgremove", subcommands: &[(Effect::Lasts(&NO_VOLUME), "")], ..Program::DATA },
    Program { names: "mdadm", subcommands: &[(Effect::Lasts(&NO_ARRAY), "")], ..Program::DATA },
    Program { names: "nft", subcommands: &[(Effect::Lasts(&FLUSH_TABLES), "flush")], ..Program::DATA },
    Program { names: "passwd", subcommands: &[(Effect::Lasts(&PASSWORD), "")], ..Program::DATA },
    Program {
        names: "reboot",
        effect: Effect::Changes,
        subcommands: &[(Effect::Lasts(&SWITCH_OFF), "")],
        ..Program::DATA
    },
    Program { names: "service", subcommands: &[(Effect::Lasts(&STOP_SERVICE), "* stop")], ..Program::DATA },
    Program {
        names: "setenforce",
        subcommands: &[(Effect::Lasts(&NO_GUARD), "0, permissive, Permissive")],
        ..Program::DATA
    },
    Program { names: "shutdown", effect: Effect::Changes, subcommands: &[(Effect::Lasts(&DOWN), "")], ..Program::DATA },
    Program { names: "swapoff", subcommands: &[(Effect::Lasts(&NO_SWAP), "")], ..Program::DATA },
    Program {
        names: "systemctl",
        options: SYSTEMCTL,
        rule: Words(2),
        subcommands: &[
            (
                Effect::Reads,
                "cat, is-active, is-enabled, is-failed, list-timers, list-units, list-unit-files, show, status",
            ),
            (Effect::Changes, "disable, enable, kill, mask, reload, restart, start, stop, unmask"),
            (Effect::Lasts(&STOP), "stop, disable, mask, kill"),
            (Effect::Lasts(&ISOLATE), "isolate"),
            (Effect::Lasts(&POWER), "reboot, poweroff, halt, kexec, soft-reboot, emergency, rescue"),
        ],
        ..Program::DATA
    },
    Program { names: "ufw", subcommands: &[(Effect::Lasts(&NO_FIREWALL), "disable, reset")], ..Program::DATA },
    Program {
        names: "umount",
        effect: Effect::Changes,
        subcommands: &[(Effect::Lasts(&NO_MOUNTS), "")],
        ..Program::DATA
    },
    Program {
        names: "userdel",
        effect: Effect::Changes,
        subcommands: &[(Effect::Lasts(&NO_USER), "")],
        ..Program::DATA
    },
    Program { names: "usermod", subcommands: &[(Effect::Lasts(&USER), "")], ..Program::DATA },
    Program { names: "visudo", subcommands: &[(Effect::Lasts(&SUDOERS), "")], ..Program::DATA },
    Program { names: "zfs", subcommands: &[(Effect::Lasts(&NO_FILE_SYSTEM), "destroy")], ..Program::DATA },
    Program { names: "zpool", subcommands: &[(Effect::Lasts(&NO_POOL), "destroy")], ..Program::DATA },
];
