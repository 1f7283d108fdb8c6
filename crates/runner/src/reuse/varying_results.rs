//! Commands whose result varies although no file of their tree changes: they name time, chance, processes, devices, the
//! network, or a place outside of the tree.

use std::path::{Component, Path, PathBuf};

use safety::decide::NamedCommandRules;
use safety::{AnalyzedWord, CommandAnalysis, CommandUnit, ReadOnly};

/// Programs about time, chance, processes, devices, the machine or the network.
const PROGRAMS: &str = "date cal ncal uptime sleep usleep watch at atq crontab timedatectl hwclock stopwatch times \
    shuf uuidgen mktemp tempfile mcookie openssl gpg ssh-keygen pwgen \
    ps pstree pgrep pkill pidof top htop btop kill killall jobs wait fg bg disown fuser lsof strace ltrace nice renice \
    who w last lastlog finger free vmstat iostat mpstat sar dmesg journalctl systemctl service launchctl df mount \
    lsblk blkid lsusb lspci lscpu sensors nvidia-smi tty stty inotifywait entr printenv compgen \
    curl wget http https xh ssh scp sftp rsync ftp telnet nc ncat netcat socat ping traceroute dig nslookup host whois \
    ss netstat ip ifconfig arp route iwconfig nmap gh glab hub aws gcloud az kubectl helm docker podman terraform \
    psql mysql mongo mongosh redis-cli sqlite3 apt apt-get dnf yum brew snap flatpak";

/// Words by which other programs reach the network, read what is not watched, or look at the time or at chance.
const SUBCOMMANDS: &[(&str, &str)] = &[
    (
        "git",
        "fetch pull push clone ls-remote remote send-email bisect maintenance gc reflog cat-file count-objects fsck",
    ),
    ("git", "-g --walk-reflogs blame shortlog whatchanged for-each-ref stash"),
    (
        "npm",
        "install i ci add update outdated view info audit publish ping login logout whoami search exec create init",
    ),
    ("pnpm", "install i add update outdated view info audit publish login search dlx create"),
    ("yarn", "install add upgrade outdated info audit publish login dlx create"),
    ("bun", "install i add update outdated publish x create"),
    ("pip", "install download search index"),
    ("pip3", "install download search index"),
    ("uv", "add sync pip tool lock publish"),
    ("poetry", "install add update publish search lock"),
    ("cargo", "install fetch update publish search login add"),
    ("go", "get install"),
    ("gem", "install update fetch push search outdated"),
    ("bundle", "install update outdated add"),
    ("composer", "install update require outdated"),
    ("read", "-t"),
    ("sort", "--random-sort --random-source"),
];

/// Parts of words by which programs look at the time, at chance or at the environment.
const WORD_PARTS: &[(&str, &[&str])] = &[
    ("jq", &["now", "time", "date", "env", "ENV"]),
    ("awk", &["rand", "time", "ENVIRON"]),
    ("gawk", &["rand", "time", "ENVIRON"]),
    ("mawk", &["rand", "time", "ENVIRON"]),
    ("git", &["%a", "%c", "%g", "relative", "human", ".date"]),
    ("find", &["-newer", "-mmin", "-mtime", "-amin", "-atime", "-anewer", "-cmin", "-ctime", "-used", "%A", "%a"]),
    ("fd", &["--changed-"]),
    ("stat", &["%X", "%x"]),
];

/// Variables that are others each time, or that prompts are made of.
const VARIABLES: &str = "RANDOM SRANDOM SECONDS EPOCHSECONDS EPOCHREALTIME BASH_MONOSECONDS BASHPID PPID HISTCMD \
    BASH_ARGV0 AGENT_BASH_ID PS1 PS4 PROMPT_COMMAND";

/// Parts of a text, or of a word, that name time, chance, a process, an address, or a variable by its value.
const PARTS: &[&str] = &["$$", "$!", "${$}", "${!", "%(", "://", "@{", ".ago", "@P", "\\D{", "localhost", "127.0.0.1"];

/// Options with which programs look at the time, alone or before `=`.
const OPTIONS: &[&str] = &["--since", "--until", "--after", "--before", "--date", "--newer-mtime"];

/// Builtins that print variables, among which are some that are others each time.
const PRINTING: &str = "declare typeset export readonly local set env alias";

/// Builtins whose words are no paths.
const WITHOUT_PATHS: &str = "echo printf true false : exit return shift set";

