import { describeArrival } from '../contracts/builtin-arrival'
import { DATABASE } from '../support/database'
import { freshDatabase } from '../support/postgres'
import { startServer } from '../support/server'

describeArrival(async (vars, surroundings) => {
  if (DATABASE === 'd1') return startServer(vars, undefined, surroundings)
  const database = await freshDatabase()
  const server = await startServer(vars, database.pooledUrl ?? database.url, surroundings)
  return { ...server, stop: () => server.stop().then(database.drop) }
})
