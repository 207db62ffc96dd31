// `commonplace reembed`: makes the vectors that are missing, in rounds that the server keeps short. Each begins where the one
// before it ended, so every entry is looked at once.
import { showProgress } from './progress.mjs'
import { call } from './server.mjs'

export async function reembed(url) {
  const known = { entries: 0, embedded: 0 }
  for (let next = 0; next !== null; ) {
    const round = await call(url, 'POST', `/reembed?after=${next}`)
    known.entries = round.entries ?? known.entries
    known.embedded = round.embedded ?? known.embedded + round.made
    showProgress('entries', known.embedded, known.entries)
    next = round.next
  }
  console.log('Every entry has vectors of the configured model.')
}
