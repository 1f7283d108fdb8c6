/**
 * What the main entry uses of Node's own modules. Asked for in a way that needs no `require`: an ES module that a bundler makes of this
 * entry has none, and would fail on the first line with words of its own, instead of saying what to do (`loadNative`).
 */
const { channel } = process.getBuiltinModule('node:diagnostics_channel');
const { createRequire } = process.getBuiltinModule('node:module');
const { constants, homedir } = process.getBuiltinModule('node:os');
const { isAbsolute, join, resolve } = process.getBuiltinModule('node:path');
const { threadId } = process.getBuiltinModule('node:worker_threads');

export { channel, constants, createRequire, homedir, isAbsolute, join, resolve, threadId };
