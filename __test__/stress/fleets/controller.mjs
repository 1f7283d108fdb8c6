/**
 * What the controllers of Kubernetes' agent-sandbox do, as far as the tests need it. It is one of the tests: warm pools
 * have their Sandboxes with pods, claims take over a Sandbox that is ready or get one of their own, and go at their
 * `shutdownTime`. Garbage is collected here, too, since the tests have no controller manager.
 *
 * `node controller.mjs DIR`: DIR has the certificates of `scripts/kubernetes`.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';

const [, , directory] = process.argv;
const file = (name) => readFileSync(join(directory, name));
const agent = new Agent({ keepAlive: true, ca: file('ca.crt'), cert: file('admin.crt'), key: file('admin.key') });

const PODS = ['/api/v1', 'pods'];
const SANDBOXES = ['/apis/agents.x-k8s.io/v1beta1', 'sandboxes'];
const CLAIMS = ['/apis/extensions.agents.x-k8s.io/v1beta1', 'sandboxclaims'];
const POOLS = ['/apis/extensions.agents.x-k8s.io/v1beta1', 'sandboxwarmpools'];
const TEMPLATES = ['/apis/extensions.agents.x-k8s.io/v1beta1', 'sandboxtemplates'];
const WARM = 'agents.x-k8s.io/warm-pool-sandbox';
const POD_NAME = 'agents.x-k8s.io/pod-name';

function ask(method, path, body, type = 'application/json') {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: 26443, agent, method, path, headers: { 'content-type': type } };
    const asked = request(options, (response) => {
      let text = '';
      response.on('data', (bytes) => {
        text += bytes;
      });
      response.on('end', () => {
        if (response.statusCode < 300) resolve(JSON.parse(text));
        else reject(Object.assign(new Error(`${method} ${path}: ${text}`), { status: response.statusCode, text }));
      });
      response.on('error', reject);
    });
    asked.setTimeout(10_000, () => asked.destroy(new Error('no answer')));
    asked.on('error', reject);
    asked.end(body && JSON.stringify(body));
  });
}

const all = async ([group, kind]) => (await ask('GET', `${group}/${kind}`)).items ?? [];
const pathOf = ([group, kind], { namespace, name }) =>
  `${group}/namespaces/${namespace}/${kind}${name ? `/${name}` : ''}`;
const make = (kind, resource) => ask('POST', pathOf(kind, { namespace: resource.metadata.namespace }), resource);
const patch = (kind, { metadata }, change, part = '') =>
  ask('PATCH', `${pathOf(kind, metadata)}${part}`, change, 'application/merge-patch+json');
const remove = (kind, { metadata }) =>
  ask('DELETE', pathOf(kind, metadata), { preconditions: { uid: metadata.uid } }).catch(unless(404, 409));
const unless =
  (...codes) =>
  (error) => {
    if (!codes.includes(error.status)) throw error;
  };

const ownerOf = (owner, kind, apiVersion) => {
  const { name, uid } = owner.metadata;
  return [{ apiVersion, kind, name, uid, controller: true }];
};
const isOwned = (resource, { metadata }) => resource.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid);
const conditionOf = ({ status }) => status?.conditions?.find(({ type }) => type === 'Ready');
const isReady = (resource) => conditionOf(resource)?.status === 'True';
/** Finds the resource of this name in the namespace of another one. */
const named = (resources, name, { metadata: { namespace } }) =>
  resources.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
const podNameOf = ({ metadata }) => metadata.annotations?.[POD_NAME] ?? metadata.name;

/** Makes a Sandbox of a pool, for the pool itself or for a claim, and its pod. */
async function sandboxOf(pool, template, owner, kind, name) {
  const { namespace } = pool.metadata;
  const { podTemplate } = template.spec;
  const group = 'extensions.agents.x-k8s.io/v1beta1';
  const labels = kind === 'SandboxWarmPool' ? { [WARM]: pool.metadata.name } : {};
  const metadata = { name, namespace, labels, ownerReferences: ownerOf(owner, kind, group) };
  const resource = { apiVersion: 'agents.x-k8s.io/v1beta1', kind: 'Sandbox', metadata, spec: { podTemplate } };
  const made = await make(SANDBOXES, resource);
  const ownerReferences = ownerOf(made, 'Sandbox', 'agents.x-k8s.io/v1beta1');
  await make(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ownerReferences },
    spec: podTemplate.spec,
  });
}

async function setReady(kind, resource, status, reason, message, more = {}) {
  const old = conditionOf(resource);
  if (old?.status === status && old.reason === reason && old.message === message) return;
  const condition = { type: 'Ready', status, reason, message, lastTransitionTime: new Date().toISOString() };
  await patch(kind, resource, { status: { conditions: [condition], ...more } }, '/status');
}

