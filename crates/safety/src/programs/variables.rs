//! Variables of the environment that decide what runs.

/// Variables by which a program runs another, or is another itself. A permission rule for `ls` does not allow
/// `LD_PRELOAD=x ls`.
pub static HIJACKING: &str = "\
        BASH_ENV DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH GIT_ASKPASS GIT_EDITOR GIT_EXEC_PATH GIT_EXTERNAL_DIFF \
        GIT_PROXY_COMMAND GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND IFS LD_AUDIT LD_LIBRARY_PATH LD_PRELOAD PATH \
        PERL5OPT PROMPT_COMMAND PYTHONSTARTUP RUBYOPT SHELLOPTS";

/// Further variables by which a reading program runs another one.
pub static RUNNING: &str =
    "BASH_FUNC BROWSER EDITOR ENV GREP_OPTIONS LESSOPEN LESSCLOSE MANPAGER NODE_OPTIONS RIPGREP_CONFIG_PATH VISUAL";
