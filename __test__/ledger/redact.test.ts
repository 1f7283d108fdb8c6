import { bash } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { innerOf } from '../../ts/core/inner.ts';

const { redact } = innerOf(bash);
/** Put together here, or scanners would report this file as a leak. */
const TOKEN = ['ghp', 'aB3dE5gH7jK9mN1pQ2sT4vW6xY8zA0cD2eF4'].join('_');

describe('redact', () => {
  test.each([
    ['app --password «hunter2» -v'],
    ['X_TOKEN=«abc123» app'],
    ["curl -u me:«hunter2» -H 'Authorization: Bearer «abc123»' https://example.com"],
    ['git clone https://me:«hunter2»@example.com/é.git'],
    [`echo «${TOKEN}»`],
    ['ssh h "bash -c \'mysql -p«hunter2» db\'"'],
    ["echo 'ä🙂'; docker login -u me -p «pässwörd1🙂» h"],
    ['cat > .env <<EOF\nPORT=1\nDB_PASSWORD=«hunter2»\nEOF'],
    ['app --token «abc123» ('],
    ['p=«Xq9tR4mz»; curl -u ann:$p https://example.com'],
    ['f() { mysql -p"$1" db; }; f «Xq9tR4mz»'],
    ['wandb login «Xq9tR4mz»; echo «Xq9tR4mz»'],
    ["psql -c \"INSERT INTO users(name, password) VALUES ('ann', '«Xq9tR4mz»')\""],
  ])('takes the secrets out of %j and nothing else', (marked) => {
    const command = marked.replaceAll(/[«»]/g, '');
    const wanted = marked.replaceAll(/«[^»]*»/g, '[redacted]');
    expect(redact(command)).toBe(wanted);
    expect(redact(wanted)).toBe(wanted);
  });

  test.each([
    ['npm test'],
    ['curl -H "Authorization: Bearer $TOKEN" https://example.com'],
    ['docker run -p 80:80 -e X_TOKEN img'],
    ["rg 'Authorization: Bearer' docs"],
    ['gpg --delete-secret-keys ABC'],
    ['git commit -m "Document the password option" 🙂'],
    [''],
  ])('leaves %j as it is', (command) => {
    expect(redact(command)).toBe(command);
  });

  test('takes a long command', () => {
    const command = `app --password hunter2 ${'é '.repeat(500_000)}`;
    expect(redact(command)).toBe(command.replace('hunter2', '[redacted]'));
  });
});
