/** What the packages have to do on a machine, as checks by their names. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The last line of tryout.mjs. */
export const ENDED = 'tried to the end';

/** The main package, as a project has it installed. */
export const installed = (project) => createRequire(join(project, 'index.js'))('agent-bash');

/** Runs checks, one after another, and prints the row of the part that they make up. */
export async function report(part, checks) {
  const start = performance.now();
  const why = [];
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
    } catch (error) {
      why.push(
        `${name}: ${String(error?.message ?? error)
          .replace(/\s+/g, ' ')
          .slice(0, 500)}`,
      );
    }
  }
  const [all, failed] = [Object.keys(checks).length, why.length];
  const seconds = Math.round((performance.now() - start) / 100) / 10;
  const row = { part, passed: all - failed, failed, skipped: 0, why, seconds };
  console.log(`ROW ${JSON.stringify(row)}`);
  return row;
}

/**
 * The checks of a target that `command` leads to, as words before those of a program there.
 *
 * - `arch`: the processor there
 * - `options`: more options of `connect`
 */
export function ofTarget(project, command, { arch, ...options }) {
  const { BackgroundRegistry, bash, connect, undo } = installed(project);
  let target;
  const there = () => target ?? assert.fail('not connected');
  return {
    async connects() {
      target = await connect({ command, name: 'there', connectTimeoutMs: 120_000, ...options });
      assert.equal(target.info.arch, arch);
    },
    async 'a command has its output and its exit code'() {
      const { stdout, stderr, exitCode } = await bash('echo out; echo error >&2; exit 3', { target: there() });
      assert.deepEqual([stdout, stderr, exitCode], ['out\n', 'error\n', 3]);
    },
    async 'a command reads its input'() {
      const { stdout } = await bash('while read -r line; do echo "<$line>"; done', {
        target: there(),
        stdin: 'one\ntwo\n',
      });
      assert.equal(stdout, '<one>\n<two>\n');
    },
    async 'large output arrives whole'() {
      const hash = createHash('sha256');
      const onOutput = ({ text }) => void hash.update(text);
      const { status } = await bash("printf '%s\\n' {0..19999}", { target: there(), onOutput });
      assert.equal(status, 'exited');
      const expected = Array.from({ length: 20_000 }, (_, index) => `${index}\n`).join('');
      assert.equal(hash.digest('hex'), createHash('sha256').update(expected).digest('hex'));
    },
    async 'a tree ends at its limit'() {
      const command = '(while :; do read -rt 1 <> <(:); done) & echo "$!"; wait';
      const { stdout, status } = await bash(command, { target: there(), timeoutMs: 3000 });
      assert.equal(status, 'timed-out');
      assert.match(stdout, /^\d+\n$/);
      const left = await bash(`[ -d /proc/${stdout.trim()} ] && echo left`, { target: there() });
      assert.equal(left.stdout, '');
    },
    async 'a task runs until it is killed'() {
      const registry = new BackgroundRegistry({ target: there() });
      const task = await registry.start('echo listening; while :; do read -rt 1 <> <(:); done');
      assert.equal((await registry.wait(task, { pattern: 'listening', timeoutMs: 60_000 })).matched, true);
      const runs = async () => (await bash(`[ -d /proc/${task.pid} ] && echo yes`, { target: there() })).stdout;
      assert.equal(await runs(), 'yes\n');
      await registry.kill(task);
      assert.equal(await runs(), '');
      await registry.close();
    },
    async 'a receipt names what changed, and undo takes it back'() {
      const cwd = '/tmp/agent-bash-tryout';
      await bash(`[ -d ${cwd} ] || mkdir ${cwd}`, { target: there() });
      const { receipt, runId } = await bash('echo text >file', {
        target: there(),
        cwd,
        receipt: 'exact',
        undo: { when: 'always' },
      });
      assert.deepEqual([receipt.state, receipt.counts.created], ['known', 1]);
      await undo(runId, { target: there() });
      assert.equal((await bash('echo *', { target: there(), cwd })).stdout, '*\n');
      await bash(`rmdir ${cwd} 2>/dev/null || :`, { target: there() });
    },
    async closes() {
      await there().close();
    },
  };
}
