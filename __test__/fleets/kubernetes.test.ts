import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentSandboxes } from 'agent-bash/kubernetes';
import { describe, expect, test } from 'vitest';
import { rejection, until } from '../support/index.ts';
import { request, scripted } from './scripted.ts';

/** What kubectl does in each call of a claim that succeeds, as lines of bash. */
const GOOD = {
  create: 'cat >claim; echo "$claim"',
  get: 'echo "$claim"',
  watch: 'echo "$ready"; sleep 100',
  pods: 'echo "$pods"',
  patch: 'echo patched',
  delete: 'echo deleted',
  versions: 'echo \'{"versions":[{"version":"v1beta1"},{"version":"v1alpha1"}]}\'',
};

const condition = (status: string, reason: string, message = 'so it is') => ({
  conditions: [{ type: 'Ready', status, reason, message }],
});
const claim = (status: object, metadata: object = {}) => ({
  kind: 'SandboxClaim',
  metadata: { name: 'c', namespace: 'team', uid: 'u', resourceVersion: '7', ...metadata },
  status,
});
const READY = { ...condition('True', 'DependenciesReady'), sandbox: { name: 'agents-1' } };
const sandbox = (annotations: object = {}) => ({ kind: 'Sandbox', metadata: { name: 'agents-1', annotations } });
const pod = (name: string) => ({ kind: 'Pod', metadata: { name, uid: `uid-of-${name}` } });
const event = (type: string, object: object) => JSON.stringify({ type, object });
const list = (...items: object[]) => JSON.stringify({ kind: 'List', items });

/** A provider with a kubectl whose calls do this. `lines` set what they answer. */
function provider(calls: Partial<typeof GOOD>, leaseMs = 20_000) {
  const { create, get, watch, pods, patch, delete: remove, versions } = { ...GOOD, ...calls };
  const script = scripted({
    kubectl: `
claim='${JSON.stringify(claim({}))}'
ready='${event('MODIFIED', claim(READY))}'
pods='${list(sandbox({ 'agents.x-k8s.io/pod-name': 'agents-1' }), pod('agents-1'))}'
refuse() { echo "Error from server ($1): $2" >&2; exit 1; }
case " $* " in
*" create "*) ${create} ;;
*watch=true*) ${watch} ;;
*" get --raw /apis/"*) ${versions} ;;
*" get sandboxclaims"*) ${get} ;;
*" get sandboxes"*) ${pods} ;;
*" patch "*) ${patch} ;;
*" delete "*) ${remove} ;;
*) echo "unexpected: $*" >&2; exit 9 ;;
esac`,
  });
  const program = [join(script.directory, 'kubectl')];
  return { ...script, sandboxes: agentSandboxes({ warmPool: 'agents', program, leaseMs, context: 'here' }) };
}

const count = (calls: string[], word: string) => calls.filter((call) => ` ${call} `.includes(` ${word} `)).length;

