// Exports the TypeScript that `commonplace learn` uses. Bundled on demand (../bundle.mjs).
export { readProjectName } from '../../domain/identity/project-names'
export { citationsOf } from '../../domain/sources/citation'
export { bareLines, compareCitation } from '../../domain/sources/compare'
export { isSource, proposeMemories } from './propose'
