import { spawnSync } from 'node:child_process';
import { describe, expect } from 'vitest';
import { type Got, HOST, type Page, runWith, secretFor, secretHost, VALUE } from '../../../confine/secrets/support.ts';
import { hasProgram, testNeeding } from '../../../support/index.ts';

/** A program that uses the secret `TOKEN` at `$URL`, which is `https://$AT`. */
interface Row {
  name: string;
  /** The programs that it needs, and modules of Python. */
  needs?: string[];
  command: string;
}

const python = (module: string, code: string): Row => ({
  name: `Python's ${module}`,
  needs: [`python3:${module}`],
  command: `/usr/bin/python3 -c '
import os
from os import environ as E
headers = {"Authorization": "Bearer " + E["TOKEN"]}
${code}'`,
});

const BEARER = '"Authorization: Bearer $TOKEN"';
const JAVA = `cat >A.java <<'END'
import java.net.URI;
import java.net.http.*;
public class A {
  public static void main(String[] a) throws Exception {
    var url = URI.create(System.getenv("URL") + "/java");
    var bearer = "Bearer " + System.getenv("TOKEN");
    var request = HttpRequest.newBuilder(url).header("Authorization", bearer).build();
    System.out.println(HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body());
    var connection = url.toURL().openConnection();
    connection.setRequestProperty("Authorization", bearer);
    System.out.println(new String(connection.getInputStream().readAllBytes()));
  }
}
END
java A.java`;
const GO = `cat >a.go <<'END'
package main

import ("fmt"; "io"; "net/http"; "os")

func main() {
	request, _ := http.NewRequest("GET", os.Getenv("URL") + "/go", nil)
	request.Header.Set("Authorization", "Bearer " + os.Getenv("TOKEN"))
	response, err := http.DefaultClient.Do(request)
	if err != nil { fmt.Println(err); os.Exit(1) }
	body, _ := io.ReadAll(response.Body)
	fmt.Println(string(body))
}
END
GOCACHE=$PWD/cache go run a.go`;
const WHEEL = `/usr/bin/python3 -c '
import zipfile
with zipfile.ZipFile("p-1-py3-none-any.whl", "w") as wheel:
    wheel.writestr("p-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: p\\nVersion: 1\\n")
    wheel.writestr("p-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any\\n")
    wheel.writestr("p-1.dist-info/RECORD", "")'`;
const NPM = `printf '//%s/npm/:_authToken=%s\\n' "$AT" "$TOKEN" >rc; export npm_config_userconfig=$PWD/rc
export npm_config_registry=$URL/npm/ npm_config_cache=$PWD/cache`;
const CARGO = `export CARGO_HOME=$PWD/cargo CARGO_REGISTRIES_R_INDEX=sparse+$URL/cargo/ CARGO_REGISTRIES_R_TOKEN=$TOKEN
export CARGO_REGISTRY_GLOBAL_CREDENTIAL_PROVIDERS=cargo:token`;

const ROWS: Row[] = [
  {
    name: 'curl',
    needs: ['curl'],
    command: `curl -sSf -H ${BEARER} $URL/1; curl -sSf --http1.1 -u "me:$TOKEN" $URL/2`,
  },
  { name: 'wget', needs: ['wget'], command: `wget -qO- --user me --password $TOKEN $URL/basic` },
  { name: 'wget2', needs: ['wget2'], command: `wget2 -qO- --header ${BEARER} $URL/` },
  { name: 'aria2', needs: ['aria2c'], command: `aria2c -q --header ${BEARER} -o out $URL/ && cat out` },
  { name: 'httpie', needs: ['http'], command: `http --ignore-stdin --check-status $URL/ ${BEARER}` },
  {
    name: 'openssl',
    needs: ['openssl'],
    command: `printf 'GET / HTTP/1.0\\r\\nX-Key: %s\\r\\n\\r\\n' $TOKEN |
      openssl s_client -quiet -verify_return_error -connect $AT -servername ${HOST} 2>&1`,
  },
  { name: 'git', needs: ['git'], command: `git -c credential.helper= ls-remote https://me:$TOKEN@$AT/a.git` },
  { name: 'npm', needs: ['npm'], command: `${NPM}; npm view a version` },
  {
    name: 'npm publish',
    needs: ['npm'],
    command: `${NPM}; echo '{"name":"b","version":"1.0.0"}' >package.json; npm publish`,
  },
  { name: 'cargo', needs: ['cargo'], command: `${CARGO}; cargo yank --version 1.0.0 --registry r a` },
  { name: 'Java', needs: ['java', 'javac'], command: JAVA },
  { name: 'Go', needs: ['go'], command: GO },
  {
    name: 'Ruby',
    needs: ['ruby'],
    command: `ruby -r net/http -e 'puts Net::HTTP.get(URI(ENV["URL"]), {"Authorization" => "Bearer #{ENV["TOKEN"]}"})'`,
  },
  {
    name: 'PHP',
    needs: ['php'],
    command: `php -r '$with = ["header" => "Authorization: Bearer " . getenv("TOKEN")];
      echo file_get_contents(getenv("URL") . "/", false, stream_context_create(["http" => $with]));'`,
  },
  {
    name: 'Perl',
    needs: ['lwp-request'],
    command: `lwp-request -H ${BEARER} $URL/`,
  },
  { name: 'gh', needs: ['gh'], command: `GH_CONFIG_DIR=$PWD GH_HOST=$AT GH_ENTERPRISE_TOKEN=$TOKEN gh api user` },
  {
    name: 'skopeo',
    needs: ['skopeo'],
    command: `skopeo inspect --raw --creds "me:$TOKEN" docker://$AT/image:latest`,
  },
  {
    name: 'twine',
    needs: ['twine'],
    command: `${WHEEL}; TWINE_PASSWORD=$TOKEN twine upload --non-interactive -u __token__ --repository-url $URL/ *.whl`,
  },
  python('urllib.request', 'from urllib.request import *; print(urlopen(Request(E["URL"], headers=headers)).read())'),
  python('requests', 'import requests; print(requests.get(E["URL"], headers=headers).text)'),
  python('httpx', 'import httpx; print(httpx.get(E["URL"], headers=headers).text)'),
  python('h2', 'import httpx; print(httpx.Client(http2=True).get(E["URL"], headers=headers).text)'),
  python(
    'aiohttp',
    `import aiohttp, asyncio
async def main():
    async with aiohttp.request("GET", E["URL"], headers=headers) as answer: print(await answer.text())
asyncio.run(main())`,
  ),
  python(
    'grpc',
    `import grpc
channel = grpc.secure_channel(E["AT"], grpc.ssl_channel_credentials())
metadata = [("authorization", headers["Authorization"])]
print(channel.unary_unary("/a.A/One")(b"", metadata=metadata))
print(list(channel.unary_stream("/a.A/One")(b"", metadata=metadata)))`,
  ),
];

