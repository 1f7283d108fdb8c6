// Who takes part. Each file exports `load()`, which imports the package and resolves to
//   run(command, env)     starts bash -c command with that environment, resolves to { exitCode, stdout }
//   drain(command, file)  the whole output into `file` or another file of its folder; absent where it offers none
//   collect(command)      the whole output as one string; resolves to its length

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
