import { mkdtempSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { blocks, examples, page, printed, promised } from '../../docs/examples.ts';
import { folder, until } from '../../support/index.ts';
import { KubernetesNode, nodeTest } from './kubernetes-node.ts';

const START_MS = 600_000;
const text = await page('fleets.md');

let directory = '';
let node: KubernetesNode;

beforeAll(async () => {
  // A path of a socket may have no more than 107 bytes.
  directory = mkdtempSync('/tmp/agent-bash-docs-');
  node = await KubernetesNode.start(directory, 0);
}, START_MS);

afterAll(async () => {
  await node?.end();
  rmSync(directory, { recursive: true, force: true });
}, START_MS);

describe('docs/fleets.md', () => {
  nodeTest('its resources and its rights are enough for its example', async () => {
    const [yaml = ''] = blocks(text).flatMap((block) => (block.kind === 'yaml' ? [block.text] : []));
    const resources = parseAllDocuments(yaml).map((document) => document.toJS());
    const [template] = resources;
    // This node has no scheduler, no network of pods and no registry of images.
    Object.assign(template.spec.podTemplate.spec, { nodeName: 'node1', hostNetwork: true });
    Object.assign(template.spec.podTemplate.spec.containers[0], { image: 'box:1', imagePullPolicy: 'Never' });
    await node.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }, ...resources);
    await node.apply({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'agent-bash', namespace: 'team' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'agent-bash' },
      subjects: [{ kind: 'User', name: 'agents', apiGroup: 'rbac.authorization.k8s.io' }],
    });
    const [example = ''] = examples(text).filter((one) => one.includes('agent-bash/kubernetes'));
    const program = JSON.stringify([...node.program, '--as=agents']);
    const given = example.replace("namespace: 'team'", `namespace: 'team', program: ${program}`);
    expect(given).not.toBe(example);
    expect(await printed(given, folder())).toEqual(promised(example));
    const left = () => node.kubectl('get', 'sandboxclaims', '-n', 'team', '-o', 'name');
    await until(async () => (await left()) === '', 'no claim is left');
  });
});
