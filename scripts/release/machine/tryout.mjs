/**
 * Installs the packed packages into an empty project on the machine that this is, and uses them as a user would:
 * `node tryout.mjs PROJECT` with `npm/`, `tarballs/` and `README.md` beside it. Imports nothing of the sources.
 *
 * With `AGENT_BASH_PEER`, the link to a machine of another kind as JSON, it uses that as a target, and is a target
 * for it until there is a file `done` beside it.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENDED, installed, ofTarget, report } from './checks.mjs';
import { ROOTS, rootFor } from './roots.mjs';

const project = process.argv[2];
const beside = (name) => join(import.meta.dirname, name);

/** The tarballs for this machine: of its platform, of the program for targets, and of the main package. */
function tarballs() {
  const libc = process.report.getReport().header.glibcVersionRuntime ? 'gnu' : 'musl';
  const names = [`agent-bash-linux-${process.arch}-${libc}`, 'agent-bash-host', 'agent-bash'];
  const files = readdirSync(beside('tarballs'));
  return names.map((name) => {
    const file = files.find((file) => file.replace(/-\d+\.\d+\.\d+.*$/, '') === name);
    return join(beside('tarballs'), file ?? `${name} is not there`);
  });
}

/** Runs a program in the project to its end, and returns what it printed. */
const run = (file, ...words) => execFileSync(file, words, { cwd: project, encoding: 'utf8', timeout: 240_000 });

/** The first example of the README. */
const example = () => /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(beside('README.md'), 'utf8'))[1];

const ofPackage = {
  'npm installs them without a network and without a word of complaint'() {
    mkdirSync(project, { recursive: true });
    writeFileSync(join(project, 'package.json'), '{ "private": true }\n');
    const npm = join(beside('npm'), 'bin', 'npm-cli.js');
    const words = ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=warn', ...tarballs()];
    assert.match(run(process.execPath, npm, ...words), /^\s*added \d+ packages? in .*\s*$/);
  },
  'the first example of the README runs'() {
    writeFileSync(join(project, 'example.mjs'), example());
    assert.match(run(process.execPath, 'example.mjs'), /^[12] v\d+\S*\n ls: .*no-such-file/);
  },
  'the command line runs, and finds its parts'() {
    const program = join(project, 'node_modules', '.bin', 'agent-bash');
    const { checks } = JSON.parse(run(program, 'doctor', '--json'));
    for (const name of ['addon', 'supervisor']) {
      assert.match(checks.find((check) => check.name === name).found, /node_modules\/agent-bash-linux-/);
    }
  },
  async 'a terminal, a session and a task work'() {
    const { BackgroundRegistry, BashSession, PtySession } = installed(project);
    const session = new BashSession();
    await session.run('cd / && mark=kept');
    assert.equal((await session.run('echo "$mark $PWD"')).stdout, 'kept /\n');
    await session.close();
    const terminal = new PtySession();
    await terminal.start('cat');
    await terminal.write('typed\r');
    await terminal.wait({ pattern: 'typed\\s+typed', timeoutMs: 60_000 });
    await terminal.kill();
    const registry = new BackgroundRegistry();
    const task = await registry.start('echo begun');
    assert.equal((await registry.wait(task, { pattern: 'begun' })).matched, true);
    await registry.close();
  },
};

/** This machine itself as a target. */
const self = ['env', '-i', `PATH=${process.env.PATH}`, `HOME=${process.env.HOME}`];

await report('packages', ofPackage);
await report('target', ofTarget(project, self, { arch: process.arch }));
if (process.getuid() === 0) {
  for (const name of Object.keys(ROOTS)) {
    const { command, end, ...options } = rootFor(name, join(project, 'node_modules', 'agent-bash-host'));
    await report(`target: ${name}`, ofTarget(project, command, { arch: process.arch, ...options }));
    end();
  }
}

const peer = JSON.parse(process.env.AGENT_BASH_PEER ?? 'null');
if (peer) {
  const link = beside('link.mjs');
  const { arch, port } = peer;
  await report(`target: ${arch}`, ofTarget(project, [process.execPath, link, ...peer.link], { arch }));
  const server = spawn(process.execPath, [link, 'serve', String(port)], { stdio: 'inherit' });
  const end = Date.now() + 600_000;
  while (!existsSync(beside('done')) && Date.now() < end) await sleep(500);
  server.kill();
}
console.log(ENDED);
