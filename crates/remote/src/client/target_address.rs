//! Addresses of targets: the transport that reaches each one.

use serde::{Deserialize, Serialize};

use super::target_error::InvalidAddress;

/// The address of a target, as the caller gave it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum TargetAddress {
    /// A machine with an ssh server.
    Ssh {
        /// The host, as ssh takes it: a name of its config, `USER@HOST`, `ssh://USER@HOST:PORT`.
        host: String,
        /// The user. `None`: as ssh finds it.
        #[serde(default)]
        user: Option<String>,
        /// The port. `None`: as ssh finds it.
        #[serde(default)]
        port: Option<u16>,
        /// The file with the config. `None`: the user's.
        #[serde(default)]
        config: Option<String>,
        /// Further arguments of ssh.
        #[serde(default)]
        args: Vec<String>,
        /// The program, with its first arguments.
        #[serde(default)]
        program: Option<Vec<String>>,
    },
    /// A container of Docker.
    Docker(ContainerAddress),
    /// A container of Podman.
    Podman(ContainerAddress),
    /// A container of a pod.
    Kubernetes {
        /// The pod.
        pod: String,
        /// The namespace. `None`: that of the context.
        #[serde(default)]
        namespace: Option<String>,
        /// The container. `None`: as kubectl finds it.
        #[serde(default)]
        container: Option<String>,
        /// The context. `None`: the current one.
        #[serde(default)]
        context: Option<String>,
        /// The uid of the pod, which is checked before each connection. `None`: any pod of this name.
        #[serde(default)]
        uid: Option<String>,
        /// The program, with its first arguments.
        #[serde(default)]
        program: Option<Vec<String>>,
    },
    /// Any program that passes its standard streams to a shell there.
    Command {
        /// The program with its arguments.
        command: Vec<String>,
        /// How our text is appended to the arguments.
        #[serde(default)]
        quoting: TransportQuoting,
    },
}

/// A container.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContainerAddress {
    /// The name or id of the container.
    pub container: String,
    /// The user. `None`: that of the container.
    #[serde(default)]
    pub user: Option<String>,
    /// The program, with its first arguments.
    #[serde(default)]
    pub program: Option<Vec<String>>,
}

/// How our text is appended to the arguments of a transport.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TransportQuoting {
    /// `/bin/sh`, `-c` and a text: three arguments.
    #[default]
    Argv,
    /// One line for a login shell.
    Shell,
}

/// The kinds of targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// [`TargetAddress::Ssh`]
    Ssh,
    /// [`TargetAddress::Docker`]
    Docker,
    /// [`TargetAddress::Podman`]
    Podman,
    /// [`TargetAddress::Kubernetes`]
    Kubernetes,
    /// [`TargetAddress::Command`]
    Command,
}

/// The options that we give to ssh: no terminal, no agent, no forwards, no question, and a word when the line is dead.
const SSH: [&str; 23] = [
    "-T",
    "-a",
    "-x",
    "-o",
    "BatchMode=yes",
    "-o",
    "ClearAllForwardings=yes",
    "-o",
    "ForwardAgent=no",
    "-o",
    "PermitLocalCommand=no",
    "-o",
    "RemoteCommand=none",
    "-o",
    "RequestTTY=no",
    "-o",
    "ServerAliveInterval=15",
    "-o",
    "ServerAliveCountMax=3",
    "-o",
    "EscapeChar=none",
    "-o",
    "StdinNull=no",
];

/// What a transport says that was to reach a pod with another uid.
pub const OTHER_POD: &str = "the pod is gone, or another one has its name now";

