//! Changes of the machine: its power, services, processes of others, firewall, users, volumes and packages.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::lasting_effects;
use super::support::operand_paths::{DirectoryLandmarks, OperandPlace};
use super::support::quote;
use crate::name_lists::has_word;
use crate::options::{OptionSpec, parse};
use crate::programs::lasting::EffectStake;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;
use crate::word_value::{ValueContents, WordValue};

pub static RULE: SafetyRule = SafetyRule {
    id: "system-change",
    level: SafetyVerdict::Ask,
    doc: "Changes the machine for everything else that runs on it: takes it or its services down, ends processes by a bare \
          name, opens the firewall, changes accounts, deletes volumes, removes packages, or changes owners and modes \
          outside of the working directory.",
    programs: RulePrograms::With(
        EffectStake::System,
        &["chmod", "chown", "kill", "killall", "killall5", "pkill", "sysctl"],
    ),
    check,
    matches: &[
        "sudo shutdown -h now",
        "reboot",
        "sudo init 0",
        "sudo systemctl stop nginx",
        "systemctl --user disable --now app",
        "service nginx stop",
        "launchctl bootout gui/501/com.acme.agent",
        "kill -9 1",
        "kill -9 -1",
        "kill -1",
        "kill 0",
        "kill -9 $(pgrep node)",
        "PIDS=$(pgrep node); kill $PIDS",
        "ps aux | grep node | awk '{print $2}' | xargs kill -9",
        "for p in $(pidof node); do kill \"$p\"; done",
        "pgrep node | while read -r p; do kill -9 $p; done",
        "killall -9 node",
        "killall5",
        "pkill node",
        "pkill -f java",
        "pkill -u dev",
        "sudo iptables -t nat -F",
        "nft flush ruleset",
        "ufw --force reset",
        "crontab -u deploy -r",
        "userdel -r bob",
        "passwd root",
        "sudo usermod -aG docker dev",
        "visudo",
        "chmod -R 777 .",
        "chmod -R a+rwx uploads",
        "chmod -R 755 /usr/local",
        "chmod -R 000 .",
        "chmod -R a-w .git",
        "sudo chown -R dev ~/.npm",
        "sudo chown -R app:app \"$(cat target)\"",
        "umount -a",
        "swapoff -a",
        "lvremove -f vg0/data",
        "zfs destroy -r tank/data",
        "zpool destroy tank",
        "btrfs subvolume delete /mnt/x",
        "mdadm --stop /dev/md0",
        "sudo apt-get purge -y nginx",
        "yum -y remove git",
        "pacman -Rns vim",
        "apk del git",
        "brew uninstall node",
        "brew autoremove",
        "history -c",
        "setenforce 0",
        "sysctl -w vm.swappiness=10",
        "sysctl vm.swappiness=10",
    ],
    passes: &[
        "shutdown -c",
        "last reboot",
        "systemctl status nginx",
        "systemctl restart nginx",
        "service nginx restart",
        "launchctl list",
        "kill 4321",
        "kill -1 4321",
        "kill -- -4321",
        "kill %1",
        "kill -0 1",
        "kill $(lsof -ti:3000)",
        "pid=$(pgrep -f vite); kill \"$pid\"",
        "kill $(pgrep -f 'vite --port 3000')",
        "ps aux | grep 'node server.js' | awk '{print $2}' | xargs kill",
        "killall -l",
        "pkill -f 'vite --port 3000'",
        "pkill -F server.pid",
        "pkill -P $$",
        "iptables -L -n",
        "nft list ruleset",
        "ufw status",
        "crontab -l",
        "passwd -S",
        "visudo -c",
        "chmod +x run.sh",
        "chmod -R u+w dist",
        "chmod 777 x.sh",
        "chown -R dev:dev .",
        "sudo chown -R \"$USER\" node_modules",
        "chown -R dev /tmp/x",
        "chown dev /etc/x",
        "umount /mnt/x",
        "zfs list",
        "zfs destroy -nv tank/data",
        "mdadm --detail /dev/md0",
        "apt-get -s remove nginx",
        "apt install nginx",
        "pacman -Qe",
        "brew list",
        "history 20",
        "sysctl -n vm.swappiness",
        "echo sudo reboot",
    ],
};

