import { expect, it } from 'vitest'
import type { ReviewedEntry } from '../../src/domain/capture/review'
import { Waiting } from '../../src/http/dashboard/pages/review-list'
import type { Visit } from '../../src/http/dashboard/visit'

const visit = {
  url: new URL('http://here/review'),
  formToken: 'token',
  services: { now: () => 2_000 },
} as unknown as Visit

const entry = (id: number, more: Partial<ReviewedEntry> = {}): ReviewedEntry => ({
  ...{
    id,
    title: `Title ${id}`,
    kind: 'session',
    threadId: 'session:codex:a',
    quote: null,
    sources: [],
    approvedAudience: null,
    project: 'ferry',
  },
  ...{ branch: null, client: 'codex', updatedAt: 1_000, expiresAt: null, version: 3, preview: `Words of ${id}` },
  ...more,
})

it('shows proposals of a model below their session, with kind, content and quote, each to be ticked', async () => {
  const proposal = entry(8, { kind: 'gotcha', preview: 'The tide <b>', quote: 'we saw the tide' })
  const alone = entry(9, { kind: 'decision', threadId: 'session:codex:b' })
  const text = String(await Waiting({ visit, items: [proposal, entry(7), alone] }))
  expect(text).toMatch(
    /value="7-3".*aria-label="Proposals".*value="8-3".*The tide &lt;b&gt;.*<blockquote>we saw the tide/s,
  )
  expect(text).toMatch(/Proposals of other sessions.*value="9-3"/s)
  expect(text).toContain('kind-gotcha')
})

it('[CAPTURE-99] shows the proposals of a repository as one group, with the places that they cite', async () => {
  const learned = (id: number) =>
    entry(id, {
      ...{ kind: 'convention', threadId: 'learn:github.com/acme/ferry', sources: [`AGENTS.md:${id}`] },
      ...(id === 40 ? { approvedAudience: 'org' } : {}),
    })
  const items = Array.from({ length: 21 }, (_, i) => learned(40 - i))
  const text = String(await Waiting({ visit, items: [entry(50), ...items] }))
  expect(text.match(/<legend>.*?<\/legend>/gs)).toHaveLength(1)
  expect(text.replace(/<[^>]*>/g, '')).toContain('Learned from github.com/acme/ferry: 19 of 21 proposals')
  expect(text).toMatch(/value="40-3".*AGENTS\.md:40/s)
  expect(text.match(/once approved: readable by the organization/g)).toHaveLength(1)
  expect(text).not.toContain('Proposals of other sessions')
})
