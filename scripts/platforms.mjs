/**
 * `npm run platforms` writes npm/<platform>/, npm/agent-bash-host/, npm/levels.json and the tables of
 * docs/platforms.md, in the version of package.json and from the rows of npm/machines.json.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { levelOf, writeLevels } from './machines/levels.mjs';
import { addon, hostMachines, hostProgram, manifest, platforms, supervisor } from './platform.mjs';
import { main, root, run, tool } from './process.mjs';

/** Writes what npm knows of a package, and its README. */
function write(name, manifest, text) {
  const folder = join(root, 'npm', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(folder, 'README.md'), `# ${manifest.name}\n\n${text}\n`);
}

/** What a README says of a level. */
const LEVEL = {
  tested: '**Tested**: each part of the tests passed on this platform, in this version.',
  built: '**Experimental**: it compiles and links; the tests have not all passed on this platform in this version.',
};

await main(async () => {
  writeLevels();
  await run(tool('napi'), ['create-npm-dirs'], { output: 'keep' });
  for (const platform of platforms()) {
    const declared = JSON.parse(readFileSync(join(root, 'npm', platform, 'package.json'), 'utf8'));
    // napi adds only the addon.
    declared.files = [addon(platform), supervisor];
    declared.description = `The binaries of agent-bash for ${platform}`;
    write(
      platform,
      declared,
      `The addon and the supervisor of \`agent-bash\` for ${platform}. npm installs this package together with \`agent-bash\`
where it fits; there is no other use for it.

${LEVEL[levelOf(platform)]}
\`docs/platforms.md\` of \`agent-bash\` says what was run where.`,
    );
  }
  const { version, keywords, license, engines } = manifest();
  write(
    hostProgram,
    {
      name: hostProgram,
      version,
      description: 'The program by which agent-bash runs commands on other machines and in containers',
      keywords,
      license,
      engines,
      files: Object.values(hostMachines).flatMap((machine) => [
        `${hostProgram}.${machine}.xz`,
        `${hostProgram}.${machine}.gz`,
      ]),
      // Its files are read by the addon, which knows no archive of Yarn.
      preferUnplugged: true,
    },
    `The program by which \`agent-bash\` runs commands on other machines and in containers, for Linux on x64 and arm64. It is
static and needs no library there. Install it beside \`agent-bash\`, in the same version:

\`\`\`sh
npm install agent-bash agent-bash-host
\`\`\`

\`docs/remote.md\` of \`agent-bash\` shows its use. Each machine has the program twice, packed by xz and by gzip. For an
image, unpack the one that fits:

\`\`\`sh
gunzip -c node_modules/agent-bash-host/agent-bash-host.x86_64.gz > agent-bash-host
\`\`\``,
  );
});
