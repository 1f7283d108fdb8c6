/**
 * Asks for known problems of our dependencies: `cargo deny` by deny.toml, and `npm audit` of the packages that a user
 * installs.
 *
 * Advisories come from the network. With AGENT_BASH_ONLINE=1 (.github/workflows/ci.yml) a missing answer fails.
 * Otherwise a line reports it, and only a finding fails.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failed, npm, root, run } from './process.mjs';

const online = process.env.AGENT_BASH_ONLINE === '1';

/** The version that stress builds from crates.io if the PATH has no cargo-deny, once per clone. */
const DENY = '0.20.2';

async function builtDeny(options) {
  const folder = join(root, 'target', 'tools', `cargo-deny-${DENY}`);
  const program = join(folder, 'bin', 'cargo-deny');
  if (!existsSync(program)) {
    // An unoptimized cargo-deny still runs for only a second. Its default features are for advisories.
    const features = online ? [] : ['--no-default-features'];
    const args = ['install', 'cargo-deny', '--version', DENY, '--locked', '--debug', '--root', folder, ...features];
    const env = { CARGO_PROFILE_DEV_DEBUG: '0', CARGO_TARGET_DIR: join(folder, 'target') };
    await run('cargo', [...args, '--quiet'], { ...options, env });
  }
  return program;
}

/**
 * Licences, duplicates and sources of all crates; online, advisories too. Without `build`, a machine that has no
 * cargo-deny only says so, unless it is required: its build takes a minute, which the gate does not have.
 */
export async function denied({ build = online, ...options }) {
  const found = await run('cargo', ['deny', '--version'], { output: 'keep', allowFailure: true });
  if (found.code !== 0 && !build) {
    console.log('cargo deny: not installed here; `npm run test:stress dependencies` builds it');
    return;
  }
  const program = found.code === 0 ? ['cargo', 'deny'] : await builtDeny(options);
  const [first, what] = online ? [[], []] : [['--offline'], ['licenses', 'bans', 'sources']];
  await run(program, [...first, 'check', ...what], options);
}

/**
 * The output of `npm audit --json` as a sentence for the log. Throws `Failed` for a finding, and for a missing answer
 * if one is required.
 *
 * An answer without counts is missing: a registry without the endpoint prints an error or a page of its own instead.
 */
export function auditVerdict(printed, required = online) {
  let answer = {};
  try {
    answer = JSON.parse(printed);
  } catch {
    // Reported below.
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

/** Audits the packages that a user installs, without development dependencies. */
export async function audited(options) {
  const args = ['audit', '--omit=dev', '--json'];
  const { stdout } = await run(npm, args, { ...options, output: 'keep', allowFailure: true });
  console.log(auditVerdict(stdout));
}
