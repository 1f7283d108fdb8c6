import type { Command } from 'commander';

/** Examples that `--help` shows below the options of each command. */
const EXAMPLES: Record<string, [example: string, meaning: string][]> = {
  ps: [
    ['agent-bash ps', 'all tasks, running ones first'],
    ['agent-bash ps -r --json', 'running tasks, for programs'],
    ['agent-bash ps --dir ~/.my-agent/tasks', 'the tasks of a registry with a directory of its own'],
    ['agent-bash ps --on docker:web', 'the tasks in a container'],
  ],
  logs: [
    ['agent-bash logs', 'all that the newest task has written'],
    ['agent-bash logs 12345 -n 20 -f', 'its last lines, and then what comes until it ends'],
    ['agent-bash logs 12345 | grep error | head', 'as any program in a pipe'],
  ],
  kill: [
    ['agent-bash kill 12345', 'the task and all that it started'],
    ["agent-bash ps -r --json | jq -r '.[].id' | xargs agent-bash kill", 'all running tasks'],
  ],
  run: [
    ["agent-bash run 'npm test'", 'as an agent would run it; its exit code is the exit code'],
    ["agent-bash run 'make -j2 | tee log' --timeout 10m --cwd src", 'for ten minutes at most, in another directory'],
    ["git diff | agent-bash run --stdin 'wc -l'", 'with the input of a pipe'],
    ["agent-bash run -b 'npm run dev'", 'as a task, which `ps` lists, `logs` reads and `kill` ends'],
    ["agent-bash run --json 'exit 3'", 'with the whole result, for programs'],
    ["agent-bash run --confine -- 'npm test'", 'without secrets and network, and with changes in this directory alone'],
    [
      "agent-bash run --confine --allow-host registry.npmjs.org -- 'npm ci'",
      'the same, with one host that it can reach',
    ],
    ["agent-bash run --undo -- 'git clean -fdx'", 'with a line of what it changed, and a way back'],
    ["agent-bash run --strict 'npm test | tail -5'", 'with the exit code of the tests, which the pipe hides'],
    ["agent-bash run --reduce salient 'npm test'", 'with the lines that a model needs, and the whole in a file'],
    ["agent-bash run --on dev@build1 --cwd project 'npm test'", 'on another machine, through ssh'],
    ["agent-bash run --pool pool.json 'npm test'", 'on the machine of a pool that has the least to do'],
    ["agent-bash run --on pod:web/app-0 --linger 1h 'npm test'", 'in a pod, for an hour also without a link'],
  ],
  pool: [
    ['agent-bash pool pool.json', 'its machines, live'],
    ['agent-bash pool pool.json --try --json', 'with a place that its provider makes, for programs'],
  ],
  log: [
    ['agent-bash log | head', 'the last commands of all agents of this user'],
    ['agent-bash log --since 8h --failed', 'what went wrong in the night'],
    ['agent-bash log --cwd . --changed src/index.ts', 'what in this project has changed a file'],
    ['agent-bash log -f --json', 'all runs as they start and end, for programs'],
  ],
  ui: [
    ['agent-bash ui', 'a page of all that agents run, which a browser opens'],
    ['agent-bash ui --control', 'on which a person can also stop, answer, approve, undo and commit'],
    ['agent-bash ui --port 7070 --no-open', 'always at the same place; the link is printed'],
  ],
  undo: [
    ["agent-bash run --undo 'rm -rf src'", 'a command whose changes are kept'],
    ['agent-bash undo --dry-run', 'what an undo of the newest run here would do'],
    ['agent-bash undo', 'the undo; once more goes back to the run before'],
    ['agent-bash undo 0d3f… --path src', 'of one run, only what lies in src'],
    ['agent-bash undo --list', 'the runs of this directory that can be undone'],
  ],
  draft: [
    ["agent-bash draft -- 'npm update && npm test'", 'in a draft of this repository, which stays as it is'],
    ['agent-bash draft diff d0c1', 'what has changed in it; the beginning of the id is enough'],
    ['agent-bash draft commit d0c1 --path src', 'a part of it'],
    ['agent-bash draft --id d0c1 -- npm test', 'one more command in it'],
    ['agent-bash draft discard d0c1', 'an end without a trace'],
    [
      "agent-bash draft --try 'npm update && npm test' 'npm install left@2 && npm test'",
      'both at once; you choose which one is committed',
    ],
    ["agent-bash draft --commit first --try './fix-a && make test' './fix-b && make test'", 'the first that passes'],
  ],
  check: [
    ["agent-bash check 'git push --force'", 'what it would do, and why it is refused'],
    ["agent-bash check 'npm test > out.txt' --allow 'npm test:*' --allow 'write:out.txt'", 'by rules of your own'],
    ['agent-bash check - < script.sh', 'a whole script'],
    ["agent-bash check 'git clean -fd' --rule git-clean=off", 'without one of the rules'],
    ['agent-bash check --rules', 'what the engine looks for'],
  ],
  mcp: [
    ['agent-bash mcp', 'what a client is to start: { "command": "npx", "args": ["-y", "agent-bash", "mcp"] }'],
    ['agent-bash mcp --timeout 2m --session', 'with more time, and a shell that remembers'],
    ['agent-bash mcp --on-ask allow', 'for clients that ask before each call'],
    ['agent-bash mcp --on-ask page', 'for clients that cannot ask: you answer on the page (agent-bash ui --control)'],
    ['agent-bash mcp --on build1 --cwd project', 'with commands that run on another machine'],
    ['agent-bash mcp --confine --allow-host registry.npmjs.org', 'with commands that reach only what they need'],
  ],
  uninstall: [
    ['agent-bash uninstall --on dev@build1', 'the program and its directories; tasks stay'],
    ['agent-bash uninstall --on docker:web', 'the same in a container'],
  ],
  completion: [
    ['source <(agent-bash completion bash)', 'in ~/.bashrc; with zsh in ~/.zshrc'],
    ['agent-bash completion fish > ~/.config/fish/completions/agent-bash.fish', 'for fish'],
  ],
  doctor: [
    ['agent-bash doctor', 'what there is, and what each missing feature costs'],
    ['agent-bash doctor --json', 'the same, for programs and for reports of faults'],
    ['agent-bash doctor --on dev@build1', 'what another machine offers, and the connection to it'],
    ['agent-bash doctor --fix', 'a plan of what full confinement needs here, with a question'],
    ['agent-bash doctor --fix --for docker', 'a seccomp profile for containers, and the options that use it'],
    ['agent-bash doctor --unfix --yes', 'without what --fix has made'],
  ],
};

/** Adds its examples to the help of each command. */
export function teach(program: Command): void {
  for (const command of program.commands) {
    const examples = EXAMPLES[command.name()] ?? [];
    const lines = examples.map(([example, meaning]) => `  ${example}\n      ${meaning}`);
    if (lines.length > 0) command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
  }
}
