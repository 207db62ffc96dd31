// What of the Worker's code does `commonplace setup` use? Bundled when it is asked for, since Node does not run it as it is.

export { ENTRY, SETUP_CLIENTS } from '../../domain/setup/client-files'
export { formerEntries, PLACEHOLDER, setupOf } from '../../domain/setup/clients'
export { snippetOf, tomlOf } from '../../domain/setup/snippet'
