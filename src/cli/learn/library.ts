// Exports the TypeScript that `commonplace learn` uses. Bundled on demand (../bundle.mjs).
export { readProjectName } from '../../domain/identity/project-names'
export { isSource, proposeMemories } from './propose'
