import { resolve } from 'node:path';
import type { Target } from 'agent-bash';
import { failure } from './errors.ts';
import { type Folders, PREFIX, SILENT_MS } from './folders.ts';
import { answerOf, runScriptOn } from './script.ts';

/** Time after which a folder in the making counts as left over by a host that was killed, in minutes. */
const LEFT_MINUTES = 24 * 60;
/** The exit code of a claim that another one has. */
const TAKEN = 40;

const MAKE = 'umask 077; exec mkdir -p -- "$1"';
const MAKE_NEW = 'umask 077; exec mkdir -- "$1"';
const STAGE = `find "$1" -maxdepth 1 -name '${PREFIX}*' -mmin +${LEFT_MINUTES} -exec rm -rf -- {} + 2> /dev/null
exec mktemp -d -- "$1/${PREFIX}XXXXXXXXXX"`;
const CLAIM = `mv -fT -- "$1" "$2" 2> /dev/null && exit
[[ -e $1 && -d $2 ]] && exit ${TAKEN}
exec mv -fT -- "$1" "$2"`;
// What is removed is in the directory that was looked at, also if another claim has taken its name by now.
const REMOVE_LEFT = `cd -- "$1" 2> /dev/null || exit 0
shopt -s nullglob dotglob
names=(*)
then=$(stat -c %Y .) || exit 0
(( $(date +%s) - then < ${SILENT_MS / 1_000} || \${#names[@]} == 0 )) || rm -rf -- "\${names[@]}"`;
const SIGN = '[[ -e $2 ]] || exit 0; exec touch -- "$1"';
const COPY = `cp -a --reflink=auto -- "$1/." "$2/" || exit
exec find "$2" ! -type f ! -type d ! -type l -exec rm -f -- {} +`;
const REMOVE_EMPTY = 'rmdir -- "$1" 2> /dev/null; exit 0';

/**
 * The folders of a target. Hosts on other machines use them, too, and cannot be seen there: a claim counts as left over
 * after a minute without a sign of life.
 */
export class FoldersThere implements Folders {
  readonly lookMs = 200;
  readonly #target: Target;

  constructor(target: Target) {
    this.#target = target;
  }

  absolute(path: string): string {
    return resolve(this.#target.info.cwd, path);
  }

  async make(path: string): Promise<void> {
    await this.#run(MAKE, path);
  }

  async makeNew(path: string): Promise<void> {
    await this.#run(MAKE_NEW, path);
  }

  async makeStaging(dir: string): Promise<string> {
    return (await this.#run(STAGE, dir)).replace(/\n$/, '');
  }

  async isThere(path: string): Promise<boolean> {
    return (await this.#target.stat(path)) !== null;
  }

  async isFolder(path: string): Promise<boolean> {
    return (await this.#target.stat(path))?.kind === 'directory';
  }

  async claim(from: string, to: string): Promise<boolean> {
    const { exitCode, stderr } = await runScriptOn(this.#target, CLAIM, [from, to]);
    if (exitCode !== 0 && exitCode !== TAKEN) throw failure('EIO', `${to} could not be made: ${stderr.trim()}`);
    return exitCode === 0;
  }

  async removeLeft(claimed: string): Promise<void> {
    await this.#run(REMOVE_LEFT, claimed);
  }

  async sign(folder: string, inside: string): Promise<void> {
    await this.#run(SIGN, folder, inside);
  }

  async copy(from: string, to: string): Promise<void> {
    await this.#run(COPY, from, to);
  }

  async remove(path: string): Promise<void> {
    await this.#target.remove(path, { recursive: true });
  }

  async removeEmpty(path: string): Promise<void> {
    await this.#run(REMOVE_EMPTY, path);
  }

  async read(path: string): Promise<string | null> {
    const bytes = await this.#target.readFile(path);
    return bytes && Buffer.from(bytes).toString();
  }

  async replace(path: string, text: string): Promise<void> {
    await this.#target.writeFile(path, text, { mode: 0o600 });
  }

  #run(script: string, ...args: string[]): Promise<string> {
    return answerOf(this.#target, script, args, `${args[0]} could not be used`);
  }
}
