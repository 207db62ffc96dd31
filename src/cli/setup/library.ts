// What of the Worker's code does `commonplace setup` use? Bundled when it is asked for, since Node does not run it as it is.

export { ENTRY, SETUP_CLIENTS } from '../../integrations/setup/client-files'
export { formerEntries, PLACEHOLDER, setupOf } from '../../integrations/setup/client-setup'
export { snippetOf, tomlOf } from '../../integrations/setup/snippet'
