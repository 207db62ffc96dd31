// The memory of a process that does nothing but run a model: `node bench/models/memory.mjs FOLDER native|wasm` prints megabytes, loaded and
// after a hundred texts.
import { createEmbeddingThread } from '../../scripts/serve/model/embedding-thread.mjs'
import { modelInFolder } from '../../src/cli/models/folder.mjs'

const [folder = '', runtime] = process.argv.slice(2)
const thread = createEmbeddingThread(modelInFolder(folder), { runtime: /** @type {any} */ (runtime) })
await thread.load()
const loaded = process.memoryUsage.rss() / 1e6
const text = 'Idempotency keys let a reconciliation job retry its PostgreSQL writes without duplicates. '.repeat(16)
for (let i = 0; i < 100; i++) await thread.embed(`${text}${i}`, 'passage')
const used = process.memoryUsage.rss() / 1e6
await thread.unload()
console.log(JSON.stringify({ loaded, used }))
process.exit(0)
