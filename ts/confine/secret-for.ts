import type { Secret } from './types.ts';

type Value = Secret['value'];
type Rule = Omit<Secret, 'value'>;

/** A file by which git finds a password for a host. */
const netrc = (host: string, name: string): Rule => ({
  hosts: [host],
  as: 'basic',
  file: '~/.netrc',
  template: `machine ${host} login x-access-token password \${${name}}\n`,
});

/** The secrets of services, by the variables and files that their programs read. */
const SERVICES = {
  github: {
    GITHUB_TOKEN: { hosts: ['api.github.com', 'github.com', 'uploads.github.com'] },
    GITHUB_NETRC: netrc('github.com', 'GITHUB_NETRC'),
  },
  npm: {
    NPM_TOKEN: {
      hosts: ['registry.npmjs.org'],
      as: 'bearer',
      file: '~/.npmrc',
      template: `//registry.npmjs.org/:_authToken=\${NPM_TOKEN}\n`,
    },
  },
  pypi: { TWINE_PASSWORD: { hosts: ['upload.pypi.org', 'test.pypi.org'], as: 'basic' } },
  docker: { DOCKER_TOKEN: { hosts: ['auth.docker.io', 'registry-1.docker.io', 'index.docker.io'], as: 'basic' } },
  openai: { OPENAI_API_KEY: { hosts: ['api.openai.com'], as: 'bearer' } },
  anthropic: { ANTHROPIC_API_KEY: { hosts: ['api.anthropic.com'], as: 'header' } },
} satisfies Record<string, Record<string, Rule>>;

const withValue = (rules: Record<string, Rule>, value: Value): Record<string, Secret> =>
  Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, { ...rule, value }]));

/** The credentials of an account of AWS. */
export interface AwsCredentials {
  accessKeyId: Value;
  secretAccessKey: Value;
  /** Of temporary credentials. */
  sessionToken?: Value | undefined;
  /**
   * The hosts of the services.
   *
   * @default ['*.amazonaws.com']
   */
  hosts?: string[] | undefined;
}

/** The secrets of AWS, by the variables that its programs read. */
function aws({ accessKeyId, secretAccessKey, sessionToken, hosts = ['*.amazonaws.com'] }: AwsCredentials) {
  return {
    AWS_ACCESS_KEY_ID: { value: accessKeyId, hosts, as: 'sigv4' },
    AWS_SECRET_ACCESS_KEY: { value: secretAccessKey, hosts, as: 'sigv4' },
    ...(sessionToken && { AWS_SESSION_TOKEN: { value: sessionToken, hosts, as: 'header' } }),
  } satisfies Record<string, Secret>;
}

type SecretFor = Record<keyof typeof SERVICES, (value: Value) => Record<string, Secret>> & {
  git(host: string, value: Value): Record<string, Secret>;
  aws(credentials: AwsCredentials): Record<string, Secret>;
};

/**
 * Secrets of well-known services, to spread into `confine.secrets`: `github` for git and gh, `npm`, `pypi` for twine,
 * `docker` for Docker Hub, `openai`, `anthropic`, `git(host, value)` for another host of repositories, and
 * `aws({ accessKeyId, secretAccessKey })`. A value may be a function that returns it.
 *
 * @example
 * const secrets = { ...secretFor.github(token), ...secretFor.npm(() => keychain.get('npm')) };
 * await bash('git push && npm publish', { confine: { secrets } });
 */
export const secretFor: SecretFor = {
  ...(Object.fromEntries(
    Object.entries(SERVICES).map(([service, rules]) => [service, (value: Value) => withValue(rules, value)]),
  ) as Record<keyof typeof SERVICES, (value: Value) => Record<string, Secret>>),
  aws,
  git: (host, value) => withValue({ GIT_NETRC: netrc(host, 'GIT_NETRC') }, value),
};
