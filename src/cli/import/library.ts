// What of the importers and of the format does the command line use? Bundled when it is asked for (../bundle.mjs).
export { Problem } from '../../domain/errors'
export { verifyExport } from '../../domain/transfer/verify'
export { readVolumes, wholeVolumes } from '../../domain/transfer/volume-reader'
export { planImport } from './plan'
export { type ProjectedExport, projectedVolumes } from './projected'
export { SOURCES } from './sources'
export { SourceProblem } from './values'
