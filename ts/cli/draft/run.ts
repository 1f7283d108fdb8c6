import { type BashResult, bash, type Draft, openDraft } from 'agent-bash';
import { innerOf } from '../../core/inner.ts';
import { type CredentialFlags, credentialsOf } from '../confine.ts';
import { EXIT, Failure, printJson, readerGone, remark } from '../console.ts';
import { spaced } from '../destination.ts';
import { interruptible } from '../interruption.ts';
import { codeOf, explain, LIVE, ledger } from '../run.ts';
import { type DraftFlags, withDraft } from './open.ts';
import { discardEmpty, summarize } from './summary.ts';

interface RunFlags extends DraftFlags, CredentialFlags {
  name?: string;
  root?: string;
  network?: string[];
  expose?: number[];
  id?: string;
}

/** `agent-bash draft -- COMMAND`: runs a command in a new draft or that of `--id`, and says how to go on. */
export async function run(words: string[], flags: RunFlags): Promise<void> {
  const { id, name, root, network, expose } = flags;
  if (id !== undefined && (name !== undefined || root !== undefined || network || expose)) {
    throw new Failure('ERR_BASH_INVALID_ARG', '--name, --root, --network and --expose are for a new draft', EXIT.usage);
  }
  // A single word is a whole command, as in `agent-bash run`.
  const command = words.length === 1 ? String(words[0]) : spaced(words).trim();
  try {
    const runInOld = async (draft: Draft) => report(draft, await runIn(draft, command, flags), false, flags);
    await (id === undefined ? runInNew(command, flags) : withDraft(id, flags, runInOld, credentialsOf(flags)));
  } catch (error) {
    throw error instanceof Failure && error.exitCode === EXIT.usage ? error : Failure.of(error, EXIT.notRun);
  }
}

async function runInNew(command: string, flags: RunFlags): Promise<void> {
  const { name, root, network, expose, dir, json } = flags;
  const confine = { ...(network && { network: { allow: network } }), ...credentialsOf(flags) };
  const draft = await openDraft({ name, root, dir, expose, confine });
  try {
    for (const port of expose ?? []) {
      const url = (await draft.port(port))?.url;
      if (!json) await remark(`port ${port} of the draft: ${url}`);
    }
    const result = await runIn(draft, command, flags).catch(async (error) => {
      // Nothing has run, so nothing is worth keeping.
      await draft.discard();
      throw error;
    });
    await report(draft, result, await discardEmpty(draft), flags);
  } finally {
    await draft.close();
  }
}

/** Runs a command in a draft, and sets the exit code to that of the command. */
async function runIn(draft: Draft, command: string, { json }: DraftFlags): Promise<BashResult> {
  const { signal, code } = interruptible();
  const timeoutMs = innerOf(bash).facts().request.maxLimitMs;
  const result = await bash(command, { draft, timeoutMs, ledger: ledger(), signal, ...(!json && LIVE) });
  process.exitCode = readerGone.signal.aborted ? EXIT.brokenPipe : (code() ?? codeOf(result, false));
  return result;
}

async function report(draft: Draft, result: BashResult, isDiscarded: boolean, flags: DraftFlags): Promise<void> {
  if (flags.json) return printJson(isDiscarded ? { ...result, draft: null } : result);
  await explain(result, draft.root, {});
  await summarize(draft, flags);
}
