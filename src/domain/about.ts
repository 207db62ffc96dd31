/**
 * Name, version and description of this program, for clients and registries. `scripts/release.mjs` sets the version.
 */
export const ABOUT = {
  version: '1.0.0',
  /** In the MCP registry, and on the server's card. */
  name: 'io.github.commonplace-memory/commonplace',
  title: 'Commonplace',
  description: 'Shared memory for teams of AI agents: what one agent learns, the next one finds.',
} as const
