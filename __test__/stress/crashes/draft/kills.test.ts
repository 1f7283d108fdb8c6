import { mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { bash, drafts, openDraft } from 'agent-bash';
import { expect } from 'vitest';
import { draftTest, project } from '../../../draft/support.ts';
import { folder, host, until } from '../../../support/index.ts';

const ROUNDS = Number(process.env.AGENT_BASH_ROUNDS ?? 200);
/** So many that some kills fall within a commit. */
const FILES = Array.from({ length: 400 }, (_, at) => `src/${at % 20}/${at}`);
const SIZE = 3000;

/** Fills all files with a number. */
const fill = (number: number | string) =>
  `line=$(yes ${number} | head -c ${SIZE}; echo .); for file in src/*/*; do printf %s "\${line%.}" >$file; done`;

/** What a host says before each of its steps. */
const STEPS = [/run/, /fork/, /part/, /commit/];

/** Fills all files with a number, in drafts that are committed, forked and discarded, until it is killed. */
const source = (root: string, dir: string, from: number) => `import { openDraft } from 'agent-bash';
  const [root, dir] = ${JSON.stringify([root, dir])};
  const fill = (n) => ${JSON.stringify(fill('NUMBER'))}.replace('NUMBER', n);
  for (let n = ${from}; ; n++) {
    console.log('run');
    const draft = await openDraft({ root, dir });
    await bash(fill(n) + '; rm made/*; seq 2000 >made/' + n, { draft });
    console.log('fork');
    const fork = await draft.fork();
    await bash(fill(-n) + '; rm -r src', { draft: fork });
    await fork.discard();
    console.log('part');
    await draft.commit({ paths: ['made'] });
    console.log('commit');
    await draft.commit();
  }`;

/** The number that fills all files. Fails if one has another one, or parts of two. */
function numberIn(root: string): string {
  const texts = FILES.map((file) => readFileSync(join(root, file), 'utf8'));
  const [first = ''] = texts[0]?.split('\n') ?? [];
  const whole = `${first}\n`.repeat(SIZE).slice(0, SIZE);
  expect(
    texts.every((text) => text === whole),
    texts.map((text) => text.slice(0, 20)).join(),
  ).toBe(true);
  return first;
}

draftTest(
  `a host that is killed at ${ROUNDS} moments leaves no half commit, and loses no draft`,
  async () => {
    const { root } = project();
    const dir = folder();
    for (const file of FILES) mkdirSync(join(root, file, '..'), { recursive: true });
    await bash(`rm -r src/one src/deep; touch ${FILES.join(' ')}; ${fill(0)}; mkdir made; seq 2000 >made/0`, {
      cwd: root,
    });
    let [next, finished] = [1, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const killed = host(source(root, dir, next));
      await killed.says(STEPS[round % STEPS.length] ?? /run/);
      await new Promise((go) => setTimeout(go, Math.random() * 300));
      killed.process.kill('SIGKILL');
      await killed.ended();
      for (const { id, state } of await drafts({ dir })) {
        // Its commands end a little later.
        let why: unknown;
        const opened = () =>
          openDraft({ id, dir }).catch((error: unknown) => {
            why = error;
            return undefined;
          });
        const draft = await until(opened, 'the draft').catch(() => {
          throw new Error(`a draft of the state ${state} cannot be opened`, { cause: why });
        });
        finished += state === 'committing' ? 1 : 0;
        await until(() => draft.changes().catch(() => undefined), 'its changes');
        await until(
          () =>
            draft.discard().then(
              () => true,
              () => undefined,
            ),
          'its end',
        );
      }
      const number = Number(numberIn(root));
      const made = readdirSync(join(root, 'made'));
      // The commit of the part may have been the last one.
      expect([made.length, Number(made[0]) >= number]).toEqual([1, true]);
      for (const name of made) expect(readFileSync(join(root, 'made', name), 'utf8').length).toBe(8893);
      next = Number(made[0]) + 1;
      // Drafts that were half made or half removed are swept once they are old.
      for (const name of readdirSync(dir)) utimesSync(join(dir, name), 0, 0);
      await drafts({ dir });
      expect(readdirSync(dir)).toEqual([]);
    }
    console.log(`${finished} of ${ROUNDS} kills were within a commit`);
    const mounts = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const mounted = (pid: string) => {
      try {
        return readFileSync(`/proc/${pid}/mountinfo`, 'utf8').includes(dir);
      } catch {
        return false;
      }
    };
    await until(() => !mounts.some(mounted), 'all mounts to be gone');
  },
  ROUNDS * 10_000,
);
