// Exports the importers and the format for the command line. Bundled on demand (../copy/bundle.mjs).
export { Problem } from '../../domain/errors'
export { verifyExport } from '../../domain/transfer/verify'
export { readVolumes, wholeVolumes } from '../../domain/transfer/volume-reader'
export { planImport } from './plan'
export { type ProjectedExport, projectedVolumes } from './projected'
export { SOURCES } from './sources'
export { SourceProblem } from './values'
