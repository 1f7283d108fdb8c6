/** Writes npm/<platform>/ in the version of package.json: `npm run platforms`; `npm version` calls it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addon, platforms, supervisor } from './platform.mjs';
import { main, root, run, tool } from './process.mjs';

await main(async () => {
  await run(tool('napi'), ['create-npm-dirs'], { output: 'keep' });
  for (const platform of platforms()) {
    const file = join(root, 'npm', platform, 'package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    // napi adds only the addon.
    manifest.files = [addon(platform), supervisor];
    manifest.description = `The binaries of agent-bash for ${platform}`;
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
    const readme = `# ${manifest.name}

The addon and the supervisor of \`agent-bash\` for ${platform}. npm installs this package together with \`agent-bash\`
where it fits; there is no other use for it.
`;
    writeFileSync(join(root, 'npm', platform, 'README.md'), readme);
  }
});
