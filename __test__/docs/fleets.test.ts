import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { POOL_DEFAULTS } from '../../ts/fleet/options.ts';
import { folder, hostEnv } from '../support/index.ts';
import { sshHost, sshTest } from '../support/ssh.ts';
import { blocks, examples, page, printed, promised, source, table } from './examples.ts';

const text = await page('fleets.md');

/** The examples that a real Kubernetes and a real Slurm run in the stress tests. */
const OF_CLUSTERS = ['agent-bash/kubernetes', 'agent-bash/slurm'];

/** Puts ssh with a config of these hosts on the PATH, all of them this machine. Returns the home there. */
function client(hosts: string): string {
  const { config, home } = sshHost();
  const bin = folder();
  const own = join(bin, 'ssh_config');
  writeFileSync(own, readFileSync(config, 'utf8').replace('Host box', `Host ${hosts}`), { mode: 0o600 });
  const path = process.env.PATH;
  writeFileSync(join(bin, 'ssh'), `#!/bin/bash\nPATH='${path}' exec ssh -F '${own}' "$@"\n`, { mode: 0o755 });
  hostEnv({ PATH: `${bin}:${path}` });
  return home;
}

describe('docs/fleets.md', () => {
  const all = examples(text);
  const here = all.filter((example) => !OF_CLUSTERS.some((entry) => example.includes(entry)));

  test('has examples, and each shows something', () => {
    expect([all.length, here.length]).toStrictEqual([5, 3]);
    for (const example of all) expect(promised(example), example).not.toEqual([]);
  });

  for (const [index, example] of here.entries()) {
    sshTest(`example ${index + 1}`, async () => {
      const project = join(client('build1 build2 build3'), 'project');
      mkdirSync(project);
      writeFileSync(join(project, 'package.json'), JSON.stringify({ scripts: { test: 'echo tested' } }));
      expect(await printed(example, folder())).toEqual(promised(example));
    });
  }

  test('names all options with their defaults', async () => {
    const types = await source('ts/fleet/types.ts');
    const options = /^export interface TargetPoolOptions \{\n(.*?)^\}/ms.exec(types)?.[1] ?? '';
    const names = [...options.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name]) => name);
    const rows = table(text, 'Options of TargetPool');
    expect(rows.flatMap(([cell = '']) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name))).toEqual(names);
    const numbers = rows.slice(2).flatMap(([, , value = '']) => value.split(', '));
    expect(numbers.map((value) => Number(value.replaceAll(',', '')))).toEqual(Object.values(POOL_DEFAULTS));
  });

  test('has a file of a pool that is JSON', () => {
    const files = blocks(text).filter(({ kind }) => kind === 'json');
    expect(files.map((file) => Object.keys(JSON.parse(file.text)))).toEqual([['targets', 'provider', 'max']]);
  });
});