/// Signals by their names, without `SIG`.
static SIGNALS: &str = "HUP INT QUIT KILL TERM STOP CONT USR1 USR2 ALRM PIPE ABRT TSTP TTIN TTOU WINCH CHLD IO SEGV";

static KILLALL: OptionSpec = OptionSpec::gnu(
    "egIilqrs:u:vwVy:o:Z:c:t:n:",
    "signal= user= younger-than= older-than= context= ns= list version help",
);

static PKILL: OptionSpec = OptionSpec::gnu(
    "cdfeF:G:g:iLlnoO:P:r:s:t:u:U:vVxAh",
    "\
    cgroup= count echo env= euid= exact full group= ignore-case inverse logpidfile newest ns= nslist= older= oldest \
    parent= pgroup= pidfile= queue= runstates= session= signal= terminal= uid= version help",
);

static MODES: OptionSpec = OptionSpec::gnu(
    "cfhHLPRv",
    "changes dereference from= no-dereference no-preserve-root preserve-root quiet recursive reference= silent verbose help version",
);

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    match command.name()? {
        "chmod" | "chown" => modes(command),
        "kill" => kill(command.args()),
        "killall" => killall(command.args()),
        "killall5" => Some(signals("every process that it may signal", String::new())),
        "pkill" => pkill(command.args()),
        "sysctl" => sysctl(command.args()),
        _ => lasting_effects::check(command, EffectStake::System),
    }
}

/// `kill` of the first process, of all, of its own group, or of processes that were found by a name.
fn kill(args: &[WordValue]) -> Option<RuleHit> {
    let mut targets = args;
    let mut probes = false;
    // A lone `-1` is the target.
    while let [first, rest @ ..] = targets {
        let text = first.prefix();
        match text {
            "--" => {
                targets = rest;
                break;
            }
            "-l" | "-L" | "--list" | "--table" | "--help" | "--version" | "-V" => return None,
            "-s" | "-n" | "--signal" | "-q" | "--queue" | "--timeout" => {
                probes |= rest.first().is_some_and(|signal| signal.known() == Some("0"));
                targets = rest.get(1..).unwrap_or_default();
            }
            _ if text.starts_with('-') && (text != "-1" || !rest.is_empty()) && std::ptr::eq(targets, args) => {
                probes |= text == "-0";
                targets = rest;
            }
            _ => break,
        }
    }
    if probes {
        return None;
    }
    let what = targets.iter().find_map(|target| match target.known() {
        Some("1") => Some("the first process, with which the machine goes down"),
        Some("-1") => Some("every process that it may signal"),
        Some("0") => Some("every process of its own group, its caller among them"),
        _ => matches!(target.contents(), Some(ValueContents::Processes | ValueContents::AssignedProcesses))
            .then_some("every process that was found by a name, also those of other people and tools"),
    })?;
    Some(signals(what, String::new()))
}

fn killall(args: &[WordValue]) -> Option<RuleHit> {
    let args = without_signal(args)?;
    let parsed = parse(&args, &KILLALL);
    if parsed.has("l list V version help") || is_probe(parsed.value("s signal")) {
        return None;
    }
    let name = parsed.operands.first().map(|at| &args[*at]);
    if name.is_none() && !parsed.has("u user") {
        return None;
    }
    Some(by_name(name.or(parsed.value("u user")), name.is_some()))
}

