// A sentence model of a few kilobytes for tests: real ONNX and a real tokenizer file, so that the real loading and
// inference code runs. Each word of its vocabulary has one vector; words of one group share it, so that a question
// matches an answer in other words.
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const TINY_DIM = 16
/** Words of one line have the same meaning. */
const GROUPS = [
  ['car', 'automobile', 'vehicle'],
  ['doctor', 'physician', 'medic'],
  ['buy', 'purchase', 'acquire'],
  ['house', 'building', 'home'],
  ['fast', 'quick', 'rapid'],
  ['ready'],
  ['query:'],
  ['passage:'],
]
const SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]']
const WORDS = [...SPECIAL, ...GROUPS.flat()]

/** @param {number} value an integer of any size @returns {number[]} as protocol buffers write it */
function varint(value) {
  const bytes = []
  let rest = value
  while (rest > 127) {
    bytes.push((rest % 128) | 128)
    rest = Math.floor(rest / 128)
  }
  return [...bytes, rest]
}
const number = (/** @type {number} */ field, /** @type {number} */ value) =>
  Buffer.from([...varint(field * 8), ...varint(value)])
const bytes = (/** @type {number} */ field, /** @type {Uint8Array | string} */ value) => {
  const body = Buffer.from(/** @type {any} */ (value))
  return Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(body.length)]), body])
}
const message = (/** @type {number} */ field, /** @type {Buffer[]} */ ...parts) => bytes(field, Buffer.concat(parts))

const [FLOAT, INT64] = [1, 7]
const dimension = (/** @type {number | string} */ size) =>
  message(1, typeof size === 'number' ? number(1, size) : bytes(2, size))
const value = (
  /** @type {number} */ field,
  /** @type {string} */ name,
  /** @type {number} */ type,
  /** @type {(number | string)[]} */ shape,
) => message(field, bytes(1, name), message(2, message(1, number(1, type), message(2, ...shape.map(dimension)))))

/** The vector of a word: its group's direction, the same on every machine. @param {number} place @param {number} dim */
function vectorOf(place, dim) {
  const group = place < SPECIAL.length ? -1 : GROUPS.findIndex((words) => words.includes(WORDS[place]))
  return Float32Array.from({ length: dim }, (_, i) => (group >= 0 && i % GROUPS.length === group ? 1 : 0.01))
}

/** A network that looks up each token: ModelProto with one Gather. @param {number} dim */
function network(dim) {
  const table = Buffer.concat(WORDS.map((_, place) => Buffer.from(vectorOf(place, dim).buffer)))
  const weights = message(
    5,
    number(1, WORDS.length),
    number(1, dim),
    number(2, FLOAT),
    bytes(8, 'table'),
    bytes(9, table),
  )
  const gather = message(1, bytes(1, 'table'), bytes(1, 'input_ids'), bytes(2, 'last_hidden_state'), bytes(4, 'Gather'))
  const inputs = ['input_ids', 'attention_mask', 'token_type_ids'].map((name) =>
    value(11, name, INT64, ['batch', 'tokens']),
  )
  const output = value(12, 'last_hidden_state', FLOAT, ['batch', 'tokens', dim])
  return Buffer.concat([
    number(1, 8),
    message(7, gather, bytes(2, 'tiny'), weights, ...inputs, output),
    message(8, bytes(1, ''), number(2, 13)),
  ])
}

const special = (/** @type {string} */ content) => ({
  ...{ id: WORDS.indexOf(content), content, special: true },
  ...{ single_word: false, lstrip: false, rstrip: false, normalized: false },
})

const TOKENIZER = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: SPECIAL.map(special),
  normalizer: {
    type: 'BertNormalizer',
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
  },
  pre_tokenizer: { type: 'WhitespaceSplit' },
  post_processor: {
    type: 'TemplateProcessing',
    single: ['[CLS]', 'A', '[SEP]'].map((id) =>
      id === 'A' ? { Sequence: { id, type_id: 0 } } : { SpecialToken: { id, type_id: 0 } },
    ),
    pair: [],
    special_tokens: Object.fromEntries(
      ['[CLS]', '[SEP]'].map((id) => [id, { id, ids: [WORDS.indexOf(id)], tokens: [id] }]),
    ),
  },
  decoder: null,
  model: {
    ...{ type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100 },
    vocab: Object.fromEntries(WORDS.map((word, id) => [word, id])),
  },
}

const fileOf = (/** @type {string} */ path, /** @type {Buffer} */ content) => ({
  path,
  bytes: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
})

/** @param {{ dim?: number }} [options] */
export function tinyModel({ dim = TINY_DIM } = {}) {
  const model = network(dim)
  const tokenizer = Buffer.from(JSON.stringify(TOKENIZER))
  const facts = {
    ...{ model: 'tiny-words', dim, pooling: /** @type {const} */ ('mean'), normalize: true, max_tokens: 8 },
    ...{ query_prefix: '', passage_prefix: '' },
  }
  return {
    facts,
    files: { model, tokenizer },
    /** As though it were pinned. */
    pinned: {
      ...facts,
      ...{ repository: 'tests/tiny-words', revision: 'a'.repeat(40), license: 'MIT', languages: 'English' },
      files: { model: fileOf('onnx/model_quantized.onnx', model), tokenizer: fileOf('tokenizer.json', tokenizer) },
    },
  }
}

/**
 * Writes it as a folder that EMBEDDING_MODEL may name.
 *
 * @param {string} folder @param {{ dim?: number, config?: object }} [options] config: other facts than the right ones
 */
export function writeTinyModel(folder, { dim, config = {} } = {}) {
  const { facts, files } = tinyModel({ dim })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'model.onnx'), files.model)
  writeFileSync(join(folder, 'tokenizer.json'), files.tokenizer)
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...facts, file: 'model.onnx', ...config }))
  return folder
}
