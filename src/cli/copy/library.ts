// The TypeScript that `commonplace copy` uses, bundled on demand (../bundle.mjs).
export { Problem } from '../../domain/errors'
export { CopyRefused, copyOrg } from './copy-org'
export { openD1, openPostgres } from './sides'
