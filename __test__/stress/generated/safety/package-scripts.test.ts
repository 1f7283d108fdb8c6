import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { judge, noMisses, told } from '../../../safety/support.ts';

describe('the scripts of installed packages', () => {
  // Commands that the policy itself names, found in the wild. They are listed so that none is allowed by mistake.
  const named: Record<string, string> = {
    'git clean -xdf . -e node_modules': 'ask',
    'git clean -fdxe node_modules': 'ask',
    'git clean -fx dist': 'ask',
    'git clean -fx dist .output': 'ask',
    'git checkout upstream/master lib/marked.cjs lib/marked.umd.js lib/marked.esm.js marked.min.js': 'ask',
    'napi build --platform && git add .': 'deny',
    'np --no-publish': 'ask',
    'npm publish': 'ask',
    'semantic-release': 'ask',
    'changeset publish': 'ask',
    'tag=$npm_package_version npm run deploy && npm publish --access public': 'ask',
    'git push --follow-tags origin HEAD && npm publish': 'ask',
    'pnpm test && pnpm build && changelogen --release && git push --follow-tags && pnpm publish': 'ask',
    'pnpm test && pnpm build && changelogen --release && pnpm publish && git push --follow-tags': 'ask',
    'pnpm test && pnpm build && changelogen --release && npm publish && git push --follow-tags': 'ask',
    'git push --tags && yarn publish --new-version $npm_package_version && git push && echo "Successfully released version $npm_package_version!"':
      'ask',
    'del-cli dist/ coverage/ *.log *.tmp *.bak *.tgz': 'ask',
    'nvs add 12.17.0 && for f in test-bundle/*.cjs; do [ -f "$f" ] && echo "Running ${f##*/}" && $(nvs which 12.17.0) "$f" || exit 1; done':
      'ask',
  };

  test('are allowed', () => {
    const root = fileURLToPath(new URL('../../../../node_modules', import.meta.url));
    const scripts = new Set<string>();
    // Other tests fetch programs into .cache at the same time.
    const folders = readdirSync(root).filter((name) => !name.startsWith('.'));
    const entries = folders.flatMap((name) => readdirSync(join(root, name), { recursive: true, withFileTypes: true }));
    for (const entry of entries) {
      if (entry.name !== 'package.json' || !entry.isFile()) continue;
      let content: { scripts?: Record<string, unknown> };
      try {
        content = JSON.parse(readFileSync(join(entry.parentPath, entry.name), 'utf8'));
      } catch {
        // A fixture of some package's tests.
        continue;
      }
      for (const script of Object.values(content.scripts ?? {})) if (typeof script === 'string') scripts.add(script);
    }
    expect(scripts.size).toBeGreaterThan(100);
    const misses = [...scripts].flatMap((script) => {
      const analysis = judge(script);
      const { verdict, complete } = analysis;
      const right = named[script] ? verdict === named[script] : (verdict === 'allow' || verdict === 'warn') && complete;
      // One of them has lost a quote, and bash does not take it either.
      const taken = () => spawnSync('bash', ['-n', '-c', script]).status === 0;
      return right || (verdict === 'ask' && !complete && !taken())
        ? []
        : [`${told(analysis)}: ${JSON.stringify(script)}`];
    });
    noMisses(misses);
  });
});
