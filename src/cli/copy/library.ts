// Exports the Worker's code that `copy` uses. Bundled on demand (bundle.mjs), since Node cannot run TypeScript.
export { Problem } from '../../domain/errors'
export type { Report } from './compare'
export { type CopyOptions, copyOrg } from './copy-org'
export { CopyRefused } from './journal'
export { openD1, openPostgres } from './sides'
