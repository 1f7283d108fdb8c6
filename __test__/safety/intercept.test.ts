import { BackgroundRegistry } from 'agent-bash';
import { type BashToolError, type BashToolOptions, createBashTool, INTERCEPT_RULES } from 'agent-bash/ai';
import { describe, expect, it, vi } from 'vitest';
import { callTool, RESULT } from '../ai/fixtures/call.ts';
import { cpuTimed } from '../support/index.ts';

const ALL = ['read_file', 'Grep', 'glob', 'edit', 'mcp__fs__write_file'];

/** A call with all tools at hand; nothing is really run. */
async function ask(command: string, options: BashToolOptions = {}) {
  const run = vi.fn(async () => structuredClone(RESULT) as never);
  const { output, text } = await callTool({ availableTools: ALL, interceptor: true, run, ...options }, command);
  return { output: output as BashToolError, text, ran: run.mock.calls.length > 0 };
}

describe('the default rules', () => {
  it.each([
    ['cat package.json', 'read_file', { path: 'package.json' }],
    ['cat -n src/a.ts', 'read_file', { path: 'src/a.ts' }],
    ["cat 'my file.txt' 2>/dev/null", 'read_file', { path: 'my file.txt' }],
    ['cat "a \\"b\\".txt"', 'read_file', { path: 'a "b".txt' }],
    ['cat a.ts b.ts', 'read_file', { path: 'a.ts' }],
    ['head -n 20 src/a.ts', 'read_file', { path: 'src/a.ts' }],
    ['tail -50 build.log', 'read_file', { path: 'build.log' }],
    ['less README.md', 'read_file', { path: 'README.md' }],
    ['more README.md', 'read_file', { path: 'README.md' }],
    ["sed -n '10,20p' src/a.ts", 'read_file', { path: 'src/a.ts' }],
    ['grep -rn foo src', 'Grep', { pattern: 'foo', path: 'src' }],
    ['grep "foo bar" -rn .', 'Grep', { pattern: 'foo bar', path: '.' }],
    ["grep -rn 'a\\.b' --include='*.ts' src/ test/", 'Grep', { pattern: 'a\\.b', path: 'src/' }],
    ['grep -rn --include "*.ts" foo .', 'Grep', { pattern: 'foo', path: '.' }],
    ['rg --glob "*.ts" --context 3 foo', 'Grep', { pattern: 'foo' }],
    ['grep -R foo', 'Grep', { pattern: 'foo' }],
    ['grep -c TODO src/*.ts', 'Grep', { pattern: 'TODO', path: 'src/*.ts' }],
    ['rg foo', 'Grep', { pattern: 'foo' }],
    ["rg -t ts -A 3 'foo\\(' src 2>&1", 'Grep', { pattern: 'foo\\(', path: 'src' }],
    ['ag foo src', 'Grep', { pattern: 'foo', path: 'src' }],
    ["find . -name '*.ts'", 'glob', { path: '.', pattern: '*.ts' }],
    ['find src -type f -not -path "*/dist/*" -name "*.ts"', 'glob', { path: 'src', pattern: '*.ts' }],
    ['fd config src', 'glob', { pattern: 'config', path: 'src' }],
    ['rg --files', 'glob', {}],
    ['ls -laR src', 'glob', { path: 'src' }],
    ["sed -i 's/a/b/g' src/a.ts", 'edit', { path: 'src/a.ts' }],
    ["sed -i '' -e s/a/b/ src/a.ts", 'edit', { path: 'src/a.ts' }],
    ["perl -pi -e 's/a/b/' src/a.ts", 'edit', { path: 'src/a.ts' }],
    ["perl -i -pe 's/a/b/' src/a.ts", 'edit', { path: 'src/a.ts' }],
    ['echo hello world > note.txt', 'mcp__fs__write_file', { path: 'note.txt' }],
    ['printf \'a\\nb\\n\' > "my note"', 'mcp__fs__write_file', { path: 'my note' }],
    ['echo hello | tee note.txt', 'mcp__fs__write_file', { path: 'note.txt' }],
    ["cat > a.sh <<'EOF'\necho $HOME\nEOF", 'mcp__fs__write_file', { path: 'a.sh' }],
    ['cat <<EOF > a.txt\nno expansion\nEOF\n', 'mcp__fs__write_file', { path: 'a.txt' }],
    ["tee a.txt <<'EOF' > /dev/null\ntext\nEOF", 'mcp__fs__write_file', { path: 'a.txt' }],
    ['echo more >> note.txt', 'edit', { path: 'note.txt' }],
    ["cat >> a.txt <<'EOF'\nmore\nEOF", 'edit', { path: 'a.txt' }],
  ])('stop %j: %s', async (command, name, input) => {
    const { output, ran } = await ask(command);
    expect(ran).toBe(false);
    expect(output).toMatchObject({ code: 'ERR_BASH_BLOCKED', suggestedTool: { name, input } });
    expect(output.suggestedTool?.input).toEqual(input);
    expect(output.error).toMatch(/^Blocked: /);
    expect(output.error).toContain(command);
  });

  it.each([
    'cat a | wc -l',
    'cat data.json | jq .name',
    'cat <<EOF | psql\nselect 1\nEOF',
    "cat <<'EOF' | sh\nls\nEOF",
    "cat <<'EOF'\njust said\nEOF",
    'cat',
    'cat $FILE',
    'cat "$(git ls-files | head -1)"',
    'cat *.md',
    'cat a && npm test',
    'cat a\nnpm test',
    'cat a # and then?',
    'cat /proc/cpuinfo',
    'cat a > b',
    'cat < a > b',
    'tail -f server.log',
    'tail -c 100 a',
    'head -c 16 /dev/urandom',
    'ps aux | grep node',
    'npm ls | grep -i react',
    'git grep foo',
    'git log | cat',
    'grep -q foo a',
    'grep -rq foo src',
    'grep foo',
    'grep --help',
    'grep -rn foo src | sort | uniq -c',
    'if grep -q foo a; then echo yes; fi',
    'rg --version',
    'rg --pre cat foo',
    'find . -name x -delete',
    "find . -name '*.log' -exec rm {} +",
    'find . -mtime +7',
    'find . -size +1M -name x',
    'find . -name x | xargs rm',
    'fd foo -x rm',
    'ls',
    'ls -la src',
    'ls -t | head -1',
    'sed s/a/b/ file',
    'sed -i s/a/b/ *.ts',
    'sed -i s/a/b/ a.ts b.ts',
    'sed -i -e s/a/b/ a.ts b.ts',
    'sed -i s/a/b/ a.ts && npm test',
    "perl -e 'print 1'",
    'awk "{print $1}" a',
    'echo hello',
    'echo hello > /dev/null',
    'echo hello >&2',
    'echo hello 2> a',
    'echo "$(date)" > a',
    'echo $HOME > a',
    'echo * > a',
    'echo a && echo b > c',
    'npm test > out.log',
    'npm test > out.log 2>&1',
    'node -e 1 > a',
    'cat > a <<EOF\n$HOME\nEOF',
    'cat > a <<EOF\nx\nEOF\nchmod +x a',
    'printf x | sudo tee /etc/a',
    'diff a b',
    'git diff > a.patch',
    'my-cat a',
    './cat a',
    'category a',
    'catalog',
    "echo 'cat a'",
    "git commit -m 'cat file'",
  ])('let %j run', async (command) => {
    const { output, ran } = await ask(command);
    expect({ command, ran, output }).toMatchObject({ ran: true, output: { exitCode: 0 } });
  });

  it('are in time for any text', async () => {
    const texts = [
      `cat ${'a'.repeat(100_000)} |`,
      `cat a${' '.repeat(100_000)}|`,
      `grep ${'-r '.repeat(30_000)}|`,
      `rg ${'--a '.repeat(30_000)}|`,
      `rg ${'-t a '.repeat(10_000)}|`,
      `rg ${'--type --type '.repeat(10_000)}|`,
      `grep ${'--include a -e '.repeat(10_000)}|`,
      `ls ${'-R '.repeat(30_000)}|`,
      `find ${'. '.repeat(30_000)}|`,
      `find${' '.repeat(100_000)}|`,
      `find ${'-not -name a '.repeat(10_000)}|`,
      `echo ${"''".repeat(50_000)}|`,
      `echo ${'2 '.repeat(50_000)}|`,
      `sed -i ${'-e x '.repeat(20_000)}|`,
      `cat > f <<'EOF'\n${'x\n'.repeat(50_000)}`,
    ];
    for (const text of texts) {
      const [, ms] = cpuTimed(() => INTERCEPT_RULES.map(({ pattern }) => new RegExp(pattern).test(text)));
      expect(ms, text.slice(0, 20)).toBeLessThan(2_000);
    }
  });
});

