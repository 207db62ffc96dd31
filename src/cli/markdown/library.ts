// Exports folders of Markdown files for the command line. Bundled on demand (../copy/bundle.mjs).
export { Problem } from '../../domain/errors'
export { readVolumes, wholeVolumes } from '../../domain/transfer/volume-reader'
export { SourceProblem } from '../import/values'
export { bringUpToDate, planFolder, readMarker } from './markdown-folder'
