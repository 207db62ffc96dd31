// What of the Worker's code does `commonplace setup` use? Bundled when it is asked for, since Node does not run it as it is.
export { ENTRY, PLACEHOLDER, SETUP_CLIENTS, setupOf, snippetOf, tomlOf } from '../../domain/setup/clients'
