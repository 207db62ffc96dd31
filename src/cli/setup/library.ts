// Exports the Worker's code that `commonplace setup` uses. Bundled on demand, since Node cannot run TypeScript.

export { ENTRY, SETUP_CLIENTS } from '../../integrations/setup/client-files'
export { formerEntries, PLACEHOLDER, setupOf, snippetOf, tomlOf } from '../../integrations/setup/client-setup'
