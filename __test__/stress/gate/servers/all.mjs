/**
 * Starts all servers: `node all.mjs`. Prints a line `http NAME PORT`, `tls NAME PORT` or `starttls NAME PORT` for each,
 * then `ready`. They end with its standard input.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const here = import.meta.dirname;
const target = resolve(here, '../../../../target/stress/gate');
mkdirSync(target, { recursive: true });
const DIRECTORY = mkdtempSync(join(tmpdir(), 'agent-bash-servers-'));
const CERTIFICATES = DIRECTORY;
/** The last bytes of other protocols before a client begins TLS. */
const AGREED = [
  'STARTTLS\r\n',
  'STLS\r\n',
  'AUTH TLS\r\n',
  "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>",
  '\x00\x00\x00\x08\x04\xd2\x16\x2f',
  '1.3.6.1.4.1.1466.20037',
  `\x20\x00\x00\x01\x85\xae\x7f\x00\x00\x00\x00\x01\x21${'\x00'.repeat(23)}`,
].map((end) => Buffer.from(end, 'latin1').toString('hex'));

const PATH = `${process.env.PATH}:/usr/sbin`;
const env = {
  ...process.env,
  PATH,
  CERTIFICATES,
  AGREED: AGREED.join(','),
  GOCACHE: join(target, 'go-cache'),
  GOFLAGS: '-mod=mod',
  GO111MODULE: 'off',
};
const run = promisify(execFile);

/** Makes a certificate. The length of a certificate tells its name where it is encrypted. */
function certify(name, others) {
  const names = [name, ...Array.from({ length: others }, (_, n) => `a-name-that-makes-it-long-${n}.${name}`)];
  const place = join(CERTIFICATES, name);
  const alternatives = names.map((each) => `DNS:${each}`).join(',');
  // With an RSA key a client needs none of the newer extensions.
  const form = ['-x509', '-nodes', '-newkey', 'rsa:2048', '-days', '30'];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${alternatives}`];
  execFileSync('openssl', ['req', ...form, ...subject, '-keyout', `${place}.key`, '-out', `${place}.pem`], {
    stdio: 'ignore',
  });
}

/** Starts a server, which ends itself with this process, and prints its lines. Resolves when it has printed so many. */
function start(program, args, lines) {
  const words = ['--pdeathsig', 'TERM', program, ...args];
  const child = spawn('setpriv', words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((done, failed) => {
    let printed = 0;
    child.once('error', failed);
    child.once('exit', (code) => failed(new Error(`${program} exited with ${code}`)));
    if (lines === 0) done();
    createInterface(child.stdout).on('line', (line) => {
      console.log(line);
      printed += 1;
      if (printed === lines) done();
    });
  });
}

async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map((server) => new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address().port)))),
  );
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}

/** Resolves when a server accepts connections. */
async function accepting(port) {
  const accepted = () =>
    new Promise((done) => {
      const socket = connect(port, '127.0.0.1', () => done(true));
      socket.once('error', () => done(false));
      socket.once('connect', () => socket.destroy());
    });
  while (!(await accepted())) await new Promise((done) => setTimeout(done, 20));
}

/** Starts a server whose configuration is a file here. */
async function configured(title, program, args) {
  const [HTTP, TLS] = await freePorts(2);
  const values = { DIRECTORY, CERTIFICATES, MODULES: '/usr/lib/apache2/modules', HTTP, TLS, US: '\x1f' };
  const text = readFileSync(join(here, `${title}.conf`), 'utf8');
  const file = join(DIRECTORY, `${title}.conf`);
  writeFileSync(
    file,
    text.replace(/DIRECTORY|CERTIFICATES|MODULES|(?<=:)HTTP|(?<=:)TLS|US(?=\$|%|>|a\.|evil)/g, (name) => values[name]),
  );
  await start(program, [...args, file], 0);
  await Promise.all([HTTP, TLS].map(accepting));
  console.log(`http ${title} ${HTTP}\ntls ${title} ${TLS}`);
}

/** Bun, which an npm package brings. */
async function bun() {
  const arch = process.arch === 'arm64' ? 'aarch64' : process.arch;
  const program = join(target, 'bun');
  if (!existsSync(program)) {
    const folder = mkdtempSync(join(target, 'bun-'));
    const flags = ['--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', ['install', ...flags, `@oven/bun-linux-${arch}@1`]);
    renameSync(join(folder, `node_modules/@oven/bun-linux-${arch}/bin/bun`), program);
    rmSync(folder, { recursive: true });
  }
  await start(program, [join(here, 'bun.mjs')], 2);
}

async function go() {
  const program = join(target, 'go-servers');
  await run('go', ['build', '-o', program, join(here, 'main.go')], { env });
  await start(program, [], 3);
}

async function rust() {
  await run('cargo', ['build', '--quiet', '--locked', '--target-dir', target], { cwd: join(here, 'rust') });
  await start(join(target, 'debug/gate-servers'), [], 4);
}

certify('a.test', 0);
certify('evil.test', 16);
certify('default.test', 32);
process.on('exit', () => rmSync(DIRECTORY, { recursive: true, force: true }));
process.stdin.resume().on('end', () => process.exit());
await Promise.all([
  start(process.execPath, [join(here, 'node.mjs')], 2),
  start('/usr/bin/python3', [join(here, 'servers.py')], 3),
  configured('nginx', 'nginx', ['-e', join(DIRECTORY, 'nginx.log'), '-c']),
  configured('apache', 'apache2', ['-DFOREGROUND', '-f']),
  bun(),
  go(),
  rust(),
]);
console.log('ready');
