import { expect, it } from 'vitest'
import { builtinModelFor, providerOf, withDefaultProvider } from '../../scripts/serve/builtin.mjs'

/** Starts that run the built-in model. */
it('runs the built-in model when no provider is configured', () => {
  expect(withDefaultProvider({})).toEqual({ EMBEDDING_PROVIDER: 'builtin' })
  expect(withDefaultProvider({ EMBEDDING_PROVIDER: ' ' })).toEqual({ EMBEDDING_PROVIDER: 'builtin' })
  expect(withDefaultProvider({ EMBEDDING_PROVIDER: 'ollama' })).toEqual({ EMBEDDING_PROVIDER: 'ollama' })
})

it('runs none where another provider makes vectors, or nothing is searched by meaning', () => {
  expect(providerOf({ EMBEDDING_PROVIDER: 'BUILTIN ' })).toBe('builtin')
  for (const off of ['false', '0', 'No', 'off'])
    expect(providerOf({ EMBEDDING_PROVIDER: 'builtin', ENABLE_SEMANTIC_SEARCH: off })).toBe('none')
  expect(builtinModelFor({ EMBEDDING_PROVIDER: 'local' })).toBeNull()
})

it('lets the servers of tests and benches make vectors without a model', () => {
  expect(process.env.EMBEDDING_PROVIDER).toBe('local')
})