/// Devices that are always the same.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// Returns whether the result of a command varies by itself, or depends on a place outside of the tree with this root,
/// as far as its text tells. Blocks.
pub fn varies(analysis: &CommandAnalysis, root: &Path) -> bool {
    let text = &analysis.command;
    let mut names = text.split(|byte: char| !byte.is_ascii_alphanumeric() && byte != '_');
    PARTS.iter().any(|part| text.contains(part))
        || names.any(|name| name == "time" || is_one_of(VARIABLES, name))
        || analysis.commands.iter().any(|unit| is_varying(unit) || leaves_tree(unit, root))
}

/// Returns whether a host vouches for each part of a command that may do more than read. A part that writes a file by a
/// redirect is none: it would not be written again.
pub fn is_vouched(analysis: &CommandAnalysis, commands: &NamedCommandRules) -> bool {
    let is_vouched = |unit: &CommandUnit| unit.read_only == ReadOnly::Yes || is_named(unit, commands);
    analysis.complete && analysis.commands.iter().all(is_vouched)
}

/// Returns whether a command only reads.
pub fn only_reads(analysis: &CommandAnalysis) -> bool {
    is_vouched(analysis, &NamedCommandRules::default())
}

fn is_named(unit: &CommandUnit, commands: &NamedCommandRules) -> bool {
    let words: Vec<_> = unit.argv.iter().map(|word| word.text.clone()).collect();
    commands.names_command(&words) && !writes(unit)
}

/// Returns whether a redirect of a command writes a file.
pub fn writes(unit: &CommandUnit) -> bool {
    let is_device = |path: &str| DEVICES.contains(&path);
    unit.redirects.iter().any(|redirect| redirect.writes_file() && !redirect.path.as_deref().is_some_and(is_device))
}

fn is_one_of(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

fn is_varying(unit: &CommandUnit) -> bool {
    let Some(name) = unit.name.as_deref() else { return false };
    let words = || unit.argv.iter().skip(1).map(|word| word.text.as_str());
    let has_word = |(_, list): &(_, &str)| words().any(|word| is_one_of(list, word));
    let has_part = |parts: &[&str]| words().any(|word| parts.iter().any(|part| word.contains(part)));
    let is_option = |word: &str| OPTIONS.contains(&word.split_once('=').map_or(word, |(option, _)| option));
    // Of a cluster, as in `sort -uR`.
    let has_letter =
        |letter| words().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter));
    is_one_of(PROGRAMS, name)
        || words().any(is_option)
        || has_part(PARTS)
        || SUBCOMMANDS.iter().filter(|(program, _)| *program == name).any(has_word)
        || WORD_PARTS.iter().filter(|(program, _)| *program == name).any(|(_, parts)| has_part(parts))
        || name == "sort" && has_letter('R')
        || is_one_of(PRINTING, name) && (words().next().is_none() || has_letter('p') || has_letter('n'))
        || name == "git" && shows_dates(unit)
}

/// Returns whether git shows dates in a form that its settings decide.
fn shows_dates(unit: &CommandUnit) -> bool {
    let is = |names: &[&str]| unit.argv.iter().any(|word| names.iter().any(|name| word.text.starts_with(name)));
    unit.argv.iter().any(|word| word.text == "log" || word.text == "show")
        && !is(&["--oneline", "--format", "--pretty"])
}

/// Returns whether a command runs or reads outside of a tree. Its program may be anywhere. Blocks.
fn leaves_tree(unit: &CommandUnit, root: &Path) -> bool {
    // A directory that is missing keeps its name.
    let real = |cwd: &String| Path::new(cwd).canonicalize().unwrap_or_else(|_| PathBuf::from(cwd));
    let Some(cwd) = unit.cwd.as_ref().map(real).filter(|cwd| cwd.starts_with(root)) else {
        // Assignments alone have no directory.
        return !unit.argv.is_empty();
    };
    let targets = unit.redirects.iter().map(|redirect| &redirect.target);
    let has_paths = !unit.name.as_deref().is_some_and(|name| is_one_of(WITHOUT_PATHS, name));
    unit.argv.iter().skip(1).filter(|_| has_paths).chain(targets).any(|word| leads_out_of_tree(word, &cwd, root))
}

/// Returns whether a word may be a path outside of a tree.
fn leads_out_of_tree(word: &AnalyzedWord, cwd: &Path, root: &Path) -> bool {
    let text = word.text.as_str();
    if !word.known && text.contains(['$', '`', '~']) {
        return true;
    }
    if DEVICES.contains(&text) {
        return false;
    }
    let value = match text.split_once('=') {
        Some((option, value)) if option.starts_with('-') => value,
        _ if text.starts_with('-') => text.find('/').map_or("", |at| &text[at..]),
        _ => text,
    };
    let is_path =
        value.starts_with(['/', '~']) || Path::new(value).components().any(|part| part == Component::ParentDir);
    is_path && (value.starts_with('~') || !normalized(&cwd.join(value)).starts_with(root))
}

