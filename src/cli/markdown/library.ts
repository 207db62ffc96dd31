// Folders of Markdown files as the command line uses them. Bundled on demand (../bundle.mjs).
export { Problem } from '../../domain/errors'
export { completeVolumes, readVolumes } from '../../domain/transfer/volume-reader'
export { SourceProblem } from '../import/values'
export { planFolder, readMarker, updateFolder as bringUpToDate } from './markdown-folder'
