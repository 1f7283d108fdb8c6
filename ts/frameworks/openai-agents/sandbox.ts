import { BashError, type BashOptions } from 'agent-bash';
import { type OptionTable, PLAIN } from '../../core/option-names.ts';
import { Commands } from '../shared/commands.ts';
import { needs } from '../shared/needs.ts';
import type { Run } from '../shared/types.ts';
import { withShell } from './session.ts';
import type { Client, Local, Session } from './types.ts';

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

const OF_SANDBOXES: OptionTable = { local: PLAIN };
const OF_SESSION = [
  'assertSessionUsable',
  'exec',
  'execCommand',
  'resolveCommandWorkdir',
  'resolveRunAsIdentity',
  'stop',
  'translateCommandInput',
  'translateCommandOutput',
  'writeStdin',
].map((name) => `UnixLocalSandboxSession.prototype.${name}`);
const OF_CLIENT = ['create', 'resume'].map((name) => `UnixLocalSandboxClient.prototype.${name}`);
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
  needs('local', local, ['SandboxUnsupportedFeatureError', ...OF_CLIENT, ...OF_SESSION], {
    name: '@openai/agents/sandbox/local',
    lowest: '0.20.0',
  });
  const { local: ofLocal, ...run } = options;
  for (const name of ['cwd', 'stdin'] as const) {
    if ((run as Run)[name] !== undefined) throw new BashError('ERR_BASH_UNSUPPORTED', `${name} has no place here`);
  }
  const commandsOf = (own: BashOptions) => new Commands('agentsSandbox', { ...run, ...own }, OF_SANDBOXES);
  // A mistake is the error of this call, and not that of the first session.
  commandsOf({});
  const withOurs = (session: Session): Session => {
    const { workspaceRootPath: cwd, configuredExposedPorts = [] } = session.state;
    const { confine, inheritEnv = 'none', shell = session.defaultShell, env } = run;
    const own = { cwd, inheritEnv, shell, confine: exposing(confine, configuredExposedPorts) };
    return withShell(session, local, commandsOf({ ...own, env: { ...ENVIRONMENT, HOME: cwd, ...env } }));
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

/** Returns a confinement that lets the declared ports of a session be reached. */
function exposing(confine: BashOptions['confine'], ports: number[]): BashOptions['confine'] {
  if (confine === undefined || confine === 'off' || ports.length === 0) return confine;
  const given = typeof confine === 'string' ? { profile: confine } : confine;
  // With the network of this machine every port can be reached as it is.
  if (given.network === 'full') return confine;
  return { ...given, expose: [...new Set([...(given.expose ?? []), ...ports])] };
}