/// Returns a path without `.` and `..`.
fn normalized(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;
    use safety::{AnalysisContext, analyze};

    fn analysis(command: &str) -> CommandAnalysis {
        analyze(
            command,
            AnalysisContext { cwd: "/work", home: "/home/dev", ..AnalysisContext::default() },
            &safety::SafetyPolicy::default(),
        )
    }

    fn varies_in_work(command: &str) -> bool {
        varies(&analysis(command), Path::new("/work"))
    }

    #[test]
    fn time_chance_processes_devices_and_the_network_vary() {
        for command in [
            "date",
            "ls; date +%s",
            "d\"at\"e",
            "da\\\nte",
            "echo $RANDOM",
            "echo \"${SECONDS}\"",
            "echo $AGENT_BASH_ID",
            "x='\\t'; echo ${x@P}",
            "z=RAN; echo ${!z}",
            "declare -n q=X; echo $q",
            "declare -p",
            "set",
            "env",
            "PS4='\\t '; set -x; ls",
            "head -c 4 /dev/urandom",
            "head -c 4 \"/dev\"/urandom",
            "cd /dev; head -c4 urandom",
            "ps aux | grep node",
            "curl -s https://example.org",
            "git fetch",
            "git -C app fetch origin",
            "npm ci && npm test",
            "cat /proc/meminfo",
            "cd /proc; head -1 uptime",
            "echo $$",
            "printf '%(%s)T'",
            "printf '%'\"(%s)T\"",
            "find . -mmin -5",
            "find . \"-newermt\" x",
            "git log \"--since=2 seconds ago\" --oneline",
            "git log --after=monday --oneline",
            "git log --pretty=format:%ar",
            "git log",
            "git log --oneline -g",
            "git show HEAD@{yesterday}",
            "time make",
            "echo $(time ls)",
            "awk 'BEGIN { srand (); print rand () }'",
            "jq -n now",
            "sort -R a",
            "sort -uR a",
            "xargs ps <pids",
            "bash -c 'date'",
            "env date",
            "exec 3<>/dev/tcp/127.0.0.1/80",
            "nc -z localhost 80",
        ] {
            assert!(varies_in_work(command), "{command}");
        }
    }

    #[test]
    fn places_outside_of_the_tree_vary() {
        for command in [
            "cat /etc/hostname",
            "cat ../x",
            "cat src/../../x",
            "cat ~/x",
            "cat \"$HOME/x\"",
            "cd /other && npm test",
            "cd \"$(cat x)\" && npm test",
            "git -C /other status",
            "make --file=/other/Makefile",
            "cc -I/usr/include a.c",
            "wc -l < /var/log/x",
        ] {
            assert!(varies_in_work(command), "{command}");
        }
    }

    #[test]
    fn commands_about_the_tree_do_not_vary() {
        for command in [
            "ls -la",
            "cat src/a.ts /work/b src/../b",
            "grep -rn date src",
            "rg 'ps|curl' .",
            "git status && git diff",
            "git log --oneline -5",
            "npm test 2>&1",
            "timeout 60 npm test >/dev/null",
            "cd app && make check 2>/dev/null",
            "cd app && CI=1 cat ../a",
            "cargo test --lib",
            "find . -name '*.ts'",
            "ls -R; grep -R --after-context=3 x .",
            "set -euo pipefail; npm test",
            "/usr/bin/wc -l a",
            "while read -r line; do echo \"$line\"; done <a",
        ] {
            assert!(!varies_in_work(command), "{command}");
        }
    }

    #[test]
    fn a_host_vouches_for_what_does_more_than_read() {
        let commands = NamedCommandRules::parse("reuse.commands", &["npm test:*", "make check"]).expect("rules");
        for (command, vouched) in [
            ("ls | wc -l", true),
            ("git status", false),
            ("git -c core.fsmonitor=false --no-pager status", true),
            ("npm test", true),
            ("cd app && CI=1 timeout 60 npm test -- --all 2>&1 | tail -5", true),
            ("npm test; make check", true),
            ("npm test; make", false),
            ("npm run test", false),
            ("npm test >log", false),
            ("npm test >/dev/null", true),
            ("rm -r dist", false),
            ("$RUNNER", false),
            ("ls 'unfinished", false),
        ] {
            assert_eq!(is_vouched(&analysis(command), &commands), vouched, "{command}");
        }
        assert!(!is_vouched(&analysis("npm test"), &NamedCommandRules::default()));
        assert!(only_reads(&analysis("ls")) && !only_reads(&analysis("npm test")));
    }
}
