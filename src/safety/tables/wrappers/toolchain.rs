//! Wrappers that set up a language's or a project's environment.

use crate::safety::options::Spec;

use super::wrapper::{Dashes, Form, Wrapper};

const NPX: &str = "yqhvc:p:w:n:";
const NPX_LONG: &[&str] = &[
    "yes",
    "no",
    "package=",
    "call=",
    "workspace=",
    "workspaces",
    "include-workspace-root",
    "quiet",
    "silent",
    "ignore-existing",
    "no-install",
    "prefer-online",
    "prefer-offline",
    "offline",
    "prefix=",
    "registry=",
    "cache=",
    "userconfig=",
    "shell=",
    "script-shell=",
    "node-arg=",
    "loglevel=",
    "shell-mode",
    "reporter=",
    "filter=",
    "recursive",
    "parallel",
    "no-bail",
    "resume-from=",
    "bun",
    "help",
    "version",
    "verbose",
];
const NPM: &str = "C:w:rF:sqd";
const NPM_LONG: &[&str] = &[
    "prefix=",
    "workspace=",
    "workspaces",
    "include-workspace-root",
    "silent",
    "loglevel=",
    "registry=",
    "recursive",
    "filter=",
    "dir=",
    "cwd=",
    "workspace-root",
    "yes",
    "quiet",
];
const UVX: &[&str] =
    &["python=", "from=", "with=", "spec=", "index-url=", "refresh", "isolated", "offline", "quiet", "pip-args="];

