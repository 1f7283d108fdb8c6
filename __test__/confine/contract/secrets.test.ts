import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { folder, hostResult, packageRoot, rootTest } from '../../support/index.ts';
import { lasting } from '../support/ground.ts';

const data = JSON.parse(readFileSync(join(packageRoot, 'crates/confine-policy/data/hidden.json'), 'utf8'));

describe.runIf(process.platform === 'linux')('secrets', () => {
  test('of the home cannot be read: each path of the list', async () => {
    const home = lasting();
    const paths: string[] = data.home.map(({ path }: { path: string }) => path);
    for (const path of paths) {
      mkdirSync(dirname(join(home, path)), { recursive: true });
      writeFileSync(join(home, path), `SECRET ${path}`);
    }
    writeFileSync(join(home, '.config/plain'), 'PLAIN');
    const read = 'find ~ -type f -exec cat {} + 2>/dev/null';
    const seen = await hostResult<string>(
      `const r = await bash(${JSON.stringify(read)}, { cwd: ${JSON.stringify(folder())}, confine: 'workspace' });
       console.log(JSON.stringify(r.stdout));`,
      { env: { HOME: home } },
    );
    expect(seen).toBe('PLAIN');
  });

  rootTest('of the system cannot be read by root', async () => {
    const { stdout } = await bash('cat /etc/shadow /etc/gshadow /etc/ssh/ssh_host_*_key; ls /etc/ssl/private', {
      cwd: folder(),
      confine: 'workspace',
    });
    expect(stdout).toBe('');
  });

  test('sockets that were there before the world are not reached in a writable directory', async () => {
    const [cwd, late] = [lasting(), lasting()];
    const serve = async (path: string) => {
      const server = createServer((socket) => socket.end('REACHED'));
      await new Promise<void>((done) => server.listen(path, done));
      return server;
    };
    const connect = (path: string) => `python3 -c '
import socket
s = socket.socket(socket.AF_UNIX)
try: s.connect("${path}")
except PermissionError: print("refused")
else: print(s.recv(9).decode())'`;
    const before = await serve(join(cwd, 'docker.sock'));
    await new Promise((done) => setTimeout(done, 50));
    const confine = { write: [late] };
    const moved = `mv docker.sock other; chmod 777 other; touch other; ln other third; ${connect('third')}`;
    const old = await bash(`${connect('docker.sock')}; ${moved}`, { cwd, confine });
    const after = await serve(join(late, 'own.sock'));
    const own = await bash(connect(join(late, 'own.sock')), { cwd, confine });
    const made = await bash(
      `python3 -c 'import socket, time
s = socket.socket(socket.AF_UNIX); s.bind("mine"); s.listen(); open("ready", "w"); s.accept()[0].send(b"MINE")' &
       until [ -e ready ]; do sleep .01; done; ${connect('mine')}`,
      { cwd, confine },
    );
    for (const server of [before, after]) server.close();
    expect([old.stdout, own.stdout, made.stdout]).toEqual(['refused\nrefused\n', 'REACHED\n', 'MINE\n']);
    expect(old.confinement?.denied).toContainEqual(
      expect.objectContaining({ kind: 'network', target: join(cwd, 'docker.sock'), grant: null }),
    );
  });
});
