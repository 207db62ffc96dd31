// What `ablation.mjs` takes from the source, bundled for Node: a pack from given candidates, without a server.
export { fromBase64 } from '../../src/domain/meaning/vector'
export { WEIGHTS } from '../../src/domain/pack/weights'
export { createAnalyzer } from '../../src/domain/search/analysis'
export { WITHOUT_REST } from '../../src/domain/yielder'
export { createCompilePack } from '../../src/services/pack/compile-pack'
