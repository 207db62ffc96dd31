import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createBuiltinModel } from '../../scripts/serve/model/builtin-model.mjs'
import { createEmbeddingThread } from '../../scripts/serve/model/embedding-thread.mjs'
import { createBuiltinEmbedder } from '../../src/adapters/builtin/embedder'
import { addressOf } from '../../src/cli/models/catalogue.mjs'
import { downloadModel } from '../../src/cli/models/download.mjs'
import { filesOf, installedModel, modelInFolder, storedModels } from '../../src/cli/models/folder.mjs'
import type { HostedModel } from '../../src/domain/meaning/hosted-model'
import { describeEmbedder } from '../contracts/embedder'
import { ownDisk } from '../support/broken-disks'
import { type ModelMirror, startMirror } from '../support/model-mirror'
import { TINY_DIM, tinyModel, writeTinyModel } from '../support/tiny-model.mjs'

/** The model that a server runs itself: loading, inference and downloads, on a model of a few kilobytes. */
const root = mkdtempSync(join(tmpdir(), 'commonplace-model-'))
let folders = 0
const folder = () => join(root, String(folders++))
const { pinned, files } = tinyModel()

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const threadOn = (path: string, options: Parameters<typeof createEmbeddingThread>[1] = {}) => {
  const thread = createEmbeddingThread(modelInFolder(path), options)
  closing.push(() => thread.close())
  return thread
}

const cosine = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0)

async function mirror(): Promise<ModelMirror> {
  const server = await startMirror(pinned, files)
  closing.push(() => server.stop())
  return server
}

type HostOptions = Parameters<typeof createBuiltinModel>[0]

/** A host on the tiny model, as a start has one; `ready` when vectors can be made. */
function hostOn(options: Partial<HostOptions>) {
  const told: string[] = []
  const host = createBuiltinModel({
    ...{ name: pinned.model, models: folder(), tell: (line) => told.push(line), lookMs: 5 },
    choose: () => ({ pinned }),
    ...options,
  })
  closing.push(() => host.close())
  const ready = new Promise<void>((resolve) => host.onReady(resolve))
  return { host, told, ready }
}

describe.each(['native', 'wasm'] as const)('the %s runtime', (runtime) => {
  it('gives words of one meaning similar vectors, each text alone or in a batch', async () => {
    const thread = threadOn(writeTinyModel(folder()), { runtime })
    expect((await thread.load()).runtime).toBe(runtime)
    const texts = ['buy a car', 'purchase a vehicle', 'the physician']
    const [car, vehicle, physician] = (await Promise.all(texts.map((text) => thread.embed(text, 'passage')))) as [
      Float32Array,
      Float32Array,
      Float32Array,
    ]
    expect(car).toHaveLength(TINY_DIM)
    expect(cosine(car, car)).toBeCloseTo(1, 5)
    expect(cosine(car, vehicle)).toBeCloseTo(1, 5)
    expect(cosine(car, physician)).toBeLessThan(0.6)
    expect(await thread.embed('buy a car', 'passage')).toEqual(car)
  })

  it('reads no more tokens than the model, and keeps the closing one', async () => {
    const thread = threadOn(writeTinyModel(folder()), { runtime })
    const within = await thread.embed('car car car car car car', 'passage')
    expect(await thread.embed(`${'car '.repeat(6)}doctor doctor doctor`, 'passage')).toEqual(within)
  })
})

