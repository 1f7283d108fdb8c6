// The layers of ts/: an import points downward only. `npm run check` holds it.

/** Forbids files below `from` every import below ts/ that is not in `to`. */
const layer = (name, from, to) => ({
  name,
  severity: 'error',
  from: { path: `^ts/${from}` },
  to: { path: '^ts/', pathNot: to.map((path) => `^ts/${path}`) },
});

// The entries are bundled apart from the main one and reach it as users do, by the name of the package. They share
// source files with it only where a copy in each bundle is harmless: pure functions, and the symbols that name the way
// into the main entry.
const SHARED = [
  'core/(abort|builtins|defined|evidence-lines|facts|foreign|functions|inner|internal|ledger|lines|listener|notice|option-names|outline|paths|receipt-line|signals|streams|token-colours|visible|world)\\.ts$',
  'reduce/(keeping|types)\\.ts$',
];

export default {
  forbidden: [
    {
      name: 'no-circle',
      comment: 'Imports of types count, too.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    layer('core-at-the-bottom', 'core/', ['core/', 'errors\\.ts$', 'safety/analysis\\.ts$']),
    ...SHARED.map((path) => layer('shared-is-pure', path, SHARED)),
    layer('errors-name-findings-only', 'errors\\.ts$', ['safety/analysis\\.ts$']),
    layer(
      'main-entry',
      '(bash|bash-options|index|option-checks|options|output|request|result|session|shells|types)\\.ts$|^ts/(confine|draft|evidence|fleet|ledger|observe|pty|reduce|registry|safety|schema|target|undo)/',
      [
        '[a-z-]+\\.ts$',
        '(confine|core|draft|evidence|fleet|ledger|observe|pty|reduce|registry|safety|schema|target|undo)/',
      ],
    ),
    layer('tool-knows-no-adapter', 'tool/', ['tool/', ...SHARED]),
    layer('ai-is-on-tool', 'ai/', ['ai/', 'tool/', 'safety/unit-text\\.ts$', ...SHARED]),
    layer('anthropic-is-on-tool', 'anthropic/', ['anthropic/', 'tool/', ...SHARED]),
    layer('openai-is-on-tool', 'openai/', ['openai/', 'tool/', ...SHARED]),
    layer('mcp-is-on-tool', 'mcp/', ['mcp/', 'tool/', ...SHARED]),
    layer('framework-is-on-tool', 'frameworks/(?!(?:shared|claude-agent-sdk)/)([^/]+)/', [
      'frameworks/$1/',
      'frameworks/shared/',
      'tool/',
      'sandbox/',
      'safety/unit-text\\.ts$',
      ...SHARED,
    ]),
    // Its tools are those of an MCP server.
    layer('claude-is-on-mcp', 'frameworks/claude-agent-sdk/', [
      'frameworks/(claude-agent-sdk|shared)/',
      'ai/bash-tool\\.ts$',
      'mcp/(answered|as-bash-tool|server|tasks)\\.ts$',
      'tool/',
      'sandbox/',
      ...SHARED,
    ]),
    layer('frameworks-share', 'frameworks/shared/', ['frameworks/shared/', 'ai/', 'tool/', 'sandbox/', ...SHARED]),
    layer('sandbox-by-itself', 'sandbox/', ['sandbox/', ...SHARED]),
    layer('kubernetes-is-a-provider', 'kubernetes/', ['kubernetes/', 'provider/', ...SHARED]),
    layer('slurm-is-a-provider', 'slurm/', ['slurm/', 'provider/', ...SHARED]),
    layer('providers-share', 'provider/', ['provider/', ...SHARED]),
    layer('otel-by-itself', 'otel/', ['otel/', ...SHARED]),
    layer('render-by-itself', 'render/', ['render/', ...SHARED]),
    layer('page-app-by-itself', 'page/app/', [
      'page/app/',
      'page/wire\\.ts$',
      'page/host/protocol\\.ts$',
      'render/',
      ...SHARED,
    ]),
    layer('page-by-itself', 'page/(?!app/)', ['page/(?!app/)', ...SHARED]),
    layer('cli-is-a-user', 'cli/', ['cli/', 'tool/parts\\.ts$', 'safety/unit-text\\.ts$', ...SHARED]),
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^dist/', '^native\\.'] },
    tsConfig: { fileName: 'tsconfig.json' },
    // Imports of types count, too.
    tsPreCompilationDeps: true,
  },
};