describe.concurrent('a claim', () => {
  test('takes three calls of kubectl, and names its pod by its uid', async () => {
    const { sandboxes, calls, directory } = provider({});
    const begun = Date.now();
    const place = await sandboxes.acquire(request());
    expect(place).toMatchObject({
      id: expect.stringMatching(/^sandbox:team\/agent-bash-[\da-f]{20}$/),
      address: { kubernetes: { pod: 'agents-1', uid: 'uid-of-agents-1', namespace: 'team', context: 'here' } },
    });
    expect(place.expiresAt).toBeGreaterThanOrEqual(begun + 20_000);
    expect(calls()).toHaveLength(3);
    const { spec } = JSON.parse(readFileSync(join(directory, 'claim'), 'utf8'));
    expect(Object.keys(spec)).toStrictEqual(['warmPoolRef', 'lifecycle']);
    expect(spec.lifecycle.shutdownPolicy).toBe('Delete');
    await sandboxes.release(place.id, { broken: true });
    await sandboxes.release(place.id, { broken: true });
    expect(count(calls(), 'delete')).toBe(1);
    expect(calls().at(-1)).toContain(`--namespace=team delete sandboxclaims.v1beta1.extensions.agents.x-k8s.io`);
  });

  test('that is ready at once is not watched', async () => {
    const { sandboxes, calls } = provider({ create: `echo '${JSON.stringify(claim(READY))}'`, watch: 'exit 9' });
    await sandboxes.acquire(request());
    expect(calls()).toHaveLength(2);
  });

  test('finds a pod with another name than its sandbox', async () => {
    const given = sandbox({ 'agents.x-k8s.io/pod-name': 'other' });
    const pods = `case "$*" in *pods/other*) echo '${list(given, pod('other'))}' ;; *) echo '${JSON.stringify(given)}' ;; esac`;
    const { sandboxes } = provider({ pods });
    expect(await sandboxes.acquire(request())).toMatchObject({
      address: { kubernetes: { pod: 'other', uid: 'uid-of-other' } },
    });
  });

  test('whose sandbox has no annotation has the pod of its name', async () => {
    const { sandboxes } = provider({ pods: `echo '${list(sandbox(), pod('agents-1'))}'` });
    expect(await sandboxes.acquire(request())).toMatchObject({ address: { kubernetes: { pod: 'agents-1' } } });
  });

  test('is asked for again when its watch ends, and when the pod is not there yet', async () => {
    const watch = 'if [ `again watches` = 1 ]; then exit 1; fi; echo "$ready"; sleep 100';
    const pods = `if [ \`again pods\` = 1 ]; then echo '${JSON.stringify(sandbox())}'; else echo "$pods"; fi`;
    const { sandboxes, calls } = provider({ watch, pods });
    await sandboxes.acquire(request());
    expect(calls().map((call) => / (create|watch|sandboxclaims|sandboxes)\b/.exec(call)?.[1] ?? 'watch')).toStrictEqual(
      ['create', 'watch', 'sandboxclaims', 'watch', 'sandboxes', 'sandboxes'],
    );
  });

  test('is renewed, also after conflicts', async () => {
    const patch = '[ `again patches` -lt 3 ] && refuse Conflict "the object has been modified"; echo patched';
    const { sandboxes, calls } = provider({ patch });
    const place = await sandboxes.acquire(request());
    await place.renew?.(Date.UTC(2030, 0, 1));
    expect(calls().at(-1)).toContain('"shutdownTime":"2030-01-01T00:00:00Z"');
    expect(count(calls(), 'patch')).toBe(3);
  });

  test('that is gone cannot be renewed', async () => {
    const { sandboxes } = provider({ patch: 'refuse NotFound "sandboxclaims \\"c\\" not found"' });
    const place = await sandboxes.acquire(request());
    const error = await rejection(async () => place.renew?.(Date.now()));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'lost' });
  });
});

describe.concurrent('a creation that was not answered', () => {
  test('is found at the next attempt', async () => {
    const create =
      '[ `again creates` = 1 ] && { echo "error: EOF" >&2; exit 1; }; refuse AlreadyExists "c already exists"';
    const { sandboxes, calls } = provider({ create });
    await sandboxes.acquire(request());
    expect(count(calls(), 'create')).toBe(2);
  });

  test('is deleted once it has arrived', async () => {
    const { sandboxes, calls } = provider(
      { create: 'sleep 100', delete: '[ `again deletes` = 1 ] || echo deleted' },
      5_000,
    );
    const error = await rejection(() => sandboxes.acquire(request()));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason: 'timeout' });
    expect(error.message).toContain('/readyz');
    expect(count(calls(), 'delete')).toBe(2);
  });

  test('of a call that was refused is not deleted', async () => {
    const { sandboxes, calls } = provider({ create: 'refuse Forbidden "sandboxclaims is forbidden"' });
    await rejection(() => sandboxes.acquire(request()));
    expect(count(calls(), 'delete')).toBe(0);
  });
});

