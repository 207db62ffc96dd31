import type { CarriedRecord } from '../../../src/domain/transfer/records'
import { ADMIN_TOKEN, startTeam, type Team } from '../../support/access'
import { type PlacedServer, startPlace as takePlace } from '../../support/places'
import { startPostgresServer } from '../../support/server-postgres'
import { type Agent, agent, type Export, exported } from '../../support/transfer'

/** Entries that an org of the servers of these suites may hold. */
export const MOST_ENTRIES = 300

type Database = 'd1' | 'postgresql'

/** A server whose orgs are moved. */
export interface Place {
  readonly database: Database
  readonly team: Team
  /** One statement outside of the Worker. */
  readonly sql: PlacedServer['sql']
  readonly schedule: PlacedServer['schedule']
  readonly backups: PlacedServer['backups']
  /** An org of this test alone. */
  newOrg(): Promise<string>
  /** A connection of a key of the org. */
  join(org: string, key: { readonly key: string }): Promise<Agent>
  /** The complete organization, as a holder of ADMIN_TOKEN exports it. */
  all(org: string, query?: string, bearer?: string): Promise<Export>
  /** Fails while a row `NEW` that matches the condition is written to a table, like a database that stops there. */
  whileBroken(table: string, when: string, run: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

let orgs = 0

export async function startPlace(database: Database, vars: Record<string, string> = {}): Promise<Place> {
  let server: Pick<PlacedServer, 'sql' | 'schedule' | 'backups'> | null = null
  const team = await startTeam({ MAX_ENTRIES_PER_ORG: String(MOST_ENTRIES), ...vars }, async (all) => {
    const opened =
      database === 'd1'
        ? await takePlace(all, { backups: true, fails: true })
        : await startPostgresServer(all, { backups: true, fails: true })
    server = opened
    return opened
  })
  const opened = (): Pick<PlacedServer, 'sql' | 'schedule' | 'backups'> => {
    if (server === null) throw new Error('the server has started')
    return server
  }
  const agents: Agent[] = []
  const sql = (statement: string) => opened().sql(statement)
  return {
    database,
    team,
    sql,
    schedule: () => opened().schedule(),
    backups: () => opened().backups(),
    async newOrg() {
      const org = `move-${++orgs}`
      const made = await team.api('/orgs', ADMIN_TOKEN, 'POST', { id: org, name: org })
      if (made.status !== 201) throw new Error(made.text)
      return org
    },
    async join(_org, { key }) {
      const one = await agent(team, key)
      agents.push(one)
      return one
    },
    all: (org, query = 'history=true&vectors=true', bearer = ADMIN_TOKEN) => exported(team, org, query, bearer),
    async whileBroken(table, when, run) {
      if (database === 'd1')
        await sql(
          `CREATE TRIGGER broken BEFORE INSERT ON ${table} WHEN ${when} BEGIN SELECT RAISE(ABORT, 'broken'); END`,
        )
      else {
        await sql(
          `CREATE OR REPLACE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$`,
        )
        await sql(
          `CREATE TRIGGER broken BEFORE INSERT ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION broken()`,
        )
      }
      try {
        await run()
      } finally {
        await sql(database === 'd1' ? 'DROP TRIGGER broken' : `DROP TRIGGER broken ON ${table}`)
      }
    },
    async stop() {
      await Promise.all(agents.map((one) => one.close()))
      await team.stop()
    },
  }
}

export const entriesOf = (records: readonly CarriedRecord[]) =>
  records.flatMap((record) => (record.record === 'entry' ? [record] : []))
export const goneOf = (records: readonly CarriedRecord[]): unknown[] =>
  records.flatMap((record) => (record.record === 'gone' ? [record.id] : []))
