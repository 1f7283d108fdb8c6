import type { Command } from 'commander';
import { EXIT, Failure, print } from './console.ts';
import { TRY } from './draft/commands.ts';

/** The shells that a script can be printed for. */
const SHELLS = { bash: forBash, zsh: forZsh, fish: forFish };

/** `agent-bash completion SHELL`: prints a script with which the shell completes commands, options and tasks. */
export async function completion(shell: string, program: Command): Promise<void> {
  if (!Object.hasOwn(SHELLS, shell)) {
    throw new Failure(
      'ERR_BASH_INVALID_ARG',
      `${JSON.stringify(shell)} is not one of ${Object.keys(SHELLS).join(', ')}`,
      EXIT.usage,
    );
  }
  await print(SHELLS[shell as keyof typeof SHELLS](program));
}

/** Prints the first column of a list without its heading: pids of tasks, or ids of drafts. */
const firstOf = (list: string) => `agent-bash ${list} 2>/dev/null | tail -n +2 | cut -d ' ' -f 1`;

/** A command or a verb of one. */
interface Call {
  /** The words that call it. */
  path: string[];
  command: Command;
  /** Prints what its operand may be. `undefined`: nothing is known of it. */
  operands: string | undefined;
}

/** Returns the commands, each behind its verbs. */
function callsOf(program: Command): Call[] {
  const call = (path: string[], command: Command): Call => {
    const hasId = command.registeredArguments[0]?.name() === 'id';
    return { path, command, operands: hasId ? firstOf(path.length > 1 ? `${path[0]} list` : 'ps') : undefined };
  };
  return program.commands.flatMap((command) => [
    ...command.commands.flatMap((verb) => namesOf(verb).map((name) => call([command.name(), name], verb))),
    call([command.name()], command),
  ]);
}

/** Returns the words that call a verb. */
function namesOf(verb: Command): string[] {
  return verb.name() === 'try' ? [verb.name(), TRY] : [verb.name()];
}

/** Returns the flags of a command. Those of its first verb may follow the command itself. */
function flagsOf(command: Command): string[] {
  const flags = command.options.flatMap(({ short, long }) => [short, long]);
  const first = command.commands[0];
  return first ? flagsOf(first) : ['--help', ...flags].filter((flag) => flag !== undefined);
}

function forBash(program: Command): string {
  const cases = callsOf(program).map(({ path, command, operands }) => {
    const pattern = path.length > 1 ? path.join('\\ ') : `${path[0]}\\ *`;
    const words = [...command.commands.flatMap(namesOf), ...flagsOf(command)].join(' ');
    const more = operands === undefined ? '' : ` [[ $word == -* ]] || words+=" $(${operands})" ;`;
    return `    ${pattern}) words='${words}' ;${more};`;
  });
  const names = program.commands.map((command) => command.name()).join(' ');
  return `_agent_bash() {
  local words='' verb='' word=\${COMP_WORDS[COMP_CWORD]}
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '${names} --help --version' -- "$word"))
    return
  fi
  ((COMP_CWORD == 2)) || verb=\${COMP_WORDS[2]}
  case "\${COMP_WORDS[1]} $verb" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _agent_bash agent-bash`;
}

/** zsh runs the functions of bash. */
function forZsh(program: Command): string {
  return `autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit\n${forBash(program)}`;
}

function forFish(program: Command): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const seen = (words: string) => `__fish_seen_subcommand_from ${words}`;
  const lines = callsOf(program).flatMap(({ path: [name = '', verb], command, operands }) => {
    const within = `complete -c agent-bash -n '${seen(name)}${verb === undefined ? '' : `; and ${seen(verb)}`}'`;
    const options = command.options.map(({ short, long, description }) => {
      const names = `${short ? ` -s ${short.slice(1)}` : ''}${long ? ` -l ${long.slice(2)}` : ''}`;
      return `${within}${names} -d ${quoted(description)}`;
    });
    const own = verb === undefined ? '__fish_use_subcommand' : `'${seen(name)}'`;
    const itself = `complete -c agent-bash -n ${own} -f -a ${verb ?? name} -d ${quoted(command.description())}`;
    return [itself, ...options, ...(operands === undefined ? [] : [`${within} -f -a "(${operands})"`])];
  });
  return lines.join('\n');
}
