import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { sshHost, sshTest } from '../../support/ssh.ts';
import { nothingIn, start, temporaryFolder } from './support.ts';

const execute = promisify(execFile);
const ESCAPE = '\u001b';
vi.setConfig({ testTimeout: 60_000 });

describe('the repair', () => {
  test('goes through every step, plain in a pipe, and leaves nothing behind', async () => {
    const run = await start([]);
    const { code, stdout, stderr } = await run.ended;
    expect(stderr).toBe('');
    // In this order: the tests fail, are read, something slow shows how far it is, the repair, the tests, the commit.
    const steps = [
      /^model +a script that comes with the example \(AGENT_BASH_MODEL and AI_GATEWAY_API_KEY not set\)$/m,
      /^\$ npm test 2>&1 \| grep '\^ℹ' {2}\(mode slow\)$/m,
      /│ ℹ fail 1$/m,
      /^ {2}hidden: exit 1 of npm test 2>&1$/m,
      /^ {2}✓ exit 0 · /m,
      /^grep ended with 0, but that hides exit code 1 of “npm test 2>&1”\. /m,
      /^\$ npm test 2>&1 \| grep -A 40 'failing tests' {2}\(mode slow\)$/m,
      /│ test at test\/cart\.test\.js:\d+:1$/m,
      /^ {2}not run again: nothing changed since run \S+, whose output went through this filter$/m,
      /^ {2}hidden: exit 1 of npm test 2>&1$/m,
      /^Nothing had changed, so the tests did not run again\. “every item counts” fails \(test\/cart\.test\.js, line \d+\): 800 was expected, 500 came out\./m,
      /^\$ cat test\/cart\.test\.js$/m,
      /^\$ cat src\/cart\.js$/m,
      /^\$ npm run --silent audit {2}\(mode slow\)$/m,
      /^ {2}⋯ [\d.]+ m?s {2}month \d+ of 12: /m,
      /^ {2}│ … \d+ lines above are not shown here; the model has those that matter$/m,
      /^ {2}│ 480 of 480 orders come out too low$/m,
      /^ {2}denied: write \/.*\/\.cart-audit \(node\)$/m,
      /^ {2}✗ exit 1 · [\d.]+ s · \d+ of \d+ tokens for the model$/m,
      /its confinement held: write \/.*\/\.cart-audit denied \(node\)\./,
      /^\$ cat > src\/cart\.js <<'EOF'$/m,
      /│ \+ {2}for \(let i = 0; i < items\.length; i\+\+\) \{$/m,
      /^\$ npm test {2}\(mode slow\)$/m,
      /^ {2}✓ exit 0 · [\d.]+ m?s$/m,
      /^\$ sed -i .* src\/\*\.js test\/\*\.js$/m,
      /^ {2}changed: 2 modified$/m,
      /^That changed src\/cart\.js and test\/cart\.test\.js: the test is no part of the task\. I take it back\.$/m,
      /^\$ undo_run \S+$/m,
      /^ {2}✓ 2 restored, 0 removed$/m,
      /^\$ git add src\/cart\.js && git commit /m,
      /│ [0-9a-f]{7,} Count the last item of a cart$/m,
      /^\$ npm run --silent dev {2}\(mode background\)$/m,
      /^ {2}✓ in the background · pid \d+ · output in \/.*$/m,
      /^\$ until grep -o 'http:\/\/\.\*' .*; do sleep 0\.1; done {2}\(timeout_ms 20000\)$/m,
      /│ http:\/\/127\.0\.0\.1:\d+$/m,
      /│ 800$/m,
      /^\$ check_pid \d+$/m,
      /│ GET \/total: 800$/m,
      /^ {2}✓ pid \d+ · still running$/m,
      /^It asks 800 for it, as it should\. I will stop the server\.$/m,
      /^\$ kill_pid \d+$/m,
      /^ {2}✓ pid \d+ · killed by SIGTERM$/m,
      /^saved +\d+ of \d+ tokens of output: .*red \d+ of \d+, .*unchanged \d+$/m,
      /^✓ repaired: the tests pass in a fresh clone of commit [0-9a-f]{7}$/m,
    ];
    let rest = stdout;
    for (const step of steps) {
      const at = step.exec(rest);
      expect(at, `${step} in\n${rest}`).not.toBeNull();
      rest = rest.slice((at?.index ?? 0) + (at?.[0].length ?? 0));
    }
    expect(code).toBe(0);
    expect(stdout).not.toContain(ESCAPE);
    await nothingIn(run.temporary);
    expect((await readdir(run.temporary)).filter((name) => name.startsWith('coding-agent-'))).toEqual([]);
  });

  test('is printed while it happens, and its end is kept with --keep, whatever the user’s git settings', async () => {
    const home = await temporaryFolder();
    await writeFile(
      join(home, '.gitconfig'),
      '[commit]\n\tgpgsign = true\n[user]\n\tuseConfigOnly = true\n[core]\n\thooksPath = /nowhere\n',
    );
    const run = await start(['--keep'], { HOME: home });
    await run.until(/⋯ .*month [1-6] of 12/);
    expect(run.text()).not.toMatch(/orders come out too low/);
    const { code, stdout } = await run.ended;
    expect(code).toBe(0);

    const folder = /^kept +(.*)$/m.exec(stdout)?.[1] ?? '';
    const git = async (...args: string[]) => (await execute('git', args, { cwd: folder })).stdout;
    expect((await git('log', '--format=%s %an <%ae>')).trim().split('\n')).toEqual([
      'Count the last item of a cart Coding Agent <coding-agent@example.invalid>',
      'Price a cart Coding Agent <coding-agent@example.invalid>',
    ]);
    expect(await git('status', '--porcelain')).toBe('');
    expect(await git('diff', '--name-only', 'HEAD~1')).toBe('src/cart.js\n');
    expect(await readFile(join(folder, 'src/cart.js'), 'utf8')).toContain('i < items.length; i++');
  });
});

describe('with --on', () => {
  sshTest('the repair is made on a target, and nothing is left there', async () => {
    const { config, host } = sshHost();
    const run = await start(['--on', host, '--ssh-config', config]);
    const { code, stdout, stderr } = await run.ended;
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^target +ssh:box \(.+\)$/m);
    expect(stdout).toMatch(/^ {2}✓ 2 restored, 0 removed$/m);
    expect(stdout).toMatch(/^ {2}✓ pid \d+ · killed by SIGTERM$/m);
    expect(stdout).toMatch(/^✓ repaired: the tests pass in a fresh clone of commit [0-9a-f]{7}$/m);
    expect(code).toBe(0);
    const folder = /^cwd +(.*)\/cart$/m.exec(stdout)?.[1] ?? '';
    expect(folder).not.toBe('');
    expect(existsSync(folder)).toBe(false);
    await nothingIn(folder);
  });

  sshTest('an interruption ends what runs there', async () => {
    const { config, host } = sshHost();
    const run = await start(['--on', host, '--ssh-config', config]);
    await run.until(/⋯ .*month \d+ of 12/);
    run.child.kill('SIGTERM');
    const { code, stdout } = await run.ended;
    expect(code).toBe(143);
    expect(stdout).toMatch(/^✗ interrupted$/m);
    const folder = /^cwd +(.*)\/cart$/m.exec(stdout)?.[1] ?? '';
    await nothingIn(folder);
    expect(existsSync(folder)).toBe(false);
  });

  test('a target that cannot be reached is named', async () => {
    const { code, stdout, stderr } = await (await start(['--on', 'nowhere.invalid'])).ended;
    expect(stderr).toContain('ssh:nowhere.invalid cannot be reached, and nothing was started');
    expect([code, stdout]).toEqual([2, '']);
  });
});

