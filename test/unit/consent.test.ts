import type { ServerContext } from '@modelcontextprotocol/server'
import { expect, it } from 'vitest'
import { consentIn, questionOf } from '../../src/http/consent'
import { askBeforeReview, ConsentNeeded } from '../../src/tools/consent'
import type { ToolContext } from '../../src/tools/context'

it('[CORE-75] counts a yes only for the sessions and versions that the question was asked about', async () => {
  const ask = async (versions: Record<string, number>, inputResponses: object = {}) => {
    const confirm = consentIn({ mcpReq: { inputResponses } } as unknown as ServerContext)
    const context = { confirm, origin: 'http://localhost' } as unknown as ToolContext
    const seen = async () => [{ id: 7, title: 'Paint the gate', audience: null }]
    return askBeforeReview(context, 'approve', versions, seen).then(
      () => null,
      (error: unknown) => error,
    )
  }
  const needed = await ask({ 7: 1 })
  expect(needed).toBeInstanceOf(ConsentNeeded)
  const { inputRequests = {} } = await questionOf(needed as ConsentNeeded)
  const yes = Object.fromEntries(
    Object.keys(inputRequests).map((name) => [name, { action: 'accept', content: { confirm: true } }]),
  )
  expect(await ask({ 7: 1 }, yes)).toBeNull()
  // The same words about another version are another question.
  expect(await ask({ 7: 2 }, yes)).toBeInstanceOf(ConsentNeeded)
})
