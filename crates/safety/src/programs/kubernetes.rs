//! Clusters.

use super::lasting::{Lasting, Stake};
use super::program::Arity::{Never, Words};
use super::program::{Effect, Fact, Program};
use super::wrapper::{Dashes, Login, Wrapper};
use crate::options::OptionSpec;

/// Kinds of resources by their shorter names.
pub static KINDS: &str = "\
    ns/namespaces=namespace po/pods=pod deploy/deployments=deployment svc/services=service no/nodes=node \
    pvc/persistentvolumeclaims=persistentvolumeclaim pv/persistentvolumes=persistentvolume secrets=secret \
    cm/configmaps=configmap sts/statefulsets=statefulset ds/daemonsets=daemonset ing/ingresses=ingress jobs=job \
    cj/cronjobs=cronjob crds/crd/customresourcedefinitions=customresourcedefinition sa/serviceaccounts=serviceaccount";

const KUBECTL: OptionSpec = OptionSpec::leading(
    "n:s:v:l:f:k:o:L:",
    "\
    namespace= context= cluster= kubeconfig= server= token= user= as= as-group= request-timeout= \
    insecure-skip-tls-verify certificate-authority= client-certificate= client-key= tls-server-name= v= selector= \
    filename= kustomize= output= field-selector= replicas= grace-period= timeout= template= field-manager= \
    current-replicas= resource-version= pod-selector= prune-allowlist= prune-whitelist= to-revision= applyset=",
);

const fn breaks(says: &'static str, instead: &'static str) -> Lasting {
    Lasting::of(Stake::Cluster, says, instead)
}

static DELETE: Lasting = breaks(
    "deletes [{resources}|the resources in {f filename k kustomize}|everything with the label {l selector}|all that fits]\
    [ in the namespace {n namespace}] of the cluster in [the context {context}|the current context]",
    "+--dry-run=server",
);
static DRAIN: Lasting = breaks(
    "takes all pods off [the node {}|nodes] of the cluster in [the context {context}|the current context]",
    "+--dry-run=server",
);
static CORDON: Lasting = breaks(
    "keeps new pods off [the node {}|nodes] of the cluster in [the context {context}|the current context]",
    "+--dry-run=server",
);
static REPLACE: Lasting = breaks(
    "deletes [what {f filename k kustomize} describes|resources] and creates it anew, in the cluster of \
    [the context {context}|the current context]",
    "+--dry-run=server",
)
.with("force");
static SCALE: Lasting = breaks(
    "stops all pods of [{resources}|what {f filename} describes|what fits][ in the namespace {n namespace}] in the \
    cluster of [the context {context}|the current context]",
    "+--dry-run=server",
)
.with("replicas=0");
static PRUNE: Lasting = breaks(
    "deletes every resource that [{f filename k kustomize} no longer describes|is no longer described] from the cluster \
    in [the context {context}|the current context]",
    "+--dry-run=server",
)
.with("prune");
static UNDO: Lasting = breaks(
    "takes [{resources}|a workload] back to an earlier revision[ in the namespace {n namespace}], in the cluster of \
    [the context {context}|the current context]",
    "+--dry-run=server",
);
static UNINSTALL: Lasting = breaks(
    "removes [the release {}|a release][ in the namespace {n namespace}] from the cluster in \
    [the context {kube-context}|the current context]",
    "+--dry-run",
);
static ROLLBACK: Lasting = breaks(
    "takes [the release {}|a release][ in the namespace {n namespace}] back to an earlier revision",
    "+--dry-run",
);
static PUSH: Lasting = Lasting::of(Stake::Publication, "publishes the chart [{}|at hand]", "");
static DELETE_CLUSTER: Lasting = breaks("deletes [{}|{name n}|a cluster] with all that runs in it", "");
static DELETE_APP: Lasting = breaks("deletes [{}|an application] with everything that it has deployed", "");

const KUBECTL_EXEC: Wrapper =
    Wrapper::rest("c:f:iqtn:", "container= filename= stdin tty quiet namespace= context= pod-running-timeout=")
        .sub("exec, rsh")
        .operands(1)
        .dashes(Dashes::Begin)
        .elsewhere();

