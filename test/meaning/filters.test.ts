import { beforeAll } from 'vitest'
import { filtersMean } from '../contracts/filters'
import { adaptersHere, migrateHere } from '../support/adapters-here'
import { DATABASE_NAME } from '../support/database'

beforeAll(migrateHere)

filtersMean(DATABASE_NAME, (clock) => adaptersHere(clock))