describe('a folder as a model', () => {
  it('writes the prefix of a query and that of a passage before a text', async () => {
    const config = { query_prefix: 'query: ', passage_prefix: 'passage: ' }
    const thread = threadOn(writeTinyModel(folder(), { config }))
    const plain = threadOn(writeTinyModel(folder()))
    expect(await thread.embed('car', 'query')).toEqual(await plain.embed('query: car', 'query'))
    expect(await thread.embed('car', 'passage')).toEqual(await plain.embed('passage: car', 'query'))
  })

  it('names a missing tokenizer, and each thing in config.json that is wrong', () => {
    const broken = (change: (path: string) => void) => {
      const path = writeTinyModel(folder())
      change(path)
      return () => modelInFolder(path)
    }
    const config = (facts: object) => broken((path) => writeTinyModel(path, { config: facts }))
    expect(broken((path) => rmSync(join(path, 'tokenizer.json')))).toThrow(
      /The tokenizer of the model is missing: .*tokenizer\.json does not exist/,
    )
    expect(broken((path) => rmSync(join(path, 'config.json')))).toThrow(/which has no config\.json/)
    expect(broken((path) => writeFileSync(join(path, 'config.json'), '{'))).toThrow(/is not JSON/)
    expect(config({ dim: 0 })).toThrow(/"dim": it must be the length of a vector/)
    expect(config({ max_tokens: 'all' })).toThrow(/"max_tokens"/)
    expect(config({ pooling: 'last' })).toThrow(/"pooling": it must be mean or cls/)
  })

  it('refuses a model whose vectors have another length than in config.json, and invalid files', async () => {
    const shape = threadOn(writeTinyModel(folder(), { config: { dim: 7 } }))
    await expect(shape.load()).rejects.toThrow(`makes vectors of ${TINY_DIM} numbers, but config.json has "dim": 7`)
    const output = threadOn(writeTinyModel(folder(), { config: { output: 'pooler' } }))
    await expect(output.load()).rejects.toThrow('has no output "pooler", only last_hidden_state')
    const path = writeTinyModel(folder())
    writeFileSync(join(path, 'tokenizer.json'), '{}')
    await expect(threadOn(path).load()).rejects.toThrow(/The tokenizer .* cannot be read/)
    writeTinyModel(path)
    writeFileSync(join(path, 'model.onnx'), 'no model')
    await expect(threadOn(path).load()).rejects.toThrow(/The model .* cannot be loaded/)
  })
})

describe('the thread of the model', () => {
  it('answers queries before passages that were sent earlier', async () => {
    const thread = threadOn(writeTinyModel(folder()))
    await thread.load()
    const order: string[] = []
    const ask = async (name: string, kind: 'query' | 'passage') => {
      await thread.embed('car', kind)
      order.push(name)
    }
    await Promise.all([
      ask('first', 'passage'),
      ask('second', 'passage'),
      ask('third', 'passage'),
      ask('query', 'query'),
    ])
    // The thread was busy with the first passage.
    expect(order.toSorted()).toEqual(['first', 'query', 'second', 'third'])
    expect(order.indexOf('query')).toBeLessThan(order.indexOf('second'))
  })

  it('ends while nothing is asked, and starts again with the next text', async () => {
    const thread = threadOn(writeTinyModel(folder()), { idleMs: 1 })
    const before = await thread.embed('car', 'query')
    await expect.poll(() => thread.isLoaded()).toBe(false)
    expect(await thread.embed('car', 'query')).toEqual(before)
  })
})

