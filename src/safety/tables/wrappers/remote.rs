//! Wrappers whose command runs on another machine, in a container or on a device.

use super::wrapper::{Dashes, Login, Wrapper};

const CONTAINER: &str = "H:c:l:Dvhf:p:";
const CONTAINER_LONG: &[&str] = &[
    "host=",
    "context=",
    "config=",
    "log-level=",
    "debug",
    "tls",
    "tlscacert=",
    "tlscert=",
    "tlskey=",
    "tlsverify",
    "file=",
    "project-name=",
    "profile=",
    "env-file=",
    "project-directory=",
    "parallel=",
    "compatibility",
    "ansi=",
    "progress=",
    "root=",
    "runroot=",
    "storage-driver=",
    "connection=",
    "url=",
    "namespace=",
    "remote",
    "dry-run",
];
const EXEC: &str = "de:itu:w:T";
const EXEC_LONG: &[&str] = &[
    "detach",
    "detach-keys=",
    "env=",
    "env-file=",
    "interactive",
    "privileged",
    "tty",
    "user=",
    "workdir=",
    "index=",
    "no-TTY",
    "latest",
];
const RUN: &str = "a:c:de:h:il:m:p:Ptu:v:w:qTb";
const RUN_LONG: &[&str] = &[
    "add-host=",
    "annotation=",
    "arch=",
    "attach=",
    "blkio-weight=",
    "build",
    "cap-add=",
    "cap-drop=",
    "cgroup-parent=",
    "cgroupns=",
    "cidfile=",
    "cpu-period=",
    "cpu-quota=",
    "cpu-shares=",
    "cpus=",
    "cpuset-cpus=",
    "cpuset-mems=",
    "detach",
    "detach-keys=",
    "device=",
    "device-cgroup-rule=",
    "disable-content-trust",
    "dns=",
    "dns-option=",
    "dns-search=",
    "domainname=",
    "entrypoint=",
    "env=",
    "env-file=",
    "expose=",
    "gpus=",
    "group-add=",
    "health-cmd=",
    "health-interval=",
    "health-retries=",
    "health-timeout=",
    "hostname=",
    "init",
    "interactive",
    "ip=",
    "ip6=",
    "ipc=",
    "isolation=",
    "kernel-memory=",
    "label=",
    "label-file=",
    "link=",
    "log-driver=",
    "log-opt=",
    "mac-address=",
    "memory=",
    "memory-reservation=",
    "memory-swap=",
    "mount=",
    "name=",
    "net=",
    "network=",
    "network-alias=",
    "no-deps",
    "no-healthcheck",
    "oom-kill-disable",
    "oom-score-adj=",
    "os=",
    "pid=",
    "pids-limit=",
    "platform=",
    "pod=",
    "privileged",
    "publish=",
    "publish-all",
    "pull=",
    "quiet",
    "quiet-pull",
    "read-only",
    "remove-orphans",
    "replace",
    "restart=",
    "rm",
    "runtime=",
    "secret=",
    "security-opt=",
    "service-ports",
    "shm-size=",
    "sig-proxy",
    "stop-signal=",
    "stop-timeout=",
    "storage-opt=",
    "sysctl=",
    "tmpfs=",
    "tty",
    "ulimit=",
    "use-aliases",
    "user=",
    "userns=",
    "uts=",
    "volume=",
    "volume-driver=",
    "volumes-from=",
    "workdir=",
];
const KUBE: &str = "n:s:v:";
const KUBE_LONG: &[&str] = &[
    "namespace=",
    "context=",
    "cluster=",
    "kubeconfig=",
    "server=",
    "token=",
    "user=",
    "as=",
    "as-group=",
    "request-timeout=",
    "insecure-skip-tls-verify",
    "certificate-authority=",
    "client-certificate=",
    "client-key=",
    "tls-server-name=",
    "v=",
];

