import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { DEFAULT_MODEL, MODELS, type PinnedModel, pinnedModel, sizeOf } from '../../src/cli/models/catalogue.mjs'
import { confirmModel, filesOf, modelsFolder } from '../../src/cli/models/folder.mjs'
import { runHere } from '../support/command-here'
import { startMirror } from '../support/model-mirror'

/** `commonplace model pull|list|remove`. */
const models = mkdtempSync(join(tmpdir(), 'commonplace-models-'))
afterAll(() => rmSync(models, { recursive: true, force: true }))
const pinned = pinnedModel(DEFAULT_MODEL) as PinnedModel
const run = (words: string, env = {}) => runHere(words.split(' '), { COMMONPLACE_MODELS: models, ...env })

it('pulls from the mirror that MODEL_URL names, by the paths of the Hub, and keeps no file without its checksum', async () => {
  const wrong = Buffer.alloc(pinned.files.tokenizer.bytes)
  const mirror = await startMirror(pinned, { model: wrong, tokenizer: wrong })
  const { code, err } = await run('model pull', { MODEL_URL: `${mirror.url}/` })
  await mirror.stop()
  expect(code).toBe(1)
  expect(err).toContain(`from ${mirror.url}`)
  expect(err).toContain(`${pinned.files.tokenizer.sha256} is pinned; it was deleted`)
  expect(mirror.asked[0]?.path).toBe(`/${pinned.repository}/resolve/${pinned.revision}/tokenizer.json`)
})

it('lists what is here, and removes it', async () => {
  const installed = async () => {
    const { models: all } = JSON.parse((await run('model list --json')).out)
    return all.map((one: { model: string; installed: boolean }) => [one.model, one.installed])
  }
  expect(await installed()).toEqual(MODELS.map(({ model }) => [model, false]))
  const { out: empty } = await run('model list')
  expect(empty).toMatch(new RegExp(`^--  ${DEFAULT_MODEL} .* 24 MB  English, Apache-2.0$`, 'm'))
  // As a download leaves it.
  confirmModel(pinned, models)
  for (const [name, path] of Object.entries(filesOf(pinned, models))) {
    writeFileSync(path, '')
    truncateSync(path, pinned.files[name as 'model' | 'tokenizer'].bytes)
  }
  expect(await installed()).toEqual(MODELS.map(({ model }) => [model, model === DEFAULT_MODEL]))
  const config = JSON.parse(readFileSync(join(filesOf(pinned, models).model, '..', 'config.json'), 'utf8'))
  expect(config).toMatchObject({
    model: DEFAULT_MODEL,
    file: 'model_quantized.onnx',
    tokenizer: 'tokenizer.json',
    dim: 384,
  })
  const { out } = await run(`model remove ${DEFAULT_MODEL} --json`)
  expect(JSON.parse(out).bytes).toBeGreaterThanOrEqual(sizeOf(pinned))
  expect(await installed()).toEqual(MODELS.map(({ model }) => [model, false]))
})

it('names the models that it knows when the requested one is unknown', async () => {
  const { code, err } = await run('model pull word2vec')
  expect(code).toBe(2)
  expect(err).toMatch(/^unknown model: word2vec. Known models: all-MiniLM-L6-v2, multilingual-e5-small/)
})

it('keeps models in the cache folder of the user, by the rules of each system', () => {
  expect(modelsFolder({}, 'linux', '/home/ada')).toBe('/home/ada/.cache/commonplace/models')
  expect(modelsFolder({ XDG_CACHE_HOME: '/cache' }, 'linux', '/home/ada')).toBe('/cache/commonplace/models')
  expect(modelsFolder({}, 'darwin', '/Users/ada')).toBe('/Users/ada/Library/Caches/commonplace/models')
  expect(modelsFolder({ COMMONPLACE_DATA: '/data' }, 'linux', '/home/ada')).toBe('/data/models')
  expect(modelsFolder({ COMMONPLACE_DATA: '/data', COMMONPLACE_MODELS: '/models' }, 'linux', '/')).toBe('/models')
})
