import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { connect } from 'agent-bash';
import { harnessSandbox } from 'agent-bash/harness';
import { mastraSandbox } from 'agent-bash/mastra';
import { createSandbox, createSandboxSession } from 'agent-bash/sandbox';
import { describe, expect } from 'vitest';
import { alive, finished, rejection } from '../../support/index.ts';
import { type Machine, machine, machineTest, UID } from './machine.ts';

/** A machine with files, processes and a loopback of its own, and a target there. */
async function targetOf(): Promise<{ there: Machine; target: Awaited<ReturnType<typeof connect>> }> {
  const there = await machine('bash');
  const target = await connect(there.address);
  finished(() => target.close());
  return { there, target };
}

/** The processes of the machine's user that are no part of its login and of ours. */
const leftIn = (there: Machine) => there.run(`pgrep -u ${UID} -x sleep || true`);

describe('a sandbox on another machine', () => {
  machineTest('has its commands, files, home and end there', async () => {
    const { there, target } = await targetOf();
    const session = createSandboxSession({ target, cwd: 'project', graceMs: 300 });
    there.run('install -d -o 1000 -g 1000 /home/bash/project');
    expect(session.description).toContain('The host box (linux ');
    expect(session.description).toContain('as bash: another machine');
    const { stdout } = await session.run({ command: 'hostname; id -u; pwd; stat -c "%a %u" ~; echo text > ~/file' });
    expect(stdout).toBe('box\n1000\n/home/bash/project\n700 1000\n');
    await session.writeTextFile({ path: 'a/b', content: 'written' });
    expect(readFileSync(join(there.home, 'project/a/b'), 'utf8')).toBe('written');
    expect(await rejection(() => session.readTextFile({ path: '/etc/shadow' }))).toMatchObject({ code: 'EACCES' });
    expect(await rejection(() => session.writeTextFile({ path: '/etc/x', content: '' }))).toMatchObject({
      code: 'EACCES',
      message: expect.stringContaining('the rights of its user there'),
    });
    await session.run({ command: 'setsid sleep 1000 > /dev/null 2>&1 < /dev/null & disown' });
    await session.run({ command: 'setsid env -i sleep 1000 > /dev/null 2>&1 < /dev/null & disown' });
    const cat = await session.spawn({ command: 'sleep 1000' });
    expect(there.run(`ps -o comm= -p ${cat.pid}`).trim()).toMatch(/bash|sleep/);
    await session[Symbol.asyncDispose]();
    expect((await cat.wait()).exitCode).toBe(130);
    expect(leftIn(there)).toBe('');
    expect(there.run('ls -d /tmp/agent-bash-home-* 2> /dev/null || true')).toBe('');

    const sandbox = createSandbox({ target });
    const server = await sandbox.runCommand({ cmd: 'sleep', args: ['1000'], detached: true });
    await server.kill('SIGTERM');
    expect((await server.wait()).exitCode).toBe(143);
  });

  // Without a look at the machine the pid of what a command has left there would be that of a process here.
  machineTest('ends no process of this machine that has the pid of one there', async () => {
    const { there, target } = await targetOf();
    const bystander = spawn('sleep', ['1000'], { stdio: 'ignore' });
    finished(() => void bystander.kill('SIGKILL'));
    const pid = bystander.pid as number;
    const adapter = mastraSandbox({ target, graceMs: 0, confine: 'off' });
    await adapter.start?.();
    there.run(`echo ${pid - 50} > /proc/sys/kernel/ns_last_pid`);
    const leave = `exec > /dev/null 2>&1; until sleep 1000 & [ $! -ge ${pid} ]; do kill -9 $!; wait $!; done; [ $! = ${pid} ]`;
    expect(await adapter.executeCommand?.('bash', ['-c', leave])).toMatchObject({ exitCode: 0 });
    expect(await adapter.executeCommand?.('hostname', [])).toMatchObject({ stdout: 'box\n' });
    await adapter.destroy?.();
    expect(alive(pid)).toBe(true);
    expect(leftIn(there)).toBe('');
  });

  machineTest('is the sandbox of a harness, with its ports, policies and copies', async () => {
    const { there, target } = await targetOf();
    const port = 4_100;
    const provider = harnessSandbox({ target, dir: 'agents', ports: [port], networkPolicy: { mode: 'deny-all' } });
    let prepared = 0;
    const onFirstCreate = async (session: { run(options: { command: string }): PromiseLike<unknown> }) => {
      prepared += 1;
      await session.run({ command: 'echo tools > tools; ln -s tools link; mkfifo pipe' });
    };
    const wanted = { identity: 'one', onFirstCreate };
    const [one, two] = await Promise.all([
      provider.createSession({ ...wanted, sessionId: 'one' }),
      provider.createSession(wanted),
    ]);
    expect(prepared).toBe(1);
    expect(one.defaultWorkingDirectory.startsWith('/home/bash/agents/session-one-')).toBe(true);
    const seen = await one.run({ command: 'echo 1 > tools; cat link; ls; touch /home/bash/outside; echo ~' });
    expect(seen.stdout).toBe(`1\nlink\ntools\n${one.defaultWorkingDirectory}/.home\n`);
    expect(seen.confinement?.held).toContain('network');
    expect(existsSync(join(there.home, 'outside'))).toBe(false);
    // A port under a policy belongs to one session at a time.
    const copy = join(there.home, 'agents', basename(two.defaultWorkingDirectory), 'link');
    expect(readFileSync(copy, 'utf8')).toBe('tools\n');

    const serve = `exec python3 -c 'import http.server as h; h.HTTPServer(("127.0.0.1", ${port}), h.SimpleHTTPRequestHandler).serve_forever()'`;
    await one.spawn({ command: serve });
    const url = await one.getPortUrl({ port });
    expect(url).not.toContain(String(port));
    await expect.poll(() => fetch(`${url}/tools`).then((it) => it.text(), String), { timeout: 20_000 }).toBe('1\n');
    await one.stop();
    await expect(fetch(url)).rejects.toThrow();

    await using other = await connect(there.address);
    const again = await harnessSandbox({ target: other, dir: 'agents' }).resumeSession?.({ sessionId: 'one' });
    expect(await again?.readTextFile({ path: 'tools' })).toBe('1\n');
    await Promise.all([again?.destroy(), two.destroy()]);
    expect(there.run('ls /home/bash/agents')).toMatch(/^template-one-\w+\n$/);
  });
});