describe('an interruption', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('by %s ends the command and the agent, and cleans up', async (signal, code) => {
    const run = await start([]);
    await run.until(/⋯ .*month \d+ of 12/);
    run.child.kill(signal);
    const end = await run.ended;
    expect(end.code).toBe(code);
    expect(end.stdout).toMatch(/^ {2}✗ interrupted, exit 130 · [\d.]+ m?s/m);
    expect(end.stdout).toMatch(/^✗ interrupted$/m);
    expect(end.stdout).not.toMatch(/orders come out too low/);
    expect(end.stderr).toBe('');
    await nothingIn(run.temporary);
    expect((await readdir(run.temporary)).filter((name) => name.startsWith('coding-agent-'))).toEqual([]);
  });

  test('ends the server in the background too', async () => {
    const run = await start([]);
    await run.until(/in the background · pid \d+/);
    run.child.kill('SIGTERM');
    expect((await run.ended).code).toBe(143);
    await nothingIn(run.temporary);
  });

  test('by a reader that goes away ends it too', async () => {
    const run = await start([]);
    await run.until(/⋯ .*month \d+ of 12/);
    run.child.stdout?.destroy();
    expect((await run.ended).code).toBe(1);
    await nothingIn(run.temporary);
  });
});

describe('a task of one’s own without a model', () => {
  test('reads the directory, changes nothing, and reports the gaps', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'src'));
    await writeFile(join(folder, 'notes.txt'), 'mine');
    const run = await start(['tidy up', '--cwd', folder]);
    const { code, stdout } = await run.ended;
    expect(stdout).toContain(`task     tidy up\n`);
    expect(stdout).toContain(`  │ ${folder}\n`);
    expect(stdout).toContain('  │ notes.txt\n');
    expect(stdout).toContain('A task of your own needs a real model.');
    expect(stdout).toMatch(/^✗ the task was not done: set AGENT_BASH_MODEL .* and AI_GATEWAY_API_KEY$/m);
    expect(code).toBe(2);
    expect((await readdir(folder)).sort()).toEqual(['notes.txt', 'src']);
  });

  test('is coloured where that is asked for', async () => {
    const args = ['tidy up', '--cwd', await temporaryFolder()];
    const coloured = await start(args, { FORCE_COLOR: '1' });
    expect((await coloured.ended).stdout).toContain(`${ESCAPE}[32m`);
    const never = await start(args, { FORCE_COLOR: '1', NO_COLOR: '1' });
    expect((await never.ended).stdout).not.toContain(ESCAPE);
  });

  test('resolves a relative directory against the one npm was called in', async () => {
    const from = await temporaryFolder();
    await mkdir(join(from, 'inner'));
    const run = await start(['tidy up', '--cwd', 'inner'], { npm_lifecycle_event: 'start', INIT_CWD: from });
    expect((await run.ended).stdout).toContain(`cwd      ${join(from, 'inner')}\n`);
    const direct = await start(['tidy up', '--cwd', 'inner'], {}, from);
    expect((await direct.ended).stdout).toContain(`cwd      ${join(from, 'inner')}\n`);
  });
});

describe('the command line', () => {
  test.each([
    [['--cwd', '/no/such/folder'], 'No such directory: /no/such/folder'],
    [['one', 'two'], 'the task must be one argument'],
    [['--ssh-config', 'x'], '--ssh-config is about a connection: name it with --on'],
    [['--on', 'pod:one'], 'kubernetes.pod is empty'],
    [['--nonsense'], "Unknown option '--nonsense'"],
    [['task', '--keep'], '--keep applies only to the generated project'],
    [[''], 'the task is empty'],
  ])('%j is refused with a reason', async (args, reason) => {
    const { code, stdout, stderr } = await (await start(args)).ended;
    expect(stderr).toContain(reason);
    expect([code, stdout]).toEqual([2, '']);
  });

  test('--help says how it is used', async () => {
    const { code, stdout } = await (await start(['--help'])).ended;
    expect(code).toBe(0);
    expect(stdout).toContain("npm start -- 'TASK' [--cwd DIR]");
  });
});
