import { expect, it } from 'vitest'
import { incomingState } from '../../src/domain/transfer/incoming'

it.each([
  ['owner', ''],
  ['owner', ' '],
  ['created_by', ''],
])('refuses an imported entry whose %s is %j, which would be private to no owner', (name, value) => {
  const scope = { org: 'acme', projects: null, owner: 'bob' }
  const limits = { each: 1, all: 1 } as never
  for (const isTrusted of [true, false]) {
    const metadata = { audience: 'private' }
    const record = {
      record: 'entry',
      id: 1,
      thread_id: 't',
      source: 'user',
      text: 'x',
      metadata,
      [name]: value,
    } as const
    const read = () => incomingState(record, metadata, { scope, keyId: 'key', at: 0, now: 0, limits, isTrusted })
    expect(read).toThrow(`${name} is blank. Leave it out`)
  }
})
