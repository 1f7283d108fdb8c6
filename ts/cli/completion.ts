import type { Command } from 'commander';
import { EXIT, Failure, print } from './console.ts';

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

/** The commands whose operands are tasks or drafts, with what lists these. */
const LISTED: Record<string, string> = {
  logs: firstOf('ps'),
  kill: firstOf('ps'),
  draft: firstOf('draft list'),
};

/** Returns a command or its verbs, each with the words by which it is called. */
function callsOf(command: Command): [words: string, command: Command][] {
  const name = command.name();
  return command.commands.length === 0 ? [[name, command]] : command.commands.map((verb) => [`${name} ${verb.name()}`, verb]);
}

function namesOf(program: Command): string {
  return program.commands.map((command) => command.name()).join(' ');
}

function flagsOf(command: Command): string {
  return ['--help', ...command.options.flatMap(({ short, long }) => [short, long])].filter(Boolean).join(' ');
}

function forBash(program: Command): string {
  const cases = program.commands.map((command) => `    ${command.name()}) words='${flagsOf(command)}' ;;`);
  return `_agent_bash() {
  local words=''
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '${namesOf(program)} --help --version' -- "\${COMP_WORDS[1]}"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
  esac
  case \${COMP_WORDS[1]} in
    ${OF_TASKS.join('|')}) [[ \${COMP_WORDS[COMP_CWORD]} == -* ]] || words+=" $(${PIDS})" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _agent_bash agent-bash`;
}

/** zsh runs the functions of bash. */
function forZsh(program: Command): string {
  return `autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit\n${forBash(program)}`;
}

function forFish(program: Command): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = program.commands.flatMap((command) => {
    const within = `complete -c agent-bash -n '__fish_seen_subcommand_from ${command.name()}'`;
    const options = command.options.map(({ short, long, description }) => {
      const names = `${short ? ` -s ${short.slice(1)}` : ''}${long ? ` -l ${long.slice(2)}` : ''}`;
      return `${within}${names} -d ${quoted(description)}`;
    });
    const name = `complete -c agent-bash -n __fish_use_subcommand -f -a ${command.name()}`;
    const tasks = OF_TASKS.includes(command.name()) ? [`${within} -f -a "(${PIDS})"`] : [];
    return [`${name} -d ${quoted(command.description())}`, ...options, ...tasks];
  });
  return lines.join('\n');
}