describe.concurrent('an abort', () => {
  test('deletes the claim that waits', async () => {
    const { sandboxes, calls } = provider({ watch: 'touch watched; sleep 100' });
    const given = new AbortController();
    const acquired = rejection(() => sandboxes.acquire(request(given.signal)));
    await until(() => calls().length === 2);
    given.abort();
    expect(await acquired).toMatchObject({ code: 'ABORT_ERR' });
    expect(count(calls(), 'delete')).toBe(1);
  });

  test('amid the creation lets it end, and deletes the claim', async () => {
    const { sandboxes, calls } = provider({ create: 'sleep 0.5; echo "$claim"' });
    const given = new AbortController();
    const acquired = rejection(() => sandboxes.acquire(request(given.signal)));
    await until(() => calls().length === 1);
    given.abort();
    expect(await acquired).toMatchObject({ code: 'ABORT_ERR' });
    expect(count(calls(), 'delete')).toBe(1);
  });

  test('before anything asks kubectl nothing', async () => {
    const { sandboxes, calls } = provider({});
    expect(await rejection(() => sandboxes.acquire(request(AbortSignal.abort())))).toMatchObject({ code: 'ABORT_ERR' });
    expect(calls()).toStrictEqual([]);
  });
});

const said = (text: string) => ({ create: `echo '${text}' >&2; exit 1` });
const waits = (status: object) => ({ watch: `echo '${event('MODIFIED', claim(status))}'; sleep 100` });
const NO_MATCH =
  'error: resource mapping not found for name: "c": no matches for kind "SandboxClaim" in version "v1beta1"';

