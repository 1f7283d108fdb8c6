/** Options of `agentSandboxes`. */
export interface AgentSandboxesOptions {
  /**
   * The SandboxWarmPool from which sandboxes are claimed.
   *
   * @example agentSandboxes({ warmPool: 'agents' });
   */
  warmPool: string;
  /**
   * The namespace of the warm pool and of the claims.
   *
   * @default that of the context
   * @example agentSandboxes({ warmPool: 'agents', namespace: 'team' });
   */
  namespace?: string | undefined;
  /**
   * The context of kubectl.
   *
   * @default the current one
   * @example agentSandboxes({ warmPool: 'agents', context: 'staging' });
   */
  context?: string | undefined;
  /**
   * The container of the pod in which commands run.
   *
   * @default as kubectl finds it: the first one
   * @example agentSandboxes({ warmPool: 'agents', container: 'tools' });
   */
  container?: string | undefined;
  /**
   * The client with its first arguments, in place of `kubectl`.
   *
   * @default ['kubectl']
   * @example agentSandboxes({ warmPool: 'agents', program: ['kubectl', '--kubeconfig', '/etc/agents/config'] });
   */
  program?: string[] | undefined;
  /**
   * How long a claim lasts unless it is renewed, in ms, a whole number from 5,000 to 86,400,000. A sandbox has to be
   * ready within this time. When this process dies, its sandboxes go after it.
   *
   * @default 600_000
   * @example agentSandboxes({ warmPool: 'agents', leaseMs: 60_000 });
   */
  leaseMs?: number | undefined;
}
