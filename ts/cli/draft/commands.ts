import type { Command } from 'commander';
import { addCredentialFlags } from '../confine.ts';
import { oneOf } from '../record.ts';
import { gather, gatherPorts } from '../values.ts';
import { changes, diff } from './changes.ts';
import { commit, discard } from './commit.ts';
import { list } from './list.ts';
import { run } from './run.ts';
import { shell } from './shell.ts';
import { tryAll } from './try/index.ts';

const ID = 'the id of the draft, or its beginning';
const ROOT = 'the directory that is drafted (default: the repository of the current one)';
const HOST = 'a host that the draft can reach: name, *.domain, address or CIDR';

/** The flag that calls the verb `try`. */
export const TRY = '--try';
const TRY_CODES = `A command passes with the exit code 0. On a terminal you are asked which draft is committed.
Exit code: 0 a draft was chosen, or a command has passed; 1 none has passed, or a conflict; 125 nothing ran.`;

/** Adds `draft` and its verbs. */
export function addDraft(made: Command): void {
  const draft = made
    .command('draft')
    .description('run commands whose changes to a project are kept apart, look at these, commit or discard them')
    .usage(`[options] -- COMMAND... | [options] ${TRY} COMMAND... | VERB`);
  const verb = (name: string, description: string) =>
    draft
      .command(name)
      .description(description)
      .option('--dir <dir>', 'the directory of all drafts, on the file system of the project');
  const ofPaths = (command: Command) =>
    command
      .argument('<id>', ID)
      .option('--path <path>', 'only this file or directory, absolute or relative to the root of the draft', gather);
  const json = (command: Command) => command.option('--json', 'print JSON, for programs');

  json(addCredentialFlags(verb('run', 'run a command in a new draft; as agent-bash draft [options] -- COMMAND...')))
    .argument('<command...>', 'the command: one quoted argument, or its words')
    .option('--name <name>', 'a name of the draft, for people')
    .option('--root <dir>', ROOT)
    .option('--network <host>', HOST, gather)
    .option('--expose <port>', 'a port of the draft that this machine reaches, at a place that is printed', gatherPorts)
    .option('--id <id>', 'in this draft, in place of a new one')
    .addHelpText('after', '\nExit code: that of the command. A new draft without changes is discarded.')
    .action(run);
  const trial = `run commands at once, each in a new draft, and commit one; as agent-bash draft ${TRY} COMMAND...`;
  json(addCredentialFlags(verb('try', trial)))
    .argument('<command...>', 'the commands, each one quoted argument')
    .option('--commit <which>', 'first: the first that passes, which ends the others; none: do not ask', WHICH)
    .option('--keep', 'do not discard the drafts that are not committed')
    .option('--root <dir>', ROOT)
    .option('--network <host>', HOST, gather)
    .addHelpText('after', `\n${TRY_CODES}`)
    .action(tryAll);
  json(verb('list', 'list the drafts, the newest first')).option('--root <dir>', 'only of this directory').action(list);
  json(ofPaths(verb('changes', 'list what a draft has changed, and its conflicts'))).action(changes);
  ofPaths(verb('diff', 'print the changes as a patch for git apply')).action(diff);
  json(ofPaths(verb('commit', 'move the changes into the project')))
    .option('--on-conflict <what>', 'stop (default), skip: leave such paths in the draft, or merge', CONFLICTS)
    .option('--dry-run', 'only say what it would do')
    .addHelpText('after', '\nExit code: 1 when conflicts have stopped it.')
    .action(commit);
  json(verb('discard', 'remove drafts with their changes')).argument('<id...>', ID).action(discard);
  addCredentialFlags(verb('shell', 'open a bash in a draft, on this terminal')).argument('<id>', ID).action(shell);
  draft.showHelpAfterError("(a command stands behind two dashes: agent-bash draft -- 'npm test')");
}

const CONFLICTS = oneOf<'stop' | 'skip' | 'merge'>(['stop', 'skip', 'merge']);
const WHICH = oneOf<'first' | 'none'>(['first', 'none']);

/**
 * Puts the verb into `draft OPTIONS -- COMMAND` and `draft --try COMMAND`. Without it Commander would look for a verb
 * in the command, as in `draft -- diff a b`.
 */
export function withDraftVerb(words: readonly string[]): string[] {
  const [node = '', script = '', name, ...rest] = words;
  if (name !== 'draft' || !rest[0]?.startsWith('-')) return [...words];
  const end = rest.includes('--') ? rest.indexOf('--') : rest.length;
  const [flags, behind] = [rest.slice(0, end), rest.slice(end)];
  const isTry = (word: string) => word === TRY || word.startsWith(`${TRY}=`);
  if (flags.some(isTry)) {
    // The commands are operands.
    const operands = flags
      .filter((word) => word !== TRY)
      .map((word) => (isTry(word) ? word.slice(TRY.length + 1) : word));
    return [node, script, name, 'try', ...operands, ...behind];
  }
  return behind.length > 0 ? [node, script, name, 'run', ...rest] : [...words];
}
