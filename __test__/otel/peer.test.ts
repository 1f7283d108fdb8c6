import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { folder, packageRoot } from '../support/index.ts';

/** The directory of the installed peer. */
const peer = realpathSync(join(packageRoot, 'node_modules', '@opentelemetry', 'api'));

/** A project with this package as its users install it, without the peer. */
function project(): string {
  const root = folder();
  const installed = join(root, 'node_modules', 'agent-bash');
  mkdirSync(installed, { recursive: true });
  for (const part of ['dist', 'package.json'])
    cpSync(join(packageRoot, part), join(installed, part), { recursive: true });
  return root;
}

function installPeer(root: string): void {
  mkdirSync(join(root, 'node_modules', '@opentelemetry'), { recursive: true });
  symlinkSync(peer, join(root, 'node_modules', '@opentelemetry', 'api'));
}

/** A program of both module systems that prints what `code` returns. */
const PROGRAMS = {
  mjs: (code: string) => `import { instrument } from 'agent-bash/otel';\n${code}`,
  cjs: (code: string) => `const { instrument } = require('agent-bash/otel');\n${code}`,
};

async function printed(root: string, kind: keyof typeof PROGRAMS, code: string, cwd = root): Promise<string> {
  const file = join(root, `main.${kind}`);
  writeFileSync(file, PROGRAMS[kind](code));
  const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd, timeout: 40_000 });
  return stdout.trim();
}

const TRY = `try { instrument(); console.log('instrumented'); } catch ({ name, code, message }) {
  console.log(JSON.stringify([name, code, message]));
}`;

describe.each(['mjs', 'cjs'] as const)('.%s', (kind) => {
  test('without the peer the entry loads, and instrument says what to do', async () => {
    expect(JSON.parse(await printed(project(), kind, TRY))).toEqual([
      'BashError',
      'ERR_BASH_UNSUPPORTED',
      '@opentelemetry/api could not be loaded: install it (npm install @opentelemetry/api), or give a tracer or a meter',
    ]);
  });

  test('without the peer a tracer of the caller is enough', async () => {
    const code = `instrument({ tracer: { startSpan() {} } }); console.log('instrumented');`;
    expect(await printed(project(), kind, code)).toBe('instrumented');
  });

  test('with the peer the global providers are used', async () => {
    const root = project();
    installPeer(root);
    expect(await printed(root, kind, TRY)).toBe('instrumented');
  });

  test('the peer of the program is found if this package is elsewhere', async () => {
    const [root, elsewhere] = [folder(), project()];
    installPeer(root);
    symlinkSync(join(elsewhere, 'node_modules', 'agent-bash'), join(root, 'node_modules', 'agent-bash'));
    expect(await printed(root, kind, TRY)).toBe('instrumented');
  });

  test('the working directory, in which agents write, is not searched', async () => {
    const workspace = folder();
    const bait = join(workspace, 'node_modules', '@opentelemetry', 'api');
    mkdirSync(bait, { recursive: true });
    writeFileSync(join(bait, 'index.js'), `console.log('taken');`);
    expect(await printed(project(), kind, TRY, workspace)).toContain('ERR_BASH_UNSUPPORTED');
  });
});
