import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { bash, type ObservedDraft } from 'agent-bash';
import { expect } from 'vitest';
import { finished, until } from '../support/index.ts';
import { draftTest, project } from './support.ts';

/** The messages about drafts, until the end of the test. */
function listen(): ObservedDraft[] {
  const told: ObservedDraft[] = [];
  const add = (message: unknown) => void told.push(message as ObservedDraft);
  subscribe('agent-bash:draft', add);
  finished(() => void unsubscribe('agent-bash:draft', add));
  return told;
}

draftTest('a draft is published when it is opened, forked, committed, discarded and closed', async () => {
  const { open, root } = project();
  const told = listen();
  const draft = await open({ name: 'try it' });
  const about = { draft: draft.id, name: 'try it', root, forkOf: null, counts: null, undoId: null };
  expect(told).toEqual([{ event: 'opened', ...about }]);

  await bash('echo mine >>a; rm src/one', { draft });
  const fork = await draft.fork();
  const aboutFork = { ...about, draft: fork.id, name: fork.name };
  expect(told.splice(0).slice(1)).toEqual([{ event: 'forked', ...aboutFork, forkOf: draft.id }]);

  await draft.commit({ dryRun: true });
  expect(told).toEqual([]);
  const { undoId } = await draft.commit({ paths: ['a'] });
  expect(undoId).not.toBe('');
  const counts = { applied: 1, skipped: 0, conflicts: 0 };
  expect(told.splice(0)).toEqual([{ event: 'committed', ...about, counts, undoId }]);

  await draft.discard();
  await draft.close();
  expect(told.splice(0)).toEqual([{ event: 'discarded', ...about }]);

  await fork.close();
  await fork.close();
  expect(told.splice(0)).toEqual([{ event: 'closed', ...aboutFork }]);
});

draftTest('a commit that conflicts have stopped, or that leaves them, is published with their number', async () => {
  const { open, edit } = project();
  const draft = await open();
  await bash('echo mine >>a; rm src/one', { draft });
  edit('echo theirs >a');
  const told = listen();
  await draft.commit();
  const { undoId } = await draft.commit({ onConflict: 'skip' });
  expect(told).toMatchObject([
    { event: 'committed', counts: { applied: 0, skipped: 0, conflicts: 1 }, undoId: '' },
    { event: 'committed', counts: { applied: 1, skipped: 1, conflicts: 0 }, undoId },
  ]);
});

draftTest('what fails is not published', async () => {
  const { open } = project();
  const draft = await open();
  const told = listen();
  const output: string[] = [];
  const run = bash('echo up; sleep 60', { draft, onOutput: ({ text }) => void output.push(text) });
  await until(() => output.length > 0, 'the output of the command');
  await expect(draft.discard()).rejects.toMatchObject({ reason: 'busy' });
  await draft.close();
  await run;
  await expect(open({ id: 'none' })).rejects.toThrow();
  expect(told.map(({ event }) => event)).toEqual(['closed']);
});
