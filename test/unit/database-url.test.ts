import { createServer, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { databaseFromEnvironment, fillPassword, pooledUrl, withPassword } from '../../src/cli/postgres/url.mjs'
import { migrateByProgram } from '../support/migrate-postgres'

/** The database that command lines use, and the source of its password. */
describe('the database of the environment', () => {
  it('is a complete URL before its parts, whose defaults are those of PostgreSQL', () => {
    expect(databaseFromEnvironment({})).toBeNull()
    expect(databaseFromEnvironment({ POSTGRESQL_PASSWORD: 'x' })).toBeNull()
    expect(databaseFromEnvironment({ DATABASE_URL: 'a', POSTGRESQL_CONNECTION_STRING: 'b' })).toEqual({
      url: 'a',
      name: 'DATABASE_URL',
    })
    expect(databaseFromEnvironment({ POSTGRESQL_CONNECTION_STRING: 'b', POSTGRESQL_HOST: 'h' })?.url).toBe('b')
    expect(databaseFromEnvironment({ POSTGRESQL_HOST: 'h' })?.url).toBe('postgresql://postgres@h:5432/postgres')
  })

  it('is asked through the pooler that is named in front of it', () => {
    expect([pooledUrl({ DATABASE_POOL_URL: 'p' }, 'd'), pooledUrl({ DATABASE_POOL_URL: '' }, 'd')]).toEqual(['p', 'd'])
  })

  it('may have any characters in its parts', () => {
    const env = {
      POSTGRESQL_HOST: '::1',
      POSTGRESQL_USER: 'u@x',
      POSTGRESQL_PASSWORD: 'p/w:#',
      POSTGRESQL_DATABASE: 'd e',
    }
    expect(databaseFromEnvironment(env)?.url).toBe('postgresql://u%40x:p%2Fw%3A%23@[::1]:5432/d%20e')
  })
})

describe('a password', () => {
  const URL_WITHOUT = 'postgresql://me@host:5432/db'

  it('comes from the environment if the URL has none, and never replaces one', () => {
    expect(fillPassword(URL_WITHOUT, { PGPASSWORD: 'a b' })).toBe('postgresql://me:a%20b@host:5432/db')
    expect(fillPassword(URL_WITHOUT, { POSTGRESQL_PASSWORD: 'ours', PGPASSWORD: 'theirs' })).toContain(':ours@')
    expect(fillPassword('postgresql://me:own@host/db', { PGPASSWORD: 'other' })).toBe('postgresql://me:own@host/db')
    expect(fillPassword(URL_WITHOUT, {})).toBe(URL_WITHOUT)
    expect(withPassword('postgresql://host/db', '%/')).toBe('postgresql://postgres:%25%2F@host/db')
  })

  it('that is missing without a terminal is an error that names where to set it', async () => {
    // Requests each client's password in clear text, and refuses it.
    const fields = 'SFATAL\0C28P01\0Mpassword authentication failed\0\0'
    const refusal = Buffer.concat([Buffer.from([0x45, 0, 0, 0, fields.length + 4]), Buffer.from(fields)])
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('data', () => {
        socket.once('data', () => socket.end(refusal))
        socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const { code, err } = await migrateByProgram([`postgresql://me@127.0.0.1:${port}/db?sslmode=disable`])
    for (const socket of sockets) socket.destroy()
    server.close()
    expect([code, err]).toEqual([1, expect.stringContaining('the server requires a password; set POSTGRESQL_PASSWORD')])
  })
})
