/** What the servers of JavaScript share. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The names whose certificates differ from that of a client without a name. */
export const names = ['a.test', 'evil.test'];

/** The key and the certificate of a name. */
export const certificates = (name) => ({
  key: readFileSync(join(process.env.CERTIFICATES, `${name}.key`)),
  cert: readFileSync(join(process.env.CERTIFICATES, `${name}.pem`)),
});

/** The body of an answer: the host, the target and the version that a server has read, and its virtual host. */
export const seen = (host, target, version) => `<<${[host ?? '', target, version, ''].join('\x1f')}>>`;

/** Starts a server, and prints its port. */
export function listen(server, title) {
  server.listen(0, '127.0.0.1', () => console.log(`${title} ${server.address().port}`));
}
