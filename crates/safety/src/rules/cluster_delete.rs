//! Deletions of clusters, and of what runs in them.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::lasting_effects;
use crate::programs::lasting::EffectStake;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;

pub static RULE: SafetyRule = SafetyRule {
    id: "cluster-delete",
    level: SafetyVerdict::Ask,
    doc: "Deletes or stops what runs in a cluster, or a whole cluster. A dry run shows what would happen.",
    programs: RulePrograms::With(EffectStake::Cluster, &[]),
    check,
    matches: &[
        "kubectl delete ns prod",
        "kubectl -n prod delete pod web-0",
        "kubectl delete -f k8s/",
        "kubectl delete pod web-0 --dry-run=none",
        "kubectl drain node-1 --ignore-daemonsets",
        "kubectl scale deployment web --replicas=0",
        "kubectl apply -f k8s/ --prune -l app=web",
        "kubectl rollout undo deployment/web",
        "kustomize build prod | kubectl delete -f -",
        "oc delete project shop",
        "helm uninstall web",
        "helm rollback web 3",
        "argocd app delete web",
        "eksctl delete cluster --name prod",
        "kind delete cluster",
        "k3s kubectl delete pod web-0",
        "docker run bitnami/kubectl delete pod web-0",
    ],
    passes: &[
        "kubectl get pods -A",
        "kubectl delete pod web-0 --dry-run=client",
        "kubectl apply -f k8s/",
        "kubectl rollout restart deployment/web",
        "kubectl scale deployment web --replicas=3",
        "kubectl wait --for=delete pod/web-0",
        "kubectl auth can-i delete pods",
        "kubectl delete --help",
        "helm template web",
        "helm uninstall web --dry-run",
        "minikube start",
        "echo kubectl delete ns prod",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    lasting_effects::check(command, EffectStake::Cluster)
}
