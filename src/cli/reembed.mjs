// `commonplace reembed`: makes the vectors that are missing, in rounds that the server keeps short.
import { showProgress } from './progress.mjs'
import { call } from './server.mjs'

export async function reembed(url) {
  for (;;) {
    const { made, entries, embedded } = await call(url, 'POST', '/reembed')
    showProgress('entries', embedded, entries)
    if (made === 0) break
  }
  console.log('Every entry has vectors of the configured model.')
}
