/** Bun's servers of HTTP (uWebSockets) and TLS (BoringSSL). */
import { certificates, names, seen } from './shared.mjs';

const answer = (request) => new Response(seen(request.headers.get('host'), request.url, ''));

const web = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
console.log(`http bun ${web.port}`);

const secure = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: answer,
  tls: ['default.test', ...names].map((serverName) => ({ serverName, ...certificates(serverName) })),
});
console.log(`tls bun ${secure.port}`);
