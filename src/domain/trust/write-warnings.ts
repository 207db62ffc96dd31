import type { Address } from './agent-directed'

/** The warning about texts that look like they hold secrets (fabric contract §7). */
export const secretWarning = (kinds: readonly string[]): string =>
  `content holds what looks like a secret: ${kinds.join(', ')}`

/** The warning about texts that address an agent; hooks leave them out (capture contract §3). */
export const addressWarning = (addresses: readonly Address[]): string =>
  `content addresses an agent (${addresses.join(', ')}): hooks leave it out until a person approves it in the dashboard`
