//! Containers and images.

use super::lasting::{Lasting, Operands, Stake};
use super::program::Arity::{Never, Words};
use super::program::{Effect, Fact, Program};
use super::wrapper::{Dashes, Login, Wrapper};
use crate::options::OptionSpec;

const OPTIONS: OptionSpec = OptionSpec::leading(
    "H:c:l:Dvhf:p:",
    "\
    host= context= config= log-level= debug tls tlscacert= tlscert= tlskey= tlsverify file= project-name= profile= \
    env-file= project-directory= parallel= compatibility ansi= progress= root= runroot= storage-driver= connection= \
    url= namespace= remote dry-run",
);

const EXEC: Wrapper = Wrapper::rest(
    "de:itu:w:T",
    "detach detach-keys= env= env-file= interactive privileged tty user= workdir= index= no-TTY latest",
)
.sub("exec, container exec, compose exec")
.operands(1)
.elsewhere();

const RUN: Wrapper = Wrapper::rest(
    "a:c:de:h:il:m:p:Ptu:v:w:qTb",
    "\
            add-host= annotation= arch= attach= blkio-weight= build cap-add= cap-drop= cgroup-parent= cgroupns= \
            cidfile= cpu-period= cpu-quota= cpu-shares= cpus= cpuset-cpus= cpuset-mems= detach detach-keys= device= \
            device-cgroup-rule= disable-content-trust dns= dns-option= dns-search= domainname= entrypoint= env= \
            env-file= expose= gpus= group-add= health-cmd= health-interval= health-retries= health-timeout= \
            hostname= init interactive ip= ip6= ipc= isolation= kernel-memory= label= label-file= link= log-driver= \
            log-opt= mac-address= memory= memory-reservation= memory-swap= mount= name= net= network= \
            network-alias= no-deps no-healthcheck oom-kill-disable oom-score-adj= os= pid= pids-limit= platform= \
            pod= privileged publish= publish-all pull= quiet quiet-pull read-only remove-orphans replace restart= \
            rm runtime= secret= security-opt= service-ports shm-size= sig-proxy stop-signal= stop-timeout= \
            storage-opt= sysctl= tmpfs= tty ulimit= use-aliases user= userns= uts= volume= volume-driver= \
            volumes-from= workdir=",
)
.sub("run, create, container run, container create, compose run")
.operands(1)
.elsewhere();

const fn removes(says: &'static str, instead: &'static str) -> Lasting {
    Lasting::of(Stake::Containers, says, instead)
}

static SYSTEM_PRUNE: Lasting =
    removes("deletes all stopped containers, unused networks and images, also those of other projects", "system df");
static VOLUME_PRUNE: Lasting = removes("deletes every volume that no container uses, with its data", "volume ls");
static IMAGE_PRUNE: Lasting =
    removes("deletes every image that no container uses, also those of other projects", "image ls");
static NETWORK_PRUNE: Lasting = removes("deletes every network that no container uses", "network ls");
static CONTAINER_PRUNE: Lasting = removes("deletes every stopped container with its files", "container ls --all");
static BUILDER_PRUNE: Lasting = removes("deletes the cache of all builds", "system df");
static SYSTEM_RESET: Lasting = removes("deletes all containers, images and volumes of this machine", "system df");
static VOLUME_RM: Lasting = removes("deletes [the volume {}|volumes] with the data", "volume ls");
static LISTED_RM: Lasting = removes("deletes all containers or images that a listing names", "ps --all")
    .with("f force")
    .operands(Operands::Unknown)
    .spec(OptionSpec::gnu("flv", "force link volumes no-prune"));
static ALL_RM: Lasting = removes("deletes all containers or images of this machine", "ps --all")
    .with("a all")
    .spec(OptionSpec::gnu("aflvit:", "all force link volumes ignore time="));
static DOWN: Lasting =
    removes("deletes the volumes or images of [the project {p project-name}|this project], too", "down")
        .with("v volumes rmi")
        .spec(OptionSpec::gnu("vt:", "volumes rmi= timeout= remove-orphans"));
