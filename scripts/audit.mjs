/**
 * What others know of the code that we take along: `cargo deny` by deny.toml, and `npm audit` of what a user installs.
 *
 * Advisories come from the network. Where AGENT_BASH_ONLINE=1 says that there is one (.github/workflows/ci.yml), not getting them fails;
 * elsewhere a line says that nobody was asked, and only what was really found fails.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failed, npm, root, run } from './process.mjs';

const online = process.env.AGENT_BASH_ONLINE === '1';

/** Built from crates.io where the PATH has none: two minutes, once a clone. */
const DENY = '0.20.2';

async function cargoDeny(options) {
  const found = await run('cargo', ['deny', '--version'], { output: 'keep', allowFailure: true });
  if (found.code === 0) return ['cargo', 'deny'];
  const folder = join(root, 'target', 'tools', `cargo-deny-${DENY}`);
  const program = join(folder, 'bin', 'cargo-deny');
  if (!existsSync(program)) {
    // Without optimizing: it runs for a second. Its default features are for advisories.
    const features = online ? [] : ['--no-default-features'];
    const args = ['install', 'cargo-deny', '--version', DENY, '--locked', '--debug', '--root', folder, ...features];
    const env = { CARGO_PROFILE_DEV_DEBUG: '0', CARGO_TARGET_DIR: join(folder, 'target') };
    await run('cargo', [...args, '--quiet'], { ...options, env });
  }
  return [program];
}

/** Licences, duplicates and sources of all crates; online, advisories too. */
export async function denied(options) {
  const program = await cargoDeny(options);
  const [first, what] = online ? [[], []] : [['--offline'], ['licenses', 'bans', 'sources']];
  await run(program, [...first, 'check', ...what], options);
}

/**
 * What `npm audit --json` printed, as a sentence for the log; throws `Failed` for a finding, and for no answer where there has to be one.
 *
 * An answer without the counts is none: registries without the endpoint print an error in its place, or a page of their own.
 */
export function auditVerdict(printed, required = online) {
  let answer = {};
  try {
    answer = JSON.parse(printed);
  } catch {
    // Said below.
  }
  const total = answer?.metadata?.vulnerabilities?.total;
  if (typeof total !== 'number') {
    const why = answer?.message ?? answer?.error?.summary ?? 'no JSON came back';
    const text = `npm audit: the registry was not able to answer, so nothing is known (${why})`;
    if (required) throw new Failed(text);
    return text;
  }
  if (total > 0) throw new Failed(`npm audit: ${Object.keys(answer.vulnerabilities).join(', ')}`, printed);
  return 'npm audit: nothing is known against what a user installs';
}

/** What a user installs: development dependencies reach nobody. */
export async function audited(options) {
  const args = ['audit', '--omit=dev', '--json'];
  const { stdout } = await run(npm, args, { ...options, output: 'keep', allowFailure: true });
  console.log(auditVerdict(stdout));
}
