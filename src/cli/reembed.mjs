// `commonplace reembed`: makes missing vectors, in batches that the server keeps short. Each starts where the previous one
// ended, so every entry is checked once.
import { showProgress } from './progress.mjs'
import { call } from './server.mjs'

/** @param {{ url: string, json?: boolean }} options */
export async function reembed({ url, json }) {
  const known = { entries: 0, embedded: 0 }
  let made = 0
  for (let next = 0; next !== null; ) {
    const round = await call(url, 'POST', `/reembed?after=${next}`)
    known.entries = round.entries ?? known.entries
    known.embedded = round.embedded ?? known.embedded + round.made
    made += round.made
    if (!json) showProgress('entries', known.embedded, known.entries)
    next = round.next
  }
  console.log(json ? JSON.stringify({ made, ...known }) : 'Every entry has vectors of the configured model.')
}
