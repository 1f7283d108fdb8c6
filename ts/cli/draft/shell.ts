import { type Draft, PtySession } from 'agent-bash';
import { type CredentialFlags, credentialsOf } from '../confine.ts';
import { EXIT, Failure, readerGone, write } from '../console.ts';
import { interruptible } from '../interruption.ts';
import { codeOf, ledger } from '../run.ts';
import { type DraftFlags, withDraft } from './open.ts';
import { summarize } from './summary.ts';

/** The most columns and rows of a terminal here. */
const MOST = 1_000;

/** `agent-bash draft shell ID`: connects this terminal to a bash in a draft. */
export async function shell(name: string, flags: DraftFlags & CredentialFlags): Promise<void> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY) {
    const text = 'a shell needs a terminal; without one: agent-bash draft --id ID -- COMMAND';
    throw new Failure('ERR_BASH_INVALID_ARG', text, EXIT.usage);
  }
  const use = async (draft: Draft) => {
    const { signal, code } = interruptible();
    const [cols, rows] = sizeOf(stdout);
    const terminal = new PtySession({ draft, cols, rows, signal, ledger: ledger() });
    terminal.on('data', (text) => write(stdout, text));
    await terminal.start('exec bash -i');
    stdout.on('resize', () => terminal.resize(...sizeOf(stdout)));
    // What is typed after the end has no reader.
    stdin.on('data', (bytes) => void terminal.write(bytes).catch(() => {}));
    stdin.setRawMode(true);
    try {
      const result = await terminal.result();
      process.exitCode = readerGone.signal.aborted ? EXIT.brokenPipe : (code() ?? codeOf(result, false));
    } finally {
      stdin.setRawMode(false).destroy();
    }
    await summarize(draft, flags);
  };
  await withDraft(name, flags, use, credentialsOf(flags));
}

/** Returns the size of a terminal. Some have none, and say 0. */
function sizeOf({ columns, rows }: NodeJS.WriteStream): [cols: number, rows: number] {
  return [Math.min(columns || 80, MOST), Math.min(rows || 24, MOST)];
}
