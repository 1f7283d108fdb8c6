import { bash, drafts, readLedger, undo } from 'agent-bash';
import { expect } from 'vitest';
import { until } from '../support/index.ts';
import { draftTest, project } from './support.ts';

async function entries() {
  const found = [];
  for await (const { command, draft, exitCode, runId, state } of readLedger()) {
    found.push({ command, draft, exitCode, runId, state });
  }
  return found;
}

draftTest('commands of a draft, its commits and its discard are in the ledger', async () => {
  const { open, edit } = project();
  const draft = await open();
  const actor = { agent: 'a' };
  const { runId } = await bash('echo 1 >>a; echo 2 >b', { draft, ledger: true, actor });
  await bash('echo 3 >c', { draft, ledger: true, actor: { agent: 'b' } });
  expect((await drafts())[0]?.actor).toEqual(actor);
  await draft.commit({ dryRun: true });
  edit('echo theirs >a');
  await draft.commit();
  const { undoId } = await draft.commit({ onConflict: 'skip' });
  await draft.discard();
  const about = { draft: draft.id, state: 'exited', runId: expect.any(String) };
  const commit = { ...about, command: `agent-bash draft commit ${draft.id}` };
  await until(async () => (await entries()).length === 5, 'the entries');
  expect(await entries()).toEqual([
    { ...about, command: `agent-bash draft discard ${draft.id}`, exitCode: 0 },
    { ...commit, exitCode: 0, runId: undoId },
    { ...commit, exitCode: 1 },
    { ...about, command: 'echo 3 >c', exitCode: 0 },
    { ...about, command: 'echo 1 >>a; echo 2 >b', exitCode: 0, runId },
  ]);
  expect((await undo(undoId)).conflicts).toEqual([]);
});

draftTest('a draft of which no command is in the ledger has no entries', async () => {
  const { open } = project();
  const draft = await open();
  await bash('echo 2 >b', { draft, ledger: false });
  expect((await drafts())[0]?.actor).toBe(null);
  await draft.commit();
  expect(await entries()).toEqual([]);
});
