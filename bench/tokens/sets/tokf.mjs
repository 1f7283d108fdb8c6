// Outputs of single tools, fixtures of the filters of tokf. Each lies beside a file that names it.
import { posix } from 'node:path';

export const repository = 'mpecan/tokf';
export const licence = 'MIT';
export const what = 'outputs of single tools';

export function* records({ files, read }) {
  for (const path of files(/filters\/.*_test\/[^/]*\.toml$/)) {
    const text = read(path);
    const fixture = /^fixture\s*=\s*"(.*)"/m.exec(text)?.[1];
    if (!fixture) continue;
    const beside = posix.join(posix.dirname(path), fixture);
    const root = path.slice(0, path.indexOf('/filters/') + 1);
    let output;
    try {
      output = read(beside);
    } catch {
      // Other fixtures are relative to the directory of the crate.
      output = read(posix.join(root, fixture));
    }
    if (output === '') continue;
    // filters/git/push_test/failure.toml: git push
    const command = /filters\/(.*)_test\//.exec(path)[1].replaceAll('/', ' ');
    const exitCode = Number(/^exit_code\s*=\s*(\d+)/m.exec(text)?.[1] ?? 0);
    yield { session: path, command, exitCode, output };
  }
}
