import { type ModelService, modelState } from '../adapters/builtin/host'
import { type Config, LOCAL_MODEL } from '../config'
import { Problem } from '../domain/errors'
import type { ModelState } from '../domain/meaning/hosted-model'
import { perObject } from '../domain/per-object'
import type { Millis } from '../domain/time'
import type { Bindings } from './bindings'

/** Until the model is ready, the process that runs it is asked once in so long. */
const ASKED_AGAIN_MS = 1000

export const withoutHost = (): Problem =>
  new Problem(
    'unavailable',
    'EMBEDDING_PROVIDER is builtin, but no process runs a model next to this Worker: only npm start, npx and the container do; ' +
      'choose another provider (docs/models.md)',
  )

/** Whether the process runs the small English model. */
export const isEnglishOnly = ({ embedding: { provider, model } }: Config): boolean =>
  provider === 'builtin' && /(^|\/)all-minilm-l6-v2$/i.test(model)

/** The model's state in an isolate. */
interface Known {
  state: ModelState | null
  askedAt: Millis
}

const known = perObject((_: ModelService): Known => ({ state: null, askedAt: 0 }))

/** Configurations by the reported state, so that caches of a configuration live until the state changes. */
const configurations = perObject((_: Config) => new Map<string, Config>())

/** @param isNews whether the model is known to have changed */
async function stateOf(service: ModelService, now: Millis, isNews: boolean): Promise<ModelState> {
  const own = known(service)
  const isFresh = own.state !== null && (own.state.state === 'ready' || now - own.askedAt < ASKED_AGAIN_MS)
  if (own.state === null || isNews || !isFresh) {
    own.state = await modelState(service)
    own.askedAt = now
  }
  return own.state
}

function configuredFor(config: Config, hosted: ModelState): Config['embedding'] {
  const { embedding } = config
  if (hosted.state !== 'ready')
    return { ...embedding, provider: 'local', model: LOCAL_MODEL[0], dimensions: LOCAL_MODEL[1], hosted }
  const { name, dimensions, levels = null } = hosted.model
  return { ...embedding, model: name, dimensions, levels: embedding.levels ?? levels, hosted }
}

/**
 * The configuration as it holds now: with `builtin`, the model that the process runs, or `local` while there is none.
 *
 * @throws Problem unavailable where no process runs one
 */
export async function withBuiltinModel(config: Config, bindings: Bindings, isNews = false): Promise<Config> {
  const service = bindings.BUILTIN_MODEL
  if (config.embedding.provider !== 'builtin' || !config.semantic.enabled) return config
  if (service === undefined) throw withoutHost()
  const state = await stateOf(service, Date.now(), isNews)
  const all = configurations(config)
  const key = JSON.stringify(state)
  const before = all.get(key)
  if (before !== undefined) return before
  all.clear()
  const made = Object.freeze({ ...config, embedding: configuredFor(config, state) })
  all.set(key, made)
  return made
}