const KUBECTL_RUN: Wrapper =
    Wrapper::rest("c:f:iqtn:l:", "image= namespace= restart= rm stdin tty command env= labels= target= profile=")
        .sub("run, debug")
        .dashes(Dashes::Need)
        .elsewhere();

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "argocd",
        options: OptionSpec::leading("N:", "server= auth-token= grpc-web-root-path= app-namespace= config="),
        subcommands: &[(
            Effect::Lasts(&DELETE_APP),
            "app delete, app delete-resource, appset delete, proj delete, cluster rm, cluster remove",
        )],
        ..Program::DATA
    },
    Program {
        names: "eksctl",
        options: OptionSpec::leading("n:r:p:f:C:v:", "name= region= profile= config-file= cluster= color= verbose="),
        subcommands: &[(Effect::Lasts(&DELETE_CLUSTER), "delete, drain")],
        ..Program::DATA
    },
    Program {
        names: "flux",
        options: OptionSpec::leading("n:", "namespace= context= kubeconfig= timeout="),
        subcommands: &[(Effect::Lasts(&DELETE_APP), "delete, uninstall")],
        ..Program::DATA
    },
    Program {
        names: "helm helm3",
        options: OptionSpec::leading(
            "n:",
            "namespace= kube-context= kubeconfig= kube-apiserver= kube-token= registry-config= repository-config= timeout= \
            description= cascade= history-max=",
        ),
        rule: Words(2),
        sub_rules: &[(Words(3), "repo")],
        subcommands: &[
            (Effect::Reads, "get, history, list, show, status, version"),
            (Effect::Changes, "install, upgrade"),
            (Effect::Lasts(&UNINSTALL), "uninstall, delete, del, un"),
            (Effect::Lasts(&ROLLBACK), "rollback"),
            (Effect::Lasts(&PUSH), "push, chart push, cm-push"),
        ],
        ..Program::DATA
    },
    Program {
        names: "kubectl k oc kubecolor microk8s.kubectl",
        options: KUBECTL,
        wrappers: &[KUBECTL_EXEC, KUBECTL_RUN],
        rule: Words(2),
        sub_rules: &[(Words(3), "config, rollout"), (Never, "exec")],
        subcommands: &[
            (
                Effect::Reads,
                "\
                api-resources, api-versions, auth can-i, cluster-info, config current-context, config get-contexts, \
                describe, events, explain, get, logs, rollout history, rollout status, top, version",
            ),
            (
                Effect::Changes,
                "\
                annotate, apply, cp, create, edit, expose, label, patch, replace, rollout restart, run, scale, set, \
                taint",
            ),
            (Effect::Lasts(&DELETE), "delete"),
            (Effect::Lasts(&DRAIN), "drain, adm drain"),
            (Effect::Lasts(&CORDON), "cordon, adm cordon"),
            (Effect::Lasts(&REPLACE), "replace"),
            (Effect::Lasts(&SCALE), "scale"),
            (Effect::Lasts(&PRUNE), "apply"),
            (Effect::Lasts(&UNDO), "rollout undo, rollback"),
        ],
        ..Program::DATA
    },
    Program {
        names: "helmfile",
        options: OptionSpec::leading("e:f:l:n:b:", "environment= file= selector= namespace= kube-context= log-level="),
        subcommands: &[(Effect::Lasts(&UNINSTALL), "destroy, delete")],
        ..Program::DATA
    },
    Program {
        names: "k3d",
        subcommands: &[(Effect::Lasts(&DELETE_CLUSTER), "cluster delete, cluster del, cluster rm, node delete")],
        ..Program::DATA
    },
    Program {
        names: "k3s k0s microk8s",
        facts: &[Fact::Contains(&[("kubectl", "kubectl"), ("helm helm3", "helm")])],
        ..Program::DATA
    },
    Program {
        names: "kind",
        options: OptionSpec::leading("n:v:", "name= kubeconfig= verbosity="),
        subcommands: &[(Effect::Lasts(&DELETE_CLUSTER), "delete cluster, delete clusters")],
        ..Program::DATA
    },
    Program {
        names: "kops",
        options: OptionSpec::leading("", "name= state= config="),
        subcommands: &[(Effect::Lasts(&DELETE_CLUSTER.with("y yes")), "delete")],
        ..Program::DATA
    },
    Program {
        names: "kubeadm vcluster",
        subcommands: &[(Effect::Lasts(&DELETE_CLUSTER), "reset, delete")],
        ..Program::DATA
    },
    Program {
        names: "minikube",
        options: OptionSpec::leading("p:", "profile="),
        wrappers: &[Wrapper::rest("n:p:", "node= profile=")
            .sub("ssh")
            .dashes(Dashes::Begin)
            .login(Login::Alone)
            .elsewhere()],
        subcommands: &[(Effect::Lasts(&DELETE_CLUSTER), "delete")],
        facts: &[Fact::PrintsShellCode("docker-env podman-env"), Fact::Contains(&[("kubectl", "kubectl")])],
        ..Program::DATA
    },
];
