#!/usr/bin/env node
import { createRequire } from 'node:module';
import { Command, CommanderError } from 'commander';
import { check } from './check.ts';
import { completion } from './completion.ts';
import { addConfineFlags, withProfiles } from './confine.ts';
import { complain, EXIT, Failure, readerGone, wantsJson, watchReaders } from './console.ts';
import { addTargetFlags } from './destination.ts';
import { type DoctorFlags, parseTarget } from './doctor/fix/flags.ts';
import { doctor } from './doctor.ts';
import { addDraft, withDraftVerb } from './draft/commands.ts';
import { teach } from './help.ts';
import { kill } from './kill.ts';
import { log } from './log.ts';
import { logs } from './logs.ts';
import type { McpOptions } from './mcp.ts';
import { pool } from './pool.ts';
import { addPoolFlag } from './pool-file.ts';
import { ps } from './ps.ts';
import { addEvidenceFlags, addMcpEvidenceFlag, addRecordFlags, withRecordWords } from './record.ts';
import { addReduceFlags } from './reduce.ts';
import { run } from './run.ts';
import type { UiOptions } from './ui.ts';
import { undo } from './undo.ts';
import { uninstall } from './uninstall.ts';
import { gather, parseDuration, parseLines, parseMoment, parseOnAsk, parsePort, parseRule } from './values.ts';

const AFTER_HELP = `
Tasks are those in $XDG_STATE_HOME/agent-bash, else in ~/.local/state/agent-bash, or in the directory of --dir.
ID is the pid or the id that \`agent-bash ps\` shows.`;

/** The fault of a command that was given without quotes. */
const QUOTELESS = /^.*too many arguments for 'run'.*$/m;
const QUOTED = "(the command is one argument: agent-bash run 'npm test')";

/** The `agent-bash` program. See docs/cli.md. */
function program(): Command {
  const { version } = createRequire(import.meta.url)('agent-bash/package.json') as { version: string };
  const made = new Command('agent-bash')
    .description(
      'Shows what agents run, follows and stops their tasks, runs commands as agents do or in drafts, undoes them, says what they would do, and serves them to MCP clients.',
    )
    .version(version, '-v, --version', 'print the version')
    .exitOverride()
    .showHelpAfterError('(see agent-bash --help)')
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, 'agent-bash: ').replace(QUOTELESS, `$&\n${QUOTED}`)),
      // Programs receive one line of JSON instead, below.
      ...(wantsJson() && { writeErr: () => {} }),
    })
    .addHelpText('after', AFTER_HELP);
  addTaskCommands(made);
  addLog(made);
  addUi(made);
  addUndo(made);
  addDraft(made);
  addCheck(made);
  addMcp(made, version);
  addDoctor(made, version);
  addPool(made);
  addTargetFlags(made.command('uninstall'))
    .description('remove from a target what agent-bash has put there: its program and its directories')
    .option('--json', 'print JSON, for programs')
    .action(uninstall);
  made
    .command('completion')
    .description('print a script that completes commands, options and tasks in a shell')
    .argument('<shell>', 'bash, zsh or fish')
    .action((shell: string) => completion(shell, made));
  teach(made);
  return made;
}

/** Adds the commands that work on a registry. */
function addTaskCommands(made: Command): void {
  const command = (name: string, description: string) =>
    addTargetFlags(made.command(name))
      .description(description)
      .option('--dir <dir>', 'the directory of the registry')
      .option('--json', 'print JSON, for programs');

  command('ps', 'list the tasks, running ones first').option('-r, --running', 'only running tasks').action(ps);
  command('logs', 'print the output of a task')
    .argument('[id]', 'pid or id of the task (default: the one that was started last)')
    .option('-f, --follow', 'go on until the task ends')
    .option('-n, --lines <count>', 'begin with the last lines only', parseLines)
    .action(logs);
  command('kill', 'end tasks and all they started').argument('<id...>', 'pids or ids of tasks').action(kill);
  const runs = addPoolFlag(command('run', 'run a command in bash; its exit code is the exit code'));
  addReduceFlags(addEvidenceFlags(addRecordFlags(addConfineFlags(runs))), 'off')
    .argument('<command>', 'the command, as one argument: put it in quotes')
    .option('-b, --background', 'start it as a task and return at once')
    .option('--timeout <time>', 'end it after this time: 90 (seconds), 500ms, 5m, 2h (default: 24h)', parseDuration)
    .option('--idle-timeout <time>', 'end it after this time without output (default: none)', parseDuration)
    .option('--cwd <dir>', 'the directory to run it in (default: the current one)')
    .option('--stdin', 'read standard input to its end, and pass it to the command (default: no input)')
    .action(run);
}