/** Tells of each Sandbox whether its pod is ready. */
async function tellSandboxes({ pods, sandboxes }) {
  for (const sandbox of sandboxes) {
    const pod = pods.find(({ metadata }) => metadata.name === podNameOf(sandbox) && !metadata.deletionTimestamp);
    const ready = conditionOf(pod ?? {})?.status === 'True';
    if (ready) await setReady(SANDBOXES, sandbox, 'True', 'DependenciesReady', 'Pod is Ready');
    else await setReady(SANDBOXES, sandbox, 'False', 'DependenciesNotReady', 'Pod is not Ready');
  }
}

async function keepPools({ pools, templates, sandboxes }) {
  for (const pool of pools) {
    const template = named(templates, pool.spec.sandboxTemplateRef.name, pool);
    const own = sandboxes.filter((sandbox) => isOwned(sandbox, pool));
    for (let missing = pool.spec.replicas - own.length; template && missing > 0; missing -= 1) {
      await sandboxOf(
        pool,
        template,
        pool,
        'SandboxWarmPool',
        `${pool.metadata.name}-${randomBytes(3).toString('hex')}`,
      );
    }
    for (const extra of own.slice(pool.spec.replicas)) await remove(SANDBOXES, extra);
  }
}

/** Gives a claim the Sandbox that it has, one of the pool, or a new one. */
async function serveClaim(claim, { pools, templates, sandboxes }) {
  const pool = named(pools, claim.spec.warmPoolRef.name, claim);
  const { name } = claim.spec.warmPoolRef;
  if (!pool) return setReady(CLAIMS, claim, 'False', 'WarmPoolNotFound', `SandboxWarmPool "${name}" not found`);
  const own = sandboxes.find((sandbox) => isOwned(sandbox, claim));
  if (own) {
    const { status, reason, message } = conditionOf(own) ?? {
      status: 'False',
      reason: 'SandboxNotReady',
      message: 'Sandbox is not ready',
    };
    return setReady(CLAIMS, claim, status, reason, message, { sandbox: { name: own.metadata.name } });
  }
  const warm = sandboxes.find((sandbox) => isOwned(sandbox, pool) && isReady(sandbox));
  if (warm) {
    const ownerReferences = ownerOf(claim, 'SandboxClaim', 'extensions.agents.x-k8s.io/v1beta1');
    const { resourceVersion, name } = warm.metadata;
    const metadata = { resourceVersion, ownerReferences, labels: { [WARM]: null }, annotations: { [POD_NAME]: name } };
    const taken = await patch(SANDBOXES, warm, { metadata });
    Object.assign(warm, taken);
    return setReady(CLAIMS, claim, 'True', 'DependenciesReady', 'Pod is Ready', { sandbox: { name } });
  }
  const template = named(templates, pool.spec.sandboxTemplateRef.name, pool);
  try {
    await sandboxOf(pool, template, claim, 'SandboxClaim', claim.metadata.name);
  } catch (error) {
    unless(409, 403)(error);
    if (error.status === 403)
      await setReady(CLAIMS, claim, 'False', 'ReconcilerError', `Error seen: ${JSON.parse(error.text).message}`);
  }
}

async function collect({ claims, pools, sandboxes, pods }) {
  const owners = new Set([...claims, ...pools, ...sandboxes].map(({ metadata }) => metadata.uid));
  const orphaned = ({ metadata }) => metadata.ownerReferences?.every(({ uid }) => !owners.has(uid));
  for (const sandbox of sandboxes.filter(orphaned)) await remove(SANDBOXES, sandbox);
  for (const pod of pods.filter(orphaned)) if (!pod.metadata.deletionTimestamp) await remove(PODS, pod);
}

async function turn() {
  const [pods, sandboxes, claims, pools, templates] = await Promise.all(
    [PODS, SANDBOXES, CLAIMS, POOLS, TEMPLATES].map(all),
  );
  const world = { pods, sandboxes, claims, pools, templates };
  await collect(world);
  await tellSandboxes(world);
  for (const claim of claims) {
    const { shutdownTime, shutdownPolicy } = claim.spec.lifecycle ?? {};
    if (shutdownTime && shutdownPolicy === 'Delete' && Date.parse(shutdownTime) <= Date.now())
      await remove(CLAIMS, claim);
    else await serveClaim(claim, world).catch(unless(404, 409));
  }
  await keepPools(world);
}

for (;;) {
  try {
    await turn();
  } catch (error) {
    // As a controller does, it tries again: the API server may be restarting.
    console.error(`${new Date().toISOString()} ${error.message}`);
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
}
