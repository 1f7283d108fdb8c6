import levels from '../../npm/levels.json';
import { version } from '../../package.json';
import { BashError } from '../errors.ts';
import { createRequire, dirname, existsSync, isAbsolute, join } from './builtins.ts';

/** A file of the addon, and its package. `null`: it belongs to no package. */
interface Candidate {
  file: string;
  owner: { name: string; version: string } | null;
}

/**
 * Loads the addon of this platform: the file that `AGENT_BASH_ADDON` names, or else the first of these that is there.
 *
 * 1. The file of a build, beside the package.
 * 2. The platform's package, searched from the package, from the bundle, and from the program that Node was started
 *    with.
 * 3. The file or the package beside the program that runs: a single-file program, or Node.
 *
 * Never searches the working directory, whose files may belong to others. The error says in one sentence what is wrong.
 */
export function loadAddon(): unknown {
  const named = process.env.AGENT_BASH_ADDON;
  if (named) {
    if (isAbsolute(named)) return load(named);
    throw failure(`AGENT_BASH_ADDON: ${named} is not an absolute path`);
  }
  const others: string[] = [];
  let failed: unknown;
  for (const { file, owner } of candidates()) {
    if (owner !== null && owner.version !== version) {
      others.push(`${owner.name} ${owner.version}`);
      continue;
    }
    try {
      return load(file);
    } catch (error) {
      failed ??= error;
    }
  }
  throw failed ?? missing([...new Set(others)]);
}

function* candidates(): Generator<Candidate> {
  const names = platformNames();
  const files = (directory: string) =>
    likelierFirst(names.map((name) => join(directory, fileOf(name))).filter(existsSync));
  for (const file of hasPackage() ? files(join(dirname(__filename), '..')) : []) yield { file, owner: null };
  for (const require of requires()) yield* packages(require, names);
  for (const file of files(dirname(process.execPath))) yield { file, owner: null };
}

/** The names of this platform: a Linux may have either C library. */
function platformNames(): string[] {
  const { platform, arch } = process;
  return platform === 'linux' ? [`linux-${arch}-gnu`, `linux-${arch}-musl`] : [`${platform}-${arch}`];
}

/** Returns what was found for the names of this platform, that of its C library first. */
function likelierFirst<T>(found: T[]): T[] {
  return found.length > 1 && glibc() === null ? found.reverse() : found;
}

/** The version of the C library, if it is glibc. Takes some milliseconds. */
function glibc(): string | null {
  const { header } = (attempt(() => process.report.getReport()) ?? {}) as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime ?? null;
}

const fileOf = (platform: string) => `agent-bash.${platform}.node`;

/** Resolves packages from the package or bundle, the program that Node was started with, Node, and other places. */
export function* requires(...others: (() => string)[]): Generator<NodeJS.Require> {
  const places = [bundleFile, () => process.argv[1], () => process.execPath, ...others];
  for (const place of places) yield* requiresFrom(place);
}

/** Resolves packages from a place, and from an `agent-bash` there, beside which some package managers put them. */
function requiresFrom(place: () => string | null | undefined): NodeJS.Require[] {
  const require = attempt(() => createRequire(place() as string));
  const nested = require && attempt(() => createRequire(require.resolve('agent-bash/package.json')));
  return [require, nested].filter((one) => one !== null);
}

function packages(require: NodeJS.Require, names: string[]): Candidate[] {
  const found = names.flatMap((name) => {
    const manifest = attempt(() => require.resolve(`agent-bash-${name}/package.json`));
    const owner = manifest && attempt(() => require(manifest) as { name: string; version: string });
    return owner ? [{ file: join(dirname(manifest), fileOf(name)), owner }] : [];
  });
  return likelierFirst(found);
}

/** Loads a file. Throws an error that says why it cannot be loaded. */
function load(file: string): unknown {
  try {
    return createRequire(file)(file);
  } catch (error) {
    throw failure(reason(file, (error as Error).message), error);
  }
}

/** Translates the words of the dynamic linker. */
function reason(file: string, message: string): string {
  const needed = [...message.matchAll(/version [`']GLIBC_([\d.]+)' not found/g)].map(([, number]) => number);
  if (needed.length > 0) {
    const here = glibc();
    return `the addon needs glibc ${needed.at(-1)}, and this machine has ${here ?? 'an older one'} (${file})`;
  }
  if (/ld-linux|libc\.so\.6/.test(message) && glibc() === null) {
    return `${file} was built for glibc, and this system has musl: install the package for musl (npm install --libc=musl)`;
  }
  if (message.includes('failed to map segment')) {
    return `${file} is on a mount from which nothing may be executed (noexec): install the package elsewhere`;
  }
  if (!existsSync(file)) return `${file} does not exist`;
  return `${file} cannot be loaded: ${message.split('\n', 1)[0]}`;
}

function missing(others: string[]): BashError {
  const { platform, arch } = process;
  if (others.length > 0) {
    return failure(
      `agent-bash ${version} found its addon in another version only: ${others.join(', ')}. ` +
        `Install version ${version} of that package.`,
    );
  }
  if (!platformNames().some((name) => name in levels)) {
    return new BashError(
      'ERR_BASH_UNSUPPORTED',
      `agent-bash has no build for ${platform} ${arch}: it runs on Linux (x64 and arm64, glibc and musl) and macOS ` +
        '(x64 and arm64), and on Windows inside WSL 2.',
    );
  }
  if (!hasPackage()) {
    return failure(
      'agent-bash was bundled or copied without its addon: name it as external (esbuild: --external:agent-bash; Next.js: ' +
        'serverExternalPackages) and have all of it where the bundle runs, as docs/bundling.md of the package shows, ' +
        'or name the file in AGENT_BASH_ADDON.',
    );
  }
  const names = likelierFirst(platformNames()).map((name) => `agent-bash-${name}`);
  return failure(
    `agent-bash found no addon for ${platform} ${arch}: no package ${names.join(' or ')} is installed beside it. ` +
      'Install it again with optional dependencies (npm install --include=optional).',
  );
}

function failure(message: string, cause?: unknown): BashError {
  const error = new BashError('ERR_BASH_SPAWN', message);
  if (cause !== undefined) error.cause = cause;
  return error;
}

/** Returns a file of a build beside the package. `null` if there is none. */
export function besidePackage(name: string): string | null {
  const file = hasPackage() ? join(dirname(__filename), '..', name) : null;
  return file !== null && existsSync(file) ? file : null;
}

/** Returns whether this code is at its place in the package. */
function hasPackage(): boolean {
  if (!hasFileName()) return false;
  const manifest = attempt(() => createRequire(__filename)('../package.json') as { name: string });
  return manifest?.name === 'agent-bash';
}

/** Returns whether `__filename` is a file. In an ES module it does not exist, and with `node -e` it is `[eval]`. */
function hasFileName(): boolean {
  return typeof __filename === 'string' && isAbsolute(__filename);
}

/** The file of the code that runs here. In an ES module that a bundler has made, only a stack has its name. */
function bundleFile(): string | null {
  if (hasFileName()) return __filename;
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = (_, sites) => sites;
  try {
    const [site] = new Error().stack as unknown as NodeJS.CallSite[];
    return site?.getFileName() ?? null;
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
  }
}

function attempt<T>(act: () => T): T | null {
  try {
    return act();
  } catch {
    return null;
  }
}
