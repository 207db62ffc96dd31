// A sentence model: text → tokens → network → one vector.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Tokenizer } from '@huggingface/tokenizers'
import { ModelProblem } from '../../../src/cli/models/folder.mjs'

/** @typedef {import('../../../src/cli/models/folder.mjs').LocalModel} LocalModel */
/** @typedef {import('../../../src/cli/models/catalogue.mjs').ModelFacts} ModelFacts */
/** @typedef {import('./runtime.mjs').Runtime} Runtime */
/** @typedef {'query' | 'passage'} TextKind */

/** A pinned file that is damaged: it is downloaded again. */
export class DamagedModel extends ModelProblem {}

/** @param {string} path @param {Pick<LocalModel, 'sha256'>} pins @param {string} found */
function check(path, { sha256 }, found) {
  if (sha256[path] !== undefined && sha256[path] !== found)
    throw new DamagedModel(`${path} is damaged: its SHA-256 is ${found}, but ${sha256[path]} is pinned`)
}

/** @param {Uint8Array} bytes */
const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex')

/** @param {Pick<LocalModel, 'tokenizer'>} local @param {Buffer} bytes */
function readTokenizer({ tokenizer: path }, bytes) {
  try {
    return new Tokenizer(JSON.parse(bytes.toString('utf8')), {})
  } catch (error) {
    throw new ModelProblem(`The tokenizer ${path} cannot be read: ${error.message}`)
  }
}

/** Cut to what the model reads; the closing token stays. @param {number[]} ids @param {number} most */
const truncated = (ids, most) => (ids.length > most ? [...ids.slice(0, most - 1), Number(ids.at(-1))] : ids)

/** @param {Float32Array} vector */
function unit(vector) {
  const length = Math.hypot(...vector)
  return length === 0 ? vector : vector.map((value) => value / length)
}

/** The vector of a text, from what the network says of each token. @param {Float32Array} data @param {ModelFacts} facts */
function pooled(data, { dim, pooling }) {
  if (pooling === 'cls') return data.slice(0, dim)
  const sums = new Float32Array(dim)
  for (let i = 0; i < data.length; i++) sums[i % dim] += data[i]
  return sums.map((sum) => (sum * dim) / data.length)
}

/**
 * Loads a model.
 *
 * @param {Omit<LocalModel, 'revision'>} local
 * @param {Runtime} runtime
 * @returns {Promise<{ digest: string, embed: (text: string, kind: TextKind) => Promise<Float32Array> }>} digest: of the network
 * @throws {ModelProblem}
 */
export async function loadSentenceModel(local, { ort, options }) {
  const { facts } = local
  const bytes = { model: readFileSync(local.model), tokenizer: readFileSync(local.tokenizer) }
  const digest = hashOf(bytes.model)
  check(local.model, local, digest)
  check(local.tokenizer, local, hashOf(bytes.tokenizer))
  const tokenizer = readTokenizer(local, bytes.tokenizer)
  const session = await ort.InferenceSession.create(bytes.model, options).catch((error) => {
    throw new ModelProblem(`The model ${local.model} cannot be loaded: ${error.message}`)
  })
  const output = facts.output ?? session.outputNames[0]

  /** One text a run: in a batch, the vectors of int8 models depend on their neighbors. @param {string} text @param {TextKind} kind */
  async function embed(text, kind) {
    const ids = truncated(tokenizer.encode(facts[`${kind}_prefix`] + text).ids, facts.max_tokens)
    const tensor = (/** @type {bigint} */ fill) =>
      new ort.Tensor('int64', new BigInt64Array(ids.length).fill(fill), [1, ids.length])
    const inputs = {
      input_ids: new ort.Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]),
      attention_mask: tensor(1n),
      token_type_ids: tensor(0n),
    }
    const fed = Object.fromEntries(Object.entries(inputs).filter(([name]) => session.inputNames.includes(name)))
    const made = (await session.run(fed))[output]
    if (made === undefined)
      throw new ModelProblem(
        `The model ${facts.model} has no output "${output}", but ${session.outputNames.join(', ')}`,
      )
    const { dims, data } = made
    if (dims.at(-1) !== facts.dim)
      throw new ModelProblem(
        `The model ${facts.model} makes vectors of ${dims.at(-1)} numbers, but config.json says "dim": ${facts.dim}`,
      )
    const vector = pooled(/** @type {Float32Array} */ (data), facts)
    if (!vector.every(Number.isFinite))
      throw new ModelProblem(`The model ${facts.model} made a vector that is not finite`)
    return facts.normalize ? unit(vector) : vector
  }

  // What is wrong with its shape shows at the first text.
  await embed('ready', 'query')
  return { digest, embed }
}
