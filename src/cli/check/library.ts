// Citations as the command line compares them. Bundled on demand (../bundle.mjs).
export { citationsOf, placeOf, readCitation } from '../../domain/sources/citation'
export { aroundOf, bareLines, compareCitation, hashOf } from '../../domain/sources/compare'