/** Answers a request only with a password, which it asks for in this way. */
const asking = (how: string, page: () => Page) => (got: Got) =>
  got.headers.authorization ? page() : { status: 401, headers: { 'www-authenticate': how } };

/** The answers that programs cannot do without. `at` is the server's place. */
const pages = (at: () => string): Record<string, (got: Got) => Page> => ({
  '/basic': asking('Basic realm="a"', () => ({})),
  '/a.git/info/refs': asking('Basic realm="a"', () => ({ body: `${'0'.repeat(39)}1\trefs/heads/main\n` })),
  '/npm/a': () => ({
    body: JSON.stringify({ 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': { version: '1.0.0' } } }),
  }),
  '/npm/b': ({ line }) => ({ status: line.startsWith('GET') ? 404 : 201, body: '{}' }),
  '/cargo/config.json': asking(`Cargo login_url="https://${HOST}"`, () => ({
    body: JSON.stringify({ dl: `https://${at()}/dl`, api: `https://${at()}/cargo`, 'auth-required': true }),
  })),
  '/cargo/api/v1/crates/a/1.0.0/yank': () => ({ body: '{"ok":true}' }),
  '/v2/': (got) => asking(`Bearer realm="https://${at()}/token",service="a"`, () => ({}))(got),
  '/token': () => ({ body: '{"token":"of-the-session"}' }),
  '/v2/image/manifests/latest': () => ({
    headers: { 'content-type': 'application/vnd.oci.image.manifest.v1+json' },
    body: JSON.stringify({ schemaVersion: 2 }),
  }),
  '/a.A/One': () => ({
    headers: { 'content-type': 'application/grpc' },
    body: Buffer.from('\0\0\0\0\x01a'),
    trailers: { 'grpc-status': '0' },
  }),
});

/** Whether this machine has a program, or a module of Python. */
function has(need: string): boolean {
  const module = need.split(':')[1];
  if (module === undefined) return hasProgram(need);
  return spawnSync('/usr/bin/python3', ['-c', `import ${module}`]).status === 0;
}

/** The requests with the value, as a result reports them. */
function uses(got: Got[]): string[] {
  const password = (header: unknown) => Buffer.from(String(header).replace('Basic ', ''), 'base64').toString();
  return got
    .filter(({ headers }) => Object.values(headers).some((one) => `${one} ${password(one)}`.includes(VALUE)))
    .map(({ line, status }) => `${line.split('?')[0]} ${status}`)
    .sort();
}

describe.runIf(process.platform === 'linux')('a secret works with', () => {
  for (const { name, needs = [], command } of ROWS) {
    const missing = needs.filter((need) => !has(need));
    testNeeding(missing.join(', '), missing.length === 0)(name, async () => {
      let at = '';
      const { port, got } = await secretHost(pages(() => at));
      at = `${HOST}:${port}`;
      const within = `export RUSTUP_HOME=\${RUSTUP_HOME:-$HOME/.rustup} HOME=$PWD AT=${at} URL=https://${at}\n${command}`;
      const { stdout, stderr, exitCode, confinement } = await runWith(within, { secrets: { TOKEN: secretFor(port) } });
      expect(exitCode, stdout + stderr).toBe(0);
      expect(stdout + stderr).not.toContain(VALUE);
      const told = confinement?.secrets ?? [];
      const each = told.flatMap(({ count, method, path, status }) => Array(count).fill(`${method} ${path} ${status}`));
      expect(each.sort(), stdout + stderr).toEqual(uses(got));
      expect(each).not.toEqual([]);
      expect(told.every((one) => one.name === 'TOKEN' && one.host === at && one.refused === null)).toBe(true);
    });
  }
});
