/** What this program is called and which release it is: said to clients, registries and people. `scripts/release.mjs` sets the version. */
export const ABOUT = {
  version: '1.0.0-rc.1',
  /** In the MCP registry, and on a server's card. */
  name: 'io.github.commonplace-memory/commonplace',
  title: 'Commonplace',
  description: 'Shared memory for teams of AI agents: what one agent learns, the next one finds.',
} as const
