// The contestants. Each file exports `load()`, which imports the package and resolves with
//   run(command, env)     runs bash -c command with that environment, resolves with { exitCode, stdout }
//   drain(command, file)  writes the whole output to `file` or another file of its directory (optional)
//   collect(command)      reads the whole output as one string, resolves with its length (optional)

const FILES = {
  'agent-bash': './agent-bash.mjs',
  spawn: './spawn.mjs',
  execFile: './exec-file.mjs',
  execa: './execa.mjs',
  tinyexec: './tinyexec.mjs',
  'nano-spawn': './nano-spawn.mjs',
};

export const OURS = 'agent-bash';
export const PEERS = Object.keys(FILES).filter((name) => name !== OURS);
export const load = async (name) => (await import(FILES[name])).load();