describe('a download', () => {
  it('resumes where a connection was cut off, and accepts only files with their checksum', async () => {
    const server = await mirror()
    const models = folder()
    server.cuts.push(100, 50)
    const progress: number[] = []
    const local = await downloadModel(pinned, {
      models,
      mirror: server.url,
      onProgress: (bytes) => progress.push(bytes),
    })
    const resumed = server.asked.flatMap(({ path, range }) => (path.startsWith('/storage') && range ? [range] : []))
    expect(resumed).toEqual(['bytes=100-', 'bytes=150-'])
    expect(readFileSync(local.model)).toEqual(files.model)
    expect(progress.at(-1)).toBe(files.model.length + files.tokenizer.length)
    expect(progress).toEqual(progress.toSorted((a, b) => a - b))
    expect(installedModel(pinned, models)).toEqual(local)
    const { length } = server.asked
    await downloadModel(pinned, { models, mirror: server.url })
    expect(server.asked).toHaveLength(length)
  })

  it('resumes in the next attempt the partial download of an earlier one', async () => {
    const server = await mirror()
    const models = folder()
    const { tokenizer } = filesOf(pinned, models)
    mkdirSync(join(tokenizer, '..'), { recursive: true })
    writeFileSync(`${tokenizer}.part`, files.tokenizer.subarray(0, 200))
    await downloadModel(pinned, { models, mirror: server.url })
    expect(server.asked[1]?.range).toBe('bytes=200-')
    expect(readFileSync(tokenizer)).toEqual(files.tokenizer)
  })

  it('refuses a file with another checksum, a longer one, and a missing one, and leaves nothing that counts as a model', async () => {
    const server = await mirror()
    const models = folder()
    const path = new URL(addressOf(pinned, pinned.files.model, server.url)).pathname
    const attempt = () => downloadModel(pinned, { models, mirror: server.url })
    server.served.set(path, Buffer.from(files.model).fill(1, 20, 30))
    await expect(attempt()).rejects.toThrow(`${pinned.files.model.sha256} is pinned; it was deleted`)
    expect(existsSync(`${filesOf(pinned, models).model}.part`)).toBe(false)
    server.served.set(path, Buffer.concat([files.model, files.model]))
    await expect(attempt()).rejects.toThrow('is larger than the')
    server.served.delete(path)
    await expect(attempt()).rejects.toThrow('status 404')
    expect(installedModel(pinned, models)).toBeNull()
    server.served.set(path, files.model)
    rmSync(`${filesOf(pinned, models).model}.part`, { force: true })
    await attempt()
    expect(storedModels(models).map(({ name }) => name)).toEqual([pinned.model])
  })

  it('sends a user and a password of the mirror as a header, and prints neither', async () => {
    const server = await mirror()
    server.served.clear()
    const url = server.url.replace('http://', 'http://ada:s%40cret@')
    const { host, told } = hostOn({ mirror: url })
    host.begin()
    await expect.poll(() => host.state().state).toBe('unavailable')
    expect(server.asked[0]?.authorization).toBe(`Basic ${btoa('ada:s@cret')}`)
    expect(JSON.stringify([told, host.state()])).not.toMatch(/ada|cret/)
  })

  it('names a folder that cannot be written to', async () => {
    const file = folder()
    writeFileSync(file, '')
    await expect(downloadModel(pinned, { models: file, mirror: 'http://127.0.0.1:9' })).rejects.toThrow(
      /cannot be written to \(ENOTDIR\); set COMMONPLACE_MODELS to another folder/,
    )
  })

  it('downloads nothing while another process does', async () => {
    const models = folder()
    const place = join(filesOf(pinned, models).model, '..')
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'lock'), String(process.ppid))
    await expect(downloadModel(pinned, { models, mirror: 'http://127.0.0.1:9' })).rejects.toThrow(
      `Process ${process.ppid} is already downloading into`,
    )
  })

  it('names the server that refuses the connection', async () => {
    const server = await mirror()
    await server.stop()
    closing.splice(0)
    await expect(downloadModel(pinned, { models: folder(), mirror: server.url })).rejects.toThrow(
      /^tokenizer\.json cannot be downloaded: .*ECONNREFUSED/,
    )
  })
})

