import { describeArrival } from '../contracts/builtin-arrival'
import { freshDatabase } from '../support/postgres'
import { startServer } from '../support/server'

describeArrival(async (vars, surroundings) => {
  const database = await freshDatabase()
  const server = await startServer(vars, database.pooledUrl ?? database.url, surroundings)
  return { ...server, stop: () => server.stop().then(database.drop) }
})
