// Runs a sentence model: text → tokens → network → one vector.
import { readFileSync } from 'node:fs'
import { Tokenizer } from '@huggingface/tokenizers'
import { checksumOf } from '../../../src/cli/models/download.mjs'
import { ModelProblem } from '../../../src/cli/models/folder.mjs'

/** @typedef {import('../../../src/cli/models/folder.mjs').LocalModel} LocalModel */
/** @typedef {import('../../../src/cli/models/catalogue.mjs').ModelFacts} ModelFacts */
/** @typedef {import('./runtime.mjs').Runtime} Runtime */
/** @typedef {'query' | 'passage'} TextKind */

/** A damaged pinned file, which is downloaded again. */
export class DamagedModel extends ModelProblem {}

/** @param {string} path @param {Pick<LocalModel, 'sha256'>} pins @returns {Promise<string>} its SHA-256 */
async function checked(path, { sha256 }) {
  const found = await checksumOf(path)
  if (sha256[path] !== undefined && sha256[path] !== found)
    throw new DamagedModel(`${path} is damaged: its SHA-256 is ${found}, but ${sha256[path]} is pinned`)
  return found
}

/** @param {Pick<LocalModel, 'tokenizer'>} local */
function readTokenizer({ tokenizer: path }) {
  try {
    return new Tokenizer(JSON.parse(readFileSync(path, 'utf8')), {})
  } catch (error) {
    throw new ModelProblem(`The tokenizer ${path} cannot be read: ${error.message}`)
  }
}

/** Cuts tokens to the model's limit; the closing token stays. @param {number[]} ids @param {number} most */
const truncated = (ids, most) => (ids.length > most ? [...ids.slice(0, most - 1), Number(ids.at(-1))] : ids)

/** @param {Float32Array} vector */
function unit(vector) {
  const length = Math.hypot(...vector)
  return length === 0 ? vector : vector.map((value) => value / length)
}

/** Pools the network's output for each token to the vector of a text. @param {Float32Array} data @param {ModelFacts} facts */
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
  const digest = await checked(local.model, local)
  await checked(local.tokenizer, local)
  const tokenizer = readTokenizer(local)
  const session = await ort.InferenceSession.create(local.model, options).catch((error) => {
    throw new ModelProblem(`The model ${local.model} cannot be loaded: ${error.message}`)
  })
  const output = facts.output ?? session.outputNames[0]

  /** Embeds one text per run: in a batch, the vectors of int8 models depend on their neighbors. @param {string} text @param {TextKind} kind */
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
        `The model ${facts.model} has no output "${output}", only ${session.outputNames.join(', ')}`,
      )
    const { dims, data } = made
    if (dims.at(-1) !== facts.dim)
      throw new ModelProblem(
        `The model ${facts.model} makes vectors of ${dims.at(-1)} numbers, but config.json has "dim": ${facts.dim}`,
      )
    const vector = pooled(/** @type {Float32Array} */ (data), facts)
    if (!vector.every(Number.isFinite))
      throw new ModelProblem(`The model ${facts.model} returned a vector that is not finite`)
    return facts.normalize ? unit(vector) : vector
  }

  // The first text reveals a model with the wrong shape.
  await embed('ready', 'query')
  return { digest, embed }
}
