import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTeam, type Team } from '../support/access'
import { ROOT } from '../support/build'
import { runHere } from '../support/command-here'

const [, table = ''] = /## Incidents\n([\s\S]*)/.exec(readFileSync(join(ROOT, 'docs', 'operating.md'), 'utf8')) ?? []
const commands = [...table.matchAll(/`((?:commonplace|curl) [^`]+)`/g)].map(([, command = '']) => command)

/** Splits a command as a shell does, with its variables and placeholders replaced. */
const wordsOf = (command: string, values: Readonly<Record<string, string>>): string[] =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) =>
    (quoted ?? plain ?? '').replace(/\$\w+|<\w+>/g, (name) => values[name] ?? name),
  )

describe('the commands of docs/operating.md for incidents', () => {
  const org = 'acme'
  const folder = mkdtempSync(join(tmpdir(), 'incidents-'))
  let team: Team
  let values: Record<string, string> = {}
  let environment: Record<string, string> = {}

  beforeAll(async () => {
    team = await startTeam()
    const admin = await team.key(org, { role: 'admin' })
    const leaked = await team.key(org, { name: 'leaked' })
    const other = await team.key(org, { name: 'other' })
    await team.key(org, { name: 'leaver', owner: 'leaver' })
    const COMMONPLACE_URL = team.server.url.origin
    environment = { COMMONPLACE_URL, COMMONPLACE_KEY: admin.key, HOME: folder }
    const stored = await runHere(['remember', 'the subject of a memory', '--json'], environment)
    expect(stored.code).toBe(0)
    await team.call(admin.key, 'update_context', { context_id: 1, text: 'the subject of a changed memory' })
    expect((await runHere(['backup', '--to', folder, '--org', org], environment)).code).toBe(0)
    values = {
      $COMMONPLACE_URL: COMMONPLACE_URL,
      $COMMONPLACE_KEY: admin.key,
      '<id>': leaked.id,
      '<other>': other.id,
      '<memory>': '1',
      '<folder>': folder,
      '<org>': org,
      '<day>': readdirSync(join(folder, org))[0] ?? '',
    }
  })
  afterAll(() => team.stop())

  it.each([...new Set(commands)])('run: %s', async (command) => {
    const [program, ...words] = wordsOf(command, values)
    expect(words.join(' ')).not.toMatch(/[<>$]/)
    if (program === 'curl') {
      const [header = ''] = words.filter((word) => word.startsWith('Authorization: '))
      const answer = await fetch(words.at(-1) ?? '', { headers: { authorization: header.slice(15) } })
      expect(answer.status).toBe(200)
      expect((await answer.text()).length).toBeGreaterThan(0)
    } else {
      const { code, out, err } = await runHere(words, environment)
      expect([code, `${out}${err}`]).toEqual([0, expect.stringMatching(/\S/)])
    }
  })

  it('are as many as the table has, so that none is missed', () => {
    expect(new Set(commands).size).toBeGreaterThan(12)
  })
})