static COMPOSE_RM: Lasting = removes("deletes the containers of [{}|all services] with their volumes", "ps --all")
    .with("v volumes")
    .spec(OptionSpec::gnu("fsv", "force stop volumes"));
static SWARM_LEAVE: Lasting =
    removes("takes this node out of the swarm, with the services that only it knows", "node ls")
        .with("f force")
        .spec(OptionSpec::gnu("f", "force"));
static SWARM_RM: Lasting = removes("deletes [{}|something] from the swarm", "");

static PUSH: Lasting = Lasting::of(Stake::Publication, "pushes [the image {}|images] to a registry", "")
    .operands(Operands::Unlike("localhost:* 127.0.0.1:*"));
static BUILD_PUSH: Lasting =
    Lasting::of(Stake::Publication, "pushes the image[ {t tag}] to a registry once it is built", "")
        .with("push output~type=registry o~type=registry output~push=true o~push=true")
        .spec(OptionSpec::gnu(
            "t:f:o:",
            "tag= file= output= platform= build-arg= target= cache-from= cache-to= progress= builder= push load",
        ));

const COMPOSE_EXEC: Wrapper = EXEC.sub("exec");

const COMPOSE_RUN: Wrapper = RUN.sub("run");

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "apptainer singularity",
        options: OptionSpec::leading("dqsv", ""),
        wrappers: &[Wrapper::rest("eB:b:H:W:u:cC", "bind= home= pwd= env= cleanenv containall contain nv writable")
            .sub("exec")
            .operands(1)
            .elsewhere()],
        ..Program::UNKNOWN
    },
    Program { names: "buildah crane oras", subcommands: &[(Effect::Lasts(&PUSH), "push")], ..Program::DATA },
    Program {
        names: "colima",
        options: OptionSpec::leading("p:", "profile="),
        wrappers: &[Wrapper::rest("p:", "profile=").sub("ssh").dashes(Dashes::Begin).login(Login::Alone).elsewhere()],
        ..Program::UNKNOWN
    },
    Program {
        names: "devcontainer",
        wrappers: &[Wrapper::rest("", "workspace-folder= container-id= id-label= config= remote-env=")
            .sub("exec")
            .elsewhere()],
        ..Program::UNKNOWN
    },
    Program {
        names: "distrobox distrobox-enter",
        wrappers: &[Wrapper::rest("n:ea:rvhT", "name= additional-flags= root no-tty clean-path")
            .sub("enter")
            .dashes(Dashes::Need)
            .elsewhere()],
        ..Program::UNKNOWN
    },
    Program {
        names: "docker podman nerdctl",
        options: OPTIONS,
        wrappers: &[EXEC, RUN],
        rule: Words(2),
        sub_rules: &[
            (
                Words(3),
                "\
                builder, buildx, compose, container, context, image, machine, network, pod, secret, service, stack, \
                swarm, system, volume",
            ),
            (Never, "compose exec, compose run, container exec, container run, exec, run"),
        ],
        subcommands: &[
            (
                Effect::Reads,
                "\
                container ls, diff, history, image ls, images, info, inspect, logs, network inspect, network ls, port, \
                ps, stats, top, version, volume inspect, volume ls",
            ),
            (
                Effect::Changes,
                "build, commit, cp, create, kill, load, pull, rename, restart, rm, rmi, start, stop, tag",
            ),
            (Effect::Lasts(&SYSTEM_PRUNE), "system prune"),
            (Effect::Lasts(&SYSTEM_RESET), "system reset"),
            (Effect::Lasts(&VOLUME_PRUNE), "volume prune"),
            (Effect::Lasts(&IMAGE_PRUNE), "image prune"),
            (Effect::Lasts(&NETWORK_PRUNE), "network prune"),
            (Effect::Lasts(&CONTAINER_PRUNE), "container prune, pod prune"),
            (Effect::Lasts(&BUILDER_PRUNE), "builder prune, buildx prune"),
            (Effect::Lasts(&VOLUME_RM), "volume rm, volume remove"),
            (Effect::Lasts(&LISTED_RM), "rm, container rm, container remove, rmi, image rm, image remove, pod rm"),
            (Effect::Lasts(&ALL_RM), "rm, container rm, container remove, rmi, image rm, image remove, pod rm"),
            (Effect::Lasts(&SWARM_LEAVE), "swarm leave"),
            (
                Effect::Lasts(&SWARM_RM),
                "\
                service rm, service remove, stack rm, stack remove, stack down, secret rm, secret remove",
            ),
            (Effect::Lasts(&PUSH), "push, image push, manifest push"),
            (Effect::Lasts(&BUILD_PUSH), "build, buildx build, buildx b, buildx bake, image build, builder build"),
        ],
        facts: &[Fact::Contains(&[("compose", "docker-compose")])],
        ..Program::DATA
    },
    Program {
        names: "docker-compose podman-compose",
        options: OPTIONS,
        wrappers: &[COMPOSE_EXEC, COMPOSE_RUN],
        rule: Words(2),
        sub_rules: &[(Never, "exec, run")],
        subcommands: &[
            (Effect::Reads, "config, images, logs, ls, ps, top, version"),
            (Effect::Changes, "build, down, up"),
            (Effect::Lasts(&DOWN), "down"),
            (Effect::Lasts(&COMPOSE_RM), "rm"),
            (Effect::Lasts(&PUSH), "push"),
            (Effect::Lasts(&BUILD_PUSH), "build"),
        ],
        ..Program::DATA
    },
    Program { names: "docker-machine", facts: &[Fact::PrintsShellCode("env")], ..Program::UNKNOWN },
    Program {
        names: "flatpak-spawn",
        wrappers: &[Wrapper::rest("vh", "host clear-env watch-bus sandbox directory= env=")],
        ..Program::UNKNOWN
    },
    Program {
        names: "incus lxc",
        options: OptionSpec::leading("", "project= debug quiet"),
        wrappers: &[Wrapper::rest(
            "ntTIq",
            "cwd= env= user= group= mode= force-interactive force-noninteractive disable-stdin",
        )
        .sub("exec")
        .operands(1)
        .dashes(Dashes::Begin)
        .elsewhere()],
        ..Program::DATA
    },
    Program {
        names: "lima nerdctl.lima",
        wrappers: &[Wrapper::rest("", "").login(Login::Alone).elsewhere()],
        ..Program::UNKNOWN
    },
    Program {
        names: "limactl",
        wrappers: &[Wrapper::rest("", "workdir= shell=").sub("shell").operands(1).login(Login::Alone).elsewhere()],
        ..Program::UNKNOWN
    },
    Program {
        names: "lxc-attach",
        wrappers: &[Wrapper::rest("n:P:aekRsp:o:l:q", "name= clear-env keep-env")
            .dashes(Dashes::Begin)
            .login(Login::Alone)
            .elsewhere()],
        ..Program::UNKNOWN
    },
    Program {
        names: "multipass",
        wrappers: &[Wrapper::rest("d:n", "working-directory= no-map-working-directory")
            .sub("exec")
            .operands(1)
            .dashes(Dashes::Begin)
            .elsewhere()],
        ..Program::DATA
    },
    Program {
        names: "systemd-nspawn",
        wrappers: &[Wrapper::rest(
            "D:i:M:u:UbaE:xqjn",
            "directory= image= machine= user= chdir= bind= bind-ro= setenv= as-pid2 quiet ephemeral",
        )
        .login(Login::Alone)
        .elsewhere()],
        ..Program::UNKNOWN
    },
    Program {
        names: "toolbox",
        options: OptionSpec::leading("vy", ""),
        wrappers: &[Wrapper::rest("c:d:r:", "container= distro= release=").sub("run").elsewhere()],
        ..Program::UNKNOWN
    },
];