/// `pkill` by a bare name, or of all processes of a user.
fn pkill(args: &[WordValue]) -> Option<RuleHit> {
    let args = without_signal(args)?;
    let parsed = parse(&args, &PKILL);
    if parsed.has("F pidfile P parent h help V version") || is_probe(parsed.value("signal")) {
        return None;
    }
    let user = parsed.value("u U euid uid");
    let Some(pattern) = parsed.operands.first().map(|at| &args[*at]) else {
        return user.map(|user| by_name(Some(user), false));
    };
    let bare = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    if parsed.has("f full") && !pattern.known().is_some_and(bare) {
        return None;
    }
    Some(by_name(Some(pattern), true))
}

/// Returns the hit for processes of a name or of a user.
fn by_name(name: Option<&WordValue>, is_name: bool) -> RuleHit {
    let known = name.and_then(WordValue::known);
    let what = match (known, is_name) {
        (Some(name), true) => format!("every process that is called {name}, also those of other people and tools"),
        (Some(user), false) => format!("every process of the user {user}"),
        (None, _) => "every process of a name, also those of other people and tools".to_owned(),
    };
    let list = known.map(|name| format!("pgrep -{} {}", if is_name { "fl" } else { "lu" }, quote::quote(name)));
    signals(&what, list.unwrap_or_default())
}

fn signals(what: &str, instead: String) -> RuleHit {
    RuleHit::exact(
        format!("this signals {what}. Signal the process that is meant by its number, job, port or whole command line"),
        instead,
    )
}