function addLog(made: Command): void {
  made
    .command('log')
    .description('print the ledger: what agents have run on this machine, the newest first')
    .option('--cwd <dir>', 'only runs in this directory or below')
    .option('--agent <name>', 'only runs of this agent')
    .option('--since <when>', 'only runs since then: 30m, 2h, 3d ago, or a date', parseMoment)
    .option('--failed', 'only runs that failed, were ended, refused or lost')
    .option('--changed <path>', 'only runs that changed this file, or something below this directory')
    .option('--grep <text>', 'only runs whose command contains this text')
    .option('-f, --follow', 'begin with the oldest, and print runs as they start and end')
    .option('--json', 'print JSON, one document per line')
    .action(log);
}

function addUi(made: Command): void {
  made
    .command('ui')
    .description('serve the page on which people watch what agents run, on this machine and for this user alone')
    .option('--control', 'allow the page to stop, answer, approve, deny and undo')
    .option('--port <number>', 'the port on 127.0.0.1 (default: a free one)', parsePort)
    .option('--no-open', 'do not open the page in a browser, as without a terminal')
    .addHelpText('after', '\nExit code: 0 when a signal has ended it, 1 when it cannot listen on the port.')
    .action(async (options: UiOptions) => {
      // The page is large, and only this command needs it.
      const { ui } = await import('./ui.ts');
      await ui(options);
    });
}

function addUndo(made: Command): void {
  addTargetFlags(made.command('undo'))
    .description('take back what a run changed in files, and nothing else')
    .argument('[run]', 'the id of the run (default: the newest of this directory that is not undone yet)')
    .option('--dry-run', 'only say what it would do')
    .option('--path <path>', 'only this file, or this directory and all below it', gather)
    .option('--list', 'list the runs of this directory that can be undone, the newest first')
    .option('--all', 'with --list, the runs of every directory')
    .option('--cwd <dir>', 'another directory than the current one (on a target: than that where commands start)')
    .option('--store <dir>', 'the directory of the undo store')
    .option('--json', 'print JSON, for programs')
    .addHelpText(
      'after',
      '\nExit code: 0 all is as before the run, 1 nothing was undone or something stays, for a conflict.',
    )
    .action(undo);
}

function addCheck(made: Command): void {
  made
    .command('check')
    .description('say what the safety engine makes of a command, without running it')
    .argument('[command]', 'the command, as one argument: put it in quotes; - reads it from standard input')
    .option('--cwd <dir>', 'the directory it would run in (default: the current one)')
    .option('--rule <id=level>', 'a rule turned off or to another level: off, warn, ask, deny', parseRule)
    .option('--allow <rule>', 'decide by rules of what runs unasked: "git log:*", "write:src/**"', gather)
    .option('--ask <rule>', 'decide by rules of what is asked about', gather)
    .option('--deny <rule>', 'decide by rules of what is refused', gather)
    .option('--rules', 'list the rules of the engine')
    .option('--json', 'print JSON, for programs')
    .addHelpText(
      'after',
      '\nExit code: 0 it would run, 1 a person is asked, 2 it is refused, 125 it could not be judged.',
    )
    // Commander's code for invalid arguments has another meaning here.
    .exitOverride(({ exitCode, code, message }) => {
      throw new CommanderError(exitCode === 0 ? EXIT.done : EXIT.notRun, code, message);
    })
    .action(check);
}

