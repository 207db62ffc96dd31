// `node bench/models/judge.mjs --set FOLDER --provider ollama|openai --model NAME`: how well a chat model judges two memories on one
// subject, by the prompt of the server (src/domain/currency/pair.ts). FOLDER holds pairs.jsonl (`../shared/eval/amended`). One call a
// pair. OLLAMA_HOST, OPENAI_API_BASE and OPENAI_API_KEY have the meaning of docs/configuration.md. Prints a table for bench/records.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { markdownTable } from '../support/numbers.mjs'

const { values } = parseArgs({
  options: {
    set: { type: 'string' },
    provider: { type: 'string', default: 'ollama' },
    model: { type: 'string' },
    limit: { type: 'string' },
  },
})
if (values.set === undefined || values.model === undefined)
  throw new Error('--set names the folder of pairs.jsonl, --model the chat model')
if (!['ollama', 'openai'].includes(values.provider)) throw new Error('--provider takes ollama or openai')

/** The prompt of the server, and its clients of the two providers. */
async function library() {
  const { build } = createRequire(createRequire(import.meta.url).resolve('wrangler'))('esbuild')
  const folder = mkdtempSync(join(tmpdir(), 'judge-'))
  const outfile = join(folder, 'library.mjs')
  const contents = [
    "export { verdictIn, verdictPrompt } from './domain/currency/pair'",
    "export { createOllamaLanguageModel } from './adapters/ollama/models'",
    "export { createOpenAiLanguageModel } from './adapters/openai/models'",
  ].join('\n')
  const resolveDir = fileURLToPath(new URL('../../src', import.meta.url).href)
  await build({ stdin: { contents, resolveDir, loader: 'ts' }, bundle: true, format: 'esm', platform: 'node', outfile })
  try {
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const { verdictIn, verdictPrompt, createOllamaLanguageModel, createOpenAiLanguageModel } = await library()
const patience = { tries: 1, tryMs: 120_000, totalMs: 120_000 }
const settings = { model: values.model, maxTokens: 2_000 }
const {
  OLLAMA_HOST = 'http://localhost:11434',
  OPENAI_API_BASE = 'https://api.openai.com/v1',
  OPENAI_API_KEY,
} = process.env
const model =
  values.provider === 'ollama'
    ? createOllamaLanguageModel({ ...settings, host: OLLAMA_HOST }, patience)
    : createOpenAiLanguageModel({ ...settings, base: OPENAI_API_BASE, apiKey: OPENAI_API_KEY ?? null }, patience)

const pairs = readFileSync(join(values.set, 'pairs.jsonl'), 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line))
  .slice(0, values.limit === undefined ? undefined : Number(values.limit))
const memoryOf = (id, { title, content, date }) => ({ id, title, text: content, at: `${date}T12:00:00Z` })

const counts = new Map()
let seconds = 0
for (const [i, { label, earlier, later }] of pairs.entries()) {
  const [older, newer] = [memoryOf(2 * i + 1, earlier), memoryOf(2 * i + 2, later)]
  const begun = performance.now()
  const answer = await model.answer(verdictPrompt(newer, older)).catch((error) => {
    console.error(`pair ${i + 1}: ${error.message}`)
    return null
  })
  seconds += (performance.now() - begun) / 1000
  const verdict = verdictIn(answer, newer.id, older.id) ?? 'no verdict'
  const key = `${label} ${verdict}`
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
const of = (label) => pairs.filter((pair) => pair.label === label).length
const share = (label, ...verdicts) => {
  const found = verdicts.reduce((sum, verdict) => sum + (counts.get(`${label} ${verdict}`) ?? 0), 0)
  return `${found} of ${of(label)}`
}
const row = (label) => [
  label,
  share(label, 'replaces', 'contradicts'),
  share(label, 'both_hold'),
  share(label, 'no verdict'),
]
console.log(
  markdownTable(
    [`${values.provider}, ${values.model}`, 'says otherwise', 'both hold', 'no verdict'],
    [row('amended'), row('lookalike')],
  ),
)
console.log(`${(seconds / pairs.length).toFixed(1)} s a pair`)
