// The embedding models that the server can run itself: their files and checksums, and how each is used.

/**
 * @typedef {object} ModelFile
 * @property {string} path in the repository
 * @property {number} bytes
 * @property {string} sha256
 *
 * @typedef {object} ModelFacts how a model is used; `config.json` of a model's folder has the same names
 * @property {string} model name of the model
 * @property {number} dim length of a vector
 * @property {'mean' | 'cls'} pooling
 * @property {boolean} normalize
 * @property {number} max_tokens longer texts are cut
 * @property {string} query_prefix
 * @property {string} passage_prefix
 * @property {string} [output] of the network; the first by default
 * @property {number} [reads] code points that usually fit into `max_tokens`: longer texts are split into pieces of this size
 * @property {{ nothing: number, answer: number }} [levels] as EMBEDDING_LEVELS
 *
 * @typedef {ModelFacts & {
 *   repository: string, revision: string, license: string, languages: string, files: { model: ModelFile, tokenizer: ModelFile },
 * }} PinnedModel
 */

/** Of the Hugging Face Hub. A pin never changes under a name: vectors of two revisions are not comparable. @type {readonly PinnedModel[]} */
export const MODELS = [
  {
    model: 'all-MiniLM-L6-v2',
    repository: 'Xenova/all-MiniLM-L6-v2',
    revision: '751bff37182d3f1213fa05d7196b954e230abad9',
    license: 'Apache-2.0',
    languages: 'English',
    files: {
      model: {
        path: 'onnx/model_quantized.onnx',
        bytes: 22_972_370,
        sha256: 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1',
      },
      tokenizer: {
        path: 'tokenizer.json',
        bytes: 711_661,
        sha256: 'da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0',
      },
    },
    dim: 384,
    pooling: 'mean',
    normalize: true,
    max_tokens: 256,
    query_prefix: '',
    passage_prefix: '',
    reads: 1000,
  },
  {
    model: 'multilingual-e5-small',
    repository: 'Xenova/multilingual-e5-small',
    revision: '761b726dd34fb83930e26aab4e9ac3899aa1fa78',
    license: 'MIT',
    languages: 'about 100',
    files: {
      model: {
        path: 'onnx/model_quantized.onnx',
        bytes: 118_308_185,
        sha256: 'f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193',
      },
      tokenizer: {
        path: 'tokenizer.json',
        bytes: 17_082_730,
        sha256: '0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39',
      },
    },
    dim: 384,
    pooling: 'mean',
    normalize: true,
    max_tokens: 512,
    query_prefix: 'query: ',
    passage_prefix: 'passage: ',
  },
]

export const DEFAULT_MODEL = 'all-MiniLM-L6-v2'

/** Source of pinned files, unless MODEL_URL names a mirror with the same paths. */
export const HUB = 'https://huggingface.co'

/** @param {string} name @returns {PinnedModel | undefined} */
export const pinnedModel = (name) => {
  const wanted = name.toLowerCase()
  return MODELS.find(({ model, repository }) => [model, repository].some((known) => known.toLowerCase() === wanted))
}

/** @param {PinnedModel} model @param {ModelFile} file @param {string} [mirror] MODEL_URL */
export const addressOf = ({ repository, revision }, { path }, mirror = HUB) =>
  `${mirror.replace(/\/+$/, '')}/${repository}/resolve/${revision}/${path}`

/** @param {PinnedModel} model @returns {number} bytes of all files */
export const sizeOf = ({ files }) => files.model.bytes + files.tokenizer.bytes

/** @param {number} bytes */
export const megabytes = (bytes) => `${Math.round(bytes / 1e6)} MB`
