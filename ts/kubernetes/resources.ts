// The resources of Kubernetes' agent-sandbox, as far as they are read and written here.

/** The group and version of claims and warm pools. Claims of v1alpha1 have other fields. */
export const GROUP = 'extensions.agents.x-k8s.io';
export const VERSION = 'v1beta1';

/** Claims and sandboxes, as kubectl is told the exact version. */
export const CLAIMS = `sandboxclaims.${VERSION}.${GROUP}`;
export const SANDBOXES = `sandboxes.${VERSION}.agents.x-k8s.io`;

/** The annotation of a Sandbox with the name of its pod. */
const POD_NAME = 'agents.x-k8s.io/pod-name';

/** A resource as JSON. */
export interface Resource {
  kind?: string;
  metadata?: {
    name?: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    deletionTimestamp?: string;
    annotations?: Record<string, string>;
  };
  status?: {
    conditions?: { type?: string; status?: string; reason?: string; message?: string }[];
    sandbox?: { name?: string };
  };
}

/** Returns a claim that its controller deletes at this time. Variables in it would force a cold start. */
export function newClaim(name: string, warmPool: string, endsAt: number): object {
  return {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: 'SandboxClaim',
    metadata: { name, labels: { 'app.kubernetes.io/managed-by': 'agent-bash' } },
    spec: { warmPoolRef: { name: warmPool }, lifecycle: lifecycle(endsAt) },
  };
}

/** Returns the end of a claim, which goes with its sandbox then. */
export function lifecycle(endsAt: number): object {
  return { shutdownPolicy: 'Delete', shutdownTime: `${new Date(endsAt).toISOString().slice(0, 19)}Z` };
}

/** Returns the name of the pod of a Sandbox. */
export function podOf(sandbox: Resource): string | undefined {
  return sandbox.metadata?.annotations?.[POD_NAME] || sandbox.metadata?.name;
}

/** Returns the resources of an answer, which is a list or a single one. */
export function resourcesOf(text: string): Resource[] {
  if (text.trim() === '') return [];
  const answer = JSON.parse(text) as Resource & { items?: Resource[] };
  return answer.items ?? [answer];
}
