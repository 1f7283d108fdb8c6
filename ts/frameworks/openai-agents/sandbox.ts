import type { BashOptions } from 'agent-bash';
import { type OptionTable, PLAIN } from '../../core/option-names.ts';
import { withWritable } from '../../sandbox/base.ts';
import { PrivateHome } from '../../sandbox/session/home.ts';
import { checkObject } from '../../tool/options.ts';
import { Commands } from '../shared/commands.ts';
import { needs, noPlace } from '../shared/needs.ts';
import { exposing } from '../shared/ports.ts';
import type { Run } from '../shared/types.ts';
import { withShell } from './session.ts';
import type { Local, Session } from './types.ts';

/** Options of `agentsSandbox`. Input comes from `write_stdin`, and the directory is the workspace. */
export type AgentsSandboxOptions<L extends Local = Local> = Omit<Run, 'cwd' | 'stdin'> & {
  /**
   * Options of the framework's `UnixLocalSandboxClient`: where workspaces and snapshots are, ports, limits of archives.
   *
   * @default {}
   * @example agentsSandbox(local, { local: { exposedPorts: [3000] }, confine: 'workspace' });
   */
  local?: ConstructorParameters<L['UnixLocalSandboxClient']>[0] | undefined;
};

/** The framework's client, as far as it is used. */
interface Client {
  create(...given: unknown[]): Promise<Session>;
  resume(...given: unknown[]): Promise<Session>;
}

const OF_SANDBOXES: OptionTable = { local: PLAIN };
const OF_SESSION = 'stop execCommand writeStdin assertSessionUsable resolveCommandWorkdir resolveRunAsIdentity';
const MEMBERS = [
  'SandboxUnsupportedFeatureError',
  ...['create', 'resume'].map((name) => `UnixLocalSandboxClient.prototype.${name}`),
  ...`${OF_SESSION} translateCommandInput translateCommandOutput`
    .split(' ')
    .map((name) => `UnixLocalSandboxSession.prototype.${name}`),
];
/** What the framework gives commands besides the variables of the manifest. */
const ENVIRONMENT = {
  PATH: '/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
  USER: 'sandbox',
  LOGNAME: 'sandbox',
  SHELL: '/bin/bash',
  TMPDIR: '/tmp',
};

/**
 * Makes a client for the `sandbox` of a run: the framework's `UnixLocalSandboxClient`, whose sessions run commands by
 * this package. Manifests, files, ports, snapshots and resume stay as they are. `backendId` is `'agent_bash'`.
 *
 * The directory of commands and the root of `confine` is the workspace of the session. Their environment is that of the
 * manifest, over `env` and without variables of the host, unless `inheritEnv` says otherwise. There is no time limit
 * unless `timeoutMs` or `mode` sets one. The end of a session ends its commands and all that they have started.
 *
 * Throws `ERR_BASH_INVALID_ARG` for invalid options, and `ERR_BASH_UNSUPPORTED` for `cwd` and `stdin`, and if `local`
 * is not the module.
 *
 * @example await run(agent, 'Fix the tests.', { sandbox: { client: agentsSandbox(local, { confine: 'workspace' }) } });
 * @param local the module `@openai/agents/sandbox/local`, from 0.20.
 */
export function agentsSandbox<L extends Local>(local: L, options: AgentsSandboxOptions<L> = {}): AgentsSandbox<L> {
  needs('local', local, MEMBERS, { name: '@openai/agents/sandbox/local', lowest: '0.20.0' });
  checkObject(options);
  const { local: ofLocal, ...run } = options;
  for (const name of ['cwd', 'stdin'] as const) {
    if ((run as Run)[name] !== undefined) throw noPlace(name, 'a session has its workspace and `write_stdin`');
  }
  const commandsOf = (own: BashOptions) => new Commands('agentsSandbox', { ...run, ...own }, OF_SANDBOXES);
  // A mistake is the error of this call, and not that of the first session.
  commandsOf({});
  const withOurs = (session: Session): Session => {
    const { workspaceRootPath: cwd, configuredExposedPorts = [] } = session.state;
    // No undo point is made for a home, so the workspace is none then.
    const home = (run.undo ?? 'off') === 'off' || run.env?.HOME !== undefined ? null : new PrivateHome();
    const { inheritEnv = 'none', shell = session.defaultShell } = run;
    const env = { ...ENVIRONMENT, HOME: home?.path ?? cwd, ...run.env };
    const base = { cwd, confine: exposing(run.confine, configuredExposedPorts) };
    const { confine } = home ? withWritable(base, home.path) : base;
    return withShell(session, { local, home, commands: commandsOf({ cwd, inheritEnv, shell, env, confine }) });
  };
  class AgentBashSandboxClient extends (local.UnixLocalSandboxClient as new (given: unknown) => Client) {
    readonly backendId = 'agent_bash';

    override async create(...given: unknown[]): Promise<Session> {
      return withOurs(await super.create(...given));
    }

    override async resume(...given: unknown[]): Promise<Session> {
      return withOurs(await super.resume(...given));
    }
  }
  return new AgentBashSandboxClient(ofLocal) as unknown as AgentsSandbox<L>;
}

/** The framework's client under our name. */
type AgentsSandbox<L extends Local> = Omit<InstanceType<L['UnixLocalSandboxClient']>, 'backendId'> & {
  readonly backendId: 'agent_bash';
};
