//! Calls that run commands or remove directories, by language, as data.

/// The meaning of a call's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// The first argument is a script.
    Script,
    /// A single argument is a script, several arguments are words.
    ScriptOrWords,
    /// The first argument is a list of words or a text. With `shell` it is a script.
    Process,
    /// A program, its name once more, its words. The number counts the arguments before the program.
    Exec(usize),
    /// A program and a list that begins with its name. The number counts the arguments before the program.
    ExecList(usize),
    /// A program and a list of its words.
    Program,
    /// Paths that are removed with all their contents.
    Delete,
    /// Paths that are removed with all their contents if `recursive` is set.
    DeleteRecursive,
    /// A file, or a script beside `|`.
    Open,
    /// A program in the same language.
    Code,
    /// Words for `rm`.
    Rm,
    /// The directory that applies from here on.
    Chdir,
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// The name, without the owner before the dot.
    pub(super) name: &'static str,
    /// Words that the program must contain, if the name alone says little.
    pub(super) needs: &'static [&'static str],
    /// The effect.
    pub(super) runs: Runs,
}

const fn call(name: &'static str, runs: Runs) -> Call {
    Call { name, needs: &[], runs }
}

const fn with(name: &'static str, needs: &'static [&'static str], runs: Runs) -> Call {
    Call { name, needs, runs }
}

const PROCESS: &[&str] = &["subprocess"];
const CHILD: &[&str] = &["child_process", "Bun", "execa", "shelljs", "shell."];
const DEL: &[&str] = &["'del'", "\"del\"", "'trash'"];

pub(super) static PYTHON: &[Call] = &[
    call("system", Runs::Script),
    call("popen", Runs::Script),
    call("popen2", Runs::Script),
    call("popen3", Runs::Script),
    call("getoutput", Runs::Script),
    call("getstatusoutput", Runs::Script),
    call("create_subprocess_shell", Runs::Script),
    call("create_subprocess_exec", Runs::ScriptOrWords),
    call("Popen", Runs::Process),
    call("check_call", Runs::Process),
    call("check_output", Runs::Process),
    with("run", PROCESS, Runs::Process),
    with("call", PROCESS, Runs::Process),
    with("spawn", &["pty", "pexpect"], Runs::Process),
    with("run", &["pexpect"], Runs::Script),
    call("execl", Runs::Exec(0)),
    call("execlp", Runs::Exec(0)),
    call("execle", Runs::Exec(0)),
    call("execlpe", Runs::Exec(0)),
    call("execv", Runs::ExecList(0)),
    call("execvp", Runs::ExecList(0)),
    call("execve", Runs::ExecList(0)),
    call("execvpe", Runs::ExecList(0)),
    call("posix_spawn", Runs::ExecList(0)),
    call("posix_spawnp", Runs::ExecList(0)),
    call("spawnl", Runs::Exec(1)),
    call("spawnlp", Runs::Exec(1)),
    call("spawnle", Runs::Exec(1)),
    call("spawnlpe", Runs::Exec(1)),
    call("spawnv", Runs::ExecList(1)),
    call("spawnvp", Runs::ExecList(1)),
    call("spawnve", Runs::ExecList(1)),
    call("spawnvpe", Runs::ExecList(1)),
    call("rmtree", Runs::Delete),
    call("remove_tree", Runs::Delete),
    call("chdir", Runs::Chdir),
    call("exec", Runs::Code),
    call("eval", Runs::Code),
];

pub(super) static RUBY: &[Call] = &[
    call("system", Runs::ScriptOrWords),
    call("exec", Runs::ScriptOrWords),
    call("spawn", Runs::ScriptOrWords),
    call("popen", Runs::ScriptOrWords),
    call("popen2", Runs::ScriptOrWords),
    call("popen2e", Runs::ScriptOrWords),
    call("popen3", Runs::ScriptOrWords),
    call("capture2", Runs::ScriptOrWords),
    call("capture2e", Runs::ScriptOrWords),
    call("capture3", Runs::ScriptOrWords),
    call("pipeline", Runs::ScriptOrWords),
    with("sh", &["rake", "Rake", "task"], Runs::ScriptOrWords),
    call("open", Runs::Open),
    call("rm_rf", Runs::Delete),
    call("rm_r", Runs::Delete),
    call("rmtree", Runs::Delete),
    call("remove_dir", Runs::Delete),
    call("remove_entry", Runs::Delete),
    call("remove_entry_secure", Runs::Delete),
    call("chdir", Runs::Chdir),
    call("eval", Runs::Code),
    call("instance_eval", Runs::Code),
];

pub(super) static PERL: &[Call] = &[
    call("system", Runs::ScriptOrWords),
    call("exec", Runs::ScriptOrWords),
    call("readpipe", Runs::Script),
    call("open", Runs::Open),
    call("open2", Runs::ScriptOrWords),
    call("open3", Runs::ScriptOrWords),
    call("rmtree", Runs::Delete),
    call("remove_tree", Runs::Delete),
    call("chdir", Runs::Chdir),
    call("eval", Runs::Code),
];

pub(super) static JAVASCRIPT: &[Call] = &[
    call("execSync", Runs::Script),
    call("execaCommand", Runs::Script),
    call("execaCommandSync", Runs::Script),
    with("exec", CHILD, Runs::Script),
    call("spawnSync", Runs::Program),
    call("execFileSync", Runs::Program),
    call("execFile", Runs::Program),
    call("execa", Runs::Program),
    call("execaSync", Runs::Program),
    with("spawn", CHILD, Runs::Program),
    with("run", &["Deno"], Runs::Program),
    with("Command", &["Deno"], Runs::Program),
    call("rmSync", Runs::DeleteRecursive),
    call("rmdirSync", Runs::DeleteRecursive),
    call("rmdir", Runs::DeleteRecursive),
    with("rm", &["shelljs", "shell."], Runs::Rm),
    call("rm", Runs::DeleteRecursive),
    with("removeSync", &["fs-extra"], Runs::Delete),
    with("remove", &["fs-extra"], Runs::Delete),
    with("emptyDir", &["fs-extra"], Runs::Delete),
    with("emptyDirSync", &["fs-extra"], Runs::Delete),
    with("remove", &["Deno"], Runs::DeleteRecursive),
    with("removeSync", &["Deno"], Runs::DeleteRecursive),
    call("rimraf", Runs::Delete),
    call("rimrafSync", Runs::Delete),
    with("sync", &["rimraf"], Runs::Delete),
    with("del", DEL, Runs::Delete),
    with("deleteAsync", DEL, Runs::Delete),
    with("deleteSync", DEL, Runs::Delete),
    call("chdir", Runs::Chdir),
    call("eval", Runs::Code),
    call("Function", Runs::Code),
    call("runInThisContext", Runs::Code),
    call("runInNewContext", Runs::Code),
];

pub(super) static PHP: &[Call] = &[
    call("system", Runs::Script),
    call("exec", Runs::Script),
    call("shell_exec", Runs::Script),
    call("passthru", Runs::Script),
    call("popen", Runs::Script),
    call("proc_open", Runs::Script),
    call("pcntl_exec", Runs::Program),
    call("chdir", Runs::Chdir),
    call("eval", Runs::Code),
];

pub(super) static LUA: &[Call] = &[
    call("execute", Runs::Script),
    call("popen", Runs::Script),
    call("load", Runs::Code),
    call("loadstring", Runs::Code),
    // Inside of nvim.
    with("system", &["vim"], Runs::Script),
    with("systemlist", &["vim"], Runs::Script),
    with("jobstart", &["vim"], Runs::Script),
    with("cmd", &["vim"], Runs::Script),
];

pub(super) static AWK: &[Call] = &[call("system", Runs::Script)];
