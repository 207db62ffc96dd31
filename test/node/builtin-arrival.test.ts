import { describeArrival } from '../contracts/builtin-arrival'
import { startServer } from '../support/server'

describeArrival((vars, surroundings) => startServer(vars, undefined, surroundings))
