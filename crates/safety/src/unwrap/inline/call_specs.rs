//! Calls that run commands or remove directories, by language, as data.

/// The meaning of a call's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InlineCallEffect {
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
pub(super) struct InlineCallSpec {
    /// The name, without the owner before the dot.
    pub(super) name: &'static str,
    /// Words that the program must contain, if the name alone says little.
    pub(super) needs: &'static [&'static str],
    /// The effect.
    pub(super) runs: InlineCallEffect,
}

const fn call(name: &'static str, runs: InlineCallEffect) -> InlineCallSpec {
    InlineCallSpec { name, needs: &[], runs }
}

const fn with(name: &'static str, needs: &'static [&'static str], runs: InlineCallEffect) -> InlineCallSpec {
    InlineCallSpec { name, needs, runs }
}

const PROCESS: &[&str] = &["subprocess"];
const CHILD: &[&str] = &["child_process", "Bun", "execa", "shelljs", "shell."];
const DEL: &[&str] = &["'del'", "\"del\"", "'trash'"];

pub(super) static PYTHON: &[InlineCallSpec] = &[
    call("system", InlineCallEffect::Script),
    call("popen", InlineCallEffect::Script),
    call("popen2", InlineCallEffect::Script),
    call("popen3", InlineCallEffect::Script),
    call("getoutput", InlineCallEffect::Script),
    call("getstatusoutput", InlineCallEffect::Script),
    call("create_subprocess_shell", InlineCallEffect::Script),
    call("create_subprocess_exec", InlineCallEffect::ScriptOrWords),
    call("Popen", InlineCallEffect::Process),
    call("check_call", InlineCallEffect::Process),
    call("check_output", InlineCallEffect::Process),
    with("run", PROCESS, InlineCallEffect::Process),
    with("call", PROCESS, InlineCallEffect::Process),
    with("spawn", &["pty", "pexpect"], InlineCallEffect::Process),
    with("run", &["pexpect"], InlineCallEffect::Script),
    call("execl", InlineCallEffect::Exec(0)),
    call("execlp", InlineCallEffect::Exec(0)),
    call("execle", InlineCallEffect::Exec(0)),
    call("execlpe", InlineCallEffect::Exec(0)),
    call("execv", InlineCallEffect::ExecList(0)),
    call("execvp", InlineCallEffect::ExecList(0)),
    call("execve", InlineCallEffect::ExecList(0)),
    call("execvpe", InlineCallEffect::ExecList(0)),
    call("posix_spawn", InlineCallEffect::ExecList(0)),
    call("posix_spawnp", InlineCallEffect::ExecList(0)),
    call("spawnl", InlineCallEffect::Exec(1)),
    call("spawnlp", InlineCallEffect::Exec(1)),
    call("spawnle", InlineCallEffect::Exec(1)),
    call("spawnlpe", InlineCallEffect::Exec(1)),
    call("spawnv", InlineCallEffect::ExecList(1)),
    call("spawnvp", InlineCallEffect::ExecList(1)),
    call("spawnve", InlineCallEffect::ExecList(1)),
    call("spawnvpe", InlineCallEffect::ExecList(1)),
    call("rmtree", InlineCallEffect::Delete),
    call("remove_tree", InlineCallEffect::Delete),
    call("chdir", InlineCallEffect::Chdir),
    call("exec", InlineCallEffect::Code),
    call("eval", InlineCallEffect::Code),
];

pub(super) static RUBY: &[InlineCallSpec] = &[
    call("system", InlineCallEffect::ScriptOrWords),
    call("exec", InlineCallEffect::ScriptOrWords),
    call("spawn", InlineCallEffect::ScriptOrWords),
    call("popen", InlineCallEffect::ScriptOrWords),
    call("popen2", InlineCallEffect::ScriptOrWords),
    call("popen2e", InlineCallEffect::ScriptOrWords),
    call("popen3", InlineCallEffect::ScriptOrWords),
    call("capture2", InlineCallEffect::ScriptOrWords),
    call("capture2e", InlineCallEffect::ScriptOrWords),
    call("capture3", InlineCallEffect::ScriptOrWords),
    call("pipeline", InlineCallEffect::ScriptOrWords),
    with("sh", &["rake", "Rake", "task"], InlineCallEffect::ScriptOrWords),
    call("open", InlineCallEffect::Open),
    call("rm_rf", InlineCallEffect::Delete),
    call("rm_r", InlineCallEffect::Delete),
    call("rmtree", InlineCallEffect::Delete),
    call("remove_dir", InlineCallEffect::Delete),
    call("remove_entry", InlineCallEffect::Delete),
    call("remove_entry_secure", InlineCallEffect::Delete),
    call("chdir", InlineCallEffect::Chdir),
    call("eval", InlineCallEffect::Code),
    call("instance_eval", InlineCallEffect::Code),
];

pub(super) static PERL: &[InlineCallSpec] = &[
    call("system", InlineCallEffect::ScriptOrWords),
    call("exec", InlineCallEffect::ScriptOrWords),
    call("readpipe", InlineCallEffect::Script),
    call("open", InlineCallEffect::Open),
    call("open2", InlineCallEffect::ScriptOrWords),
    call("open3", InlineCallEffect::ScriptOrWords),
    call("rmtree", InlineCallEffect::Delete),
    call("remove_tree", InlineCallEffect::Delete),
    call("chdir", InlineCallEffect::Chdir),
    call("eval", InlineCallEffect::Code),
];

pub(super) static JAVASCRIPT: &[InlineCallSpec] = &[
    call("execSync", InlineCallEffect::Script),
    call("execaCommand", InlineCallEffect::Script),
    call("execaCommandSync", InlineCallEffect::Script),
    with("exec", CHILD, InlineCallEffect::Script),
    call("spawnSync", InlineCallEffect::Program),
    call("execFileSync", InlineCallEffect::Program),
    call("execFile", InlineCallEffect::Program),
    call("execa", InlineCallEffect::Program),
    call("execaSync", InlineCallEffect::Program),
    with("spawn", CHILD, InlineCallEffect::Program),
    with("run", &["Deno"], InlineCallEffect::Program),
    with("Command", &["Deno"], InlineCallEffect::Program),
    call("rmSync", InlineCallEffect::DeleteRecursive),
    call("rmdirSync", InlineCallEffect::DeleteRecursive),
    call("rmdir", InlineCallEffect::DeleteRecursive),
    with("rm", &["shelljs", "shell."], InlineCallEffect::Rm),
    call("rm", InlineCallEffect::DeleteRecursive),
    with("removeSync", &["fs-extra"], InlineCallEffect::Delete),
    with("remove", &["fs-extra"], InlineCallEffect::Delete),
    with("emptyDir", &["fs-extra"], InlineCallEffect::Delete),
    with("emptyDirSync", &["fs-extra"], InlineCallEffect::Delete),
    with("remove", &["Deno"], InlineCallEffect::DeleteRecursive),
    with("removeSync", &["Deno"], InlineCallEffect::DeleteRecursive),
    call("rimraf", InlineCallEffect::Delete),
    call("rimrafSync", InlineCallEffect::Delete),
    with("sync", &["rimraf"], InlineCallEffect::Delete),
    with("del", DEL, InlineCallEffect::Delete),
    with("deleteAsync", DEL, InlineCallEffect::Delete),
    with("deleteSync", DEL, InlineCallEffect::Delete),
    call("chdir", InlineCallEffect::Chdir),
    call("eval", InlineCallEffect::Code),
    call("Function", InlineCallEffect::Code),
    call("runInThisContext", InlineCallEffect::Code),
    call("runInNewContext", InlineCallEffect::Code),
];

pub(super) static PHP: &[InlineCallSpec] = &[
    call("system", InlineCallEffect::Script),
    call("exec", InlineCallEffect::Script),
    call("shell_exec", InlineCallEffect::Script),
    call("passthru", InlineCallEffect::Script),
    call("popen", InlineCallEffect::Script),
    call("proc_open", InlineCallEffect::Script),
    call("pcntl_exec", InlineCallEffect::Program),
    call("chdir", InlineCallEffect::Chdir),
    call("eval", InlineCallEffect::Code),
];

pub(super) static LUA: &[InlineCallSpec] = &[
    call("execute", InlineCallEffect::Script),
    call("popen", InlineCallEffect::Script),
    call("load", InlineCallEffect::Code),
    call("loadstring", InlineCallEffect::Code),
    // Inside of nvim.
    with("system", &["vim"], InlineCallEffect::Script),
    with("systemlist", &["vim"], InlineCallEffect::Script),
    with("jobstart", &["vim"], InlineCallEffect::Script),
    with("cmd", &["vim"], InlineCallEffect::Script),
];

pub(super) static AWK: &[InlineCallSpec] = &[call("system", InlineCallEffect::Script)];