function addMcp(made: Command, version: string): void {
  const command = addPoolFlag(addTargetFlags(made.command('mcp')));
  addReduceFlags(addMcpEvidenceFlag(addRecordFlags(addConfineFlags(command))), 'lossless')
    .description('serve the bash tool to an MCP client on standard input and output')
    .option('--cwd <dir>', 'where commands start when the client names no root (default: the current directory)')
    .option(
      '--timeout <time>',
      'the limit of a command that asks for no other: 90 (seconds), 500ms, 5m, 2h',
      parseDuration,
    )
    .option('--idle-timeout <time>', 'end a command after this time without output (default: none)', parseDuration)
    .option('--dir <dir>', 'the directory of the registry of background tasks')
    .option('--session', 'one shell for all: each command begins where the last one has left it')
    .option('--rule <id=level>', 'a rule of the safety engine turned off or to another level', parseRule)
    .option(
      '--on-ask <what>',
      'what becomes of a command that a person would be asked about: deny (the default), allow, page (ask there)',
      parseOnAsk,
    )
    .action(async (options: McpOptions) => {
      // The SDK is large, and only this command needs it.
      const { mcp } = await import('./mcp.ts');
      await mcp(options, version);
    });
}

function addPool(made: Command): void {
  made
    .command('pool')
    .description('show the machines of a pool, how busy they are, and why one cannot be reached')
    .argument('<file>', 'the JSON file with the options of the pool')
    .option('--try', 'make a place of its provider, and release it in the end')
    .option('--json', 'print JSON, for programs')
    .addHelpText('after', '\nOn a terminal the table is live, until Ctrl-C. Exit code: 1 when no machine was reached.')
    .action(pool);
}

function addDoctor(made: Command, version: string): void {
  addTargetFlags(made.command('doctor'))
    .description('check what this machine offers, and what each missing feature costs')
    .option('--fix', 'plan what full confinement needs here, and apply it on consent')
    .option('--unfix', 'remove what --fix has made')
    .option('--yes', 'with --fix or --unfix, apply the plan without a question')
    .option('--for <machine>', 'with --fix, plan for another one: apparmor, sysctl, docker, kubernetes', parseTarget)
    .option('--root <dir>', 'with --fix or --unfix, write below this directory in place of /, and run nothing')
    .option('--json', 'print JSON, for programs')
    .addHelpText(
      'after',
      '\nExit code: 0 when commands run, 1 when none does. With --fix and --unfix: 0 nothing to do or done, 1 not done.',
    )
    .action((flags: DoctorFlags) => doctor(flags, version));
}

/** Translates Commander's message about invalid arguments. */
function ofArguments({ code, message }: CommanderError): Failure {
  const text = code === 'commander.help' ? 'no command was given' : message.replace(/^error: /, '');
  return new Failure('ERR_BASH_INVALID_ARG', text, EXIT.usage);
}

/** Accepts other spellings of `--version` in the place of a command. */
function withVersion([node = '', script = '', first, ...rest]: readonly string[]): string[] {
  const given = first === undefined ? [] : [first === '-V' || first === 'version' ? '--version' : first];
  return [node, script, ...given, ...rest];
}

watchReaders();
try {
  await program().parseAsync(withVersion(withDraftVerb(withRecordWords(withProfiles(process.argv)))));
  if (readerGone.signal.aborted) {
    const { code, message } = readerGone.signal.reason as NodeJS.ErrnoException;
    process.exitCode = code === 'EPIPE' ? EXIT.brokenPipe : EXIT.failed;
    if (code !== 'EPIPE') process.stderr.write(`agent-bash: the output could not be written: ${message}\n`);
  }
} catch (error) {
  // Commander has already printed the fault or the help.
  if (error instanceof CommanderError) {
    process.exitCode = [EXIT.done, EXIT.notRun].find((code) => code === error.exitCode) ?? EXIT.usage;
    if (error.exitCode !== EXIT.done && wantsJson()) await complain(ofArguments(error));
  } else {
    const failure = Failure.of(error);
    await complain(failure);
    process.exitCode = failure.exitCode;
  }
}
