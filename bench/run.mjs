// `npm run bench -- <name> [arguments]`: runs one bench; without a name it lists them. README.md states the question of each.
import { fileURLToPath } from 'node:url'
import { didYouMean } from '../src/cli/nearest.mjs'

/**
 * The file of each bench, and the arguments that it always gets; `--no-write` after the name leaves its record as it is.
 *
 * @type {Readonly<Record<string, readonly [file: string, ...args: string[]]>>}
 */
const BENCHES = {
  load: ['load.mjs'],
  capture: ['capture.mjs', '--write'],
  code: ['code/run.mjs', '--write'],
  commits: ['commits.mjs'],
  cpu: ['cpu.mjs'],
  start: ['start.mjs'],
  dashboard: ['dashboard.mjs', '--write'],
  day: ['day/run.mjs'],
  'day-sizes': ['day/sizes.mjs'],
  feed: ['feed.mjs', '--write'],
  gatemem: ['suites/gatemem/run.mjs'],
  history: ['history.mjs', '--write'],
  judge: ['models/judge.mjs'],
  large: ['large.mjs', '--write'],
  memories: ['memories/run.mjs', '--write'],
  'memory-tests': ['memory-tests.mjs'],
  million: ['million.mjs', '--write'],
  models: ['models.mjs', '--write'],
  packs: ['packs/run.mjs'],
  'packs-load': ['packs/load.mjs', '--write'],
  precision: ['suites/precision/run.mjs'],
  promises: ['suites/promises/run.mjs'],
  ranking: ['ranking.mjs'],
  recall: ['retrieval/recall.mjs', '--write'],
  retrieval: ['retrieval/run.mjs'],
  rows: ['rows.mjs', '--write'],
  'rows-postgres': ['rows-postgres.mjs'],
  size: ['size.mjs', '--write'],
  statements: ['statements.mjs'],
  statistics: ['statistics.mjs', '--write'],
  suites: ['suites/run.mjs'],
  texts: ['texts.mjs', '--write'],
  transfer: ['transfer/run.mjs', '--write'],
  vectors: ['vectors.mjs', '--write'],
  words: ['words.mjs', '--write'],
  sources: ['sources.mjs'],
  why: ['why.mjs'],
}

const [name, ...rest] = process.argv.slice(2)
const bench = name !== undefined && Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined
if (name === undefined) {
  console.log('usage: npm run bench -- <name> [arguments]\n')
  for (const [known, [file]] of Object.entries(BENCHES)) console.log(`  ${known.padEnd(14)} bench/${file}`)
} else if (bench === undefined) {
  console.error(`Unknown bench "${name}".${didYouMean(name, Object.keys(BENCHES))} List them with: npm run bench`)
  process.exitCode = 2
} else {
  const [file, ...args] = bench
  const url = new URL(file, import.meta.url)
  process.argv.splice(1, process.argv.length, fileURLToPath(url.href), ...args, ...rest)
  await import(url.href)
}