pub(super) static TOOLCHAIN: &[Wrapper] = &[
    Wrapper::rest(&["npx", "bunx", "pnpx", "pnx"], NPX, NPX_LONG)
        .script(&["c", "call"])
        .stop(&["v", "version"])
        .child(),
    Wrapper::rest(&["npm", "pnpm", "yarn", "bun"], NPX, NPX_LONG)
        .sub(&[&["exec"], &["x"], &["dlx"]], NPM, NPM_LONG)
        .script(&["c", "call"])
        .child(),
    Wrapper::rest(&["npm"], "", &[]).sub(&[&["explore"]], NPM, NPM_LONG).operands(1).dashes(Dashes::Need).child(),
    Wrapper::rest(
        &["lerna"],
        "",
        &["scope=", "ignore=", "since=", "concurrency=", "stream", "parallel", "no-bail", "no-prefix", "no-sort"],
    )
    .sub(&[&["exec"]], "", &[])
    .child(),
    Wrapper::rest(&["nx"], "", &[]).sub(&[&["exec"]], "", &[]).dashes(Dashes::Begin).child(),
    Wrapper::rest(&["rush-pnpm", "rushx"], "", &[]).sub(&[&["exec"]], "", &[]).child(),
    Wrapper::rest(&["cross-env"], "", &[]).assignments(),
    Wrapper::joined(&["cross-env-shell"], "", &[]).assignments(),
    Wrapper::rest(
        &["env-cmd"],
        "f:e:r:x",
        &["file=", "environments=", "rc-file=", "fallback", "no-override", "silent", "use-shell"],
    ),
    Wrapper::rest(
        &["dotenv", "dotenvx"],
        "e:c::v:p:o:f:q:",
        &["file=", "env-file=", "quote=", "export=", "override", "debug", "expand", "cascade=?"],
    )
    .sub(&[&["run"], &[]], "e:f:v:p:c:q:o", &["file=", "env-file=", "quote=", "override"])
    .dashes(Dashes::Begin),
    Wrapper::each(
        &["concurrently", "conc"],
        "n:c:p:km:rsi:l:",
        &[
            "names=",
            "name-separator=",
            "prefix-colors=",
            "prefix=",
            "prefix-length=",
            "kill-others",
            "kill-others-on-fail",
            "kill-signal=",
            "max-processes=",
            "raw",
            "no-color",
            "hide=",
            "group",
            "timings",
            "success=",
            "handle-input",
            "default-input-target=",
            "restart-tries=",
            "restart-after=",
            "passthrough-arguments",
            "teardown=",
            "timestamp-format=",
        ],
    )
    .script(&["teardown"]),
    Wrapper::rest(&["start-server-and-test"], "", &[]),
    Wrapper::rest(&["poetry"], "", &[]).sub(
        &[&["run"]],
        "qnvC:P:",
        &["quiet", "no-interaction", "directory=", "project=", "ansi", "no-ansi"],
    ),
    Wrapper::rest(&["pipenv"], "", &["system"]).sub(&[&["run"]], "q", &["bare", "quiet", "python="]),
    Wrapper::rest(
        &["uv"],
        "p:m:sqvnUP:w:C:i:f:",
        &[
            "python=",
            "module",
            "script",
            "with=",
            "with-editable=",
            "with-requirements=",
            "extra=",
            "all-extras",
            "no-extra=",
            "group=",
            "no-group=",
            "only-group=",
            "no-dev",
            "only-dev",
            "dev",
            "all-groups",
            "no-default-groups",
            "editable",
            "no-editable",
            "exact",
            "env-file=",
            "no-env-file",
            "isolated",
            "active",
            "no-sync",
            "locked",
            "frozen",
            "package=",
            "all-packages",
            "no-project",
            "refresh",
            "refresh-package=",
            "upgrade",
            "upgrade-package=",
            "index=",
            "default-index=",
            "index-url=",
            "extra-index-url=",
            "find-links=",
            "no-index",
            "index-strategy=",
            "keyring-provider=",
            "resolution=",
            "prerelease=",
            "exclude-newer=",
            "link-mode=",
            "reinstall",
            "reinstall-package=",
            "no-cache",
            "cache-dir=",
            "directory=",
            "project=",
            "config-file=",
            "no-config",
            "offline",
            "quiet",
            "verbose",
            "color=",
            "managed-python",
            "no-managed-python",
            "no-python-downloads",
            "gui-script",
            "from=",
        ],
    )
    .sub(
        &[&["run"], &["tool", "run"]],
        "qvn",
        &["directory=", "project=", "quiet", "verbose", "offline", "no-cache", "cache-dir=", "config-file=", "color="],
    )
    .chdir(&["directory"])
    .stop(&["m", "module"]),
    Wrapper::rest(&["uvx"], "p:qvn", UVX).child(),
    Wrapper::rest(&["pipx"], "p:qvn", UVX).sub(&[&["run"]], "", &["quiet", "verbose"]).child(),
    Wrapper::rest(
        &["rye", "pdm", "hatch", "pixi"],
        "lf:p:ae:q",
        &["list", "pyproject=", "env=", "environment=", "manifest-path=", "site-packages"],
    )
    .sub(&[&["run"]], "e:p:qv", &["env=", "project=", "quiet", "verbose"])
    .stop(&["l", "list"]),
    Wrapper::rest(
        &["conda", "mamba", "micromamba"],
        "n:p:v",
        &["name=", "prefix=", "cwd=", "no-capture-output", "live-stream", "dev", "verbose", "attach="],
    )
    .sub(&[&["run"]], "", &[])
    .chdir(&["cwd"]),
    Wrapper::rest(&["bundle"], "", &["keep-file-descriptors", "gemfile="]).sub(
        &[&["exec"], &["e"]],
        "",
        &["no-color", "retry=", "verbose"],
    ),
    Wrapper::rest(
        &["rbenv", "pyenv", "nodenv", "goenv", "jenv", "plenv", "asdf", "rtx", "nvm", "fnm", "volta"],
        "",
        &["using=", "using-file", "node=", "npm=", "yarn=", "silent"],
    )
    .sub(&[&["exec"]], "", &[]),
    Wrapper::rest(&["nvm", "volta"], "", &["silent", "node=", "npm=", "yarn="]).sub(&[&["run"]], "", &[]),
    Wrapper::rest(&["rustup"], "", &["install"]).sub(&[&["run"]], "qv", &[]).operands(1),
    Wrapper::rest(&["mise"], "c:j:C:qvy", &["command=", "jobs=", "cd=", "raw", "quiet", "yes"])
        .sub(&[&["exec"], &["x"]], "C:qvy", &["cd=", "env=", "quiet", "yes"])
        .dashes(Dashes::Need)
        .chdir(&["C", "cd"])
        .script(&["c", "command"]),
    Wrapper::rest(&["direnv"], "", &[]).sub(&[&["exec"]], "", &[]).operands(1),
    // Its operands are packages.
    Wrapper {
        spec: Spec::gnu(
            "pA:E:I:j:Qk:",
            &["packages", "run=", "command=", "pure", "attr=", "expr=", "keep=", "arg=", "argstr=", "option="],
        ),
        ..Wrapper::rest(&["nix-shell"], "", &[]).script(&["run", "command"]).dashes(Dashes::Need).child()
    },
    Wrapper::rest(&["shx"], "s", &["silent"]).child(),
    Wrapper::rest(
        &["nix"],
        "c:iku:",
        &[
            "command=",
            "ignore-environment",
            "keep=",
            "unset=",
            "impure",
            "offline",
            "option=",
            "profile=",
            "extra-experimental-features=",
            "experimental-features=",
        ],
    )
    .sub(
        &[&["develop"], &["shell"], &["run"]],
        "",
        &["extra-experimental-features=", "experimental-features=", "option="],
    )
    .behind(&["-c", "--command", "--"])
    .child(),
    Wrapper::rest(&["guix"], "Cf:m:e:D", &["container", "pure", "network", "manifest=", "load-path="])
        .sub(&[&["shell"], &["environment"]], "", &[])
        .dashes(Dashes::Need)
        .child(),
    Wrapper::rest(&["devbox", "devenv", "flox"], "c:e:q", &["config=", "env=", "quiet", "environment="])
        .sub(&[&["run"], &["shell"], &["activate"]], "", &[])
        .dashes(Dashes::Begin),
    Wrapper::rest(
        &["doppler"],
        "p:c:t:",
        &["project=", "config=", "token=", "command=", "fallback=", "mount=", "preserve-env=?"],
    )
    .sub(&[&["run"]], "t:", &["token=", "scope="])
    .script(&["command"])
    .dashes(Dashes::Need),
    Wrapper::rest(
        &["op", "infisical", "teller", "envchain", "phase", "bws"],
        "e:p:",
        &["env-file=", "env=", "path=", "projectId=", "no-masking", "account="],
    )
    .sub(&[&["run"]], "", &["account="])
    .dashes(Dashes::Begin),
    Wrapper::rest(
        &["aws-vault", "chamber", "saml2aws", "aws-okta", "granted"],
        "nd:t:s:a:",
        &["duration=", "no-session", "server", "ecs-server", "mfa-token=", "region=", "exec-profile="],
    )
    .sub(&[&["exec"]], "", &["debug", "backend="])
    .operands(1)
    .dashes(Dashes::Begin),
    Wrapper::joined(&["sops"], "", &["user=", "background", "pristine", "same-process"])
        .sub(&[&["exec-env"], &["exec-file"]], "", &[])
        .operands(1),
    Wrapper {
        form: Form::Each,
        ..Wrapper::rest(
            &["cargo"],
            "x:s:w:cqi:d:B:C:E:",
            &[
                "exec=",
                "shell=",
                "watch=",
                "clear",
                "quiet",
                "ignore=",
                "delay=",
                "why",
                "poll",
                "no-vcs-ignores",
                "workdir=",
            ],
        )
    }
    .sub(&[&["watch"]], "qv", &["quiet", "verbose", "locked", "offline", "frozen"])
    .script(&["s", "shell"])
    .child(),
    Wrapper::rest(&["sbt", "mill"], "", &[]).dashes(Dashes::Need),
    Wrapper::rest(
        &["ccache", "sccache", "distcc", "icecc", "scan-build", "bear", "intercept-build", "coverage-run", "colormake"],
        "o:vk",
        &["output=", "append"],
    )
    .dashes(Dashes::Begin),
    Wrapper::rest(&["cmake"], "", &[]).sub(&[&["env"], &["time"]], "E", &[]).assignments(),
    Wrapper::rest(&["cmake"], "", &[]).sub(&[&["chdir"]], "E", &[]).operands(1),
];
