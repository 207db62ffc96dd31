// `commonplace reembed`: makes the vectors that are missing, in rounds that the server keeps short.
import { call } from './server.mjs'

function showProgress(done, total) {
  const share = total === 0 ? 1 : done / total
  const bar = '█'.repeat(Math.round(share * 30)).padEnd(30, '·')
  const line = `${bar} ${done}/${total} entries`
  process.stdout.write(process.stdout.isTTY ? `\r${line}` : `${line}\n`)
}

export async function reembed(url) {
  for (;;) {
    const { made, entries, embedded } = await call(url, 'POST', '/reembed')
    showProgress(embedded, entries)
    if (made === 0) break
  }
  console.log('\nEvery entry has vectors of the configured model.')
}
