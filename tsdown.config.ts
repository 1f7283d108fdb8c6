import { defineConfig } from 'tsdown';

const shared = { platform: 'node', target: 'node20', outDir: 'dist', clean: false, sourcemap: false } as const;

export default defineConfig([
  // The main entry is one CommonJS file for import and require, so that both share one addon and one state.
  {
    ...shared,
    entry: { index: 'ts/index.ts' },
    format: 'cjs',
    dts: true,
    external: [/native\.cjs$/],
  },
  // The other entries come as twins; what they need of the main entry they take from the package itself.
  { ...shared, entry: { ai: 'ts/ai/index.ts', sandbox: 'ts/sandbox/index.ts' }, format: ['esm', 'cjs'], dts: true, external: ['agent-bash'] },
]);
