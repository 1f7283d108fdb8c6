import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { PtySession } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { Page } from '../page/support.ts';
import { finished, folder, hasProgram, linuxTest, stateFolder, testNeeding, until } from '../support/index.ts';
import { PROGRAM, Program, type Run } from './support.ts';

const LINK = /^http:\/\/127\.0\.0\.1:(\d+)\/#([\w-]{22,})$/m;

/** A program with directories of its own. */
function program(env: NodeJS.ProcessEnv = {}) {
  const temporary = folder();
  return { temporary, program: new Program({ XDG_RUNTIME_DIR: folder(), TMPDIR: temporary, BROWSER: '', ...env }) };
}

/** The page of a program that has printed its link. */
async function pageOf(run: Run): Promise<{ page: Page; code: string }> {
  const [, port, code = ''] = await run.says(LINK);
  const host = { pid: run.child.pid ?? 0, process: run.child, stdout: run.stdout, stderr: run.stderr };
  return { page: new Page(host as never, Number(port)), code };
}

describe('agent-bash ui', () => {
  test('prints one line, the link, and serves a page for reading', async () => {
    const run = program().program.start(['ui']);
    const { page, code } = await pageOf(run);
    const tab = await page.signIn(code);
    expect(await tab.post('/api/stop', { run: 'x' })).toMatchObject({ status: 403, code: 'control' });
    expect((await page.post('/api/sign-in', { code })).status).toBe(403);
    expect(run.stdout()).toMatch(/^http:\S+\n$/);
    expect(run.stderr()).toBe('');
  });

  test('with --control can stop what runs', async () => {
    const { program: made } = program({ AGENT_BASH_LEDGER: 'on' });
    const run = made.start(['ui', '--control', '--no-open']);
    const { page, code } = await pageOf(run);
    const tab = await page.signIn(code);
    const events = await tab.events();
    const command = made.start(['run', 'echo of the other; sleep 1000']);
    const shown = await events.run((one) => one.command.includes('of the other'));
    expect((await tab.post('/api/stop', { run: shown.id })).status).toBe(200);
    expect((await command.ended).code).not.toBe(0);
    // Its host ended with it, so that its end may be known from the ledger alone.
    await events.end(shown.id, ({ state }) => state === 'aborted');
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'ends by %s with exit code 0, also with a tab that is open',
    async (signal) => {
      const { program: made, temporary } = program();
      const run = made.start(['ui']);
      const { page, code } = await pageOf(run);
      const events = await (await page.signIn(code)).events();
      expect(events.status).toBe(200);
      run.child.kill(signal);
      expect(await run.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
      await until(() => events.closed, 'the tab is disconnected');
      expect(readdirSync(temporary).filter((name) => name.startsWith('agent-bash-ui'))).toEqual([]);
    },
  );

  test('serves on a chosen port, and says if another program uses it', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await until(() => server.address(), 'a port');
    const { port } = server.address() as { port: number };
    const { program: made } = program();
    const used = await made.run('ui', '--port', `${port}`);
    const why = `the page cannot listen on 127.0.0.1:${port}: another program uses this port. Leave out the port for a free one.`;
    expect(used).toEqual({ code: 1, signal: null, stdout: '', stderr: `agent-bash: ${why}\n` });
    await new Promise((resolve) => server.close(resolve));
    const { page } = await pageOf(made.start(['ui', '--port', `${port}`]));
    expect(page.port).toBe(port);
  });

  test.each([
    [['--host', '0.0.0.0'], "unknown option '--host'"],
    [['--Control'], "unknown option '--Control'"],
    [['--port'], "option '--port <number>' argument missing"],
    [['--port', 'x'], 'It must be a whole number from 0 to 65535.'],
    [['--port', '65536'], 'It must be a whole number from 0 to 65535.'],
    [['--port', '-1'], 'It must be a whole number from 0 to 65535.'],
    [['here'], "too many arguments for 'ui'"],
  ])('refuses %j', async (args, message) => {
    const { code, stdout, stderr } = await program().program.run('ui', ...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  test('is in the help and in the completion', async () => {
    const { program: made } = program();
    expect((await made.run('--help')).stdout).toMatch(/^ {2}ui \[options\]/m);
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { stdout } = await made.run('completion', shell);
      for (const word of ['ui', 'control', 'port', 'no-open']) expect(stdout).toContain(word);
    }
  });
});

/** A program that stands for the one that opens files, and notes what it gets. */
const OPENER = (log: string) => `#!/bin/sh
for file; do :; done
{ echo "ARGS $*"; stat -c 'MODE %a %U' "$file" "$(dirname "$file")"; cat "$file"; echo; tr '\\0' ' ' < /proc/$$/environ; echo DONE; } > ${log}.part
mv ${log}.part ${log}
`;

/** A terminal in which the program runs. */
function terminal(args: string[], env: Record<string, string>) {
  const session = new PtySession({ cols: 200, rows: 20, env });
  finished(() => session.kill());
  const started = session.start(`exec ${process.execPath} ${PROGRAM} ui ${args.join(' ')}`);
  const ended = started.then(() => new Promise((resolve) => session.on('exit', resolve)));
  const screen = () => session.screen().lines.join('\n');
  return {
    session,
    started,
    ended,
    screen,
    says: (pattern: RegExp) => until(() => pattern.exec(screen()), `${pattern}`),
  };
}

function places() {
  const [bin, temporary] = [folder(), folder()];
  const log = join(bin, 'log');
  const install = (name: string, text = OPENER(log)) => {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  };
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    TMPDIR: temporary,
    XDG_RUNTIME_DIR: folder(),
    XDG_STATE_HOME: stateFolder(),
    BROWSER: '',
  };
  const opened = () =>
    until(() => {
      try {
        return readFileSync(log, 'utf8');
      } catch {
        return '';
      }
    }, 'the link was opened');
  return {
    bin,
    temporary,
    env,
    install,
    opened,
    left: () => readdirSync(temporary).filter((name) => name.startsWith('agent-bash-ui')),
  };
}

describe('agent-bash ui in a terminal', () => {
  linuxTest('opens the link through a private file, and removes that after the sign-in', async () => {
    const { temporary, env, install, opened, left } = places();
    install('xdg-open');
    const { session, ended, says, screen } = terminal(['--control'], env);
    const [link, port, code = ''] = await says(LINK);
    const text = await opened();
    const [, file = ''] = /ARGS (\S+)/.exec(text) ?? [];
    expect(file.startsWith(temporary)).toBe(true);
    expect(text).toMatch(/MODE 600 \S+\nMODE 700 /);
    expect(text).toContain(`location.replace("${link}")`);
    // The code is in the file, and neither in arguments nor in the environment.
    expect(text.split(code).length - 1).toBe(text.split('\nDONE')[0]?.match(new RegExp(`${code}`, 'g'))?.length);
    expect(/ARGS .*/.exec(text)?.[0]).not.toContain(code);
    expect(text.slice(text.lastIndexOf('</a>'))).not.toContain(code);
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      let line = '';
      try {
        line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {}
      expect(line.includes(code)).toBe(false);
    }
    expect(left()).toHaveLength(1);
    const page = new Page(null as never, Number(port));
    await page.signIn(code);
    await until(() => left().length === 0, 'the file is removed');
    expect(screen()).toContain('Ctrl-C ends it, Enter prints another link');
    await session.write('\r');
    const [, other = ''] = await says(new RegExp(`#(?!${code})([\\w-]{22,})`));
    await page.signIn(other);
    await session.write('\u0003');
    expect(await ended).toMatchObject({ exitCode: 0 });
    expect(left()).toEqual([]);
  });

  linuxTest('leaves no file when it ends before the sign-in, and removes what a kill has left', async () => {
    const { env, install, opened, left } = places();
    install('xdg-open');
    const first = terminal([], env);
    await first.says(LINK);
    await opened();
    await until(() => first.screen().includes('read-only without --control'), 'the remark');
    expect(left()).toHaveLength(1);
    await first.session.write('\u0003');
    expect(await first.ended).toMatchObject({ exitCode: 0 });
    expect(left()).toEqual([]);
    const second = terminal([], env);
    await second.says(LINK);
    await until(() => left().length === 1, 'another file');
    const killed = left();
    process.kill((await second.started).pid, 'SIGKILL');
    await second.ended;
    const third = terminal([], env);
    await third.says(LINK);
    await until(() => left().length === 1 && left()[0] !== killed[0], 'the next one removes it');
  });

  linuxTest('opens nothing with --no-open', async () => {
    const { bin, env, install, left } = places();
    install('xdg-open');
    const { session, ended, says, screen } = terminal(['--no-open'], env);
    await says(LINK);
    await until(() => screen().includes('Ctrl-C'), 'the remark');
    await session.write('\u0003');
    expect(await ended).toMatchObject({ exitCode: 0 });
    expect([left(), readdirSync(bin)]).toEqual([[], ['xdg-open']]);
  });

  linuxTest('prefers $BROWSER, tries one after the other, and says when there is none', async () => {
    const { env, install, opened } = places();
    install('mine');
    install('xdg-open', '#!/bin/sh\nexit 3\n');
    const mine = terminal([], { ...env, BROWSER: 'no-such-browser:mine --new %s' });
    await mine.says(LINK);
    expect(await opened()).toMatch(/^ARGS --new \S+open\.html\n/);
    const none = terminal([], env);
    await none.says(/no browser could be started: open the link yourself/);
    await none.says(LINK);
  });

  testNeeding('setsid', hasProgram('setsid'))('without a terminal opens nothing and reads nothing', async () => {
    const { env, install, bin, left } = places();
    install('xdg-open');
    const made = new Program(env);
    const run = made.start(['ui']);
    await run.says(LINK);
    run.child.kill('SIGTERM');
    expect(await run.ended).toMatchObject({ code: 0, stderr: '' });
    expect([left(), readdirSync(bin)]).toEqual([[], ['xdg-open']]);
  });
});
