import { html } from 'hono/html'
import { titleOf } from '../domain/entry/title'
import { notFound } from '../domain/errors'
import type { Principal } from '../domain/identity/scope'
import { jsonText } from '../domain/json/write'
import { RESULT_BYTES } from '../domain/search/window'
import { formatSecond } from '../domain/time'
import type { Services } from '../services/services'
import { frame, respondWithPage } from './html'

/**
 * Renders one entry as a plain page, to which `fetch` of `/mcp/connector` links: no script, everything escaped. A missing entry
 * and an invisible one give the same answer.
 *
 * @param id as in the address
 */
export async function entryPage(
  services: Services,
  principal: Principal,
  id: string,
  origin: string,
): Promise<Response> {
  const known = /^[1-9]\d{0,15}$/.test(id) && Number.isSafeInteger(Number(id))
  const [entry] = known ? (await services.entries.readWithin(principal, [Number(id)], RESULT_BYTES)).entries : []
  if (entry === undefined) throw notFound('Entry not found')
  const facts: readonly (readonly [string, string | ReturnType<typeof html>])[] = [
    ['Thread', entry.threadId],
    ['Source', entry.source],
    ['Created', formatSecond(entry.createdAt)],
    ['Updated', formatSecond(entry.updatedAt)],
    ['Version', String(entry.version)],
    ...(entry.supersededBy === undefined
      ? []
      : [['Superseded by', html`<a href="/entries/${entry.supersededBy}">${entry.supersededBy}</a>`] as const]),
    ...(entry.tags.length > 0 ? [['Tags', entry.tags.join(', ')] as const] : []),
    ...(entry.metadata === null ? [] : [['Metadata', jsonText(entry.metadata)] as const]),
  ]
  const title = titleOf(entry)
  const page = frame(
    title,
    html`<h1>${title}</h1>
<pre class="text">${entry.text}</pre>
<dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`,
  )
  return respondWithPage(page, { origin })
}