describe('the model of a server', () => {
  it('is downloaded at the first start, and used without a download at the next', async () => {
    const server = await mirror()
    const models = folder()
    const { host, told, ready } = hostOn({ models, mirror: server.url })
    host.begin()
    await ready
    expect(host.state()).toMatchObject({ state: 'ready', model: { name: pinned.model, dimensions: TINY_DIM } })
    expect(told[0]).toContain('Downloading the model')
    const { length } = server.asked
    const again = hostOn({ models, mirror: server.url })
    again.host.begin()
    await again.ready
    expect(again.host.state()).toEqual(host.state())
    expect([server.asked.length, again.told]).toEqual([length, []])
  })

  it('[THREADS-133] uses local if the built-in model is absent and cannot be downloaded, reports it in one line, and uses the model when it arrives', async () => {
    const models = folder()
    const { host, told, ready } = hostOn({ models, mirror: 'http://127.0.0.1:9' })
    host.begin()
    await expect.poll(() => host.state().state).toBe('unavailable')
    expect(told.filter((line) => line.startsWith('!'))).toEqual([
      expect.stringContaining('is not available, so "local" is used'),
    ])
    // `commonplace model pull` downloads it.
    const server = await mirror()
    await downloadModel(pinned, { models, mirror: server.url })
    await ready
    expect(host.state().state).toBe('ready')
  })

  it('tries again by itself, and prints a problem that stays once', async () => {
    const server = await mirror()
    const path = new URL(addressOf(pinned, pinned.files.tokenizer, server.url)).pathname
    server.served.delete(path)
    const { host, told, ready } = hostOn({ mirror: server.url, retryMs: 1 })
    host.begin()
    await expect.poll(() => server.asked.length).toBeGreaterThan(6)
    expect(told.filter((line) => line.startsWith('!'))).toEqual([expect.stringContaining('status 404')])
    server.served.set(path, files.tokenizer)
    await ready
  })

  it('uses local on a full disk, and the model when there is room again', async () => {
    const disk = ownDisk(1)
    if (disk === null) return
    closing.push(async () => disk.drop())
    disk.fill()
    const server = await mirror()
    const { host, ready } = hostOn({ models: join(disk.folder, 'models'), mirror: server.url, retryMs: 1 })
    host.begin()
    await expect
      .poll(() => host.state())
      .toMatchObject({ state: 'unavailable', problem: expect.stringContaining('ENOSPC') })
    disk.empty()
    await ready
  })

  it('replaces a file that was damaged since', async () => {
    const server = await mirror()
    const models = folder()
    const local = await downloadModel(pinned, { models, mirror: server.url })
    writeFileSync(local.model, Buffer.from(files.model).fill(1, 20, 30))
    const { host, told, ready } = hostOn({ models, mirror: server.url })
    host.begin()
    await ready
    expect(told[0]).toContain('is damaged')
    expect(readFileSync(local.model)).toEqual(files.model)
  })

  it('reports the fault of a folder', async () => {
    const { host } = hostOn({ choose: () => ({ folder: writeTinyModel(folder(), { config: { dim: 5 } }) }) })
    host.begin()
    await expect
      .poll(() => host.state())
      .toMatchObject({ state: 'unavailable', problem: expect.stringContaining('"dim": 5') })
  })
})

describe('the embedder of the Worker', async () => {
  const path = writeTinyModel(folder())
  const host = createBuiltinModel({ name: path, models: root, tell: () => {} })
  host.begin()
  await new Promise<void>((resolve) => host.onReady(resolve))
  afterAll(() => host.close())
  const state = host.state() as unknown as { readonly model: HostedModel }
  let requests = 0
  const service = {
    fetch: async (url: string, init?: RequestInit) => {
      requests++
      return host.fetch(new Request(url, init))
    },
  }
  describeEmbedder(() => {
    requests = 0
    return {
      embedder: createBuiltinEmbedder({ service: service as never, hosted: state.model }),
      ...{ provider: 'builtin', model: 'tiny-words', dimensions: TINY_DIM },
      requests: () => requests,
    }
  })

  it('reports what the process answered when it cannot make vectors', async () => {
    const refusing = {
      fetch: async () => Response.json({ message: 'The thread of the model has ended' }, { status: 503 }),
    }
    const embedder = createBuiltinEmbedder({ service: refusing as never, hosted: state.model })
    await expect(embedder.embed(['car'], 'query')).rejects.toThrow(
      'The built-in model failed: The thread of the model has ended',
    )
  })
})
