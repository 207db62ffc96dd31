import { describe, expect, it } from 'vitest'
import { translate as translateD1 } from '../../src/adapters/d1/errors'
import { translate as translatePostgres } from '../../src/adapters/postgres/errors'

/** Messages to a caller when a database fails: the state of its call, and a remedy. */
const UNKNOWN = /it is not known whether the change was made; repeat the same call/
const UNCHANGED = /nothing was changed/

const said = (problem: unknown) => {
  const { code, message, retryable } = problem as { code: string; message: string; retryable: boolean }
  return { code, message, retryable }
}

describe('a failure of D1', () => {
  const heard = (message: string, wrote: boolean) => said(translateD1(new Error(message), wrote))

  it('without an answer leaves a write unknown and a read without effect', () => {
    for (const message of ['D1_ERROR: Network connection lost.', 'D1_ERROR: internal error; reference = abc']) {
      expect(heard(message, true)).toMatchObject({ code: 'unavailable', message: expect.stringMatching(UNKNOWN) })
      expect(heard(message, false)).toMatchObject({ code: 'unavailable', message: expect.stringMatching(UNCHANGED) })
    }
  })

  it('that is full reports that, and that nothing was changed', () => {
    expect(heard('D1_ERROR: database or disk is full: SQLITE_FULL', true)).toEqual({
      code: 'unavailable',
      message:
        'The disk of the database is full; nothing was changed. Reading and deleting still work; writing works again when the disk has free space',
      retryable: false,
    })
    expect(heard('D1_ERROR: Exceeded maximum DB size', true)).toMatchObject({
      code: 'limit_exceeded',
      retryable: false,
    })
    expect(heard('D1_ERROR: string or blob too big: SQLITE_TOOBIG', true)).toMatchObject({ code: 'limit_exceeded' })
  })
})

describe('a failure of PostgreSQL', () => {
  const heard = (code: string, phase: 'connecting' | 'reading' | 'writing') =>
    said(translatePostgres(Object.assign(new Error('private'), { code }), phase))

  it('between a commit and its answer leaves a write unknown and a read without effect', () => {
    for (const code of ['ECONNRESET', '57P01', '57P02', '08006', '']) {
      expect(heard(code, 'writing')).toMatchObject({ code: 'unavailable', message: expect.stringMatching(UNKNOWN) })
      expect(heard(code, 'reading')).toMatchObject({ code: 'unavailable', message: expect.stringMatching(UNCHANGED) })
    }
  })

  it('that the server itself reports has changed nothing', () => {
    for (const code of ['53100', '57014', '55P03', '40001', '40P01'])
      expect(heard(code, 'writing')).toMatchObject({ code: 'unavailable', message: expect.stringMatching(UNCHANGED) })
    expect(heard('53100', 'writing').message).toMatch(/disk of the database is full/)
    expect(heard('ECONNREFUSED', 'connecting').message).toMatch(UNCHANGED)
  })
})
