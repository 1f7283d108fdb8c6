import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build as esbuild } from 'esbuild';
import { build as tsdown } from 'tsdown';
import { describe, expect, test } from 'vitest';
import { ADDON, folder, packageRoot } from '../support/index.ts';

const APP = "import { bash } from 'agent-bash'; bash('echo hi').then(({ stdout }) => process.stdout.write(stdout));";

/** Each bundler, as a function from a directory with the app and a format to the bundle in that directory. */
const bundlers = {
  async esbuild(cwd: string, format: 'esm' | 'cjs') {
    const outfile = join(cwd, `esbuild.${format === 'esm' ? 'mjs' : 'cjs'}`);
    const paths = { absWorkingDir: cwd, entryPoints: ['app.mjs'], outfile };
    await esbuild({ ...paths, bundle: true, platform: 'node', format, logLevel: 'silent' });
    return outfile;
  },
  async rolldown(cwd: string, format: 'esm' | 'cjs') {
    const paths = { cwd, entry: { app: 'app.mjs' }, outDir: 'rolldown' };
    await tsdown({ ...paths, config: false, deps: { alwaysBundle: [/./] }, format, dts: false, logLevel: 'silent' });
    return join(cwd, `rolldown/app.${format === 'esm' ? 'mjs' : 'cjs'}`);
  },
};

describe.each(['esm', 'cjs'] as const)('a bundle as %s that has the main entry in it', (format) => {
  test.each(Object.entries(bundlers))('runs commands if %s has made it', async (_, bundle) => {
    const cwd = folder();
    mkdirSync(join(cwd, 'node_modules'));
    symlinkSync(packageRoot, join(cwd, 'node_modules/agent-bash'));
    writeFileSync(join(cwd, 'app.mjs'), APP);
    const env = { ...process.env, AGENT_BASH_ADDON: ADDON, NODE_OPTIONS: '' };
    expect(execFileSync(process.execPath, [await bundle(cwd, format)], { cwd, env, encoding: 'utf8' })).toBe('hi\n');
  });
});
