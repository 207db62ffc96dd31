// What of the Worker's code does the command line use? Bundled when it is asked for (bundle.mjs), since Node does not run it as it is.
export { Problem } from '../../domain/errors'
export type { Report } from './compare'
export { type CopyOptions, copyOrg } from './copy-org'
export { CopyRefused } from './journal'
export { openD1, openPostgres } from './sides'
