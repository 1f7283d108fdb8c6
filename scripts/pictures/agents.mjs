/**
 * The agents of the pictures: programs that use the package as agents do. `node agents.mjs NAME PROJECT` is one of
 * them. It says `ready` when everything runs, and ends when its standard input does.
 */
import { execFileSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { bash, defaultRegistry, PtySession } from 'agent-bash';
import { createBashTool, createToolApproval } from 'agent-bash/ai';

const [, , agent, project] = process.argv;
const held = { cwd: project, ledger: true, actor: { agent, session: 'pictures' } };
/** Starts a command. Its end is shown on the page alone. */
const run = (command, options = {}) => void bash(command, { timeoutMs: 900_000, ...held, ...options }).catch(() => {});

const MOVE = `git mv src/cart.js src/money.js && rm -r src/legacy && sed -i "s#../src/cart.js#../src/money.js#" test/*.test.js && mkdir -p src/i18n && for l in de fr nl; do printf '{"total":"Total %s"}\\n' $l > src/i18n/$l.json; done && git push origin HEAD`;

const AGENTS = {
  async builder() {
    // The page connects to a host once that runs something.
    run('sleep 2');
    await setTimeout(1000);
    for (const command of [
      'git status --short',
      'rg -n sum src test || grep -rn sum src test',
      'git log --oneline -3',
    ]) {
      await bash(command, held);
    }
    await defaultRegistry().start('npm run dev', { ...held, timeoutMs: 86_400_000 });
    await bash(MOVE, { ...held, receipt: 'exact', undo: 'always' });
    await bash('git mv src/money.js src/cart.js && sed -i "s#../src/money.js#../src/cart.js#" test/*.test.js', held);
    run('npm test', { env: { ...process.env, FORCE_COLOR: '1' }, confine: 'workspace' });
    const terminal = new PtySession({ cols: 72, rows: 18, ...held });
    await terminal.start('node tools/setup.mjs admin');
  },
  async scout() {
    run('sleep 2');
    await setTimeout(1000);
    await bash('ls -la && cat package.json', held);
    await bash('git diff --stat HEAD', held);
    await bash('npm ci', { ...held, confine: { profile: 'workspace', network: 'none' }, timeoutMs: 20_000 });
    await defaultRegistry().start('python3 serve.py', { ...held, timeoutMs: 86_400_000 });
    execFileSync('mkfifo', [`${project}/plan.fifo`]);
    run('python3 check.py --release');
    run('./deploy/migrate.sh --from 2025.3 --plan plan.fifo');
    const tool = createBashTool({ ...held, undo: 'always' });
    const approval = createToolApproval({ tool, page: true, ask: () => new Promise(() => {}) });
    const command = 'npm run build && rm -rf dist/* ~/.cache/billing && kubectl delete ns staging --wait=false';
    void approval({ command }, { toolCallId: 'call-1' });
  },
  async nightly() {
    await bash('python3 -c "print(1)"', held);
    await defaultRegistry().start('python3 -m http.server 8001', { ...held, timeoutMs: 86_400_000 });
  },
};

await AGENTS[agent]();
console.log('ready');
process.stdin.resume().on('end', () => process.exit());
