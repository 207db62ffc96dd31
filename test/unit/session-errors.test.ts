import { expect, it } from 'vitest'
import { endsSession } from '../../src/adapters/postgres/errors'

it('knows by its code, not by a word of the server’s language, whether a session continues after an error', () => {
  const said = (code: string, severity: string) => Object.assign(new Error('x'), { code, severity })
  for (const code of ['23505', '40001', '42P01', '57014', 'CP001', '25006'])
    expect([code, endsSession(said(code, 'FEHLER'))]).toEqual([code, false])
  for (const code of ['57P01', '57P02', '57P05', '08006', '25P03', 'XX000', 'ECONNRESET', ''])
    expect([code, endsSession(said(code, 'ERROR'))]).toEqual([code, true])
})
