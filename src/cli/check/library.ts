// Citations as the command line compares them. Bundled on demand (../bundle.mjs).

export { citationsOf, placeOf, readCitation } from '../../domain/entry/citation'
export { aroundOf, bareLines, compareCitation, hashOf, searchBudget } from '../../domain/entry/compare-citation'
export { readProjectName } from '../../domain/identity/project-names'
