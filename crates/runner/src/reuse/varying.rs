//! Commands whose result varies although no file changes: they name time, chance, processes, devices or the network.

use safety::decide::Commands;
use safety::{Analysis, CommandUnit, ReadOnly};

/// Programs about time, chance, processes, devices, the machine or the network.
const PROGRAMS: &str = "date cal ncal uptime sleep usleep watch at atq crontab timedatectl hwclock stopwatch \
    shuf uuidgen mktemp tempfile mcookie openssl gpg ssh-keygen pwgen \
    ps pstree pgrep pkill pidof top htop btop kill killall jobs wait fg bg disown fuser lsof strace ltrace nice renice \
    who w last lastlog finger free vmstat iostat mpstat sar dmesg journalctl systemctl service launchctl df mount \
    lsblk blkid lsusb lspci lscpu sensors nvidia-smi tty stty inotifywait entr \
    curl wget http https xh ssh scp sftp rsync ftp telnet nc ncat netcat socat ping traceroute dig nslookup host whois \
    ss netstat ip ifconfig arp route iwconfig nmap gh glab hub aws gcloud az kubectl helm docker podman terraform \
    psql mysql mongo mongosh redis-cli sqlite3 apt apt-get dnf yum brew snap flatpak";

/// Words by which other programs reach the network, or look at the time or at chance.
const SUBCOMMANDS: &[(&str, &str)] = &[
    ("git", "fetch pull push clone ls-remote remote send-email bisect maintenance gc reflog"),
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
    ("read", "-t"),
    ("sort", "-R --random-sort"),
    ("composer", "install update require outdated"),
];

/// Variables that are others each time.
const VARIABLES: &str =
    "RANDOM SRANDOM SECONDS EPOCHSECONDS EPOCHREALTIME BASH_MONOSECONDS BASHPID PPID HISTCMD BASH_ARGV0";

/// Parts of a text that name time, chance, a process or an address.
const PARTS: &[&str] = &[
    "$$",
    "$!",
    "${$}",
    "${!}",
    "%(",
    "://",
    "@{",
    ".ago",
    "rand(",
    "random(",
    "systime(",
    "strftime(",
    "/proc/",
    "/sys/",
    "/run/",
    "localhost",
    "127.0.0.1",
    "%ar",
    "%cr",
    "relative",
];

/// Words with which programs look at the time, alone or before `=`.
const WORDS: &[&str] = &[
    "time",
    "-mmin",
    "-amin",
    "-cmin",
    "-mtime",
    "-atime",
    "-ctime",
    "-used",
    "-newermt",
    "-newerct",
    "--newer-mtime",
    "--since",
    "--until",
    "--after",
    "--before",
    "--date",
    "--changed-within",
    "--changed-before",
];

/// Devices that are always the same.
const DEVICES: &[&str] = &["null", "zero", "stdin", "stdout", "stderr", "fd/"];

/// Returns whether the result of a command varies by itself, as far as its text tells.
pub fn varies(analysis: &Analysis) -> bool {
    let text = &analysis.command;
    PARTS.iter().any(|part| text.contains(part))
        || names_device(text)
        || text.split(|byte: char| !byte.is_ascii_alphanumeric() && byte != '_').any(|name| is_one_of(VARIABLES, name))
        || text.split_whitespace().any(is_varying_word)
        || analysis.commands.iter().any(is_varying)
}

/// Returns whether a host vouches for each part of a command that may do more than read. A part that writes a file by a
/// redirect is none: it would not be written again.
pub fn is_vouched(analysis: &Analysis, commands: &Commands) -> bool {
    analysis.complete
        && analysis.commands.iter().all(|unit| unit.read_only == ReadOnly::Yes || is_named(unit, commands))
}

fn is_named(unit: &CommandUnit, commands: &Commands) -> bool {
    let words: Vec<_> = unit.argv.iter().map(|word| word.text.clone()).collect();
    commands.name(&words) && !writes(unit)
}

/// Returns whether a redirect of a command writes a file.
pub fn writes(unit: &CommandUnit) -> bool {
    let is_stream = |path: &str| matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr");
    unit.redirects.iter().any(|redirect| redirect.writes_file() && !redirect.path.as_deref().is_some_and(is_stream))
}

fn is_one_of(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

fn is_varying_word(word: &str) -> bool {
    WORDS.contains(&word.split_once('=').map_or(word, |(name, _)| name))
}

fn names_device(text: &str) -> bool {
    let is_other = |rest: &str| !DEVICES.iter().any(|device| rest.starts_with(device));
    text.match_indices("/dev/").any(|(at, found)| is_other(&text[at + found.len()..]))
}

fn is_varying(unit: &CommandUnit) -> bool {
    let Some(name) = unit.name.as_deref() else { return false };
    let subcommand = |words: &str| unit.argv.iter().skip(1).any(|word| is_one_of(words, &word.text));
    is_one_of(PROGRAMS, name) || SUBCOMMANDS.iter().any(|(program, words)| *program == name && subcommand(words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use safety::{Context, Policy, analyze};

    fn analysis(command: &str) -> Analysis {
        analyze(command, Context { cwd: "/work", home: "/home/dev", ..Context::default() }, &Policy::default())
    }

    #[test]
    fn time_chance_processes_devices_and_the_network_vary() {
        for command in [
            "date",
            "ls; date +%s",
            "echo $RANDOM",
            "echo \"${SECONDS}\"",
            "head -c 4 /dev/urandom",
            "ps aux | grep node",
            "curl -s https://example.org",
            "git fetch",
            "git -C app fetch origin",
            "npm ci && npm test",
            "cat /proc/meminfo",
            "echo $$",
            "printf '%(%s)T'",
            "find . -mmin -5",
            "git log --since=yesterday",
            "git log --pretty=format:%ar",
            "git log --after=monday",
            "git show HEAD@{yesterday}",
            "time make",
            "awk 'BEGIN { print rand() }'",
            "sort -R a",
            "xargs ps <pids",
            "bash -c 'date'",
            "env date",
            "exec 3<>/dev/tcp/127.0.0.1/80",
            "nc -z localhost 80",
        ] {
            assert!(varies(&analysis(command)), "{command}");
        }
    }

    #[test]
    fn commands_about_the_tree_do_not_vary() {
        for command in [
            "ls -la",
            "cat src/a.ts",
            "grep -rn date src",
            "rg 'ps|curl' .",
            "git status && git diff",
            "git log --oneline -5",
            "npm test 2>&1",
            "timeout 60 npm test >/dev/null",
            "cd app && make check 2>/dev/null",
            "cargo test --lib",
            "wc -l $(git ls-files)",
            "find . -name '*.ts'",
            "ls -R; grep -R --after-context=3 x .",
        ] {
            assert!(!varies(&analysis(command)), "{command}");
        }
    }

    #[test]
    fn a_host_vouches_for_what_does_more_than_read() {
        let commands = Commands::parse("reuse.commands", &["npm test:*", "make check"]).expect("rules");
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
        assert!(!is_vouched(&analysis("npm test"), &Commands::default()));
    }
}
