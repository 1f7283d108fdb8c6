//! Programs that print shell code about themselves, meant for `eval` and `source`: `eval "$(ssh-agent -s)"`.

/// Each with the first word after it that makes it do so; none where it does nothing else.
static PRINTERS: &[(&str, &[&str])] = &[
    ("asdf", &["completion"]),
    ("atuin", &["init"]),
    ("aws", &["configure"]),
    ("brew", &["shellenv"]),
    ("conda", &["shell.bash", "shell.posix", "shell.zsh"]),
    ("cs", &["setup", "java"]),
    ("devbox", &["shellenv", "global"]),
    ("dircolors", &[]),
    ("direnv", &["hook", "export"]),
    ("docker-machine", &["env"]),
    ("fnm", &["env"]),
    ("fzf", &["--bash", "--zsh"]),
    ("goenv", &["init"]),
    ("jenv", &["init"]),
    ("keychain", &[]),
    ("lesspipe", &[]),
    ("lesspipe.sh", &[]),
    ("luarocks", &["path"]),
    ("mamba", &["shell"]),
    ("micromamba", &["shell"]),
    ("minikube", &["docker-env", "podman-env"]),
    ("mise", &["activate", "env", "hook-env"]),
    ("nodenv", &["init"]),
    ("opam", &["env", "config"]),
    ("pixi", &["shell-hook"]),
    ("plenv", &["init"]),
    ("pyenv", &["init", "virtualenv-init"]),
    ("rbenv", &["init"]),
    ("register-python-argcomplete", &[]),
    ("resize", &[]),
    ("ssh-agent", &[]),
    ("stack", &["--bash-completion-script"]),
    ("starship", &["init"]),
    ("thefuck", &["--alias"]),
    ("zoxide", &["init"]),
];

/// Whether a program prints shell code about itself, given the first word after it.
pub fn is_printed_by(program: &str, word: Option<&str>) -> bool {
    let completes = matches!(word, Some("completion" | "completions"));
    completes
        || PRINTERS.iter().any(|(name, words)| {
            *name == program && (words.is_empty() || word.is_some_and(|word| words.contains(&word)))
        })
}
