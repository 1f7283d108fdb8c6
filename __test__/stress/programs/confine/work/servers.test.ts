import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type BashOptions, bash, PtySession } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folder, testNeeding, until } from '../../../../support/index.ts';
import { serve, sshServer } from '../../../waits/ssh-server.ts';

/** Packages whose scripts leave files, so that a test sees that these ran. */
const MANIFESTS = {
  leaf: { name: 'leaf', version: '1.0.0', main: 'main.js', bin: { leaf: 'main.js' } },
  scripted: {
    name: 'scripted',
    version: '1.0.0',
    dependencies: { leaf: '^1.0.0' },
    scripts: { postinstall: `node -e "require('fs').writeFileSync('built', require('leaf') + '')"` },
  },
};

/** A registry of npm on the host's loopback. It names its tarballs by the host that it was asked for. */
async function registry(): Promise<number> {
  const place = folder();
  const tarballs = new Map<string, Buffer>();
  for (const manifest of Object.values(MANIFESTS)) {
    const top = join(place, manifest.name, 'package');
    mkdirSync(top, { recursive: true });
    writeFileSync(join(top, 'package.json'), JSON.stringify(manifest));
    writeFileSync(
      join(top, 'main.js'),
      '#!/usr/bin/env node\nmodule.exports = 42;\nif (require.main === module) console.log("ran");\n',
    );
    const file = join(place, `${manifest.name}.tgz`);
    execFileSync('tar', ['-czf', file, '-C', join(place, manifest.name), 'package']);
    tarballs.set(manifest.name, readFileSync(file));
  }
  const server = createServer((request, response) => {
    const [, name = '', tarball] = (request.url ?? '').split('/');
    const data = tarballs.get(name);
    const manifest = Object.values(MANIFESTS).find((one) => one.name === name);
    if (!data || !manifest) response.writeHead(404).end('{}');
    else if (tarball) response.end(data);
    else {
      const integrity = `sha512-${createHash('sha512').update(data).digest('base64')}`;
      const dist = { tarball: `http://${request.headers.host}/${name}/-.tgz`, integrity };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': { ...manifest, dist } } }),
      );
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

/** An allowed host that is a server of the test. */
const allowing = (name: string, port: number): Pick<BashOptions, 'confine'> => ({
  confine: { network: { allow: [`${name}:${port}`], hosts: { [name]: '127.0.0.1' } } },
});

describe.runIf(process.platform === 'linux')('servers', () => {
  test('npm installs from an allowed registry and runs the scripts of packages', async () => {
    const port = await registry();
    const work = async (host: string, confine: Pick<BashOptions, 'confine'>) => {
      const cwd = folder();
      const scripts = { postinstall: 'leaf >installed', test: 'node -p "require(\'leaf\')"' };
      writeFileSync(
        join(cwd, 'package.json'),
        JSON.stringify({ name: 'x', dependencies: { scripted: '*' }, scripts, allowScripts: { scripted: true } }),
      );
      const npm = `npm --registry http://${host}:${port} --no-audit --no-fund --no-update-notifier`;
      const install = `${npm} install --foreground-scripts`;
      const steps = [install, 'npm test', `rm -r node_modules; ${npm} ci`, 'npx leaf', `${npm} exec leaf`];
      const results = [];
      for (const step of steps) {
        const { exitCode, stdout, stderr } = await bash(step, { cwd, timeoutMs: 20_000, ...confine });
        results.push([
          step.replaceAll(host, 'HOST'),
          exitCode,
          stdout.replace(/in \d+\w+/, ''),
          exitCode === 0 ? '' : stderr,
        ]);
        if (exitCode !== 0) break;
      }
      const built = join(cwd, 'node_modules/scripted/built');
      const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : null);
      return [results, read(join(cwd, 'installed')), read(built)];
    };
    const open = await work('127.0.0.1', {});
    expect(open[1]).toBe('ran\n');
    expect(await work('registry.test', allowing('registry.test', port))).toEqual(open);
  });

  const place = sshServer();
  testNeeding(
    'ssh and an SSH server',
    place !== undefined,
    'linux',
  )('SSH and git over SSH reach an allowed host', async () => {
    const keys = folder();
    const port = 40_000 + Math.floor(Math.random() * 20_000);
    const server = serve(place as string, keys, port);
    onTestFinished(() => void server.kill());
    await until(() => answers(port));
    const work = async (host: string, confine: Pick<BashOptions, 'confine'>) => {
      const cwd = folder();
      const ssh = `ssh -F none -p ${port} -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile=${cwd}/known -o BatchMode=yes`;
      const { exitCode, stderr } = await bash(`${ssh} ${host} true`, { cwd, timeoutMs: 20_000, ...confine });
      // The server lets no user in, but it has shown its key.
      return [
        exitCode,
        /Permission denied|No supported authentication|no mutual/i.test(stderr),
        existsSync(join(cwd, 'known')) && readFileSync(join(cwd, 'known'), 'utf8').includes('ssh-ed25519'),
      ];
    };
    const open = await work('127.0.0.1', {});
    expect(open).toEqual([255, true, true]);
    expect(await work('ssh.test', allowing('ssh.test', port))).toEqual(open);
  });

  test('a terminal runs its program in the world', async () => {
    const cwd = folder();
    const terminal = new PtySession({ cwd, confine: 'workspace' });
    onTestFinished(() => terminal[Symbol.asyncDispose]());
    await terminal.start('bash --norc');
    await terminal.write('echo x >inside; echo x >/usr/of-a-test; echo done-$((6 * 7))\n');
    await until(() => terminal.screen().lines.join('\n').includes('done-42'));
    expect([existsSync(join(cwd, 'inside')), existsSync('/usr/of-a-test')]).toEqual([true, false]);
  });
});
