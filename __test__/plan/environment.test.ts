import { type BashOptions, bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { hostEnv, hostResult, mark, processes, sleepers, testBut, until, variables } from '../support/index.ts';

/** The environment that a command sees, without what bash itself sets. */
async function environment(options: BashOptions = {}): Promise<Record<string, string>> {
  const { stdout } = await bash('exec env -0', { sanitize: false, truncate: { keep: 'tail' }, ...options });
  const all = variables(stdout);
  for (const name of ['PWD', 'SHLVL', '_', 'OLDPWD']) delete all[name];
  return all;
}

describe("`inheritEnv: 'safe'`, the default, withholds secrets", () => {
  test.each([
    'OPENAI_API_KEY',
    'ANTHROPIC_API_KEY',
    'GEMINI_API_KEY',
    'GOOGLE_API_KEY',
    'GOOGLE_GENERATIVE_AI_API_KEY',
    'MISTRAL_API_KEY',
    'GROQ_API_KEY',
    'XAI_API_KEY',
    'AI_GATEWAY_API_KEY',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AZURE_CLIENT_SECRET',
    'AZURE_OPENAI_API_KEY',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'GITHUB_TOKEN',
    'GH_TOKEN',
    'GITLAB_TOKEN',
    'NPM_TOKEN',
    'NODE_AUTH_TOKEN',
    'HF_TOKEN',
    'VERCEL_TOKEN',
    'VERCEL_OIDC_TOKEN',
    'CLOUDFLARE_API_TOKEN',
    'SLACK_BOT_TOKEN',
    'STRIPE_SECRET_KEY',
    'PGPASSWORD',
    'MYSQL_PASSWORD',
    'DB_PASSWORD',
    'REDIS_PASSWORD_2',
    'MY_CREDENTIALS_FILE',
    'SOME_PRIVATE_KEY',
    'SESSION_SECRET',
    'ANY_THING_TOKEN',
    'any_thing_token',
  ])('by name: %s', async (name) => {
    hostEnv({ [name]: 'plain-looking' });
    expect(await environment()).not.toHaveProperty([name]);
  });

  test.each([
    ['GitHub', `ghp_${'a1B2c3D4'.repeat(4)}wxyz`],
    ['GitHub, fine-grained', `github_pat_${'A1b2C3d4E5f6'.repeat(6)}`],
    ['Anthropic', `sk-ant-api03-${'Ab3-'.repeat(22)}AA`],
    ['OpenAI', `sk-proj-${'Ab3dE5'.repeat(8)}`],
    ['Slack', `xoxb-${'1'.repeat(12)}-${'2'.repeat(12)}-${'aB3d'.repeat(6)}`],
    ['AWS access key', 'AKIAIOSFODNN7EXAMPLE'],
    ['Google', `AIza${'SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q'.slice(0, 35)}`],
    ['npm', `npm_${'a1B2c3D4e5F6'.repeat(3)}`],
    ['a private key', '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----'],
    ['a JSON web token', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${'aB3d'.repeat(10)}`],
  ])('by value: %s', async (_, value) => {
    hostEnv({ HARMLESS_NAME: value });
    expect(await environment()).not.toHaveProperty('HARMLESS_NAME');
  });

  test.each(['BASH_ENV', 'ENV', 'LD_PRELOAD', 'GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE'])(
    'what would change the command: %s',
    async (name) => {
      hostEnv({ [name]: name === 'LD_PRELOAD' ? '' : '/nowhere' });
      expect(await environment()).not.toHaveProperty(name);
    },
  );

  test.each([
    ['HOME', '/home/of/mine'],
    ['USER', 'me'],
    ['LANG', 'de_DE.UTF-8'],
    ['TZ', 'Europe/Berlin'],
    ['NODE_ENV', 'test'],
    ['JAVA_HOME', '/opt/java'],
    ['KEYBOARD', 'qwertz'],
    ['TOKENIZERS_PARALLELISM', 'false'],
    ['MONKEY', 'banana'],
    ['MY_SETTING', 'sk'],
    ['EMPTY_ONE', ''],
    ['ODD_VALUE', ' a=b\n"c" é '],
    ['http_proxy', 'http://proxy:3128'],
    ['VIRTUAL_ENV', '/venv'],
    ['lower_case', 'x'],
  ])('but not %s', async (name, value) => {
    hostEnv({ [name]: value });
    expect((await environment())[name]).toBe(value);
  });

  test('PATH as it is', async () => {
    expect((await environment()).PATH).toBe(process.env.PATH);
  });
});

describe('the other modes', () => {
  const given = { OPENAI_API_KEY: 'a-key', PLAIN_ONE: 'plain', HOME: '/home/of/mine', BASH_ENV: '', LD_PRELOAD: '' };

  test("`'all'` is everything", async () => {
    hostEnv(given);
    expect(await environment({ inheritEnv: 'all' })).toMatchObject({
      OPENAI_API_KEY: 'a-key',
      PLAIN_ONE: 'plain',
      BASH_ENV: '',
    });
  });

  test("`'none'`: the unattended defaults are all there is", async () => {
    hostEnv(given);
    const all = await environment({ inheritEnv: 'none' });
    for (const name of [...Object.keys(given), 'USER', 'LOGNAME', 'NODE_ENV', 'VITEST'])
      expect(all).not.toHaveProperty(name);
    expect(all).toMatchObject({ PAGER: 'cat', CI: '1', AGENT_BASH: '1' });
  });

  test("`'none'`: programs are found all the same", async () => {
    expect((await bash('ls -d /; echo "$?"', { inheritEnv: 'none' })).stdout).toBe('/\n0\n');
  });

  test('a list means exactly these names', async () => {
    hostEnv(given);
    const all = await environment({ inheritEnv: ['OPENAI_API_KEY', 'PATH', 'NOT_SET_ANYWHERE'] });
    expect(all).toMatchObject({ OPENAI_API_KEY: 'a-key', PATH: process.env.PATH });
    for (const name of ['PLAIN_ONE', 'HOME', 'NOT_SET_ANYWHERE']) expect(all).not.toHaveProperty(name);
  });

  test('an empty list is like `none`', async () => {
    const [one, other] = [await environment({ inheritEnv: [] }), await environment({ inheritEnv: 'none' })];
    expect(Object.keys(one).sort()).toEqual(Object.keys(other).sort());
  });
});

describe('`env`', () => {
  test('is laid over the inherited one; null and undefined remove a name', async () => {
    hostEnv({ INHERITED_1: 'host', INHERITED_2: 'host', INHERITED_3: 'host', INHERITED_4: 'host' });
    const all = await environment({
      env: { INHERITED_1: 'mine', INHERITED_2: null, INHERITED_3: undefined, OWN: 'é "x" $y\n', EMPTY: '' },
    });
    expect(all).toMatchObject({ INHERITED_1: 'mine', INHERITED_4: 'host', OWN: 'é "x" $y\n', EMPTY: '' });
    expect(all).not.toHaveProperty('INHERITED_2');
    expect(all).not.toHaveProperty('INHERITED_3');
  });

  test('carries secrets that the caller gives', async () => {
    const env = { OPENAI_API_KEY: 'given', MY_VALUE: `ghp_${'a1B2c3D4'.repeat(4)}wxyz`, LD_PRELOAD: '', GIT_DIR: '/x' };
    expect(await environment({ env })).toMatchObject(env);
  });

  test('is over the unattended defaults', async () => {
    const all = await environment({
      env: { PAGER: 'less', CI: null, TERM: 'xterm', NO_COLOR: undefined, GIT_EDITOR: 'vim' },
    });
    expect(all).toMatchObject({ PAGER: 'less', TERM: 'xterm', GIT_EDITOR: 'vim' });
    expect(all).not.toHaveProperty('CI');
    expect(all).not.toHaveProperty('NO_COLOR');
  });

  test('removing a name that is not there is nothing', async () => {
    expect((await bash('echo hi', { env: { NOT_SET_ANYWHERE: null } })).stdout).toBe('hi\n');
  });

  test('holds names that are no shell variables', async () => {
    const { stdout } = await bash("env | grep -E '^(a\\.b|c-d)=' | sort", { env: { 'a.b': '1', 'c-d': '2' } });
    expect(stdout).toBe('a.b=1\nc-d=2\n');
  });

  test('a thousand variables', async () => {
    const env = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`MANY_${n}`, 'v'.repeat(n % 90)]));
    expect(await environment({ env })).toMatchObject(env);
  });

  test('only own properties count', async () => {
    const env = Object.create({ FROM_PROTOTYPE: 'x' }) as Record<string, string>;
    env.OWN = 'y';
    const all = await environment({ env });
    expect(all.OWN).toBe('y');
    expect(all).not.toHaveProperty('FROM_PROTOTYPE');
  });
});

describe('unattended defaults', () => {
  test.each([
    ['PAGER', 'cat'],
    ['GIT_PAGER', 'cat'],
    ['GIT_TERMINAL_PROMPT', '0'],
    ['CI', '1'],
    ['TERM', 'dumb'],
    ['NO_COLOR', '1'],
    ['AGENT_BASH', '1'],
  ])('%s=%s, also over an inherited value', async (name, value) => {
    hostEnv({ [name]: 'of the host' });
    for (const inheritEnv of ['safe', 'all', 'none'] as const)
      expect((await environment({ inheritEnv }))[name]).toBe(value);
  });

  test.each(['MANPAGER', 'GIT_EDITOR', 'EDITOR', 'VISUAL', 'SSH_ASKPASS', 'DEBIAN_FRONTEND'])(
    '%s is set, to what ends by itself',
    async (name) => {
      hostEnv({ [name]: 'vim' });
      const value = (await environment())[name];
      expect(value).toBeTruthy();
      expect(value).not.toBe('vim');
    },
  );

  test('SSH_ASKPASS is one that fails', async () => {
    const { exitCode } = await bash('"$SSH_ASKPASS" "Password: "');
    expect(exitCode).not.toBe(0);
  });

  test('an editor ends at once', async () => {
    for (const name of ['EDITOR', 'VISUAL', 'GIT_EDITOR']) {
      expect((await bash(`sh -c "$${name} some-file"`, { timeoutMs: 10_000 })).status).toBe('exited');
    }
  });

  test('`AGENT_BASH_ID` is another one for each command', async () => {
    const ids = await Promise.all(Array.from({ length: 10 }, async () => (await environment()).AGENT_BASH_ID));
    expect(new Set(ids).size).toBe(10);
    for (const id of ids) expect(id).toMatch(/^[\w.-]+$/);
  });

  test('bash sees them as exported variables, once each', async () => {
    const { stdout } = await bash('env | cut -d= -f1 | sort | uniq -d', { env: { PAGER: 'more', A: '1' } });
    expect(stdout).toBe('');
  });
});

describe('the locale is UTF-8', () => {
  test.each([
    ['nothing set', { LANG: undefined, LC_ALL: undefined, LC_CTYPE: undefined }],
    ['LANG=C', { LANG: 'C', LC_ALL: undefined, LC_CTYPE: undefined }],
    ['LC_ALL=C', { LANG: undefined, LC_ALL: 'C', LC_CTYPE: undefined }],
    ['LC_CTYPE=POSIX', { LANG: undefined, LC_ALL: undefined, LC_CTYPE: 'POSIX' }],
  ])('with %s in the host', async (_, locale) => {
    hostEnv(locale);
    expect((await bash("x='é漢😀'; [[ $x == ??? ]]; echo $?")).stdout).toBe('0\n');
  });

  test("the caller's `env` may set another", async () => {
    expect((await bash("x='é漢'; [[ $x == ????? ]]; echo $?", { env: { LC_ALL: 'C' } })).stdout).toBe('0\n');
  });

  test('with nothing inherited', async () => {
    expect((await bash("x='é漢'; [[ $x == ?? ]]; echo $?", { inheritEnv: 'none' })).stdout).toBe('0\n');
  });
});

describe('when a command fails and names were withheld, one note lists them, never a value', () => {
  test('the name that it wanted', async () => {
    hostEnv({ MY_SERVICE_API_KEY: 'the-value-of-it' });
    const result = await bash('test -n "$MY_SERVICE_API_KEY" || { echo "MY_SERVICE_API_KEY is not set" >&2; exit 1; }');
    expect(result.exitCode).toBe(1);
    const notes = result.notes.filter((note) => note.includes('MY_SERVICE_API_KEY'));
    expect(notes).toHaveLength(1);
    expect(JSON.stringify(result)).not.toContain('the-value-of-it');
  });

  test('several in one note', async () => {
    hostEnv({ FIRST_API_KEY: 'value-one-of-it', SECOND_TOKEN: 'value-two-of-it' });
    const { notes } = await bash('echo "need FIRST_API_KEY and SECOND_TOKEN" >&2; exit 2');
    const about = notes.filter((note) => /FIRST_API_KEY|SECOND_TOKEN/.test(note));
    expect(about).toHaveLength(1);
    expect(about[0]).toMatch(/FIRST_API_KEY.*SECOND_TOKEN|SECOND_TOKEN.*FIRST_API_KEY/s);
    expect(notes.join()).not.toMatch(/value-(one|two)-of-it/);
  });

  test('none after a success, none when nothing was withheld', async () => {
    hostEnv({ MY_SERVICE_API_KEY: 'the-value-of-it' });
    expect((await bash('echo "$MY_SERVICE_API_KEY"')).notes).toEqual([]);
    const failed = await bash('echo MY_SERVICE_API_KEY; exit 1', { inheritEnv: 'all' });
    expect(failed.notes).toEqual([]);
    const given = await bash('echo MY_SERVICE_API_KEY; exit 1', { env: { MY_SERVICE_API_KEY: 'x' } });
    expect(given.notes.join()).not.toContain('MY_SERVICE_API_KEY');
  });
});

describe('values are in no argument list', () => {
  test('of any process, while the command runs, at a start and at an end', async () => {
    const seconds = mark();
    const secret = `value${seconds.slice(4)}`;
    const seen: string[] = [];
    const look = () => {
      for (const { argv } of processes())
        if (argv.some((argument) => argument.includes(secret))) seen.push(argv.join(' '));
    };
    const promise = bash(`sleep ${seconds}; printf '%s' "$SECRET_OF_MINE" | wc -c`, {
      env: { SECRET_OF_MINE: secret },
      stdin: secret,
      timeoutMs: 60_000,
    });
    look();
    await until(() => sleepers(seconds).length === 1);
    look();
    for (const pid of sleepers(seconds)) process.kill(pid, 'SIGTERM');
    const { stdout } = await promise;
    look();
    expect(stdout.trim()).toBe(String(secret.length));
    expect(seen).toEqual([]);
  });

  test('nor in the environment of our helpers', async () => {
    if (process.platform !== 'linux') return;
    const found = await hostResult<number>(`
      import { readFileSync, readdirSync } from 'node:fs';
      const secret = 'value-' + 'of-the-caller';
      const result = bash('sleep .5', { env: { SECRET_OF_MINE: secret } });
      await new Promise((resolve) => setTimeout(resolve, 250));
      const read = (pid, file) => { try { return readFileSync('/proc/' + pid + '/' + file, 'utf8'); } catch { return ''; } };
      const helpers = readdirSync('/proc').filter((pid) => /^agent-bash/.test(read(pid, 'comm')));
      console.log(helpers.filter((pid) => read(pid, 'environ').includes(secret)).length);
      await result;
    `);
    expect(found).toBe(0);
  });
});

testBut(['warm'], 'what waits for a shell first calls later')(
  'the environment is that of the call, not of the load or of an earlier call',
  async () => {
    hostEnv({ CHANGES: 'one' });
    const one = bash('echo "$CHANGES"');
    process.env.CHANGES = 'two';
    const two = bash('echo "$CHANGES"');
    delete process.env.CHANGES;
    const three = bash('echo "$CHANGES"');
    expect((await Promise.all([one, two, three])).map(({ stdout }) => stdout)).toEqual(['one\n', 'two\n', '\n']);
  },
);
