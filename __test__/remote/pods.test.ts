import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bash, connect, type Target } from 'agent-bash';
import { expect, test } from 'vitest';
import {
  CONNECTING,
  cutLink,
  finished,
  folder,
  mark,
  place,
  rejection,
  replaceFile,
  sleepers,
  state,
  until,
} from '../support/index.ts';

/** Answers as kubectl does for a pod that is this machine, with the uid in a file. Writes down what it is asked for. */
const KUBECTL = `#!/bin/bash
home=\${0%/*}
all=$*
printf '%s\\n' "\${all%%/bin/sh*}" >> "$home/asked"
for word; do
  case $word in
    get)
      read -r uid < "$home/uid"
      [ "$uid" = refused ] && echo 'Unable to connect to the server' >&2 && exit 1
      [ "$uid" = gone ] || printf %s "$uid"
      exit
      ;;
    exec) break ;;
  esac
done
while [ "$1" != -- ]; do shift; done
shift
env -i PATH="$PATH" HOME="$home" XDG_RUNTIME_DIR="$home" TMPDIR="$home" "$@" < <(cat) | cat
`;

/** A pod, whose uid is that of its file. */
function pod() {
  const home = folder();
  const kubectl = join(home, 'kubectl');
  writeFileSync(kubectl, KUBECTL, { mode: 0o755 });
  const be = (uid: string) => replaceFile(join(home, 'uid'), `${uid}\n`);
  be('one');
  const address = { pod: 'box', namespace: "it's", context: 'c', uid: 'one', program: [kubectl] };
  return { home, be, address, asked: () => readFileSync(join(home, 'asked'), 'utf8').trimEnd().split(/ *\n/) };
}

const ASKED = "--context=c get --namespace=it's pod box --ignore-not-found -o jsonpath={.metadata.uid}";
const RUN = "--context=c exec -i --namespace=it's box --";
const LOST = 'the pod is gone, or another one has its name now';

test.each([false, true])(
  'a pod with its uid is asked for that before each connection (behind another: %s)',
  async (behind) => {
    const via = behind ? (await place({ name: 'outer' })).target : undefined;
    const { home, be, address, asked } = pod();
    const target = await connect({ kubernetes: address, name: 'pod', via, connectTimeoutMs: CONNECTING });
    finished(() => target.close());
    const holder = via?.info.pid ?? process.pid;
    expect(asked()).toEqual([ASKED, RUN]);
    const back = new Promise((resolve) => target.on('reconnected', resolve));
    cutLink(home, holder);
    await back;
    expect(asked()).toEqual([ASKED, RUN, ASKED, RUN]);
    const seconds = mark();
    const ran = bash(`sleep ${seconds}`, { target });
    await until(() => sleepers(seconds).length === 1);
    be('two');
    const lost = new Promise((resolve) => target.on('lost', resolve));
    cutLink(home, holder);
    expect(await lost).toMatchObject({ target: 'pod', reason: LOST });
    expect(await ran).toMatchObject({ status: 'lost' });
    expect(asked()).toEqual([ASKED, RUN, ASKED, RUN, ASKED]);
    await refused(target);
    be('one');
    expect(await bash('echo again', { target })).toMatchObject({ stdout: 'again\n' });
  },
);

async function refused(target: Target): Promise<void> {
  const message = expect.stringContaining(LOST);
  const error = { code: 'ERR_BASH_TARGET', reason: 'lost', target: 'pod', message };
  expect(await rejection(() => bash('true', { target }))).toMatchObject(error);
}

test.each([
  ['two', 'lost', LOST],
  ['gone', 'lost', LOST],
  ['refused', 'unreachable', 'Unable to connect to the server'],
])('a pod whose uid is %s runs nothing', async (uid, reason, message) => {
  const { home, be, address } = pod();
  be(uid);
  const failed = await rejection(() => connect({ kubernetes: address }));
  expect(failed).toMatchObject({ code: 'ERR_BASH_TARGET', reason, message: expect.stringContaining(message) });
  expect(existsSync(join(home, '.cache'))).toBe(false);
});

test('a pod that is away for a moment is waited for', async () => {
  const { home, be, address } = pod();
  const target = await connect({ kubernetes: address, name: 'pod', connectTimeoutMs: CONNECTING });
  finished(() => target.close());
  be('refused');
  cutLink(home);
  await state(target, 'disconnected');
  const waiting = bash('echo waited', { target });
  be('one');
  expect(await waiting).toMatchObject({ stdout: 'waited\n' });
});