pub(super) static REMOTE: &[Wrapper] = &[
    Wrapper::joined(
        &["ssh", "autossh", "slogin"],
        "46AaB:b:Cc:D:E:e:F:fGgI:i:J:KkL:l:M:m:NnO:o:P:p:Q:qR:S:sTtVvW:w:XxYy",
        &[],
    )
    .operands(1)
    .again()
    .stop(&["V", "G", "Q", "O", "N", "s"])
    .login(Login::Alone)
    .elsewhere(),
    Wrapper::rest(&["sshpass"], "f:d:p:P:evhV", &[]),
    Wrapper::rest(
        &["mosh"],
        "46anp:",
        &["client=", "server=", "predict=", "family=", "port=", "ssh=", "no-ssh-pty", "no-init", "local"],
    )
    .operands(1)
    .dashes(Dashes::Begin)
    .login(Login::Alone)
    .elsewhere(),
    Wrapper::joined(
        &["pdsh", "pssh", "dsh", "clush", "parallel-ssh"],
        "w:x:l:f:t:u:g:abdSH:h:p:i",
        &["hosts=", "user=", "timeout="],
    )
    .elsewhere(),
    Wrapper::rest(&["docker", "podman", "nerdctl"], EXEC, EXEC_LONG)
        .sub(&[&["exec"], &["container", "exec"], &["compose", "exec"]], CONTAINER, CONTAINER_LONG)
        .operands(1)
        .elsewhere(),
    Wrapper::rest(&["docker", "podman", "nerdctl"], RUN, RUN_LONG)
        .sub(
            &[&["run"], &["create"], &["container", "run"], &["container", "create"], &["compose", "run"]],
            CONTAINER,
            CONTAINER_LONG,
        )
        .operands(1)
        .elsewhere(),
    Wrapper::rest(&["docker-compose", "podman-compose"], EXEC, EXEC_LONG)
        .sub(&[&["exec"]], CONTAINER, CONTAINER_LONG)
        .operands(1)
        .elsewhere(),
    Wrapper::rest(&["docker-compose", "podman-compose"], RUN, RUN_LONG)
        .sub(&[&["run"]], CONTAINER, CONTAINER_LONG)
        .operands(1)
        .elsewhere(),
    Wrapper::rest(
        &["kubectl", "oc", "k", "kubecolor", "microk8s.kubectl"],
        "c:f:iqtn:",
        &["container=", "filename=", "stdin", "tty", "quiet", "namespace=", "context=", "pod-running-timeout="],
    )
    .sub(&[&["exec"], &["rsh"]], KUBE, KUBE_LONG)
    .operands(1)
    .dashes(Dashes::Begin)
    .elsewhere(),
    Wrapper::rest(
        &["kubectl", "oc", "k", "kubecolor", "microk8s.kubectl"],
        "c:f:iqtn:l:",
        &[
            "image=",
            "namespace=",
            "restart=",
            "rm",
            "stdin",
            "tty",
            "command",
            "env=",
            "labels=",
            "target=",
            "profile=",
        ],
    )
    .sub(&[&["run"], &["debug"]], KUBE, KUBE_LONG)
    .dashes(Dashes::Need)
    .elsewhere(),
    Wrapper::rest(
        &["lxc", "incus"],
        "ntTIq",
        &["cwd=", "env=", "user=", "group=", "mode=", "force-interactive", "force-noninteractive", "disable-stdin"],
    )
    .sub(&[&["exec"]], "", &["project=", "debug", "quiet"])
    .operands(1)
    .dashes(Dashes::Begin)
    .elsewhere(),
    Wrapper::rest(&["lxc-attach"], "n:P:aekRsp:o:l:q", &["name=", "clear-env", "keep-env"])
        .dashes(Dashes::Begin)
        .login(Login::Alone)
        .elsewhere(),
    Wrapper::rest(&["multipass"], "d:n", &["working-directory=", "no-map-working-directory"])
        .sub(&[&["exec"]], "", &[])
        .operands(1)
        .dashes(Dashes::Begin)
        .elsewhere(),
    Wrapper::rest(&["machinectl"], "M:E:H:qn", &["uid=", "setenv=", "machine=", "host="])
        .sub(&[&["shell"]], "", &[])
        .operands(1)
        .login(Login::Alone)
        .elsewhere(),
    Wrapper::rest(
        &["systemd-nspawn"],
        "D:i:M:u:UbaE:xqjn",
        &[
            "directory=",
            "image=",
            "machine=",
            "user=",
            "chdir=",
            "bind=",
            "bind-ro=",
            "setenv=",
            "as-pid2",
            "quiet",
            "ephemeral",
        ],
    )
    .login(Login::Alone)
    .elsewhere(),
    Wrapper::rest(
        &["distrobox", "distrobox-enter"],
        "n:ea:rvhT",
        &["name=", "additional-flags=", "root", "no-tty", "clean-path"],
    )
    .sub(&[&["enter"]], "", &[])
    .dashes(Dashes::Need)
    .elsewhere(),
    Wrapper::rest(&["toolbox"], "c:d:r:", &["container=", "distro=", "release="])
        .sub(&[&["run"]], "vy", &[])
        .elsewhere(),
    Wrapper::rest(&["flatpak-spawn"], "vh", &["host", "clear-env", "watch-bus", "sandbox", "directory=", "env="]),
    Wrapper::rest(
        &["apptainer", "singularity"],
        "eB:b:H:W:u:cC",
        &["bind=", "home=", "pwd=", "env=", "cleanenv", "containall", "contain", "nv", "writable"],
    )
    .sub(&[&["exec"]], "dqsv", &[])
    .operands(1)
    .elsewhere(),
    Wrapper::rest(&["wsl", "wsl.exe"], "d:u:e", &["distribution=", "user=", "cd=", "exec", "shell-type="])
        .login(Login::Alone)
        .elsewhere(),
    Wrapper::joined(&["adb"], "dentTx", &[]).sub(&[&["shell"]], "ades:t:H:P:L:", &[]).login(Login::Alone).elsewhere(),
    Wrapper::rest(&["vagrant"], "c:pthn", &["command=", "plain", "tty", "no-tty"])
        .sub(&[&["ssh"]], "", &[])
        .script(&["c", "command"])
        .operands(1)
        .dashes(Dashes::Need)
        .elsewhere(),
    Wrapper::rest(&["fly", "flyctl"], "a:C:r:s", &["app=", "command=", "region=", "select"])
        .sub(&[&["ssh", "console"]], "a:", &["app="])
        .script(&["C", "command"])
        .dashes(Dashes::Need)
        .elsewhere(),
    Wrapper::joined(&["heroku"], "a:r:x", &["app=", "remote=", "no-tty", "exit-code", "size=", "type="])
        .sub(&[&["run"], &["run:detached"]], "a:", &["app="])
        .elsewhere(),
    Wrapper::rest(&["gcloud"], "", &["command=", "zone=", "project=", "internal-ip", "tunnel-through-iap", "quiet"])
        .sub(
            &[&["compute", "ssh"], &["alpha", "compute", "ssh"], &["beta", "compute", "ssh"]],
            "q",
            &["project=", "account=", "configuration=", "quiet"],
        )
        .operands(1)
        .script(&["command"])
        .dashes(Dashes::Need)
        .elsewhere(),
    Wrapper::rest(&["limactl"], "", &["workdir=", "shell="])
        .sub(&[&["shell"]], "", &[])
        .operands(1)
        .login(Login::Alone)
        .elsewhere(),
    Wrapper::rest(&["lima", "nerdctl.lima"], "", &[]).login(Login::Alone).elsewhere(),
    Wrapper::rest(&["minikube"], "n:p:", &["node=", "profile="])
        .sub(&[&["ssh"]], "p:", &["profile="])
        .dashes(Dashes::Begin)
        .login(Login::Alone)
        .elsewhere(),
    Wrapper::rest(&["colima"], "p:", &["profile="])
        .sub(&[&["ssh"]], "p:", &["profile="])
        .dashes(Dashes::Begin)
        .login(Login::Alone)
        .elsewhere(),
    Wrapper::rest(
        &["devcontainer"],
        "",
        &["workspace-folder=", "container-id=", "id-label=", "config=", "remote-env="],
    )
    .sub(&[&["exec"]], "", &[])
    .elsewhere(),
    Wrapper::rest(
        &["srun", "salloc", "mpirun", "mpiexec"],
        "n:N:c:p:t:A:J:w:q:G:o:e:x:H:v",
        &[
            "ntasks=",
            "nodes=",
            "partition=",
            "time=",
            "account=",
            "gres=",
            "mem=",
            "np=",
            "hostfile=",
            "host=",
            "pty",
            "oversubscribe",
            "allow-run-as-root",
        ],
    )
    .elsewhere(),
];
