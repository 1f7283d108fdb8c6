//! Writing the settings in a home.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::operand_paths::DirectoryLandmarks;
use super::support::written_files;
use crate::options::parse;
use crate::programs;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;

pub static RULE: SafetyRule = SafetyRule {
    id: "home-dotfile-write",
    level: SafetyVerdict::Ask,
    doc: "Writes a file or directory in the home whose name begins with a dot: the settings of shells, ssh and other \
          programs, and the code that they run at their start. Caches may be written. Deletes keys or start files.",
    programs: RulePrograms::All,
    check,
    matches: &[
        "echo x >> ~/.bashrc",
        "echo x > $HOME/.ssh/config",
        "echo x > ~/.config/x",
        "cat key.pub >> ~/.ssh/authorized_keys",
        "tee ~/.profile",
        "tee -a ~/.zshrc",
        "cp x ~/.bashrc",
        "cp .bashrc ~/",
        "mv x ~/.npmrc",
        "ln -sf x ~/.vimrc",
        "install -m 600 key ~/.ssh/id_rsa",
        "sed -i s/a/b/ ~/.bashrc",
        "perl -pi -e s/a/b/ ~/.bashrc",
        "dd if=x of=/home/dev/.bashrc",
        "truncate -s 0 ~/.bash_history",
        "cp -t ~/.config x",
        "curl -o ~/.vimrc https://example.com/vimrc",
        "wget -O ~/.vimrc https://example.com/vimrc",
        "echo x > /root/.bashrc",
        "echo x > ../.bashrc",
        "> ~/.bashrc",
        "rm ~/.ssh/id_rsa",
        "rm -f ~/.ssh/*",
        "rm ~/.bashrc",
        "sort -o ~/.bashrc /dev/null",
    ],
    passes: &[
        "cat ~/.bashrc",
        "rm ~/.ssh/known_hosts",
        "rm ~/.zcompdump",
        "cat < ~/.bashrc",
        "grep x ~/.ssh/config",
        "sed -n 1p ~/.bashrc",
        "sed s/a/b/ ~/.bashrc",
        "mkdir -p ~/.cache/x",
        "mkdir -p ~/.config/x",
        "cp ~/.bashrc backup",
        "cp ~/.npmrc .",
        "echo x > .env",
        "echo x > ~/notes",
        "echo x > /tmp/.bashrc",
        "echo x > ~/.cache/x.log",
        "ls ~/.ssh",
        "echo 'x > ~/.bashrc'",
        "diff ~/.bashrc .bashrc",
        "dd if=/home/dev/.bashrc of=copy",
        "rm -f ~/.bash_history",
    ],
};

/// Directories that programs fill by themselves.
static FREE: &[&str] = &[".cache", ".Trash"];

/// Directories with keys, and start files of shells.
static KEPT: &[&str] =
    &[".bash_profile", ".bashrc", ".gitconfig", ".gnupg", ".password-store", ".profile", ".ssh", ".zprofile", ".zshrc"];

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let landmarks = DirectoryLandmarks::new(command.directories);
    let mut file = None;
    written_files::for_each_written(command, |target, cwd| {
        if file.is_none() {
            file = landmarks
                .home_dotfile(target, cwd)
                .filter(|file| !FREE.iter().any(|free| file.split('/').next() == Some(free)));
        }
    });
    if let Some(file) = removed(command, &landmarks) {
        let message = format!("this deletes ~/{file}, which is the person's own and is made again by nobody");
        return Some(RuleHit::exact(message, ""));
    }
    let file = file?;
    Some(RuleHit::exact(
        format!(
            "this writes ~/{file}, a setting of the person's own. Write into the project instead, or ask for this change to be made"
        ),
        "",
    ))
}

/// Returns the key or the start file of a shell that a command deletes.
fn removed(command: &SimpleCommandView, landmarks: &DirectoryLandmarks) -> Option<String> {
    if !matches!(command.name(), Some("rm" | "grm" | "unlink" | "shred")) {
        return None;
    }
    let parsed = parse(command.args(), &programs::of("rm").options);
    let mut files = parsed.operands.iter().filter_map(|at| landmarks.home_dotfile(&command.args()[*at], command.cwd));
    files.find(|file| {
        let (first, rest) = file.split_once('/').unwrap_or((file, ""));
        KEPT.contains(&first) && !rest.starts_with("known_hosts")
    })
}
