/**
 * The parts of Node's own modules that the main entry uses, without `require`. An ES module that a bundler makes of
 * this entry has no `require` and would fail on its first line, before `loadNative` can name the remedy.
 */
if (typeof process.getBuiltinModule !== 'function') {
  const message = `agent-bash needs Node 20.17 or later, and this is Node ${process.versions.node}`;
  throw Object.assign(new Error(message), { code: 'ERR_BASH_UNSUPPORTED' });
}
const { channel } = process.getBuiltinModule('node:diagnostics_channel');
const { createRequire } = process.getBuiltinModule('node:module');
const { homedir, tmpdir } = process.getBuiltinModule('node:os');
const { chmodSync, existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } =
  process.getBuiltinModule('node:fs');
const { constants, copyFile, link, open, readFile, rm } = process.getBuiltinModule('node:fs/promises');
const { basename, dirname, isAbsolute, join, resolve } = process.getBuiltinModule('node:path');
const { types } = process.getBuiltinModule('node:util');
const { isMainThread, threadId } = process.getBuiltinModule('node:worker_threads');

export {
  basename,
  channel,
  chmodSync,
  constants,
  copyFile,
  createRequire,
  dirname,
  existsSync,
  homedir,
  isAbsolute,
  isMainThread,
  join,
  link,
  linkSync,
  mkdirSync,
  mkdtempSync,
  open,
  readFile,
  readFileSync,
  realpathSync,
  resolve,
  rm,
  rmSync,
  statSync,
  threadId,
  tmpdir,
  types,
};