describe.concurrent('what goes wrong', () => {
  test.each([
    ['a user without a right', said('Error from server (Forbidden): x is forbidden: User "me"'), 'auth', 'pods/exec'],
    [
      'a quota',
      said('Error from server (Forbidden): x is forbidden: exceeded quota: few'),
      'no-place',
      'describe quota',
    ],
    ['a policy', said('Error from server: admission webhook "p" denied the request: no'), 'no-place', 'policy'],
    [
      'a user who is not logged in',
      said('error: You must be logged in to the server (Unauthorized)'),
      'auth',
      'whoami',
    ],
    [
      'a namespace that is missing',
      said('Error from server (NotFound): namespaces "n" not found'),
      'unreachable',
      'namespace',
    ],
    ['a context that is missing', said('error: context "here" does not exist'), 'unreachable', 'get-contexts'],
    [
      'other definitions',
      said('The SandboxClaim "c" is invalid: (Invalid): spec.warmPoolRef'),
      'unsupported',
      'v1beta1',
    ],
    [
      'v1alpha1 alone',
      { ...said(NO_MATCH), versions: 'echo \'{"versions":[{"version":"v1alpha1"}]}\'' },
      'unsupported',
      'v1alpha1',
    ],
    ['a warm pool that is missing', waits(condition('False', 'WarmPoolNotFound')), 'unreachable', '`warmPool`'],
    ['a template that is missing', waits(condition('False', 'TemplateNotFound')), 'unreachable', 'SandboxTemplate'],
    ['a claim that has expired', waits(condition('False', 'ClaimExpired')), 'timeout', 'clocks'],
    ['a pod that has ended', waits(condition('False', 'PodFailed')), 'unreachable', 'log of the pod'],
    ['a quota of pods', waits(condition('False', 'ReconcilerError', 'pods "p": exceeded quota')), 'no-place', 'quota'],
    ['a claim that is deleted', { watch: `echo '${event('DELETED', claim({}))}'` }, 'lost', 'acquire another'],
    ['a claim that is being deleted', waitsDeleted(), 'lost', 'acquire another'],
    ['a claim that was deleted unseen', { watch: 'exit', get: 'refuse NotFound "c not found"' }, 'lost', 'another'],
    ['an answer that is none', { create: 'echo "{}"' }, 'protocol', 'something else'],
  ] as const)('%s is told', async (_, calls, reason, remedy) => {
    const { sandboxes } = provider(calls);
    const error = await rejection(() => sandboxes.acquire(request()));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason, stderr: expect.any(String) });
    expect(error.message).toMatch(/^the claim agent-bash-\w+ of the warm pool "agents" /);
    expect(error.message).toContain(remedy);
  });

  test.each([
    ['a server that is down', 'The connection to the server was refused', 'unreachable', '/readyz'],
    ['agent-sandbox that is missing', NO_MATCH, 'unreachable', 'install agent-sandbox'],
  ])('%s is told after a while', async (_, text, reason, remedy) => {
    const { sandboxes, calls } = provider({ ...said(text), versions: 'exit 1' }, 5_000);
    const error = await rejection(() => sandboxes.acquire(request()));
    expect(error).toMatchObject({ code: 'ERR_BASH_TARGET', reason, message: expect.stringContaining(remedy) });
    expect(count(calls(), 'create')).toBeGreaterThan(2);
  });

  test.each([
    ['a server that is down', 'The connection to the server was refused'],
    ['definitions that are missing after a restart', NO_MATCH],
    ['an overloaded server', 'Error from server (TooManyRequests): later'],
    ['a conflict', 'Error from server (Conflict): the object has been modified'],
    ['a server without storage', 'Error from server: etcdserver: request timed out'],
  ])('%s passes', async (_, text) => {
    const create = `[ \`again creates\` -lt 3 ] && { echo '${text}' >&2; exit 1; }; echo "$claim"`;
    const { sandboxes } = provider({ create });
    await sandboxes.acquire(request());
  });

  test('a sandbox that is not ready within the lease is told with its last state', async () => {
    const { sandboxes } = provider(waits(condition('False', 'DependenciesNotReady', 'no node')), 5_000);
    const error = await rejection(() => sandboxes.acquire(request()));
    expect(error).toMatchObject({
      reason: 'timeout',
      message: expect.stringContaining('DependenciesNotReady: no node'),
    });
  });

  test('kubectl that is missing is told', async () => {
    const sandboxes = agentSandboxes({ warmPool: 'agents', program: ['no-such-kubectl'] });
    const error = await rejection(() => sandboxes.acquire(request()));
    expect(error).toMatchObject({ reason: 'unreachable', message: expect.stringContaining('`program`') });
  });

  test('a claim that cannot be deleted is told with its end', async () => {
    const { sandboxes } = provider({ delete: 'refuse Forbidden "it is forbidden"' });
    const place = await sandboxes.acquire(request());
    const error = await rejection(() => sandboxes.release(place.id, { broken: false }));
    expect(error).toMatchObject({ reason: 'auth', message: expect.stringContaining('ends by itself at 2') });
  });
});

function waitsDeleted() {
  const deleting = claim(READY, { deletionTimestamp: '2030-01-01T00:00:00Z' });
  return { watch: `echo '${event('MODIFIED', deleting)}'; sleep 100` };
}

test.each([
  [{ warmPool: '' }, 'warmPool'],
  [{ warmPool: '-o' }, 'warmPool'],
  [{ warmPool: 'a', namespace: 'a b' }, 'namespace'],
  [{ warmPool: 'a', context: '-c' }, 'context'],
  [{ warmPool: 'a', container: 'a\n' }, 'container'],
  [{ warmPool: 'a', program: [] }, 'program'],
  [{ warmPool: 'a', program: 'kubectl' }, 'program'],
  [{ warmPool: 'a', leaseMs: 4_999 }, 'leaseMs'],
  [{ warmPool: 'a', leaseMs: 86_400_001 }, 'leaseMs'],
  [{ warmPool: 'a', lease: 5_000 }, 'lease'],
  [{}, 'warmPool'],
  [null, 'options'],
])('%j is refused', (options, name) => {
  let told: unknown;
  try {
    agentSandboxes(options as never);
  } catch (error) {
    told = error;
  }
  expect(told).toMatchObject({ code: 'ERR_BASH_INVALID_ARG', message: expect.stringContaining(name) });
});
