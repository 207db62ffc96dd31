import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, startTeam, type Team } from '../support/access'
import { startPostgresServer } from '../support/server-postgres'
import { exported, fillRandomly, sent, verified } from '../support/transfer'

describe('an org that is moved', () => {
  let d1: Team
  let postgres: Team
  beforeAll(async () => {
    ;[d1, postgres] = await Promise.all([startTeam(), startTeam({}, startPostgresServer)])
  })
  afterAll(() => Promise.all([d1.stop(), postgres.stop()]))

  const create = (team: Team, org: string) => team.api('/orgs', ADMIN_TOKEN, 'POST', { id: org, name: org })

  it('is the same in another database, line by line, with its history, vectors and images', async () => {
    await fillRandomly(d1, 'move', 7, 60)
    const first = await exported(d1, 'move', 'history=true&vectors=true')
    expect((await verified(first.bytes)).volumes.every(({ content, computed }) => content === computed)).toBe(true)
    await create(postgres, 'move')
    const [report] = await sent(postgres, 'move', first.bytes)
    expect(report).toMatchObject({ problems: [], map: [], content: first.ends[0]?.content })
    const second = await exported(postgres, 'move', 'history=true&vectors=true')
    expect(second.lines).toEqual(first.lines)
    const again = await sent(postgres, 'move', first.bytes)
    expect(again[0].entries).toMatchObject({ stored: 0, replaced: 0, skipped: 0, refused: 0 })
    expect((await exported(postgres, 'move', 'history=true&vectors=true')).lines).toEqual(first.lines)
  })
})