/// Returns the arguments without `-9`, `-KILL` and the like. `None` if the signal only checks that a process exists.
fn without_signal(args: &[WordValue]) -> Option<Vec<WordValue>> {
    let signal = |arg: &WordValue| {
        arg.known().and_then(|text| text.strip_prefix('-')).is_some_and(|name| {
            let name = name.strip_prefix("SIG").unwrap_or(name);
            has_word(SIGNALS, name) || !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    if args.iter().any(|arg| arg.known() == Some("-0")) {
        return None;
    }
    Some(args.iter().filter(|arg| !signal(arg)).cloned().collect())
}

fn is_probe(signal: Option<&WordValue>) -> bool {
    signal.and_then(WordValue::known) == Some("0")
}

/// `chmod -R` and `chown -R` outside, and any mode that lets everyone write everything.
fn modes(command: &SimpleCommandView) -> Option<RuleHit> {
    let args = command.args();
    let parsed = parse(args, &MODES);
    if !parsed.has("R recursive") || parsed.has("help version") {
        return None;
    }
    let of_mode = command.name() == Some("chmod");
    // `-w` is a mode that looks like an option.
    let mode = |text: &str| text.strip_prefix('-').is_some_and(|mode| mode.starts_with(['r', 'w', 'x', 'X', 's', 't']));
    let dashed = of_mode && args.iter().filter_map(WordValue::known).any(mode);
    let skipped = usize::from(!parsed.has("reference") && !dashed);
    let mut operands = parsed.operands.iter().filter_map(|at| args.get(*at));
    let first = operands.clone().next().filter(|_| skipped == 1);
    let landmarks = DirectoryLandmarks::new(command.directories);
    let shielded = operands.clone().skip(skipped).all(|word| landmarks.is_unchangeable(word, command.cwd));
    let takes = |mode: &str| of_mode && takes_access(mode);
    let critical = |word: &&WordValue| matches!(landmarks.place_of(word, command.cwd), OperandPlace::Critical { .. });
    if !shielded
        && args.iter().filter_map(WordValue::known).any(takes)
        && let Some(word) = operands.clone().skip(skipped).find(critical)
    {
        return Some(RuleHit::exact(
            "this takes the owner's own rights from everything in a directory, and the old ones are not kept",
            quote::line([word]).map(|text| format!("ls -la {text}")).unwrap_or_default(),
        ));
    }
    if of_mode && !shielded && first.and_then(WordValue::known).is_some_and(is_open) {
        let files = operands.nth(1).and_then(|file| quote::line([file]));
        return Some(RuleHit::exact(
            "this lets every user and program of this machine write and run all files in a directory. Give the rights that are needed to those who need them, such as u+rwX,g+rX",
            files
                .map(|file| format!("chmod -R u+rwX {file}"))
                .filter(|_| operands_are_inside(command, skipped))
                .unwrap_or_default(),
        ));
    }
    if operands_are_inside(command, skipped) {
        return None;
    }
    let outside = operands.skip(skipped).find(|word| !landmarks.within_reach(word, command.cwd))?;
    let what = if of_mode { "modes" } else { "owners" };
    Some(RuleHit::exact(
        format!(
            "this changes the {what} of everything in a directory outside of the working directory, and the old ones are not kept. Change only the files that the task needs"
        ),
        quote::line([outside])
            .filter(|text| !text.starts_with('-'))
            .map(|text| format!("ls -la {text}"))
            .unwrap_or_default(),
    ))
}

/// Returns whether all operands except the first ones are in the working directory or a temporary directory.
fn operands_are_inside(command: &SimpleCommandView, skipped: usize) -> bool {
    let args = command.args();
    let landmarks = DirectoryLandmarks::new(command.directories);
    let parsed = parse(args, &MODES);
    let files = parsed.operands.iter().filter_map(|at| args.get(*at)).skip(skipped);
    files.into_iter().all(|word| landmarks.within_reach(word, command.cwd))
}

/// Returns whether a mode lets everyone do everything: `777`, `a+rwx`, `ugo=rwx`.
fn is_open(mode: &str) -> bool {
    let octal = mode.bytes().all(|byte| byte.is_ascii_digit()) && mode.ends_with("777");
    octal
        || mode.split(',').any(|part| {
            let Some(at) = part.find(['+', '=']) else { return false };
            let (who, rights) = part.split_at(at);
            (who.contains('a') || "ugo".chars().all(|one| who.contains(one)))
                && "rw".chars().all(|right| rights.contains(right))
                && rights.contains(['x', 'X'])
        })
}

/// Returns whether a mode takes rights from the owner: `000`, `a-rwx`, `u-r`, `-w`.
fn takes_access(mode: &str) -> bool {
    let octal = mode.len() >= 3 && mode.bytes().all(|byte| byte.is_ascii_digit());
    // The owner's digit is the third from the end.
    let owner = mode.len().checked_sub(3).and_then(|at| mode.as_bytes().get(at));
    octal && owner.is_some_and(|digit| (*digit - b'0') & 6 != 6)
        || mode.split(',').any(|part| {
            let Some(at) = part.find('-') else { return false };
            let (who, rights) = part.split_at(at);
            who.chars().all(|one| "ugoa".contains(one))
                && (who.is_empty() || who.contains(['u', 'a']))
                && rights.contains(['r', 'w'])
                && rights.chars().all(|right| "-rwxXst".contains(right))
        })
}

/// `sysctl name=value`.
fn sysctl(args: &[WordValue]) -> Option<RuleHit> {
    let written = args.iter().find(|arg| !arg.prefix().starts_with('-') && arg.prefix().contains('='))?;
    let name = written.prefix().split('=').next().unwrap_or_default();
    Some(RuleHit::exact(
        format!("this changes the kernel's setting {name} for the whole machine"),
        format!("sysctl {}", quote::quote(name)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_for_everyone_are_open() {
        for mode in ["777", "0777", "1777", "a+rwx", "a=rwX", "ugo+rwx", "u+r,a+xwr"] {
            assert!(is_open(mode), "{mode}");
        }
        for mode in ["755", "775", "u+rwx", "a+rX", "o-rwx", "+x", "go=rx"] {
            assert!(!is_open(mode) && !takes_access(mode), "{mode}");
        }
        for mode in ["000", "0000", "444", "555", "a-w", "u-r", "-w", "a-rwx", "u=r,u-w"] {
            assert!(takes_access(mode), "{mode}");
        }
    }
}