impl TargetAddress {
    /// Checks every name, so that none is read as an option or as something else.
    ///
    /// # Errors
    /// The first name that cannot be one.
    pub fn check(&self) -> Result<(), InvalidAddress> {
        match self {
            Self::Ssh { host, user, config, program, .. } => {
                check_name("ssh.host", Some(host))?;
                let inner = host.strip_prefix("ssh://").unwrap_or(host);
                inner.split('@').try_for_each(|part| check_name("ssh.host", Some(part)))?;
                check_name("ssh.user", user.as_deref())?;
                check_path("ssh.config", config.as_deref())?;
                check_argv("ssh.program", program.as_deref())
            }
            Self::Docker(container) => container.check("docker"),
            Self::Podman(container) => container.check("podman"),
            Self::Kubernetes { pod, namespace, container, context, uid, program } => {
                check_name("kubernetes.pod", Some(pod))?;
                check_name("kubernetes.namespace", namespace.as_deref())?;
                check_name("kubernetes.container", container.as_deref())?;
                check_name("kubernetes.context", context.as_deref())?;
                check_name("kubernetes.uid", uid.as_deref())?;
                check_argv("kubernetes.program", program.as_deref())
            }
            Self::Command { command, .. } => check_argv("command", Some(command)),
        }
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> TargetKind {
        match self {
            Self::Ssh { .. } => TargetKind::Ssh,
            Self::Docker(_) => TargetKind::Docker,
            Self::Podman(_) => TargetKind::Podman,
            Self::Kubernetes { .. } => TargetKind::Kubernetes,
            Self::Command { .. } => TargetKind::Command,
        }
    }

    /// Returns the name of a target without one of its own.
    #[must_use]
    pub fn id(&self) -> String {
        match self {
            Self::Ssh { host, user: Some(user), .. } => format!("ssh:{user}@{host}"),
            Self::Ssh { host, .. } => format!("ssh:{host}"),
            Self::Docker(ContainerAddress { container, .. }) => format!("docker:{container}"),
            Self::Podman(ContainerAddress { container, .. }) => format!("podman:{container}"),
            Self::Kubernetes { pod, namespace, container, .. } => {
                let parts = namespace.iter().chain([pod]).chain(container).cloned();
                format!("kubernetes:{}", parts.collect::<Vec<_>>().join("/"))
            }
            Self::Command { command, .. } => {
                let program = command.first().map_or("", String::as_str);
                format!("command:{}", program.rsplit('/').next().unwrap_or(program))
            }
        }
    }

    /// Returns the transport with its arguments, which runs this text by `/bin/sh` there. The text has no `'`.
    #[must_use]
    pub fn transport_argv(&self, text: &str) -> Vec<String> {
        let in_argv = || ["/bin/sh", "-c", text].map(str::to_owned);
        let for_shell = || format!("exec /bin/sh -c '{text}'");
        let option = |name: &str, value: &Option<String>| {
            value.iter().map(|value| format!("{name}={value}")).collect::<Vec<_>>()
        };
        let program = |given: &Option<Vec<String>>, own: &str| given.clone().unwrap_or_else(|| vec![own.to_owned()]);
        let container = |ContainerAddress { container, user, program: given }: &ContainerAddress, own: &str| {
            let exec = ["exec".to_owned(), "-i".to_owned()];
            let named = option("--user", user).into_iter().chain([container.clone()]);
            program(given, own).into_iter().chain(exec).chain(named).chain(in_argv()).collect()
        };
        match self {
            Self::Ssh { host, user, port, config, args, program: given } => {
                let mut argv = program(given, "ssh");
                let mut add = |flag: &str, value: Option<String>| {
                    argv.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value]))
                };
                add("-F", config.clone());
                add("-l", user.clone());
                add("-p", port.map(|port| port.to_string()));
                // Of two values of an option, ssh takes the first.
                argv.extend(SSH.map(str::to_owned));
                argv.extend(args.iter().cloned());
                argv.extend(["--".to_owned(), host.clone(), for_shell()]);
                argv
            }
            Self::Docker(given) => container(given, "docker"),
            Self::Podman(given) => container(given, "podman"),
            Self::Kubernetes { pod, namespace, container, context, uid, program: given } => {
                let client: Vec<_> =
                    program(given, "kubectl").into_iter().chain(option("--context", context)).collect();
                let mut argv = client.clone();
                argv.push("exec".to_owned());
                argv.push("-i".to_owned());
                argv.extend(option("--namespace", namespace));
                argv.extend(option("--container", container));
                argv.extend([pod.clone(), "--".to_owned()]);
                argv.extend(in_argv());
                let Some(uid) = uid else { return argv };
                let ask = client.into_iter().chain(["get".to_owned()]).chain(option("--namespace", namespace));
                let checked = ["/bin/sh", "-c", &check_uid(ask, pod, uid), "sh"].map(str::to_owned);
                checked.into_iter().chain(argv).collect()
            }
            Self::Command { command, quoting } => {
                let mut argv = command.clone();
                match quoting {
                    TransportQuoting::Argv => argv.extend(in_argv()),
                    TransportQuoting::Shell => argv.push(for_shell()),
                }
                argv
            }
        }
    }
}

/// Returns the text that asks for the uid of a pod, and becomes its arguments if it is this one.
fn check_uid(ask: impl Iterator<Item = String>, pod: &str, uid: &str) -> String {
    let quoted = |word: String| format!("'{}'", word.replace('\'', r"'\''"));
    let name = if pod.contains('/') { vec![pod.to_owned()] } else { vec!["pod".to_owned(), pod.to_owned()] };
    let rest = ["--ignore-not-found", "-o", "jsonpath={.metadata.uid}"].map(str::to_owned);
    let ask: Vec<_> = ask.chain(name).chain(rest).map(quoted).collect();
    let (ask, uid) = (ask.join(" "), quoted(uid.to_owned()));
    format!(r#"u=`{ask} </dev/null` || exit; [ "$u" = {uid} ] && exec "$@"; echo "{OTHER_POD}" >&2; exit 1"#)
}

impl ContainerAddress {
    fn check(&self, kind: &str) -> Result<(), InvalidAddress> {
        check_name(&format!("{kind}.container"), Some(&self.container))?;
        check_name(&format!("{kind}.user"), self.user.as_deref())?;
        check_argv(&format!("{kind}.program"), self.program.as_deref())
    }
}

/// Checks a name that a program could take for an option, or split.
fn check_name(option: &str, value: Option<&str>) -> Result<(), InvalidAddress> {
    let Some(value) = value else { return Ok(()) };
    let why = if value.is_empty() {
        "is empty"
    } else if value.starts_with('-') {
        "begins with `-`, which would make it an option"
    } else if value.chars().any(|c| c.is_whitespace() || c.is_control()) {
        "has a blank or a control character"
    } else {
        return Ok(());
    };
    Err(InvalidAddress { option: option.to_owned(), value: value.to_owned(), why })
}

fn check_path(option: &str, value: Option<&str>) -> Result<(), InvalidAddress> {
    let Some(value) = value.filter(|value| value.is_empty() || value.contains('\0')) else { return Ok(()) };
    Err(InvalidAddress { option: option.to_owned(), value: value.to_owned(), why: "is no path" })
}

fn check_argv(option: &str, value: Option<&[String]>) -> Result<(), InvalidAddress> {
    let Some(value) = value else { return Ok(()) };
    let why = if value.first().is_none_or(String::is_empty) {
        "names no program"
    } else if value.iter().any(|word| word.contains('\0')) {
        "has a NUL character"
    } else {
        return Ok(());
    };
    Err(InvalidAddress { option: option.to_owned(), value: value.join(" "), why })
}
