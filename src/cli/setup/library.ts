// Exports the Worker's code that `commonplace setup` uses. Bundled on demand, since Node cannot run TypeScript.

export { ENTRY, SETUP_CLIENTS } from '../../domain/setup/client-files'
export { formerEntries, PLACEHOLDER, setupOf } from '../../domain/setup/clients'
export { snippetOf, tomlOf } from '../../domain/setup/snippet'
