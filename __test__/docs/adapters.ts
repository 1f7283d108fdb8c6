/**
 * What the framework's own shell lacks, and what each adapter holds besides that which all of them do. The pages of the
 * adapters show these tables. A test of `__test__/stress/frameworks` has the name of each row.
 */
export interface AdapterFacts {
  /** The name of the framework. */
  framework: string;
  /** What the framework's own shell lacks. */
  lacks: string;
  /** Situations, each with what happens then. */
  holds: Record<string, string>;
}

export const FACTS: Record<string, AdapterFacts> = {
  acp: {
    framework: 'Agent Client Protocol',
    lacks: 'no library: each editor writes its own terminals, usually around `spawn`',
    holds: {
      'a connection closes': 'its commands are ended',
      'an unfinished line': 'cleaned, like all other output',
      'a large output': 'the end within the limit, cut at a character',
      'confinement denies': 'the denial stands behind the output',
    },
  },
  'claude-agent-sdk': {
    framework: 'Claude Agent SDK',
    lacks: 'a sandbox that needs bubblewrap and leaves hooks and MCP servers outside; «always» grants a prefix',
    holds: {
      'a command changed files': 'a receipt names them',
      'a change was wrong': '`undo_run` takes it back',
      'a person answers «always»': 'rules for this command, never the whole tool',
      'the confinement denies something': 'the model reads what was denied',
      'a hook or an MCP server reaches out': 'the whole Claude Code is confined',
    },
  },
  harness: {
    framework: 'harness of ai 7',
    lacks: '`just-bash` interprets scripts: no processes, ports or policy; others are remote',
    holds: {
      'a server at a port': 'is reached by `getPortEndpoint`',
      'a network policy': 'holds for later commands, and ends what runs',
      'a session of another process': 'is resumed, with its files, home and policy',
      'the first session of an identity': 'prepares for all later ones',
      'a write outside': 'is denied, and the result says so',
    },
  },
  langchain: {
    framework: 'LangChain and deepagents',
    lacks: 'hangs on a held pipe; output is lost at a limit; split characters are broken',
    holds: {
      'a child holds the output': 'it returns with the shell',
      'the limit is reached': 'the whole tree is ended, and its output is there',
      'a character between two reads': 'is whole',
      'a large output': 'the end is kept',
    },
  },
  mastra: {
    framework: 'Mastra',
    lacks: 'limit, abort, kill and destroy hang on a held pipe; a signal is 128; confinement needs bubblewrap',
    holds: {
      'the sandbox is destroyed': 'what commands have left running is ended, too',
      'a server listens': '`getPortUrl` gives its address, also when confined',
      'a bundle is written': '`writeFiles` gives files their modes',
      'a command asks for the network or other files': 'it is confined by the system itself',
    },
  },
  'openai-agents': {
    framework: 'OpenAI Agents',
    lacks: 'no limit; a held pipe makes `stop` and `close` hang; a signal is exit code 1',
    holds: {
      'a time limit': '`timeoutMs` ends the whole tree',
      'the end of a session': 'nothing is left',
      'an interrupt without a terminal': 'reaches all processes',
      'a port of a confined server': 'is reached if the session declares it',
    },
  },
  opencode: {
    framework: 'OpenCode',
    lacks: 'no sandbox of the system; «always» on `git status; rm -f y` also grants `rm *`',
    holds: {
      'what a command reaches': 'what `confine` allows, and the model is told of a denial',
      'an «always»': 'grants no other command',
      'a command inside a wrapper': 'has a pattern of its own',
      'a command is aborted': 'the whole tree is ended',
    },
  },
  pi: {
    framework: 'pi',
    lacks: "a limit or an abort leaves half a tree alive; the host's keys are visible",
    holds: {
      'secrets of the host': 'are withheld',
      'what a command reaches': 'what `confine` allows, and the model is told of a denial',
      "a person's command": 'is confined, too, and refused by safety or `deny`',
      'a process in the background': 'its end gives the model a turn',
    },
  },
};