describe('an interceptor', () => {
  it('is off until it is asked for', async () => {
    expect((await ask('cat a', { interceptor: undefined })).ran).toBe(true);
    expect((await ask('cat a', { interceptor: false })).ran).toBe(true);
    expect((await ask('cat a', { interceptor: [] })).ran).toBe(true);
  });

  it('suggests only tools that are at hand', async () => {
    expect((await ask('cat a', { availableTools: undefined })).ran).toBe(true);
    expect((await ask('cat a', { availableTools: [] })).ran).toBe(true);
    expect((await ask('cat a', { availableTools: ['grep', 'write'] })).ran).toBe(true);
    expect((await ask('cat a', { availableTools: ['bash', 'View'] })).output.suggestedTool?.name).toBe('View');
  });

  it.each([
    'read',
    'Read',
    'read_file',
    'readFile',
    'read-file',
    'mcp__files__read_file',
    'str_replace_based_edit_tool',
  ])('knows a reader by the name %s', async (name) => {
    expect((await ask('cat a', { availableTools: [name] })).output.suggestedTool).toEqual({
      name,
      input: { path: 'a' },
    });
  });

  it('tells the model what to use instead', async () => {
    const { output, text } = await ask('cat src/a.ts');
    expect(text).toBe(output.error);
    expect(text).toBe(
      'Blocked: a file is read with the tool for it, which numbers the lines and can go on where it stopped.\n' +
        'Use the tool read_file with {"path":"src/a.ts"} instead.\nOriginal command: cat src/a.ts',
    );
    expect(structuredClone(output)).toEqual(output);
    expect(JSON.parse(JSON.stringify(output))).toEqual(output);
  });

  it('takes rules of its own', async () => {
    const interceptor = [
      {
        pattern: '^npm (?:install|i) (?<package>\\S+)$',
        tool: 'add_package',
        message: 'packages are added by review.',
      },
      { pattern: /^CURL\b/gi, tool: ['fetch', 'web_fetch'], message: 'pages are fetched with a tool.' },
    ];
    const availableTools = ['add_package', 'web_fetch'];
    expect((await ask('npm i left-pad', { interceptor, availableTools })).output).toEqual({
      error:
        'Blocked: packages are added by review.\nUse the tool add_package with {"package":"left-pad"} instead.\n' +
        'Original command: npm i left-pad',
      code: 'ERR_BASH_BLOCKED',
      suggestedTool: { name: 'add_package', input: { package: 'left-pad' } },
    });
    // A pattern with g would only match every other time.
    for (let time = 0; time < 3; time += 1) {
      const { output } = await ask('curl example.org', { interceptor, availableTools });
      expect(output.suggestedTool).toEqual({ name: 'web_fetch', input: {} });
    }
    expect((await ask('cat a', { interceptor, availableTools })).ran).toBe(true);
    expect((await ask('npm i left-pad', { interceptor, availableTools: ['web_fetch'] })).ran).toBe(true);
  });

  it('an invalid pattern is an error when it is configured', () => {
    const rule = { pattern: '(', tool: 'read', message: '' };
    expect(() => createBashTool({ interceptor: [rule] })).toThrow(
      expect.objectContaining({
        code: 'ERR_BASH_INVALID_ARG',
        message: expect.stringContaining('interceptor[0].pattern'),
      }),
    );
    const wrong = [{ ...rule, pattern: 1 }, { ...rule, pattern: '', tool: [] }, { pattern: '', tool: 'read' }, null];
    for (const interceptor of [...wrong.map((one) => [one]), 'yes', 1]) {
      expect(() => createBashTool({ interceptor: interceptor as never })).toThrow(
        expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }),
      );
    }
    expect(() => createBashTool({ availableTools: 'read' as never })).toThrow(
      expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }),
    );
  });

  it('of one call holds for that call, and a wrong one is its error', async () => {
    const perCall = () => ({ availableTools: ['view'] });
    expect((await ask('cat a', { perCall })).output.suggestedTool?.name).toBe('view');
    const wrong = () => ({ interceptor: [{ pattern: '(', tool: 'read_file', message: '' }] });
    expect((await ask('cat a', { perCall: wrong })).output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
  });

  it('sees the command as onBeforeRun leaves it, and onAfterRun sees the answer', async () => {
    const onAfterRun = vi.fn();
    const { output } = await ask('show a', { onBeforeRun: () => ({ command: 'cat a' }), onAfterRun });
    expect(onAfterRun).toHaveBeenCalledWith({ command: 'cat a', result: output });
  });

  it('is not asked about tasks', async () => {
    await using registry = new BackgroundRegistry();
    const { output } = await callTool({ interceptor: true, availableTools: ALL, registry }, { check_pid: 1 });
    expect(output).toMatchObject({ code: 'ERR_BASH_UNKNOWN_TASK' });
  });
});
