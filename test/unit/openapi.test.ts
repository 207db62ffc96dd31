import { expect, it } from 'vitest'
import type { Config } from '../../src/config'
import { openApiDocument } from '../../src/http/rest/openapi'

const documentOf = (disabled: readonly string[], authMode: Config['authMode'] = 'required') =>
  openApiDocument({ authMode, disabledTools: new Set(disabled) } as unknown as Config)

it('[PLATFORM-100] describes no operation of a tool that is switched off', () => {
  const all = Object.keys(documentOf([]).paths ?? {})
  const some = documentOf(['forget', 'context']).paths ?? {}
  expect(all.filter((path) => !(path in some))).toEqual(['/api/v1/orgs/{org}/context'])
  expect(Object.keys(some['/api/v1/orgs/{org}/entries/{id}'] ?? {})).toEqual(['get', 'patch'])
})

it('[PLATFORM-100] names the key of a server that requires one', () => {
  expect(documentOf([]).security).toEqual([{ key: [] }])
  expect(documentOf([], 'open').security).toEqual([])
})
